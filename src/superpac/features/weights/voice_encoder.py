"""Resemblyzer's voice encoder: 256 numbers from 1.6 seconds of speech, who is speaking.

Three LSTM layers, of which the last state is taken: L. Wan, Q. Wang, A. Papir and I. Lopez Moreno,
"Generalized End-to-End Loss for Speaker Verification", ICASSP 2018.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from superpac.features.weights.graph import Graph

DIMENSION = 256
CHANNELS = 40
FRAMES = 160

_LAYERS = 3
_BEFORE = "model_state/"


def build(weights: Mapping[str, NDArray]) -> bytes:
    """Write the network in ONNX from its weights as published for PyTorch."""
    graph = Graph()
    x = graph.input("mels", np.float32, ["n", FRAMES, CHANNELS])
    x = graph.node("Transpose", x, perm=[1, 0, 2])  # time first
    for k in range(_LAYERS):
        inner, outer, shift_in, shift_out = (
            _gates(weights[f"{_BEFORE}lstm.{part}_l{k}"])
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        over_time, last, _ = graph.node(
            "LSTM",
            x,
            graph.constant(inner[None]),
            graph.constant(outer[None]),
            graph.constant(np.concatenate([shift_in, shift_out])[None]),
            outputs=3,
            hidden_size=DIMENSION,
        )
        one_way = graph.constant(np.array([1], dtype=np.int64))
        x = graph.node("Squeeze", over_time, one_way)
    state = graph.node("Squeeze", last, graph.constant(np.array([0], dtype=np.int64)))
    matrix = graph.constant(weights[f"{_BEFORE}linear.weight"].T)
    x = graph.node("MatMul", state, matrix)
    x = graph.node("Add", x, graph.constant(weights[f"{_BEFORE}linear.bias"]))
    x = graph.node("LpNormalization", graph.node("Relu", x), axis=1, p=2)
    return graph.finish(x, ["n", DIMENSION])


def _gates(values: NDArray) -> NDArray:
    """Gates in ONNX's order - input, output, forget, cell - from input, forget, cell, output."""
    into, forget, cell, out = np.split(values, 4)
    return np.concatenate([into, out, forget, cell])
