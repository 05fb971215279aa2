"""Files in PyTorch's two layouts, written without PyTorch."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from types import ModuleType

NAMES = {"<f4": "FloatStorage", "<i8": "LongStorage", "<f2": "HalfStorage"}


def stand_in(monkeypatch):
    """Put in what a pickle of tensors names: modules with nothing in them but the names."""
    top, utils = ModuleType("torch"), ModuleType("torch._utils")
    for name in NAMES.values():
        setattr(top, name, type(name, (), {"__module__": "torch"}))
    exec("def _rebuild_tensor_v2(*given): pass", utils.__dict__)
    monkeypatch.setitem(sys.modules, "torch", top)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)


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
