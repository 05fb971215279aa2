"""The face network in ONNX, against the same network layer by layer in NumPy; weights are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from drawn_faces import drawn_dlib
from superpac.features.onnx_encoder import open_network
from superpac.features.weights.dlib_face import DIMENSION, SIZE, build
from superpac.features.weights.dlib_file import read_dlib


def windows(x, size, stride, pad=0):
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    found = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))
    return found[:, ::stride, ::stride]


class Plain:
    """As dlib's own example says the network is, one face at a time."""

    def __init__(self, weights):
        self.weights, self.used = weights, 0

    def con(self, x, after, size, stride):
        numbers = self.weights[f"con_4.{self.used}"].astype(np.float64)
        scale, shift = self.weights[f"affine_.{self.used}"].astype(np.float64).reshape(2, after)
        self.used += 1
        filters = numbers[:-after].reshape(after, len(x), size, size)
        # dlib pads a convolution by half its size, unless it takes strides
        seen = windows(x, size, stride, size // 2 if stride == 1 else 0)
        y = np.einsum("chwij,ocij->ohw", seen, filters, optimize=True)
        y += numbers[-after:][:, None, None]
        return y * scale[:, None, None] + shift[:, None, None]

    def block(self, x, after, stride):
        y = np.maximum(self.con(x, after, 3, stride), 0)
        return self.con(y, after, 3, 1)

    def add(self, a, b):
        total = np.zeros(np.maximum(a.shape, b.shape))
        for each in (a, b):
            total[tuple(slice(n) for n in each.shape)] += each
        return np.maximum(total, 0)

    def down(self, x, after):
        y = self.block(x, after, 2)
        return self.add(y, windows(x, 2, 2).mean(axis=(3, 4)))

    def same(self, x, after):
        return self.add(self.block(x, after, 1), x)

    def run(self, face):
        x = (face - np.array([122.782, 117.001, 104.298])[:, None, None]) / 256
        x = windows(np.maximum(self.con(x, 32, 7, 2), 0), 3, 2).max(axis=(3, 4))
        for _ in range(3):
            x = self.same(x, 32)
        for after, repeats in ((64, 3), (128, 2), (256, 2), (256, 0)):
            x = self.down(x, after)
            for _ in range(repeats):
                x = self.same(x, after)
        return x.mean(axis=(1, 2)) @ self.weights["fc_2.0"].astype(np.float64).reshape(256, 128)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "network.dat"
    path.write_bytes(drawn_dlib())
    return read_dlib(path)


def test_the_network_gives_what_the_plain_one_gives(weights, tmp_path):
    faces = np.random.default_rng(1).uniform(0, 255, (2, 3, SIZE, SIZE)).astype(np.float32)
    network = open_network(build(weights), tmp_path / "face.onnx")
    found = network.run(None, {"faces": faces})[0]
    assert found.shape == (2, DIMENSION)
    expected = np.array([Plain(weights).run(face.astype(np.float64)) for face in faces])
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()


def test_all_weights_are_used(weights):
    assert sum(name.startswith("con_4") for name in weights) == 29
    plain = Plain(weights)
    plain.run(np.zeros((3, SIZE, SIZE)))
    assert plain.used == 29
