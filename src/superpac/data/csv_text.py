"""What a CSV file looks like, what it holds, and which line of it is wrong."""

from __future__ import annotations

import codecs
import csv
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from superpac.data.checks import EXACT
from superpac.data.limits import LONGEST_LINE, check_size
from superpac.errors import DataError

_DELIMITERS = (",", ";", "\t", "|")
_TRUTH = {"0": 0, "false": 0, "False": 0, "FALSE": 0, "1": 1, "true": 1, "True": 1, "TRUE": 1}
_TEXT_CELL = 60  # bytes of a short cell that is kept as text
_CHECK_ROWS = 10_000  # rows from one look at their size to the next

# 1_000 and 1'000 are meant as numbers, though they are not read as such: no name of a column.
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[_,' \u00a0\u2009\u202f]\d{3})+(?:[.,]\d*)?", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """Delimiter, whether the first row is a header, and the columns' names."""

    delimiter: str
    header: bool
    columns: tuple[str, ...]


def inspect(path: Path) -> Layout:
    """Look at the first two lines.

    The first is a header if none of its cells is a number, if a cell is text where the second
    line has a number, or if it reads 0, 1, 2, ... as pandas writes unnamed columns. A number is
    what Python's ``float`` reads, without underscores. A cell such as ``1_000`` is no number, but
    no name either: a line with one holds values, and :func:`explain` says what is wrong with it.
    """
    with open(path, "rb") as file:
        start = file.read(2**16)
    if not start.strip():
        raise DataError(f"{path}: the file is empty; give one line per point.")
    if b"\0" in start:
        raise DataError(f"{path}: holds binary data, not text; give the file its right extension.")
    first_line = start.decode("utf-8", errors="replace").lstrip("\ufeff").lstrip().splitlines()[0]
    delimiter = max(_DELIMITERS, key=first_line.count)
    rows = _rows(path, delimiter)
    _, first = next(rows)
    second = next(rows, (0, None))[1]
    header = _is_header(first, second)
    names = first if header else [str(k) for k in range(len(first))]
    return Layout(delimiter, header, tuple(c.strip() for c in names))


def read(
    path: Path, layout: Layout, texts: Collection[int]
) -> tuple[NDArray, dict[int, list[str]]]:
    """Read the columns `texts` as they are and all others as numbers.

    Numbers are ``int64`` where every cell is a whole one, ``float64`` elsewhere; a column of true
    and false becomes ones and zeros.
    """
    for kind in (int, float):
        try:
            return _read_as(kind, path, layout, texts)
        except (ValueError, OverflowError):
            continue
    explain(path, layout, skip=texts)
    rows = []
    for _, row in _rows(path, layout.delimiter):
        rows.append(row)
        _check_so_far(path, len(rows), len(row) * _TEXT_CELL)
    del rows[: int(layout.header)]
    columns = dict(enumerate(zip(*rows, strict=True)))
    words = {k: list(columns.pop(k)) for k in texts}
    numbers = [_parse(cells, layout.columns[k], path) for k, cells in columns.items()]
    return np.column_stack(numbers), words


def read_words(path: Path, layout: Layout) -> list[list[str]]:
    """Read every cell as it is, row by row; rows of different lengths are refused."""
    found: list[list[str]] = []
    held = 0
    for line, row in _rows(path, layout.delimiter):
        if len(row) != len(layout.columns):
            raise DataError(_ragged(path, line, len(row), layout))
        found.append(row)
        held += sum(_TEXT_CELL + len(cell) for cell in row)
        if len(found) % _CHECK_ROWS == 0:
            check_size(held, 1, str(path), rows=len(found))
    check_size(held, 1, str(path), rows=len(found))
    return found[int(layout.header) :]


def first_words(path: Path, layout: Layout) -> list[str]:
    """Cells of the first row of values, as they are."""
    rows = _rows(path, layout.delimiter)
    for _ in range(int(layout.header)):
        next(rows, None)
    return next(rows, (0, []))[1]


def _read_as(
    kind: type[int] | type[float], path: Path, layout: Layout, texts: Collection[int]
) -> tuple[NDArray, dict[int, list[str]]]:
    """Read numbers of one kind, row by row; ValueError where a cell is none."""
    width = len(layout.columns)
    rest = [k for k in range(width) if k not in texts]
    words: dict[int, list[str]] = {k: [] for k in texts}
    numbers: list[NDArray] = []
    rows = _rows(path, layout.delimiter)
    if layout.header:
        next(rows)
    for _, row in rows:
        if len(row) != width:
            raise ValueError("rows of different lengths")
        cells = [row[k] for k in rest] if texts else row
        for k, column in words.items():
            column.append(row[k])
        _check_so_far(path, len(numbers), 8 * len(rest) + _TEXT_CELL * len(words))
        numbers.append(np.array([*map(kind, cells)], dtype=np.int64 if kind is int else np.float64))
    with open(path, "rb") as file:
        if any(b"_" in line for line in file):
            explain(path, layout, skip=texts)  # Python takes 1_000 for a number
    return np.array(numbers).reshape(len(numbers), len(rest)), words


def _check_so_far(path: Path, rows: int, row_bytes: int) -> None:
    """Look now and then whether the rows so far are too many: no header says how many come."""
    if rows % _CHECK_ROWS == 0:
        check_size(rows, row_bytes, str(path), rows=rows)


def _parse(cells: Sequence[str], name: str, path: Path) -> NDArray:
    """Numbers of a column whose cells are numbers, or true and false."""
    trimmed = [cell.strip() for cell in cells]
    for kind, convert in ((np.int64, int), (np.uint8, _TRUTH.__getitem__), (np.float64, float)):
        try:
            return np.array([convert(cell) for cell in trimmed], dtype=kind)
        except (ValueError, KeyError, OverflowError):
            continue
    raise DataError(
        f"{path}: column {name!r} holds numbers as well as true or false; write 1 and 0 for these."
    )


def explain(path: Path, layout: Layout, skip: Collection[int]) -> None:
    """Raise for the first cell that cannot be used, naming its line and column; else return."""
    numbered = layout.columns
    for k, (line, row) in enumerate(_rows(path, layout.delimiter)):
        if len(row) != len(numbered):
            raise DataError(_ragged(path, line, len(row), layout))
        if k == 0 and layout.header:
            continue
        for j, (name, cell) in enumerate(zip(numbered, row, strict=True)):
            if j not in skip:
                _check_cell(cell.strip(), f"{path}: line {line}, column {name!r}", name)
            elif not cell.strip():
                raise DataError(f"{path}: line {line}, column {name!r} is empty; fill it in.")


def _ragged(path: Path, line: int, width: int, layout: Layout) -> str:
    return (
        f"{path}: line {line} has {width} values, the first line has {len(layout.columns)}; give "
        f"every line equally many (quote values that contain the delimiter {layout.delimiter!r})."
    )


def _check_cell(cell: str, where: str, name: str) -> None:
    if not cell:
        raise DataError(
            f"{where} is empty; remove the line, fill the value in, or drop the column."
        )
    value = _number(cell)
    if value is None:
        if cell.lower() in ("true", "false"):
            return
        if _GROUPED.fullmatch(cell):
            raise DataError(
                f"{where} holds {cell[:40]!r}; write numbers with digits only, such as 1000."
            )
        raise DataError(
            f"{where} holds {cell[:40]!r}, which is not a number; if the column is the true class "
            f"or an id say so with labels={name!r} or ids={name!r} (--labels, --ids), else remove "
            "it or turn it into numbers."
        )
    if not math.isfinite(value):
        what = "NaN" if math.isnan(value) else "infinite"
        raise DataError(
            f"{where} is {what}; remove the line, fill the value in, or drop the column."
        )
    if abs(value) >= EXACT and cell.lstrip("+-").isdigit() and abs(int(cell)) > EXACT:
        raise DataError(
            f"{where} is {cell[:40]}, an integer beyond 2**53 that floating point cannot hold "
            f"exactly; if the column is an id say so with ids={name!r} (--ids), else scale it down."
        )


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number (of the row's first line) and cells of every row that is not blank."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(_lines(file, path), delimiter=delimiter)
        try:
            begin = 1
            for row in reader:
                if row:
                    yield begin, row
                begin = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}: is not UTF-8 text in line {_bad_line(path)}; save it as UTF-8."
            ) from error
        except csv.Error as error:
            raise DataError(
                f"{path}: line {reader.line_num} cannot be read ({error}); check its quotes."
            ) from error


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    """Lines of a file, none of them longer than can be meant."""
    while line := file.readline(LONGEST_LINE):
        if len(line) >= LONGEST_LINE:
            raise DataError(
                f"{path}: has a line of more than {LONGEST_LINE:,} characters; "
                "give one line per point, or save the table as .npy or .parquet."
            )
        yield line


def _bad_line(path: Path) -> int:
    """Line of the first byte that is not UTF-8; text is decoded in pieces of many lines."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, end = 1, b""
    with open(path, "rb") as file:
        while piece := file.read(2**20):
            end = end or (b"\n" if b"\n" in piece else b"\r")
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(end)
            line += piece.count(end)
    return line


def _is_header(first: list[str], second: list[str] | None) -> bool:
    numeric = [_number(c.strip()) is not None for c in first]
    if any(_GROUPED.fullmatch(c.strip()) for c in first):
        return False
    if not any(numeric):
        return True
    unnamed = first[1:] if first[0] == "" else first
    if len(unnamed) >= 4 and unnamed == [str(k) for k in range(len(unnamed))]:
        return True
    if second is None or len(second) != len(first):
        return False
    return any(
        a.strip() and not n and _number(b.strip()) is not None
        for a, n, b in zip(first, numeric, second, strict=True)
    )


def _number(text: str) -> float | None:
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None
