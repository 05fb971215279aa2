"""A data set at a glance: its facts as lines of text, and some of its points as one picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from superpac.data import render
from superpac.data.dataset import Dataset
from superpac.errors import InputError
from superpac.system.atomic_files import output

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}


def facts(data: Dataset) -> list[tuple[str, str]]:
    """What a person wants to know first, as names and values.

    Examples
    --------
    >>> from superpac.data import load
    >>> dict(facts(load("digits")))["points"]
    '1797'
    """
    values = data.X
    lines = [
        ("name", data.name),
        ("kind", data.kind),
        ("points", f"{len(data)}"),
        ("values per point", f"{values.shape[1]} ({values.dtype})"),
        ("range", f"{values.min():g} to {values.max():g}"),
    ]
    if data.features:
        lines.append(("made by", data.features))
    if data.image_shape is not None:
        lines.append(("image", " x ".join(map(str, data.image_shape)) + " (height x width)"))
    if data.columns is not None:
        shown = ", ".join(data.columns[:12]) + (", ..." if len(data.columns) > 12 else "")
        lines.append(("columns", shown))
    if data.y is not None and data.class_names is not None:
        sizes = np.bincount(data.y)
        sizes = sizes[sizes > 0]
        lines.append(("classes", f"{len(sizes)}, of {sizes.min()} to {sizes.max()} points"))
    else:
        lines.append(("classes", "not known"))
    zero = int((~values.any(axis=1)).sum())
    if zero:
        lines.append(("all-zero points", f"{zero}"))
    lines.extend((key, f"{int(np.count_nonzero(v))} flagged") for key, v in _flags(data))
    if data.default_dim is not None:
        lines.append(("usual dimension", f"{data.default_dim}"))
    lines.append(("fingerprint", data.fingerprint))
    return lines


def _flags(data: Dataset) -> list[tuple[str, np.ndarray]]:
    return [(k, v) for k, v in data.extras.items() if v.dtype == bool]


def contact_sheet(data: Dataset, points: int | None = None) -> Image.Image:
    """Draw points spread evenly over the rows, each with its id below.

    Without a number, as many as are readable on one screen.
    """
    usual, columns, cell = {
        "image": (32, 8, 112), "vector": (16, 4, 240), "table": (6, 3, 420),
        "text": (12, 3, 320), "sound": (16, 4, 240),
    }[data.kind]  # fmt: skip
    points = usual if points is None else points
    if points < 1:
        raise InputError(f"points must be at least 1; got {points}.")
    rows = np.unique(np.linspace(0, len(data) - 1, min(points, len(data))).astype(int))

    def draw(k: int, size: int) -> Image.Image:
        return data.draw(int(rows[k]), size)

    return render.sheet(draw, [str(i) for i in data.ids[rows]], columns, cell)


def save_picture(image: Image.Image, path: Path) -> Path:
    """Write a picture in the format of its extension; an existing file is replaced whole."""
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise InputError(f"{path}: pictures are written as .png, .jpg or .webp; name it so.")
    with output(path, private=False) as file:
        image.save(file, _FORMATS[suffix])
    return path
