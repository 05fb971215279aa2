"""Weights out of a file of dlib: names, order, numbers; damaged files."""

from __future__ import annotations

import numpy as np
import pytest

from drawn_faces import layer, whole
from superpac.errors import DataError
from superpac.features.weights.dlib_file import read_dlib


def test_layers_are_read_in_their_order(tmp_path):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=300), rng.normal(size=7)
    scale, full = rng.normal(size=4), rng.normal(size=6)
    path = tmp_path / "network.dat"
    path.write_bytes(
        whole(1)
        + whole(13)
        + b"loss_metric_2"
        + layer("con_4", first)
        + whole(5)
        + b"relu_"
        + layer("affine_", scale)
        + layer("con_4", second)
        + layer("fc_2", full, 3, 2, sizes=(2, 3, 1, 1))
        + whole(70000)
    )
    found = read_dlib(path)
    assert list(found) == ["con_4.0", "affine_.0", "con_4.1", "fc_2.0"]
    expected = (first, scale, second, full)
    for values, given in zip(found.values(), expected, strict=True):
        np.testing.assert_array_equal(values, given.astype(np.float32))


def test_names_within_numbers_are_no_layers(tmp_path):
    inside = np.frombuffer(b"\x01\x05con_4\x01\x02\x01\x01\x01\x01\x01\x01", dtype="<f4", count=3)
    path = tmp_path / "network.dat"
    path.write_bytes(layer("con_4", inside))
    assert read_dlib(path)["con_4.0"].tobytes() == inside.tobytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a network",
        layer("con_4", np.ones(50))[:-1],
        layer("con_4", np.ones(50))[:9],
        b"\x01\x05con_4" + whole(3) + whole(1) * 4 + bytes(4),
        b"\x01\x05con_4" + whole(2) + whole(2**62) + whole(1) * 3,
        b"\x01\x05con_4\xff\xff\xff",
    ],
)
def test_what_is_another_file_or_cut_off_is_one_sentence(tmp_path, content):
    path = tmp_path / "network.dat"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"network\.dat: not a network of dlib") as caught:
        read_dlib(path)
    assert len(str(caught.value).splitlines()) == 1
