"""EfficientNet-Lite0 in ONNX, against the same network in plain NumPy with the real weights."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.features.models import MODELS, _folder
from superpac.features.onnx_encoder import open_network
from superpac.features.weights.efficientnet_lite0 import build
from superpac.features.weights.torch_file import read_torch


@pytest.fixture(scope="module")
def weights():
    model = MODELS["image"]
    return read_torch(_folder(model) / next(iter(model.files)))


def padded(x, kernel, stride):
    """As TensorFlow's "same": what is odd goes to the right and the bottom."""
    size = x.shape[-1]
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    before = total // 2
    return np.pad(x, ((0, 0), (before, total - before), (before, total - before)))


def convolve(x, kernel, stride):
    """Channels first; a kernel of one input channel is applied to each channel by itself."""
    side = kernel.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(
        padded(x, side, stride), (side, side), (1, 2)
    )
    windows = windows[:, ::stride, ::stride]
    if kernel.shape[1] == 1:
        return np.einsum("cijkl,ckl->cij", windows, kernel[:, 0])
    return np.tensordot(kernel, windows, axes=([1, 2, 3], [0, 3, 4]))


def plain(w, x):
    """The network as its paper draws it, normalisation by itself, one photo at a time."""

    def layer(x, conv, norm, stride=1, active=True):
        x = convolve(x, w[f"{conv}.weight"].astype(np.float64), stride)
        mean, var, scale, shift = (
            w[f"{norm}.{part}"].astype(np.float64)[:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        x = (x - mean) / np.sqrt(var + 0.001) * scale + shift
        return np.clip(x, 0, 6) if active else x

    x = layer(x, "_conv_stem", "_bn0", 2)
    halved = {1, 3, 5, 11}
    for k in range(16):
        before, at = x, f"_blocks.{k}"
        if f"{at}._expand_conv.weight" in w:
            x = layer(x, f"{at}._expand_conv", f"{at}._bn0")
        x = layer(x, f"{at}._depthwise_conv", f"{at}._bn1", 2 if k in halved else 1)
        x = layer(x, f"{at}._project_conv", f"{at}._bn2", active=False)
        if x.shape == before.shape:
            x = x + before
    return layer(x, "_conv_head", "_bn1").mean(axis=(1, 2))


def test_the_network_gives_what_the_plain_one_gives(weights, tmp_path):
    rng = np.random.default_rng(7)
    smooth = rng.normal(size=(1, 3, 8, 8)).repeat(28, axis=2).repeat(28, axis=3)
    photo = (smooth * 0.6).clip(-1, 1).astype(np.float32)
    network = open_network(build(weights), tmp_path / "lite0.onnx")
    (vector,) = network.run(None, {"photos": photo})[0]
    expected = plain(weights, photo[0].astype(np.float64))
    assert vector.shape == (1280,)
    np.testing.assert_allclose(vector, expected, atol=2e-4 * expected.max())
