"""dlib's face network: 128 numbers from a face of 150 x 150 pixels, who it is.

Twenty-nine convolutions in residual blocks, a smaller version of K. He, X. Zhang, S. Ren and
J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016; trained by D. E. King, who put
the weights into the public domain.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from superpac.features.weights.graph import Graph

DIMENSION = 128
SIZE = 150

_BEFORE = 32  # filters of the first layer
# filters of a block, and whether it halves height and width, from the first block to the last
_BLOCKS = (
    *((32, False),) * 3,
    *((64, True), (64, False), (64, False), (64, False)),
    *((128, True), (128, False), (128, False)),
    *((256, True), (256, False), (256, False)),
    (256, True),
)
_MEAN = (122.782, 117.001, 104.298)


def build(weights: Mapping[str, NDArray]) -> bytes:
    """Write the network in ONNX from its weights as dlib keeps them; it takes pixels 0 to 255."""
    graph = Graph()
    layers = _Layers(graph, weights)
    x = graph.input("faces", np.float32, ["n", 3, SIZE, SIZE])
    mean = graph.constant(np.array(_MEAN, dtype=np.float32).reshape(1, 3, 1, 1))
    x = graph.node(
        "Div", graph.node("Sub", x, mean), graph.constant(np.array(256, dtype=np.float32))
    )
    x = graph.node("Relu", layers.convolve(x, 3, _BEFORE, size=7, stride=2, pad=0))
    x = graph.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    side, filters = 35, _BEFORE
    for wider, halves in _BLOCKS:
        if halves:
            inner = layers.convolve(x, filters, wider, size=3, stride=2, pad=0)
            past = graph.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
            ours, side = (side - 3) // 2 + 1, side // 2
        else:
            inner, past, ours = layers.convolve(x, filters, wider, size=3, stride=1, pad=1), x, side
        inner = layers.convolve(graph.node("Relu", inner), wider, wider, size=3, stride=1, pad=1)
        # what is narrower or has fewer channels counts as zero there
        inner = layers.widen(inner, 0, side - ours)
        past = layers.widen(past, wider - filters, 0)
        x = graph.node("Relu", graph.node("Add", inner, past))
        filters = wider
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    matrix = graph.constant(weights["fc_2.0"].reshape(filters, DIMENSION))
    return graph.finish(graph.node("MatMul", x, matrix), ["n", DIMENSION])


class _Layers:
    """Layers with weights, each taking the next of those that are left."""

    def __init__(self, graph: Graph, weights: Mapping[str, NDArray]) -> None:
        self._graph, self._weights, self._used = graph, weights, 0

    def convolve(self, x: str, before: int, after: int, *, size: int, stride: int, pad: int) -> str:
        """Convolve, with the scaling that follows put into the filters."""
        numbers = self._weights[f"con_4.{self._used}"]
        scale, shift = self._weights[f"affine_.{self._used}"].reshape(2, after)
        self._used += 1
        filters = numbers[:-after].reshape(after, before, size, size)
        return self._graph.node(
            "Conv",
            x,
            self._graph.constant(filters * scale[:, None, None, None]),
            self._graph.constant(numbers[-after:] * scale + shift),
            kernel_shape=[size, size],
            strides=[stride, stride],
            pads=[pad] * 4,
        )

    def widen(self, x: str, channels: int, sides: int) -> str:
        """Put zeros behind the last channel, row and column."""
        if not channels and not sides:
            return x
        pads = np.array([0, 0, 0, 0, 0, channels, sides, sides], dtype=np.int64)
        return self._graph.node("Pad", x, self._graph.constant(pads))
