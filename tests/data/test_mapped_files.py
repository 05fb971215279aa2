"""Points that stay in their file: the same as read ones, and not copied."""

from __future__ import annotations

import io

import numpy as np
import pytest

from superpac import Session, Spec, TruthOracle
from superpac.data import Dataset, load, mapped_files
from superpac.data.mapped_files import is_mapped
from superpac.data.synthetic import make_subspaces
from superpac.errors import DataError
from superpac.features.reading import read_encoded
from superpac.simulation.loop import AnswerLoop
from superpac.system.row_blocks import blocks_of

MADE, Y = make_subspaces(20, 3, 2, 12, noise=0.1, seed=0)
X = MADE.astype(np.float32)


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch):
    monkeypatch.setattr(mapped_files, "MAPPED_FROM", 0)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "points.npy", X)
    return tmp_path / "points.npy"


def run(data: Dataset) -> tuple[list, list]:
    session = Session.create(data, Spec(3, "tsc:q=4"))
    loop = AnswerLoop(session, TruthOracle(Y), 15)
    asked = [(step.question.i, step.question.j) for step in loop]
    return asked, session.labels("model").tolist()


def test_a_mapped_file_gives_the_same_questions_labels_and_fingerprint(path):
    mapped, read = load(path), load(X)
    assert is_mapped(mapped.X)
    assert not is_mapped(read.X)
    assert mapped.fingerprint == read.fingerprint
    assert mapped.value_contents == read.value_contents
    assert run(mapped) == run(read)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_map_in_memory_is_not_copied_and_not_written_to(path, mode):
    given = np.load(path, mmap_mode=mode)
    for data in (load(given), Dataset(given), read_encoded(given)):
        assert np.shares_memory(data.X, given)
        assert not data.X.flags.writeable
    part = load(given[5:20])
    assert np.shares_memory(part.X, given)
    assert (X[5:20] == part.X).all()


def test_a_session_keeps_the_map(path):
    given = np.load(path, mmap_mode="r")
    session = Session.create(given, Spec(3, "tsc:q=4"))
    session.ask()
    assert np.shares_memory(session.data.X, given)
    assert is_mapped(Session.create(path, Spec(3, "tsc:q=4")).data.X)


def test_images_in_a_file_are_not_copied(tmp_path):
    stack = np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3)
    np.save(tmp_path / "stack.npy", stack)
    data = load(tmp_path / "stack.npy")
    assert data.image_shape == (4, 3)
    assert is_mapped(data.X)
    assert (stack.reshape(5, 12) == data.X).all()


@pytest.mark.parametrize("dtype", ["<f2", ">f8", "?", "i8"])
def test_other_kinds_of_numbers_are_the_same_as_read(tmp_path, dtype, monkeypatch):
    np.save(tmp_path / "a.npy", X.astype(dtype))
    np.save(tmp_path / "f.npy", np.asfortranarray(X.astype(dtype)))
    mapped = load(tmp_path / "a.npy"), load(tmp_path / "f.npy")
    monkeypatch.setattr(mapped_files, "MAPPED_FROM", 2**40)
    read = load(tmp_path / "a.npy")
    for data in mapped:
        assert data.X.dtype == read.X.dtype
        assert data.fingerprint == read.fingerprint


def test_a_small_file_is_read_so_that_it_may_be_written_anew(path, monkeypatch):
    monkeypatch.setattr(mapped_files, "MAPPED_FROM", X.nbytes + 1)
    data = load(path)
    np.save(path, np.zeros((2, 2)))
    assert not is_mapped(data.X)
    assert (data.X == X).all()


def test_the_first_bad_number_is_named_however_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "superpac.data.checks.blocks_of", lambda rows, size: blocks_of(rows, min(size, 7))
    )
    bad = X.copy()
    bad[41, 3] = np.nan
    bad[55, 0] = np.inf
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(DataError, match=r"bad\.npy: row 41, column 3 \(counted from 0\) is NaN"):
        load(tmp_path / "bad.npy")
    bad[41, 3] = 0.0
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(DataError, match="array: row 55, column 0 .* is infinite"):
        load(np.load(tmp_path / "bad.npy", mmap_mode="r"))


def _saved(values: object, **how: bool) -> bytes:
    held = io.BytesIO()
    np.save(held, values, **how)
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_saved(np.full((3, 2), None), allow_pickle=True), "Python objects, only numbers"),
        (_saved(np.full((3, 2), "a")), "text, only numbers"),
        (_saved(np.zeros((3, 2), [("a", "f4")])), "values, only numbers"),
        (_saved(np.zeros((3, 2), complex)), "complex numbers"),
        (_saved(X)[:-5], "is cut off"),
        (_saved(X)[:20], "cannot be read as an .npy file"),
        (b"", "the file is empty"),
        (_saved(np.zeros(9)), r"shape \(9,\), a 2-D array with one point per row"),
        (_saved(np.zeros((2, 2, 2, 2))), r"shape \(2, 2, 2, 2\), a 2-D array"),
        (_saved(np.float64(3)), r"shape \(\), a 2-D array"),
        (_saved(np.zeros((0, 4))), "has no rows"),
        (_saved(np.zeros((4, 0))), "has no columns"),
    ],
)
def test_a_file_that_is_no_use_is_told_in_a_sentence(tmp_path, content, words):
    path = tmp_path / "wrong.npy"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"wrong\.npy: .*{words}") as caught:
        load(path)
    assert "\n" not in str(caught.value)
