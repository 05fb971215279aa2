"""Writing an ONNX network node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Old enough for every ONNX Runtime of the last years.
_OPSET, _IR = 17, 8


class Graph:
    """A network that is being written; every method gives the name of a value in it.

    Examples
    --------
    >>> graph = Graph()
    >>> x = graph.input("x", np.float32, ["n", 2])
    >>> y = graph.node("Add", x, graph.constant(np.float32([1, 2])))
    >>> len(graph.finish(y, ["n", 2])) > 0
    True
    """

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []

    def input(self, name: str, dtype: Any, shape: list[int | str]) -> str:
        """Declare an input; an axis of any length has a name."""
        from onnx import helper

        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values: NDArray) -> str:
        """Put numbers in, such as weights."""
        from onnx import numpy_helper

        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operation: str, *inputs: str, outputs: int = 1, **settings: Any) -> Any:
        """Apply an operation; gives a list of names where it has several outputs."""
        from onnx import helper

        names = [f"v{len(self._nodes)}_{k}" for k in range(outputs)]
        self._nodes.append(helper.make_node(operation, list(inputs), names, **settings))
        return names[0] if outputs == 1 else names

    def finish(self, output: str, shape: list[int | str]) -> bytes:
        """Give the whole network with one output of floats, checked, as an ONNX file holds it."""
        import onnx
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [output], ["vectors"]))
        info = helper.make_tensor_value_info("vectors", onnx.TensorProto.FLOAT, shape)
        graph = helper.make_graph(
            self._nodes, "superpac", self._inputs, [info], initializer=self._constants
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR
        )
        onnx.checker.check_model(model)
        return model.SerializeToString()
