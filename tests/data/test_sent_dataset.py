"""What goes to another process of this machine: mapped points are mapped again there, not sent."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from superpac.data import Dataset, load
from superpac.data.mapped_files import is_mapped
from superpac.data.sent_dataset import SentDataset
from superpac.errors import DataError, NotFoundError

X = np.arange(6000, dtype=np.float32).reshape(1000, 6)


def sent(data: Dataset) -> bytes:
    return pickle.dumps(SentDataset(data))


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "points.npy", X)
    return tmp_path / "points.npy"


@pytest.mark.parametrize("rows", [slice(None), slice(300, 900)])
def test_mapped_points_are_mapped_again(path, rows):
    data = load(np.load(path, mmap_mode="r")[rows])
    pickled = sent(data)
    assert len(pickled) < len(pickle.dumps(data)) - data.X.nbytes // 2
    there = pickle.loads(pickled).open()
    assert is_mapped(there.X)
    assert not there.X.flags.writeable
    assert (X[rows] == there.X).all()
    assert there.ids.tolist() == data.ids.tolist()
    assert there.fingerprint == data.fingerprint


def test_points_in_memory_go_along(path):
    data = load(X, labels=[k % 3 for k in range(1000)])
    there = pickle.loads(sent(data)).open()
    assert (X == there.X).all()
    assert there.y.tolist() == data.y.tolist()


def test_a_file_that_was_changed_or_is_gone_is_told_in_a_sentence(path):
    pickled = sent(load(np.load(path, mmap_mode="r")))
    other = X.copy()
    other[700, 2] = -1
    path.unlink()  # mapped as it was by whoever has it
    np.save(path, other)
    with pytest.raises(DataError, match=r"points\.npy: holds other values than when it was opened"):
        pickle.loads(pickled).open()
    np.save(path, other[:10])
    with pytest.raises(DataError, match=r"points\.npy: ") as caught:
        pickle.loads(pickled).open()
    assert "\n" not in str(caught.value)
    path.unlink()
    with pytest.raises(NotFoundError, match=r"points\.npy: there is no such file"):
        pickle.loads(pickled).open()
