"""What every encoder shares: batches, order, broken things, cancelling, scikit-learn's contract."""

from __future__ import annotations

import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from superpac.affinity import TSC
from superpac.data import Dataset
from superpac.errors import DataError, InputError, NotFoundError
from superpac.features.base import Encoder, cores, run_parts
from superpac.features.pixels import PixelFeatures


class Lengths(Encoder):
    """Length and number of vowels of a text."""

    kind = "text"
    batch = 3
    name = "lengths"
    dimension = 2
    fingerprint = "lengths"

    def __init__(self, *, n_jobs=None):
        self.n_jobs = n_jobs

    def _encode(self, batch):
        if "broken" in batch:
            raise DataError("broken: cannot be read.")
        return [
            [len(t), sum(c in "aeiou" for c in t)] if t != "nan" else [0, np.nan] for t in batch
        ]


def paint(folder, n=7):
    rng = np.random.default_rng(1)
    for k in range(n):
        Image.fromarray(rng.integers(0, 256, (9, 9), dtype=np.uint8)).save(folder / f"{k}.png")
    return sorted(folder.glob("*.png"))


@pytest.mark.parametrize("n_jobs", [1, 2, None])
@pytest.mark.parametrize("n", [0, 1, 3, 10, 50])
def test_rows_are_in_the_order_of_the_things(n, n_jobs):
    texts = ["a" * k + "b" * (k % 7) for k in range(n)]
    vectors = Lengths(n_jobs=n_jobs).transform(texts)
    assert vectors.tolist() == [[k + k % 7, k] for k in range(n)]


def test_progress_ends_with_all_and_may_cancel():
    told = []
    Lengths().transform(["a"] * 20, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 20)
    assert told[-1] == (20, 20)
    assert [done for done, _ in told] == sorted(done for done, _ in told)

    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Lengths().transform(["a"] * 500, progress=stop)


def test_what_cannot_be_read_is_named_and_costs_no_other():
    texts = ["a", "broken", "bb", "ccc", "nan", "dddd", "broken"]
    with pytest.raises(DataError, match="broken"):
        Lengths().transform(texts)
    vectors, broken = Lengths().transform_readable(texts)
    assert list(broken) == [1, 4, 6]
    assert "NaN" in str(broken[4])
    assert vectors[:, 0].tolist() == [1, 0, 2, 3, 0, 4, 0]


def test_a_pipeline_takes_a_list_of_paths(tmp_path):
    files = paint(tmp_path, 12)
    pipeline = make_pipeline(PixelFeatures(size=9), TSC(2, q=3, random_state=0))
    labels = pipeline.fit_predict([str(file) for file in files])
    vectors = PixelFeatures(size=9).transform(np.array([str(file) for file in files]))
    assert (labels == TSC(2, q=3, random_state=0).fit_predict(vectors)).all()


def test_copies_are_equal_and_parameters_can_be_set(tmp_path):
    encoder = PixelFeatures(size=5)
    for copy in (clone(encoder), pickle.loads(pickle.dumps(encoder))):
        assert copy.get_params() == encoder.get_params()
        assert copy.fingerprint == encoder.fingerprint
    assert encoder.set_params(size=6).dimension == 36


def test_links_are_looked_through_and_missing_files_named(tmp_path):
    (tmp_path / "in").mkdir()
    files = paint(tmp_path / "in", 1)
    (tmp_path / "out").symlink_to(tmp_path / "in")
    linked = tmp_path / "out" / files[0].name
    encoder = PixelFeatures(size=9)
    assert (encoder.transform([linked]) == encoder.transform(files)).all()
    with pytest.raises(NotFoundError, match=r"none\.png"):
        encoder.transform([tmp_path / "none.png"])


@pytest.mark.parametrize("given", ["a text", 5, None, b"bytes"])
def test_one_thing_alone_is_refused_with_a_sentence(given):
    with pytest.raises(InputError, match="list of texts"):
        Lengths().transform(given)


def test_a_list_of_something_else_is_refused():
    with pytest.raises(InputError, match="got int in it"):
        Lengths().transform([1, 2])
    with pytest.raises(InputError, match="list of paths"):
        PixelFeatures().transform([[1.0, 2.0]])


def test_a_collection_must_be_of_the_encoders_kind(tmp_path):
    files = tuple(paint(tmp_path, 2))
    photos = SimpleNamespace(kind="image", paths=files, texts=None)
    assert PixelFeatures(size=9).transform(photos).shape == (2, 81)
    with pytest.raises(InputError, match="takes texts; got images"):
        Lengths().transform(photos)
    assert len(Lengths().transform(SimpleNamespace(kind="text", texts=("a", "b")))) == 2


def test_a_data_set_is_encoded_by_what_it_shows(tmp_path):
    files = tuple(paint(tmp_path, 2))
    shown = Dataset(np.eye(2), kind="image", paths=files)
    assert (PixelFeatures(size=9).transform(shown) == PixelFeatures(size=9).transform(files)).all()
    with pytest.raises(InputError, match="numbers only"):
        PixelFeatures().transform(Dataset(np.eye(4), image_shape=(2, 2)))


def test_as_many_threads_as_asked_for_and_allowed():
    assert cores(1) == 1
    assert 1 <= cores(100) == cores(None) == cores(-1)
    for wrong in (0, -2, "two", 1.5):
        with pytest.raises(InputError, match="n_jobs"):
            cores(wrong)


def test_parts_run_at_the_same_time_and_an_error_stops_the_rest():
    both = threading.Barrier(2, timeout=60)
    assert sorted(run_parts(lambda k: both.wait() and k or k, range(2), 2)) == [0, 1]
    begun = []

    def work(k):
        begun.append(k)
        if k == 3:
            raise DataError("three")

    with pytest.raises(DataError, match="three"):
        list(run_parts(work, range(1000), 2))
    assert len(begun) < 20
