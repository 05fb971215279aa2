"""Tables of the UCI Machine Learning Repository as distributed there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from superpac.data.catalogue import CATALOGUE
from superpac.data.checks import reading
from superpac.errors import DataError


@dataclass(frozen=True)
class _Form:
    """Files in order, the label's place in a line, whether a name comes first, label texts."""

    files: tuple[str, ...]
    label: int = -1
    named: bool = False
    labels: tuple[str, ...] = ()
    dtype: type = np.float32


_FORMS = {
    "sonar": _Form(("sonar.all-data",), labels=("M", "R")),
    "glass": _Form(("glass.data",), named=True),
    "ionosphere": _Form(("ionosphere.data",), labels=("b", "g")),
    "ecoli": _Form(("ecoli.data",), named=True),
    "yeast": _Form(("yeast.data",), named=True),
    "segment": _Form(("segmentation.data", "segmentation.test"), label=0),
    "parkinsons": _Form(("parkinsons.data",), label=17, named=True, labels=("0", "1")),
    "pendigits": _Form(("pendigits.tra", "pendigits.tes"), dtype=np.uint8),
}

UCI = tuple(_FORMS)
"""Names that `read_uci` knows."""


def read_uci(name: str, source: Path) -> dict[str, NDArray]:
    """Read a UCI table from its file, or from the folder of its files.

    Lines before the first data line (headings, comments) are passed over.
    """
    form = _FORMS[name]
    folder = source if source.is_dir() else source.parent
    paths = [folder / f for f in form.files]
    if len(paths) == 1 and source.is_file():
        paths = [source]
    rows: list[list[float]] = []
    y: list[int] = []
    for path in paths:
        if not path.is_file():
            raise DataError(f"{folder}: {path.name} is not in it; give the folder that has it.")
        with reading(path, "a UCI table"):
            _read_file(name, form, path, rows, y)
    return {"X": np.array(rows, dtype=form.dtype), "y": np.array(y, dtype=np.int16)}


def _read_file(name: str, form: _Form, path: Path, rows: list[list[float]], y: list[int]) -> None:
    benchmark = CATALOGUE[name]
    labels = form.labels or benchmark.class_names or ()
    width = benchmark.dim + 1 + form.named
    before = len(rows)
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            cells = [c.strip() for c in (line.split(",") if "," in line else line.split())]
            if not any(cells):
                continue
            fits = len(cells) == width and cells[form.label] in labels
            if not fits and len(rows) == before:
                continue
            if not fits:
                raise DataError(
                    f"{path}: line {number} has not {width} values with one of the labels "
                    f"{', '.join(labels)}; give the file as distributed."
                )
            y.append(labels.index(cells.pop(form.label)))
            try:
                rows.append([float(c) for c in cells[form.named :]])
            except ValueError as error:
                raise DataError(f"{path}: line {number} is not numeric ({error}).") from error
    if len(rows) == before:
        raise DataError(
            f"{path}: has no line of {width} values as {path.name} of {name} has; "
            "give the file as distributed."
        )
