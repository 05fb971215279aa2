"""Files in the safetensors layout, written here as its definition says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from superpac.errors import DataError
from superpac.features.weights.safetensors_file import read_safetensors


def write(path, header, values):
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + values)


def test_tensors_come_back(tmp_path):
    a = np.arange(6, dtype="<f4").reshape(2, 3)
    b = np.array([1, 2], dtype="<i8")
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [2], "data_offsets": [24, 40]},
    }
    write(tmp_path / "a.safetensors", header, a.tobytes() + b.tobytes())
    found = read_safetensors(tmp_path / "a.safetensors")
    assert list(found) == ["a", "b"]
    assert (found["a"] == a).all()
    assert (found["b"] == b).all()


@pytest.mark.parametrize(
    "fact",
    [
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 28]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
        {"dtype": "F32", "shape": [3], "data_offsets": [24, 12]},
        {"dtype": "F99", "shape": [2, 3], "data_offsets": [0, 24]},
        {"shape": [2, 3]},
        5,
    ],
)
def test_places_that_do_not_fit_are_refused(tmp_path, fact):
    write(tmp_path / "a.safetensors", {"a": fact}, bytes(24))
    with pytest.raises(DataError, match=r"a\.safetensors"):
        read_safetensors(tmp_path / "a.safetensors")


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 8, (2**40).to_bytes(8, "little")])
def test_what_is_no_such_file_is_refused(tmp_path, content):
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.safetensors"):
        read_safetensors(tmp_path / "a.safetensors")
