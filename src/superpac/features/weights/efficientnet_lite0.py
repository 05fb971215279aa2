"""EfficientNet-Lite0 before its classifier: 1,280 numbers from a photo of 224 x 224.

M. Tan and Q. V. Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
ICML 2019; the Lite variant has no squeeze-and-excitation, and ReLU6 for swish.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from superpac.features.weights.graph import Graph

DIMENSION = 1280
SIDE = 224

# repeats, kernel, stride of the first, expansion, channels out
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_EPSILON = 1e-3


def build(weights: Mapping[str, NDArray]) -> bytes:
    """Write the network in ONNX from its weights as published for PyTorch."""
    graph = Graph()
    x = graph.input("photos", np.float32, ["n", 3, SIDE, SIDE])

    def convolve(x: str, name: str, norm: str, stride: int = 1, active: bool = True) -> str:
        """Convolution with the normalisation after it folded into its weights, and ReLU6."""
        kernel = weights[f"{name}.weight"].astype(np.float64)
        spread = np.sqrt(weights[f"{norm}.running_var"].astype(np.float64) + _EPSILON)
        factor = weights[f"{norm}.weight"] / spread
        shift = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * factor
        y = graph.node(
            "Conv",
            x,
            graph.constant((kernel * factor[:, None, None, None]).astype(np.float32)),
            graph.constant(shift.astype(np.float32)),
            kernel_shape=list(kernel.shape[2:]),
            strides=[stride, stride],
            group=len(kernel) if "depthwise" in name else 1,
            auto_pad="SAME_UPPER",  # as TensorFlow pads, where the weights come from
        )
        return graph.node("Clip", y, zero, six) if active else y

    zero, six = (graph.constant(np.array(v, dtype=np.float32)) for v in (0.0, 6.0))
    x = convolve(x, "_conv_stem", "_bn0", stride=2)
    number = 0
    for repeats, _, first_stride, expansion, _ in _STAGES:
        for k in range(repeats):
            stride = first_stride if k == 0 else 1
            block, y = f"_blocks.{number}", x
            if expansion > 1:
                y = convolve(y, f"{block}._expand_conv", f"{block}._bn0")
            y = convolve(y, f"{block}._depthwise_conv", f"{block}._bn1", stride)
            y = convolve(y, f"{block}._project_conv", f"{block}._bn2", active=False)
            x = graph.node("Add", x, y) if k else y  # the first of a stage changes the shape
            number += 1
    x = convolve(x, "_conv_head", "_bn1")
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph.finish(x, ["n", DIMENSION])
