"""Files of PyTorch's without PyTorch: both layouts, strides, and pickles that ask for more."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from types import ModuleType

import numpy as np
import pytest

from superpac.errors import DataError
from superpac.features.weights.torch_file import read_torch

NAMES = {"<f4": "FloatStorage", "<i8": "LongStorage", "<f2": "HalfStorage"}


@pytest.fixture
def torch(monkeypatch):
    """What a pickle of tensors names: modules with nothing in them but the names."""
    top, utils = ModuleType("torch"), ModuleType("torch._utils")
    for name in NAMES.values():
        setattr(top, name, type(name, (), {"__module__": "torch"}))
    exec("def _rebuild_tensor_v2(*given): pass", utils.__dict__)
    monkeypatch.setitem(sys.modules, "torch", top)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)
    return top


class Tensor:
    """A piece of a storage, as PyTorch pickles it."""

    def __init__(self, storage, key, offset, shape, strides):
        self.storage, self.key = storage, key
        self.place = (offset, shape, strides)

    def __reduce__(self):
        rebuild = sys.modules["torch._utils"]._rebuild_tensor_v2
        return rebuild, (Stored(self.storage, self.key), *self.place, False, OrderedDict())


class Stored:
    def __init__(self, values, key):
        self.values, self.key = values, key


class Writer(pickle.Pickler):
    def persistent_id(self, thing):
        if not isinstance(thing, Stored):
            return None
        kind = getattr(sys.modules["torch"], NAMES[thing.values.dtype.str])
        more = () if self.zipped else (None,)
        return ("storage", kind, thing.key, "cpu", len(thing.values), *more)


def dumped(whole, zipped):
    file = io.BytesIO()
    writer = Writer(file, protocol=2)
    writer.zipped = zipped
    writer.dump(whole)
    return file.getvalue()


def write(path, whole, storages, layout):
    if layout == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("net/data.pkl", dumped(whole, True))
            for key, values in storages.items():
                archive.writestr(f"net/data/{key}", values.tobytes())
        return
    facts = {"protocol_version": 1001, "little_endian": True}
    heads = [pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, facts)]
    body = b"".join(struct.pack("<q", len(v)) + v.tobytes() for v in storages.values())
    keys = pickle.dumps(list(storages), 2)
    path.write_bytes(b"".join(heads) + dumped(whole, False) + keys + body)


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
