"""What makes an array usable as points, ids or labels, and the sentence where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.errors import DataError, NotFoundError, SuperpacError
from superpac.system.row_blocks import blocks_of
from superpac.system.safe_text import encodable

EXACT = 2**53
"""Largest magnitude up to which floating point holds every integer."""


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a parser raises on a broken file into one sentence about that file."""
    try:
        yield
    except SuperpacError:
        raise
    except FileNotFoundError as error:
        raise NotFoundError(f"{path}: there is no such file; check the path.") from error
    except PermissionError as error:
        raise DataError(f"{path}: no permission to read it; change its access rights.") from error
    except MemoryError as error:
        raise DataError(
            f"{path}: needs more memory than there is; give fewer rows or columns."
        ) from error
    # Parsers raise nearly anything on hostile bytes; all of it means that the file is no good.
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(".")
        raise DataError(
            f"{path}: cannot be read as {what} ({reason}); "
            "check that the file is complete and that its extension is right."
        ) from error


def as_numbers(values: ArrayLike, where: str) -> NDArray:
    """Numeric array in native byte order, keeping its storage type; bools become 0 and 1."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{where}: rows differ in length; give every row equally many.") from error
    kind = array.dtype.kind
    if kind == "b":
        return array.astype(np.uint8)
    if kind == "c":
        raise DataError(
            f"{where}: holds complex numbers, real ones are needed; "
            "give np.abs(X) or the real and imaginary parts side by side."
        )
    if kind not in "iuf":
        held = {"O": "Python objects", "U": "text", "S": "text"}.get(kind, f"{array.dtype} values")
        raise DataError(
            f"{where}: holds {held}, only numbers can be used (objects are never unpickled); "
            "save a plain numeric array, for instance np.save(path, X.astype(float))."
        )
    if array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def as_points(values: ArrayLike, where: str, columns: Sequence[str] | None = None) -> NDArray:
    """Check an n x D matrix of finite numbers; the first bad cell is named in the error.

    Examples
    --------
    >>> as_points([[0.0, 1.0], [2.0, float("nan")]], "array")
    Traceback (most recent call last):
    superpac.errors.DataError: array: row 1, column 1 (counted from 0) is NaN; ...
    """
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan)
    if hasattr(values, "tocsr"):
        raise DataError(f"{where}: a sparse matrix; give a dense one, X.toarray().")
    X = as_numbers(values, where)
    if X.ndim != 2:
        raise DataError(
            f"{where}: has shape {X.shape}, a 2-D array with one point per row is needed; "
            "reshape it to (points, values)."
        )
    if X.shape[1] == 0:
        raise DataError(f"{where}: has no columns (D = 0); give at least one numeric column.")
    if X.shape[0] == 0:
        raise DataError(f"{where}: has no rows; give at least two points.")
    _check_finite(X, where, columns)
    return np.ascontiguousarray(X)


def _check_finite(X: NDArray, where: str, columns: Sequence[str] | None) -> None:
    for block in blocks_of(X.shape[0], max(1, 2**22 // X.shape[1])):
        part = X[block.start : block.stop]
        if X.dtype.kind == "f":
            bad = ~np.isfinite(part)
        elif X.dtype.itemsize == 8:
            # Beyond 2**53 neighbouring integers become the same float64.
            bad = (part > EXACT) | (part < -EXACT) if X.dtype.kind == "i" else part > EXACT
        else:
            return
        if bad.any():
            row, column = (int(v) for v in np.argwhere(bad)[0])
            _refuse_cell(part[row, column], block.start + row, column, where, columns)


def _refuse_cell(
    value: Any, row: int, column: int, where: str, columns: Sequence[str] | None
) -> None:
    if columns is None:
        cell = f"row {row}, column {column} (counted from 0)"
    else:
        cell = f"row {row} (counted from 0), column {columns[column]!r}"
    if isinstance(value, np.floating):
        what = "NaN" if np.isnan(value) else "infinite"
        raise DataError(
            f"{where}: {cell} is {what}; remove the row, fill the value in, or drop the column."
        )
    raise DataError(
        f"{where}: {cell} is {value}, an integer beyond 2**53 that floating point cannot hold "
        "exactly; if the column is an id name it with ids=, else scale it down."
    )


def as_image_shape(values: ArrayLike, where: str) -> tuple[int, ...]:
    """Height and width of images, from an array that a file holds.

    Examples
    --------
    >>> as_image_shape([[28.0, 28.0]], "array")
    (28, 28)
    """
    given = np.asarray(values)
    sides = given.ravel()
    good = sides.dtype.kind in "iuf" and 2 <= sides.size <= 3 and np.isfinite(sides).all()
    if not good or (sides < 1).any() or (sides != np.rint(sides)).any():
        shown = np.array2string(sides[:4], threshold=4) if sides.dtype != object else "objects"
        raise DataError(
            f"{where}: image_shape must be (height, width) or (height, width, 3) in whole numbers; "
            f"it holds {' '.join(shown.split())[:60]}; correct it, or leave the array out."
        )
    return tuple(int(side) for side in sides)


def as_ids(values: ArrayLike | None, n: int, where: str) -> NDArray[np.str_]:
    """Check n distinct, non-empty names; without any, rows are named by their number.

    Examples
    --------
    >>> as_ids([7, 2**31], 2, "array").tolist()
    ['7', '2147483648']
    """
    if values is None:
        return np.arange(n).astype(str)
    # Lists go in as objects: NumPy would turn [1, 2**63] into floats.
    given = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    if given.ndim == 2 and 1 in given.shape:
        given = given.ravel()
    if given.ndim != 1 or len(given) != n:
        raise DataError(
            f"{where}: {given.size if given.ndim == 1 else given.shape} ids for {n} points; "
            "give exactly one id per point."
        )
    if given.dtype.kind == "f":
        given = _integral(given)
    ids = np.array([_as_text(v) for v in given.tolist()], dtype=np.str_)
    if (ids == "").any():
        raise DataError(
            f"{where}: the id of row {int(np.argmax(ids == ''))} (counted from 0) is empty; "
            "give every point a name."
        )
    names, first, counts = np.unique(ids, return_index=True, return_counts=True)
    if len(names) < n:
        k = int(np.argmax(counts > 1))
        rows = np.flatnonzero(ids == names[k])
        raise DataError(
            f"{where}: id {str(names[k])!r} is used for rows {rows[0]} and {rows[1]} (counted "
            "from 0); ids must be distinct, choose another id column or leave ids out."
        )
    return ids


def as_labels(values: ArrayLike, n: int, where: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Turn any labels into 0-based classes and their names, in sorted order.

    Examples
    --------
    >>> y, names = as_labels(["dog", "cat", "dog"], 3, "array")
    >>> y.tolist(), names
    ([1, 0, 1], ('cat', 'dog'))
    """
    given = np.asarray(values)
    if given.ndim == 2 and 1 in given.shape:
        given = given.ravel()
    if given.ndim != 1 or len(given) != n:
        raise DataError(
            f"{where}: labels of shape {given.shape} for {n} points; give exactly one each."
        )
    if given.dtype.kind == "f":
        if not np.isfinite(given).all():
            row = int(np.argmin(np.isfinite(given)))
            raise DataError(
                f"{where}: the label of row {row} (counted from 0) is missing or not finite; "
                "give every point a label, or leave the labels out."
            )
        given = _integral(given)
    if given.dtype.kind not in "iufb":
        given = np.array([_as_text(v) for v in given.tolist()], dtype=np.str_)
        if (given == "").any():
            row = int(np.argmax(given == ""))
            raise DataError(
                f"{where}: the label of row {row} (counted from 0) is empty; "
                "give every point a label, or leave the labels out."
            )
    names, y = np.unique(given, return_inverse=True)
    return y.reshape(-1).astype(np.intp), tuple(str(v) for v in names.tolist())


def _integral(values: NDArray) -> NDArray:
    """Whole floats as integers, since MATLAB and pandas store class numbers as doubles."""
    whole = np.isfinite(values).all() and (np.abs(values) < EXACT).all()
    return values.astype(np.int64) if whole and (values == np.rint(values)).all() else values


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    return encodable(str(value))
