"""Things to a data set, every vector made once."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image
from sklearn.feature_extraction.text import TfidfVectorizer

from superpac.cache import DiskCache
from superpac.data.things import Things, read_things
from superpac.errors import DataError, InputError
from superpac.features import encoding
from superpac.features.encoding import encode
from superpac.features.pixels import PixelFeatures


class Counting(PixelFeatures):
    """Pixels, with a list of what was encoded."""

    def __init__(self, size=6, *, n_jobs=None):
        super().__init__(size, n_jobs=n_jobs)
        self.seen = []

    def _encode(self, batch):
        rows = super()._encode(batch)
        self.seen += [path.name for path in batch]
        return rows


def paint(folder, names, seed=0):
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    for name in names:
        Image.fromarray(rng.integers(0, 256, (6, 6), dtype=np.uint8)).save(folder / name)
    return folder


@pytest.fixture
def folder(tmp_path):
    return paint(tmp_path / "photos", [f"{k:02}.png" for k in range(30)])


def test_the_data_set_holds_the_vectors_and_shows_the_things(folder):
    data = encode(read_things(folder), "pixels")
    assert (PixelFeatures().transform(sorted(folder.iterdir())) == data.X).all()
    assert data.features == "pixels"
    assert data.ids[3] == "03.png"
    assert data.kind == "image"


def test_a_second_run_and_a_renamed_folder_cost_nothing(folder, tmp_path):
    cache = DiskCache(tmp_path / "cache")
    first = encode(read_things(folder), Counting(), cache=cache)
    again = Counting()
    assert (encode(read_things(folder), again, cache=cache).X == first.X).all()
    moved = folder.rename(tmp_path / "moved")
    (moved / "00.png").rename(moved / "zz.png")
    data = encode(read_things(moved), again, cache=cache)
    assert again.seen == []
    assert (data.X[-1] == first.X[0]).all()
    assert (data.X[:-1] == first.X[1:]).all()


def test_a_folder_that_grew_costs_what_is_new(folder, tmp_path):
    cache = DiskCache(tmp_path / "cache")
    encode(read_things(folder), Counting(), cache=cache)
    new = [f"new{k}.png" for k in range(10)]
    paint(folder, new, seed=1)
    shutil.copy(folder / "05.png", folder / "copy.png")
    encoder = Counting()
    data = encode(read_things(folder), encoder, cache=cache)
    assert sorted(encoder.seen) == new
    assert (PixelFeatures(6).transform(sorted(folder.iterdir())) == data.X).all()


def test_equal_files_are_encoded_once(folder):
    for k in range(5):
        shutil.copy(folder / "00.png", folder / f"copy{k}.png")
    encoder = Counting()
    data = encode(read_things(folder), encoder)
    assert len(encoder.seen) == 30
    assert (data.X[30:] == data.X[0]).all()


def test_a_changed_file_or_encoder_is_encoded_again(folder, tmp_path):
    cache = DiskCache(tmp_path / "cache")
    encode(read_things(folder), Counting(), cache=cache)
    paint(folder, ["07.png"], seed=2)
    encoder = Counting()
    encode(read_things(folder), encoder, cache=cache)
    assert encoder.seen == ["07.png"]
    other = Counting(size=5)
    encode(read_things(folder), other, cache=cache)
    assert len(other.seen) == 30


def test_what_is_kept_outlives_an_upgrade_and_a_damaged_file_costs_time(
    folder, tmp_path, monkeypatch
):
    cache = DiskCache(tmp_path / "cache")
    first = encode(read_things(folder), Counting(), cache=cache)
    monkeypatch.setattr("superpac.cache._versions", lambda: "another version")
    encoder = Counting()
    encode(read_things(folder), encoder, cache=cache)
    assert encoder.seen == []
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    data = encode(read_things(folder), encoder, cache=cache)
    assert len(encoder.seen) == 30
    assert (data.X == first.X).all()


def test_what_was_made_before_an_interruption_is_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "_AT_ONCE", 8)
    cache = DiskCache(tmp_path / "cache")

    def stop(done, total):
        assert total == 30
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(read_things(folder), Counting(), cache=cache, progress=stop)
    encoder = Counting()
    encode(read_things(folder), encoder, cache=cache)
    assert len(encoder.seen) == 14  # 8 and 8 more were kept


def test_progress_counts_all_things(folder, tmp_path):
    cache = DiskCache(tmp_path / "cache")
    told = []
    encode(read_things(folder), "pixels", cache=cache, progress=lambda *at: told.append(at))
    assert told[-1] == (30, 30)
    told.clear()
    encode(read_things(folder), "pixels", cache=cache, progress=lambda *at: told.append(at))
    assert told == [(30, 30)]


def test_what_breaks_after_reading_is_set_aside_by_name(folder):
    things = read_things(folder)
    (folder / "03.png").write_bytes(b"gone bad")
    (folder / "04.png").unlink()
    told = []
    data = encode(things, "pixels", aside=lambda *words: told.append(words))
    assert [name for name, _ in told] == ["03.png", "04.png"]
    assert len(data) == 28
    assert "03.png" not in data.ids
    assert str(folder) not in "".join(why for _, why in told)
    for path in folder.iterdir():
        path.write_bytes(b"gone bad")
    with pytest.raises(DataError, match="at least two"):
        encode(things, "pixels")


def test_the_wrong_kind_is_told_before_files_are_read(folder):
    with pytest.raises(InputError, match="takes images; got texts"):
        encode(Things("text", texts=("a", "b")), "pixels")
    table = Things("table", rows=(("1",), ("2",)), columns=("a",))
    with pytest.raises(InputError, match="module:function"):
        encode(table)


def test_any_transformer_will_do():
    texts = ("red cat", "red dog", "blue cat", "blue dog")
    data = encode(Things("text", texts=texts), TfidfVectorizer())
    assert data.X.shape == (4, 4)
    assert data.features == "TfidfVectorizer"
