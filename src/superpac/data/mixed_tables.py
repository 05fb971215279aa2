"""Tables as people have them: texts beside numbers, empty cells, decimal commas, a column of ids.

Columns of numbers are used, all others are shown only. Whoever calls is told what was done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.data import csv_text, tables
from superpac.data.checks import reading
from superpac.data.dataset import Dataset
from superpac.errors import DataError
from superpac.system.safe_text import encodable

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?", "inf", "-inf", "+inf"})
_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+|[+-]?\d+,\d+(?:e[+-]?\d+)?", re.ASCII | re.I)
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.I)
_ID_NAME = re.compile(r"(?:.*[_ .-])?(?:id|ids|uuid|nr|no|index|number|key|row)|.+Id|.+ID")
_EXACT = 15  # digits that a floating-point number holds
_NAMED = 4  # columns that a sentence names
_LARGEST = 64 << 20  # bytes of a file that is looked through for ids


def cells_of(path: Path) -> tuple[list[str], list[list[str]]]:
    """Names of a table's columns, and the cells of each as text.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.

    Returns
    -------
    list of str, list of list of str
    """
    if not path.is_file():
        raise DataError(f"{path}: is not a plain file; give the path of a table.")
    if path.suffix.lower() in (".parquet", ".pq"):
        table = tables.parquet_table(path)
        with reading(path, "a Parquet file"):
            values = [table.column(k).to_pylist() for k in range(table.num_columns)]
        return [str(c) for c in table.column_names], [[_word(v) for v in c] for c in values]
    with reading(path, "a CSV file"):
        layout = csv_text.inspect(path)
        rows = csv_text.read_words(path, layout)
        return list(layout.columns), [list(c) for c in zip(*rows, strict=True)]


def _word(value: Any) -> str:
    """A cell as people would write it."""
    if value is None:
        return ""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def id_column(path: Path) -> str | None:
    r"""Name of the column that numbers the rows, if there is one.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.

    Returns
    -------
    str or None
        A column of whole numbers, no two alike, that is called as ids are (``id``, ``nr``,
        ``customer_id``) or is the first one and counts the rows. None in a file without a header.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("id,length,width\n7,1.5,2\n9,2.5,3\n4,3.5,1\n")
    ...     id_column(path)
    'id'
    """
    if path.stat().st_size > _LARGEST:
        return None
    columns, cells = cells_of(path)
    if columns == [str(k) for k in range(len(columns))] or len(columns) < 2:
        return None
    for k, (name, column) in enumerate(zip(columns, cells, strict=True)):
        digits = [cell.strip() for cell in column]
        if columns.count(name) > 1 or not all(c.isascii() and c.isdigit() for c in digits):
            continue
        if len(set(digits)) < len(digits) or len(digits) < 2:
            continue
        named = _ID_NAME.fullmatch(name) or _ID_NAME.fullmatch(name.lower())
        first = int(digits[0]) if len(digits[0]) < 10 else -1
        counts = k == 0 and len(digits) >= 10 and first in (0, 1)
        if named or (counts and digits == [str(first + n) for n in range(len(digits))]):
            return name
    return None


def load_mixed(
    path: Path,
    *,
    labels: Any = None,
    ids: Any = None,
    show: Sequence[str] = (),
    tell: Callable[[str], None],
) -> Dataset:
    r"""Read a table of whatever columns: those of numbers are used, all are shown.

    Parameters
    ----------
    path : Path
        A CSV or Parquet file.
    labels, ids
        As `superpac.data.load` takes them.
    show : sequence of str
        Columns of numbers that are shown and not used.
    tell : callable
        Called with one sentence: which columns are shown only, and what was filled in.

    Returns
    -------
    Dataset
        Empty cells of used columns have the median of their column; people see them empty.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("place;length;width\nhill;1,5;2\nlake;;3\nlake;3,5;1\n")
    ...     data = load_mixed(path, tell=print)
    Used: length, width. Shown only: place (text). Filled in with the median: length (1).
    >>> data.X.tolist(), data.describe(1)
    ([[1.5, 2.0], [2.5, 3.0], [3.5, 1.0]], [('place', 'lake'), ('length', ''), ('width', '3')])
    """
    columns, cells = cells_of(path)
    label_at, id_at = tables.places_of(labels, ids, columns, path)
    shown_only = {tables.position(name, columns, path, "show") for name in show}
    rest = [k for k in range(len(columns)) if k not in (label_at, id_at)]
    commas = path.suffix.lower() not in (".parquet", ".pq") and _may_be_commas(path)
    used: dict[int, NDArray] = {}
    aside: list[str] = []
    filled: list[str] = []
    for k in rest:
        if k in shown_only:
            aside.append(columns[k])
            continue
        values = _numbers(cells[k], commas)
        if values is None:
            aside.append(f"{columns[k]} (text)")
            continue
        missing = np.isnan(values)
        if 2 * missing.sum() > len(values):
            aside.append(f"{columns[k]} (mostly empty)")
            continue
        if missing.any():
            filled.append(f"{columns[k]} ({missing.sum()})")
            values[missing] = np.median(values[~missing])
        used[k] = values
    if not used:
        raise DataError(
            f"{path}: none of its {len(rest)} columns holds numbers to compare rows by; give a "
            "table with a column of numbers, or name a column of texts with --text."
        )
    words = [f"Used: {_list([columns[k] for k in used])}."]
    words += [f"Shown only: {_list(aside)}."] if aside else []
    words += [f"Filled in with the median: {_list(filled)}."] if filled else []
    tell(" ".join(words))
    rows = zip(*([encodable(cell.strip()) for cell in cells[k]] for k in rest), strict=True)
    return Dataset(
        np.column_stack(list(used.values())),
        ids=ids if id_at is None else cells[id_at],  # type: ignore[arg-type]
        y=labels if label_at is None else cells[label_at],  # type: ignore[arg-type]
        name=path.stem,
        kind="table",
        columns=tuple(columns[k] for k in rest),
        rows=tuple(rows),
        source=str(path),
    )


def _may_be_commas(path: Path) -> bool:
    """Whether 1,5 may be a number: cells are then divided by something else than a comma."""
    with reading(path, "a CSV file"):
        return csv_text.inspect(path).delimiter != ","


def _numbers(cells: Sequence[str], commas: bool) -> NDArray | None:
    """Numbers of a column, NaN where a cell is empty; None where another cell is no number."""
    trimmed = [cell.strip() for cell in cells]
    filled = [cell for cell in trimmed if cell.lower() not in _MISSING]
    if not filled or any(len(c.lstrip("+-")) > _EXACT and c.lstrip("+-").isdigit() for c in filled):
        return None  # whole numbers that long are ids, and are rounded as values
    if all(cell.lower() in _TRUTH for cell in filled):
        return np.array([_TRUTH.get(cell.lower(), math.nan) for cell in trimmed])
    points = all(_PLAIN.fullmatch(cell) for cell in filled)
    # a quoted 1,234 in a file with commas may be a thousand: a decimal comma is sure otherwise
    sure = commas or any(len(cell.partition(",")[2]) != 3 for cell in filled if "," in cell)
    if not points and not (
        sure and all(_COMMA.fullmatch(cell) or cell.lstrip("+-").isdigit() for cell in filled)
    ):
        return None
    if not points:
        trimmed = [cell.replace(".", "").replace(",", ".") for cell in trimmed]
    found = [math.nan if cell.lower() in _MISSING else float(cell) for cell in trimmed]
    return np.array([value if math.isfinite(value) else math.nan for value in found])


def _list(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
