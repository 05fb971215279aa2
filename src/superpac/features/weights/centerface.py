"""CenterFace: where faces are in a photo, with the eyes, the nose and the mouth of each.

Y. Xu, W. Yan, G. Yang, J. Luo, T. Li and J. He, "CenterFace: Joint Face Detection and Alignment
Using Face as Point", Scientific Programming 2020.
"""

from __future__ import annotations

from typing import Any

STRIDE = 4
"""Pixels of the photo, each way, for one place of the network's maps."""

MULTIPLE = 32
"""What height and width of a photo must be multiples of."""

# as published and as they are called here, with the numbers that a map has for each place
_OUTPUTS = {"537": ("heat", 1), "538": ("sizes", 2), "539": ("shifts", 2), "540": ("points", 10)}
_INPUT, _PHOTOS = "input.1", "photos"


def build(published: bytes) -> bytes:
    """Write the network, published in ONNX for ten photos of 32 x 32, for photos of any size."""
    import onnx

    model = onnx.load_from_string(published)
    graph = model.graph
    new_names = {_INPUT: _PHOTOS, **{old: new for old, (new, _) in _OUTPUTS.items()}}
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [new_names.get(name, name) for name in names]
    # weights stood among the inputs too, where a caller could have changed them
    photos = next(given for given in graph.input if given.name == _INPUT)
    del graph.input[:], graph.value_info[:]
    graph.input.append(_with_axes(photos, _PHOTOS, ["n", 3, "height", "width"]))
    for output in graph.output:
        new, count = _OUTPUTS[output.name]
        _with_axes(output, new, ["n", count, "rows", "columns"])
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def _with_axes(value: Any, name: str, axes: list[int | str]) -> Any:
    """The same input or output under another name, with axes of these lengths or names."""
    value.name = name
    for axis, length in zip(value.type.tensor_type.shape.dim, axes, strict=True):
        if isinstance(length, str):
            axis.dim_param = length
        else:
            axis.dim_value = length
    return value
