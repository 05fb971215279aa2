"""The voice network in ONNX, against the same network in plain NumPy; weights are drawn."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from superpac.features.onnx_encoder import open_network
from superpac.features.weights.voice_encoder import CHANNELS, DIMENSION, FRAMES, build


def drawn(seed=0):
    """Weights with the names and shapes that are published."""
    rng = np.random.default_rng(seed)

    def some(*shape):
        return (rng.normal(size=shape) * 0.08).astype(np.float32)

    w = {"linear.weight": some(DIMENSION, DIMENSION), "linear.bias": some(DIMENSION)}
    for k in range(3):
        w[f"lstm.weight_ih_l{k}"] = some(4 * DIMENSION, CHANNELS if k == 0 else DIMENSION)
        w[f"lstm.weight_hh_l{k}"] = some(4 * DIMENSION, DIMENSION)
        w[f"lstm.bias_ih_l{k}"] = some(4 * DIMENSION)
        w[f"lstm.bias_hh_l{k}"] = some(4 * DIMENSION)
    return {f"model_state/{name}": values for name, values in w.items()}


def plain(weights, x):
    """One piece, step by step, gates in PyTorch's order: input, forget, cell, output."""
    w = {name.partition("/")[2]: values.astype(np.float64) for name, values in weights.items()}
    for k in range(3):
        state, cell, states = np.zeros(DIMENSION), np.zeros(DIMENSION), []
        for row in x:
            gates = w[f"lstm.weight_ih_l{k}"] @ row + w[f"lstm.bias_ih_l{k}"]
            gates += w[f"lstm.weight_hh_l{k}"] @ state + w[f"lstm.bias_hh_l{k}"]
            i, f, g, o = np.split(gates, 4)
            cell = expit(f) * cell + expit(i) * np.tanh(g)
            state = expit(o) * np.tanh(cell)
            states.append(state)
        x = np.array(states)
    found = np.maximum(w["linear.weight"] @ state + w["linear.bias"], 0)
    return found / np.linalg.norm(found)


def test_the_network_gives_what_the_plain_one_gives(tmp_path):
    weights = drawn()
    mels = np.random.default_rng(1).random((2, FRAMES, CHANNELS)).astype(np.float32)
    network = open_network(build(weights), tmp_path / "voice.onnx")
    found = network.run(None, {"mels": mels})[0]
    np.testing.assert_allclose(found, [plain(weights, x) for x in mels], atol=1e-5)
