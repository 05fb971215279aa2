"""Files of PyTorch's without PyTorch: both layouts, strides, and pickles that ask for more."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from superpac.errors import DataError
from superpac.features.weights.torch_file import read_torch
from torch_files import Tensor, stand_in, write


@pytest.fixture
def torch(monkeypatch):
    stand_in(monkeypatch)


@pytest.mark.parametrize("layout", ["zip", "row"])
def test_tensors_come_back_with_their_shapes_and_strides(tmp_path, torch, layout):
    a = np.arange(24, dtype="<f4")
    b = np.array([7, 8, 9], dtype="<i8")
    whole = OrderedDict(
        step=5,
        state=OrderedDict(
            plain=Tensor(a, "0", 0, (2, 3, 4), (12, 4, 1)),
            turned=Tensor(a, "0", 4, (4, 3), (1, 4)),
            count=Tensor(b, "1", 2, (), ()),
            none=Tensor(a, "0", 0, (0, 3), (3, 1)),
        ),
        words=["a", None, 1.5],
    )
    path = tmp_path / "net.pt"
    write(path, whole, {"0": a, "1": b}, layout)
    found = read_torch(path)
    assert list(found) == ["state/plain", "state/turned", "state/count", "state/none"]
    assert (found["state/plain"] == a.reshape(2, 3, 4)).all()
    assert (found["state/turned"] == a[4:16].reshape(3, 4).T).all()
    assert found["state/count"].shape == ()
    assert found["state/count"] == 9
    assert found["state/none"].shape == (0, 3)


@pytest.mark.parametrize("layout", ["zip", "row"])
@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [(20, (2, 3), (3, 1)), (0, (5, 5), (6, 1)), (5, (3,), (-4,)), (-1, (2,), (1,))],
)
def test_a_tensor_that_reaches_beyond_its_numbers_is_refused(
    tmp_path, torch, layout, offset, shape, strides
):
    a = np.arange(24, dtype="<f4")
    path = tmp_path / "net.pt"
    write(path, OrderedDict(w=Tensor(a, "0", offset, shape, strides)), {"0": a}, layout)
    with pytest.raises(DataError, match=r"net\.pt"):
        read_torch(path)


class Evil:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return open, (str(self.target), "w")


@pytest.mark.parametrize("layout", ["zip", "row"])
def test_a_pickle_that_calls_something_else_is_refused_and_not_run(tmp_path, torch, layout):
    target = tmp_path / "made"
    path = tmp_path / "net.pt"
    write(path, OrderedDict(w=Evil(target)), {}, layout)
    with pytest.raises(DataError, match="no tensor"):
        read_torch(path)
    assert not target.exists()


def test_damaged_files_are_one_sentence(tmp_path, torch):
    a = np.arange(24, dtype="<f4")
    path = tmp_path / "net.pt"
    for layout in ("zip", "row"):
        write(path, OrderedDict(w=Tensor(a, "0", 0, (24,), (1,))), {"0": a}, layout)
        whole = path.read_bytes()
        for size in (0, 5, len(whole) // 2, len(whole) - 3):
            path.write_bytes(whole[:size])
            with pytest.raises(DataError, match=r"net\.pt"):
                read_torch(path)
