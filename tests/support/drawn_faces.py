"""Photos of drawn faces, and small networks that find them: real ONNX, as others publish it.

A drawn face has a dot of 4 x 4 pixels in its middle, red and blue at their most. The network that
is written here finds that dot; its green says how wide the face is, so that tests decide what is
found.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from drawn_models import install

NARROWEST, FACTOR = 16, 8  # width of a face whose dot has no green, and times as wide at 100
TALL = 1.25
# eyes, nose, corners of the mouth, across and down, in widths and heights of the box
MARKS = ((0.3, 0.4), (0.7, 0.4), (0.5, 0.5), (0.33, 0.78), (0.67, 0.78))


def width_of(green: int) -> float:
    """Width of the face that the network finds at a dot."""
    return NARROWEST * FACTOR ** (green / 100)


def green_of(width: float) -> int:
    """Green of the dot of a face as wide as this, about."""
    return round(100 * np.log(width / NARROWEST) / np.log(FACTOR))


def published_finder() -> bytes:
    """A network with the inputs and outputs of CenterFace as it is published."""
    import onnx
    from onnx import helper, numpy_helper

    def kernel(*rows: tuple[float, float, float]) -> np.ndarray:
        return np.tile(np.array(rows, dtype=np.float32)[:, :, None, None] / 16, (1, 1, 4, 4))

    step = float(np.log(FACTOR) / 100)
    begin = [float(np.log(side * NARROWEST / 4)) for side in (TALL, 1.0)]
    points = [value for x, y in MARKS for value in (y, x)]
    layers = {
        "537": (kernel((0.1, -0.2, 0.1)), [-12.0]),
        "538": (kernel((0, step, 0), (0, step, 0)), begin),
        "539": (kernel((0, 0, 0), (0, 0, 0)), [0.0, 0.0]),
        "540": (kernel(*[(0, 0, 0)] * 10), points),
    }
    nodes, weights, inputs, outputs = [], [], [_value("input.1", [10, 3, 32, 32])], []
    for name, (filters, shift) in layers.items():
        for part, values in (("weight", filters), ("bias", np.array(shift, dtype=np.float32))):
            weights.append(numpy_helper.from_array(values, f"{name}.{part}"))
            inputs.append(_value(f"{name}.{part}", list(values.shape)))
        out = "before" if name == "537" else name
        given = ["input.1", f"{name}.weight", f"{name}.bias"]
        nodes.append(helper.make_node("Conv", given, [out], kernel_shape=[4, 4], strides=[4, 4]))
        outputs.append(_value(name, [10, len(shift), 8, 8]))
    nodes.append(helper.make_node("Sigmoid", ["before"], ["537"]))
    graph = helper.make_graph(nodes, "finder", inputs, outputs, initializer=weights)
    opset = [helper.make_opsetid("", 9)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=4)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _value(name: str, shape: list[int]):
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def whole(value: int) -> bytes:
    """A whole number as dlib writes it."""
    size = max(1, (value.bit_length() + 7) // 8)
    return bytes([size]) + value.to_bytes(size, "little")


def layer(name: str, values: np.ndarray, *before: int, sizes: Sequence[int] = ()) -> bytes:
    """A layer with weights as dlib writes it: its name, whole numbers, and a tensor."""
    shape = list(sizes) or [values.size, 1, 1, 1]
    head = whole(len(name)) + name.encode() + b"".join(map(whole, before))
    tensor = whole(2) + b"".join(map(whole, shape)) + values.astype("<f4").tobytes()
    return head + tensor


def drawn_dlib(seed: int = 0) -> bytes:
    """The file of a network as dlib saves its face network, with weights drawn by chance."""
    from superpac.features.weights.dlib_face import _BLOCKS

    rng = np.random.default_rng(seed)
    parts, before = [whole(1) + whole(13) + b"loss_metric_2"], 3
    sizes = [(32, 7), *((wider, 3) for wider, _ in _BLOCKS for _ in range(2))]
    for after, side in sizes:
        inner = before * side * side
        filters = rng.normal(size=(after, inner)) * np.sqrt(1.5 / inner)
        shift = rng.normal(size=after) * 0.05
        parts.append(layer("con_4", np.concatenate([filters.ravel(), shift])))
        scale = rng.uniform(0.8, 1.2, size=after)
        parts.append(layer("affine_", np.concatenate([scale, rng.normal(size=after) * 0.05])))
        before = after
    full = rng.normal(size=(before, 128)) * 0.2
    parts.append(layer("fc_2", full, 128, before, sizes=(before, 128, 1, 1)))
    return b"".join(parts)


def install_faces(monkeypatch, folder: Path) -> None:
    """Put both networks where Python finds their packages."""
    install(monkeypatch, folder / "finder", "face-finder", {"centerface.onnx": published_finder()})
    install(monkeypatch, folder / "network", "face", {"models/network.dat": drawn_dlib()})


def draw_face(photo: Image.Image, middle: tuple[int, int], width: int, who: int) -> None:
    """Draw a face that the network finds; its person is told by colours and by stripes."""
    rng = np.random.default_rng(who)
    skin = tuple(int(v) for v in (*rng.integers(150, 230, 1), *rng.integers(110, 170, 2)))
    hair = tuple(int(v) for v in rng.integers(0, 90, 3))
    # the dot fills one place of the network's maps
    x, y = (4 * (side // 4) for side in middle)
    left, top, high = x + 2 - width / 2, y + 2 - TALL * width / 2, TALL * width
    pen = ImageDraw.Draw(photo)
    pen.ellipse([left, top, left + width, top + high], fill=skin)
    pen.pieslice([left, top, left + width, top + high], 190, 350, fill=hair)
    for k in range(0, int(width) // 2, 3):  # fine lines, which a blurred face does not have
        pen.line([left + width / 4 + k, y + 6, left + width / 4 + k, y + high / 3], fill=hair)
    for mark_x, mark_y in MARKS:
        at, reach = (left + mark_x * width, top + mark_y * high), max(2.0, width / 14)
        pen.ellipse([at[0] - reach, at[1] - reach, at[0] + reach, at[1] + reach], fill=hair)
    pen.rectangle([x, y, x + 3, y + 3], fill=(255, green_of(width), 255))


def background(size: tuple[int, int], seed: int = 0) -> Image.Image:
    """Grey stripes in which the network finds nothing."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(60, 200, (size[1] // 8 + 1, 1), dtype=np.uint8)
    return Image.fromarray(rows).resize(size, Image.Resampling.BILINEAR).convert("RGB")
