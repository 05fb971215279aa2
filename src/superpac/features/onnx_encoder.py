"""Any image network in an ONNX file, with a small JSON file beside it that says what it takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.data.checks import reading
from superpac.errors import DataError, NotFoundError
from superpac.features.base import Encoder, digest, file_digest, unit
from superpac.features.photo import CROPS, read_photo
from superpac.system.optional import require

CHANNELS = ("rgb", "bgr", "grey")
LAYOUTS = ("nchw", "nhwc")
_LARGEST = 2048
_GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)


@dataclass(frozen=True)
class Preprocessing:
    """What is done to a photo before a network sees it, as the JSON file says it.

    A pixel x from 0 to 255 becomes ``(scale * x - mean) / deviation``.

    Attributes
    ----------
    size : (int, int)
        Height and width; one number in the file means both.
    crop : {"centre", "squeeze"}
        See `superpac.features.photo.read_photo`.
    scale : float
        Factor on the pixels.
    mean, deviation : tuple of float
        One number for each channel; one in the file means all.
    channels : {"rgb", "bgr", "grey"}
        Their order.
    layout : {"nchw", "nhwc"}
        Whether channels come before or after height and width.
    output : str
        Which output of the network to take; "" is the first.
    unit_length : bool
        Whether vectors are scaled to unit length.
    """

    size: tuple[int, int] = (224, 224)
    crop: str = "centre"
    scale: float = 1 / 255
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    deviation: tuple[float, ...] = (0.229, 0.224, 0.225)
    channels: str = "rgb"
    layout: str = "nchw"
    output: str = ""
    unit_length: bool = True

    def apply(self, photos: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Make a network's input of photos in RGB, shape (n, height, width, 3)."""
        x = photos.astype(np.float32)
        if self.channels == "bgr":
            x = x[..., ::-1]
        elif self.channels == "grey":
            x = (x @ _GREY)[..., None]
        count = x.shape[-1]
        mean = np.resize(np.asarray(self.mean, dtype=np.float32), count)
        deviation = np.resize(np.asarray(self.deviation, dtype=np.float32), count)
        x = (x * np.float32(self.scale) - mean) / deviation
        if self.layout == "nchw":
            x = x.transpose(0, 3, 1, 2)
        return np.ascontiguousarray(x, dtype=np.float32)


def open_network(content: bytes, where: Path) -> Any:
    """Load a network in ONNX; it runs on one thread, since things are shared out among threads.

    Two threads that take photos each, with a network on one thread, keep both cores busy; a
    network on two threads waits for itself at the end of every layer. The content is handed over,
    not the path, with which a hostile file could name others of this machine as its weights.
    """
    require("features", f"{where}: a network", "onnxruntime")
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    with reading(where, "a network in ONNX"):
        return ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])


