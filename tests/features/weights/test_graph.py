"""Networks written node by node, run by ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.features.onnx_encoder import open_network
from superpac.features.weights.graph import Graph


def test_nodes_constants_and_several_outputs(tmp_path):
    graph = Graph()
    x = graph.input("x", np.float32, ["n", 4])
    left, right = graph.node("Split", x, outputs=2, axis=1)
    y = graph.node("MatMul", graph.node("Sub", left, right), graph.constant(np.float32([[1], [2]])))
    network = open_network(graph.finish(y, ["n", 1]), tmp_path / "a.onnx")
    found = network.run(None, {"x": np.float32([[5, 6, 1, 2], [0, 0, 1, 1]])})[0]
    assert found.tolist() == [[12.0], [-3.0]]


def test_a_network_that_makes_no_sense_is_not_written():
    graph = Graph()
    x = graph.input("x", np.float32, ["n", 4])
    with pytest.raises(Exception, match="Nonsense"):
        graph.finish(graph.node("Nonsense", x), ["n", 4])
