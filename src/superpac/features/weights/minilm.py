"""all-MiniLM-L6-v2: 384 numbers from a sentence, its words' vectors averaged, of unit length.

A BERT of six layers: J. Devlin and others, "BERT: Pre-training of Deep Bidirectional Transformers
for Language Understanding", NAACL 2019; W. Wang and others, "MiniLM", NeurIPS 2020; N. Reimers and
I. Gurevych, "Sentence-BERT", EMNLP 2019.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from superpac.features.weights.graph import Graph

DIMENSION = 384
LONGEST = 256
"""Tokens of a text that are read; the network was trained on fewer."""

_HEADS = 12
_EPSILON = 1e-12
_NEVER = np.float32(-1e9)  # added to the weight of padding, before weights become shares


def build(weights: Mapping[str, NDArray]) -> bytes:
    """Write the network in ONNX from its weights as published in safetensors."""
    graph = Graph()
    ids = graph.input("ids", np.int64, ["n", "length"])
    mask = graph.input("mask", np.int64, ["n", "length"])
    layers = 1 + max(int(k.split(".")[2]) for k in weights if k.startswith("encoder.layer."))

    def integers(*values: int) -> str:
        return graph.constant(np.array(values, dtype=np.int64))

    def number(value: float) -> str:
        return graph.constant(np.array(value, dtype=np.float32))

    def linear(x: str, name: str, scale: float = 1.0) -> str:
        """Weights are stored turned; a factor on the result goes into them."""
        matrix = (weights[f"{name}.weight"].T * np.float32(scale)).astype(np.float32)
        shift = (weights[f"{name}.bias"] * np.float32(scale)).astype(np.float32)
        return graph.node(
            "Add", graph.node("MatMul", x, graph.constant(matrix)), graph.constant(shift)
        )

    def normalise(x: str, name: str) -> str:
        scale, shift = (graph.constant(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return graph.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)

    def heads(x: str, order: list[int]) -> str:
        """Split each token's vector among the heads."""
        apart = graph.node("Reshape", x, integers(0, 0, _HEADS, DIMENSION // _HEADS))
        return graph.node("Transpose", apart, perm=order)

    # every token is of the first sentence, so that sentence's vector is added to each place
    places = weights["embeddings.position_embeddings.weight"]
    places = places + weights["embeddings.token_type_embeddings.weight"][:1]
    length = graph.node("Slice", graph.node("Shape", ids), integers(1), integers(2))
    used = graph.node("Slice", graph.constant(places), integers(0), length, integers(0))
    words = graph.constant(weights["embeddings.word_embeddings.weight"])
    x = graph.node("Add", graph.node("Gather", words, ids), used)
    x = normalise(x, "embeddings.LayerNorm")

    shares = graph.node("Cast", mask, to=1)
    absent = graph.node("Mul", graph.node("Sub", number(1), shares), number(float(_NEVER)))
    absent = graph.node("Unsqueeze", absent, integers(1, 2))
    for k in range(layers):
        at = f"encoder.layer.{k}"
        own = f"{at}.attention.self"
        query = heads(linear(x, f"{own}.query", 1 / math.sqrt(DIMENSION / _HEADS)), [0, 2, 1, 3])
        key = heads(linear(x, f"{own}.key"), [0, 2, 3, 1])
        value = heads(linear(x, f"{own}.value"), [0, 2, 1, 3])
        scores = graph.node("Add", graph.node("MatMul", query, key), absent)
        seen = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)
        seen = graph.node("Transpose", seen, perm=[0, 2, 1, 3])
        seen = graph.node("Reshape", seen, integers(0, 0, DIMENSION))
        x = graph.node("Add", x, linear(seen, f"{at}.attention.output.dense"))
        x = normalise(x, f"{at}.attention.output.LayerNorm")
        y = linear(x, f"{at}.intermediate.dense")
        # Gaussian error linear unit: y times the share of a normal distribution below y
        bell = graph.node("Erf", graph.node("Div", y, number(math.sqrt(2))))
        y = graph.node("Mul", graph.node("Mul", y, number(0.5)), graph.node("Add", bell, number(1)))
        x = graph.node("Add", x, linear(y, f"{at}.output.dense"))
        x = normalise(x, f"{at}.output.LayerNorm")
    shares = graph.node("Unsqueeze", shares, integers(2))
    total = graph.node("ReduceSum", graph.node("Mul", x, shares), integers(1), keepdims=0)
    mean = graph.node("Div", total, graph.node("ReduceSum", shares, integers(1), keepdims=0))
    return graph.finish(graph.node("LpNormalization", mean, axis=1, p=2), ["n", DIMENSION])
