from __future__ import annotations

import h5py
import numpy as np
import pytest
from scipy import io, sparse

from superpac.data import load
from superpac.errors import DataError

X = np.arange(12, dtype=np.float64).reshape(4, 3)
Y = np.array([1, 1, 2, 2])


def matlab73(path, **arrays):
    """Write as MATLAB does: arrays transposed, a 512-byte preamble before the HDF5 part."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in arrays.items():
            file.create_dataset(name, data=np.asarray(value).T)
        file.create_group("#refs#").create_dataset("a", data=np.eye(5))
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(512))


@pytest.mark.parametrize("names", [("X", "y"), ("fea", "gnd"), ("data", "labels")])
@pytest.mark.parametrize("write", [io.savemat, matlab73])
def test_mat_of_both_kinds(tmp_path, write, names):
    path = tmp_path / "a.mat"
    arrays = {names[0]: X, names[1]: Y[:, None]}
    write(path, arrays) if write is io.savemat else write(path, **arrays)
    data = load(path)
    assert (data.X == X).all()
    assert data.y.tolist() == [0, 0, 1, 1]
    assert data.class_names == ("1", "2")


@pytest.mark.parametrize("write", [lambda p, **a: io.savemat(p, a), matlab73])
def test_mat_with_points_as_columns_is_turned_by_its_labels(tmp_path, write):
    write(tmp_path / "a.mat", X=X.T, y=Y[None, :])
    assert (load(tmp_path / "a.mat").X == X).all()


def test_mat_sparse_and_struct(tmp_path):
    io.savemat(tmp_path / "s.mat", {"X": sparse.csc_matrix(X)})
    assert (load(tmp_path / "s.mat").X == X).all()
    io.savemat(tmp_path / "t.mat", {"X": {"field": X}})
    with pytest.raises(DataError, match=r"t\.mat.*only numbers"):
        load(tmp_path / "t.mat")


def test_hdf5_with_all_its_datasets(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X.astype(">f4")
        file["y"] = np.array(["b", "a", "a", "b"], dtype=object)
        file["ids"] = np.array(["k", "l", "m", "n"], dtype=object)
        file["image_shape"] = [1, 3]
    data = load(path)
    assert data.y.tolist() == [1, 0, 0, 1]
    assert data.class_names == ("a", "b")
    assert data.ids.tolist() == ["k", "l", "m", "n"]
    assert data.image_shape == (1, 3)
    assert (data.X == X).all()


def test_hdf5_single_matrix_in_a_group_and_labels_by_name(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/points"] = X
        file["group/truth"] = Y
    data = load(tmp_path / "a.h5", labels="group/truth")
    assert (data.X == X).all()
    assert data.y.tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match="group/points, group/truth"):
        load(tmp_path / "a.h5", labels="truth")


def test_hdf5_reads_no_other_file(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = X
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["X"] = h5py.ExternalLink("secret.h5", "X")
    layout = h5py.VirtualLayout(X.shape, X.dtype)
    layout[...] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "X", X.shape)
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        file.create_virtual_dataset("X", layout)
    (tmp_path / "raw.bin").write_bytes(X.tobytes())
    with h5py.File(tmp_path / "external.h5", "w") as file:
        raw = [(str(tmp_path / "raw.bin"), 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("X", X.shape, X.dtype, external=raw)
    for name in ("link.h5", "virtual.h5", "external.h5"):
        with pytest.raises(DataError, match=name):
            load(tmp_path / name)


def test_hdf5_that_claims_a_terabyte_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("X", (10**7, 10**5), dtype="f8", chunks=(1000, 1000))
    with pytest.raises(DataError, match=r"8\.0 TB of memory"):
        load(tmp_path / "a.h5")