class OnnxFeatures(Encoder):
    """Vectors of photos from a network in an ONNX file.

    Parameters
    ----------
    file : path
        The network. A file of the same name that ends in ``.json`` may say what is done to a
        photo first (see :class:`Preprocessing`); what it leaves out is read from the network's
        input where that says it, else as for networks trained on ImageNet.
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    Examples
    --------
    >>> OnnxFeatures("network.onnx").name
    'onnx:network.onnx'
    """

    kind: ClassVar[str] = "image"

    def __init__(self, file: str | Path = "", *, n_jobs: int | None = None) -> None:
        self.file = file
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return f"onnx:{self.file}"

    @cached_property
    def _network(self) -> Any:
        with reading(self._path, "a network in ONNX"):
            content = self._path.read_bytes()
        return open_network(content, self._path)

    @property
    def _path(self) -> Path:
        path = Path(self.file).expanduser()
        if not path.is_file():
            raise NotFoundError(f"{path}: there is no such file; name a network in ONNX.")
        return path

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """What is done to a photo first."""
        return read_preprocessing(self._path.with_suffix(".json"), self._network, self._path)

    @cached_property
    def dimension(self) -> int:
        """Numbers in a vector; found by running the network on a black photo."""
        height, width = self.preprocessing.size
        return int(self._run(np.zeros((1, height, width, 3), dtype=np.uint8)).shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on."""
        return digest(
            encoder="onnx",
            revision=1,
            weights=file_digest(self._path),
            preprocessing=asdict(self.preprocessing),
        )

    def _encode(self, batch: Sequence[Path]) -> NDArray:
        how = self.preprocessing
        return self._run(np.stack([read_photo(path, how.size, how.crop) for path in batch]))

    def _run(self, photos: NDArray[np.uint8]) -> NDArray:
        how = self.preprocessing
        x = how.apply(photos)
        given = self._network.get_inputs()[0]
        # a network that was exported for one photo at a time takes no more
        parts = [x[k : k + 1] for k in range(len(x))] if given.shape[0] == 1 else [x]
        wanted = [how.output] if how.output else [self._network.get_outputs()[0].name]
        with reading(self._path, "a network in ONNX that takes such photos"):
            rows = [self._network.run(wanted, {given.name: part})[0] for part in parts]
        vectors = _pooled(np.concatenate(rows), how.layout)
        return unit(vectors) if how.unit_length else vectors


def _pooled(values: NDArray, layout: str) -> NDArray:
    """One row a photo: maps are averaged over their places, tokens over their number."""
    if values.ndim == 4:
        return values.mean(axis=(2, 3) if layout == "nchw" else (1, 2))
    if values.ndim == 3:
        return values.mean(axis=1)
    return values.reshape(len(values), -1)


def read_preprocessing(path: Path, network: Any, source: Path) -> Preprocessing:
    """What the JSON file and the network's own input say, and what is usual for the rest."""
    facts = _from_network(network, source)
    if path.is_file():
        with reading(path, "a JSON file"):
            written = json.loads(path.read_text(encoding="utf-8"))
        facts |= _checked(written, path)
    how = Preprocessing(**facts)
    names = [output.name for output in network.get_outputs()]
    if how.output and how.output not in names:
        raise DataError(
            f"{path}: output must be one of {', '.join(names[:10])}; got {how.output!r}."
        )
    return how


def _from_network(network: Any, path: Path) -> dict[str, Any]:
    """Size, layout and number of channels, where the input's shape says them."""
    inputs = network.get_inputs()
    shape = inputs[0].shape if inputs else []
    if len(inputs) != 1 or len(shape) != 4 or inputs[0].type != "tensor(float)":
        got = ", ".join(f"{i.name} {i.type} {i.shape}" for i in inputs) or "nothing"
        raise DataError(
            f"{path}: a network for photos takes one input of floats with four axes (photos, "
            f"channels, height, width); this one takes {got}."
        )
    last = shape[3] in (1, 3) and shape[1] not in (1, 3)
    sides, channels = (shape[1:3], shape[3]) if last else (shape[2:4], shape[1])
    facts: dict[str, Any] = {"layout": "nhwc" if last else "nchw"}
    if all(isinstance(side, int) and 0 < side <= _LARGEST for side in sides):
        facts["size"] = tuple(sides)
    if channels == 1:
        facts |= {"channels": "grey", "mean": (0.449,), "deviation": (0.226,)}
    return facts


def _checked(written: Any, path: Path) -> dict[str, Any]:
    """Facts of a JSON file; one sentence about the first that is not allowed."""
    known = [each.name for each in fields(Preprocessing)]
    if not isinstance(written, dict) or (unknown := set(written) - set(known)):
        got = f"{sorted(unknown)[0]!r}" if isinstance(written, dict) else type(written).__name__
        raise DataError(
            f"{path}: must be a JSON object with names of {', '.join(known)}; got {got}."
        )
    return {name: _fact(name, value, path) for name, value in written.items()}


def _fact(name: str, value: Any, path: Path) -> Any:
    words = {"crop": CROPS, "channels": CHANNELS, "layout": LAYOUTS}
    if name in words:
        allowed, fits = " or ".join(words[name]), value in words[name]
    elif name == "size":
        value = (value, value) if _is_number(value) else value
        allowed = f"one whole number or two, 1 to {_LARGEST}"
        fits = isinstance(value, list | tuple) and len(value) == 2
        fits = fits and all(isinstance(v, int) and 1 <= v <= _LARGEST for v in value)
    elif name in ("mean", "deviation"):
        value = (value,) if _is_number(value) else value
        allowed = "one number or three" + (", not 0" if name == "deviation" else "")
        fits = isinstance(value, list | tuple) and len(value) in (1, 3)
        fits = fits and all(_is_number(v) and (v or name == "mean") for v in value)
    elif name == "scale":
        allowed, fits = "a number", _is_number(value)
    elif name == "unit_length":
        allowed, fits = "true or false", isinstance(value, bool)
    else:
        allowed, fits = "a text", isinstance(value, str)
    if not fits:
        raise DataError(f"{path}: {name} must be {allowed}; got {value!r}.")
    return tuple(value) if isinstance(value, list) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
