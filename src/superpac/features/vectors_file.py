"""Vectors that somebody made elsewhere, read from a file and put beside the things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.data import csv_text, tables
from superpac.data.checks import reading
from superpac.data.dataset import Dataset
from superpac.data.load import load
from superpac.data.things import Things
from superpac.errors import DataError, NotFoundError
from superpac.features.encoding import marks_of

SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".pq")
_NAMES = ("id", "ids", "name", "names", "file", "files", "filename", "path", "paths", "item")


def is_vectors_file(text: str) -> bool:
    """Whether what was given after ``--features`` names a file with vectors, by its ending.

    Examples
    --------
    >>> is_vectors_file("mine.npz"), is_vectors_file("image"), is_vectors_file("onnx:a.npy")
    (True, False, False)
    """
    return Path(text).suffix.lower() in SUFFIXES and not text.startswith("onnx:")


def put_vectors(things: Things, path: str | Path, *, ids: str | None = None) -> Dataset:
    """Put the vectors of a file beside things.

    Where the file has names - an array ``ids`` in a .npz, a column of texts in a table - a row is
    found by the thing's name or its file name; rows for nothing that is there are passed over.
    Without names there must be as many rows as things, in the same order.

    Parameters
    ----------
    things : Things
        What the vectors are of.
    path : str or path
        A ``.npy``, ``.npz``, ``.csv``, ``.tsv`` or ``.parquet`` file.
    ids : str, optional
        Column or array that holds the names, where it is not found.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        Where rows and things do not fit; the sentence names the first that does not.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> things = Things("text", names=("a", "b"), texts=("a cat", "a dog"))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.npz"
    ...     np.savez(path, X=np.eye(3), ids=np.array(["b", "c", "a"]))
    ...     put_vectors(things, path).X.tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise NotFoundError(f"{file}: there is no such file; name one with vectors.")
    if file.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"{file}: vectors are read from {', '.join(SUFFIXES)}; save them as one of these."
        )
    column = _names_column(file) if ids is None else ids
    data = load(file, ids=column)
    named = column is not None or data.ids.tolist() != [str(k) for k in range(len(data))]
    rows = _by_name(things, data, file) if named else _by_row(things, data, file)
    return things.dataset(_numbers(data.X[rows]), str(file), marks=marks_of(things))


def _numbers(X: NDArray) -> NDArray:
    """Floats: whole numbers of a few bits would be taken for pixels."""
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def _names_column(file: Path) -> str | None:
    """Column or array of names: one that is called so, else the only one of texts."""
    suffix = file.suffix.lower()
    if suffix == ".npy":
        return None
    if suffix == ".npz":
        with reading(file, "an .npz file"), np.load(file, allow_pickle=False) as arrays:
            return next((name for name in arrays.files if name.lower() in _NAMES), None)
    if suffix in (".parquet", ".pq"):
        schema = tables.parquet_table(file).schema
        columns = [str(name) for name in schema.names]
        texts = [n for n, kind in zip(columns, schema.types, strict=True) if _is_words(kind)]
    else:
        with reading(file, "a CSV file"):
            layout = csv_text.inspect(file)
            first = csv_text.first_words(file, layout)
        columns = list(layout.columns)
        texts = [n for n, cell in zip(columns, first, strict=False) if not _is_number(cell)]
    for name in columns:
        if name.lower() in _NAMES:
            return name
    if len(texts) > 1:
        raise DataError(
            f"{file}: {', '.join(map(repr, texts[:4]))} hold texts; name the one with the names "
            "with --ids and leave the others out."
        )
    return texts[0] if texts and texts[0] else None


def _is_words(kind: Any) -> bool:
    return str(kind).startswith(("string", "large_string", "dictionary"))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _by_row(things: Things, data: Dataset, file: Path) -> list[int]:
    """Row numbers by order; things that were set aside leave the numbers of the others alone."""
    if len(data) == len(things):
        return list(range(len(things)))
    if all(name.isdecimal() for name in things.names):  # rows of a table, some of them left out
        rows = [int(name) for name in things.names]
        if max(rows) < len(data) == len(things) + len(things.set_aside):
            return rows
    raise DataError(
        f"{file}: has {len(data)} rows for {len(things)} things and no names to tell which is "
        f"which; give one row each, or their names (ids in a .npz, a column in a table)."
    )


def _by_name(things: Things, data: Dataset, file: Path) -> list[int]:
    """Row numbers by whole names, else by file names, with or without their endings."""
    have = data.ids.tolist()
    for short in (str, _file_name, _stem):
        wanted = [short(name) for name in things.names]
        there = [short(name) for name in have]
        if _distinct(wanted) and set(wanted) <= _once(there):
            at = {name: row for row, name in enumerate(there)}
            return [at[name] for name in wanted]
    known = set(have) | {_file_name(name) for name in have}
    missing = [n for n in things.names if n not in known and _file_name(n) not in known]
    first = missing[0] if missing else things.names[0]
    raise DataError(
        f"{file}: has no row for {first!r} ({len(missing) or 'names of several'} of "
        f"{len(things)} are not to be found); its names begin with {', '.join(have[:3])}."
    )


def _file_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _stem(name: str) -> str:
    return PurePosixPath(_file_name(name)).stem


def _distinct(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names)


def _once(names: Sequence[str]) -> set[str]:
    """Names that only one row has."""
    return {name for name, count in Counter(names).items() if count == 1}
