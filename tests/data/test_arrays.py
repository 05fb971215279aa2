from __future__ import annotations

import io
import os
import pickle
import zipfile

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io

from superpac.data import load
from superpac.data.limits import SETTING
from superpac.errors import DataError, NotFoundError

X = np.arange(12, dtype=np.float32).reshape(4, 3)


class Payload:
    """Unpickling this creates a folder: proof that code was run."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("dtype", ["<f2", ">f8", ">i4", "u1", "?", "f4"])
def test_npy_keeps_its_type_in_native_order(tmp_path, dtype):
    np.save(tmp_path / "a.npy", X.astype(dtype))
    data = load(tmp_path / "a.npy")
    assert np.array_equal(data.X, X.astype(dtype))
    assert data.X.dtype.isnative
    assert data.name == "a"


def test_npz_with_all_its_keys(tmp_path):
    path = tmp_path / "b.npz"
    np.savez(
        path,
        X=np.arange(24, dtype=np.uint8).reshape(4, 6),
        y=[5, 5, 7, 7],
        ids=["p", "q", "r", "s"],
        image_shape=[2, 3],
        bad=np.array([True, False, False, True]),
        note=np.array("free text"),
    )
    data = load(path)
    assert data.image_shape == (2, 3)
    assert data.ids.tolist() == ["p", "q", "r", "s"]
    assert data.y.tolist() == [0, 0, 1, 1]
    assert data.class_names == ("5", "7")
    assert list(data.extras) == ["bad"]


def test_npz_with_one_matrix_or_a_named_label_array(tmp_path):
    np.savez(tmp_path / "c.npz", points=X, truth=[1, 2, 1, 2])
    data = load(tmp_path / "c.npz", labels="truth")
    assert data.y.tolist() == [0, 1, 0, 1]
    assert (data.X == X).all()
    with pytest.raises(DataError, match="no array 'nope' .*points, truth"):
        load(tmp_path / "c.npz", labels="nope")


def test_npz_with_two_matrices_asks_which(tmp_path):
    np.savez(tmp_path / "d.npz", first=X, second=X)
    with pytest.raises(DataError, match=r"d\.npz: .*first \(4, 3\), second"):
        load(tmp_path / "d.npz")


def test_pickles_are_never_run(tmp_path):
    mark = tmp_path / "executed"
    pickled = pickle.dumps(Payload(mark))
    pickle.loads(pickled)
    assert mark.is_dir(), "the payload must work where it is unpickled"
    mark.rmdir()

    poison = np.empty((3, 2), dtype=object)
    poison[:] = [[Payload(mark), 1]] * 3
    np.save(tmp_path / "a.npy", poison, allow_pickle=True)
    np.savez(tmp_path / "b.npz", X=poison)
    np.savez(tmp_path / "c.npz", X=X, y=poison[:, 0].repeat(2)[:4])
    np.savez(tmp_path / "d.npz", X=X, ids=poison[:, 0].repeat(2)[:4])
    (tmp_path / "e.npy").write_bytes(pickled)
    (tmp_path / "f.npz").write_bytes(pickled)
    with h5py.File(tmp_path / "g.h5", "w") as file:
        file["X"] = np.array([[np.void(pickled)] * 2] * 3)
    frame = pd.DataFrame({"a": [pickled, pickled], "b": [1, 2]})
    frame.to_parquet(tmp_path / "h.parquet")
    scipy_io.savemat(tmp_path / "i.mat", {"X": np.frombuffer(pickled, np.uint8).astype("S1")})
    frame.to_pickle(tmp_path / "j.csv")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(DataError, match=path.name):
            load(path)
        assert not mark.exists(), path
    np.savez(tmp_path / "k.npz", X=X, other=poison)
    assert (load(tmp_path / "k.npz").X == X).all()
    assert not mark.exists()


def test_a_header_that_claims_more_than_is_there(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)}
    )
    (tmp_path / "a.npy").write_bytes(buffer.getvalue() + b"\0" * 64)
    with pytest.raises(DataError, match="8,000,000,000,000 bytes of values .* 64 are there"):
        load(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", X)
    whole = (tmp_path / "b.npy").read_bytes()
    (tmp_path / "b.npy").write_bytes(whole[:-5])
    with pytest.raises(DataError, match="cut off"):
        load(tmp_path / "b.npy")


def test_a_zip_bomb_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setenv(SETTING, "4 MB")
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((2**13, 2**10), dtype=np.uint8))
    assert (tmp_path / "a.npz").stat().st_size < 2**15
    with pytest.raises(DataError, match=r"10\.0 MB of memory, at most 4\.0 MB are read"):
        load(tmp_path / "a.npz")


def test_an_archive_whose_header_lies_or_whose_names_lead_out(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (10 * 2**20, 2**10)}
    )
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(2**20))
    with pytest.raises(DataError, match="cut off"):
        load(tmp_path / "a.npz")
    whole = io.BytesIO()
    np.save(whole, X)
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("../../escape.npy", whole.getvalue())
    assert (load(tmp_path / "b.npz").X == X).all()
    assert not (tmp_path.parent.parent / "escape.npy").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npy", b"hello, this is text\n"),
        ("a.npz", b"hello, this is text\n"),
        ("a.mat", b"hello, this is text\n" * 20),
        ("a.h5", b"hello, this is text\n"),
        ("a.parquet", b"hello, this is text\n"),
        ("a.csv", b"\x93NUMPY\x01\x00\x00\x00"),
        ("a.docx", b"PK\x03\x04"),
        ("a.png", b"\x89PNG"),
        *((f"empty{s}", b"") for s in (".npy", ".npz", ".csv", ".parquet", ".mat", ".h5")),
    ],
)
def test_wrong_or_empty_files_are_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name) as caught:
        load(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_missing_files_and_misspelt_names():
    with pytest.raises(NotFoundError, match=r"nowhere/a\.npy"):
        load("nowhere/a.npy")
    with pytest.raises(NotFoundError, match="did you mean 'yaleb'"):
        load("yale")
    with pytest.raises(NotFoundError):
        load("a\0b")
    with pytest.raises(NotFoundError):
        load("x" * 5000)


def test_nan_in_a_file_names_file_row_and_column(tmp_path):
    bad = X.copy()
    bad[2, 1] = np.nan
    np.save(tmp_path / "a.npy", bad)
    with pytest.raises(DataError, match=r"a\.npy: row 2, column 1 .*NaN; remove"):
        load(tmp_path / "a.npy")
