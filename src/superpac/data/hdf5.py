"""HDF5 files and MATLAB files of either kind, chosen by what the file holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.data.arrays import choose_named, choose_points, from_array
from superpac.data.checks import as_image_shape, reading
from superpac.data.dataset import Dataset
from superpac.data.limits import MOST_ARRAYS, check_size
from superpac.errors import DataError
from superpac.system.optional import require

if TYPE_CHECKING:
    import h5py

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_POINTS = ("X", "fea", "data")
_LABELS = ("y", "gnd", "Y", "labels", "label")
_NUMERIC = ("double", "single", "logical", "sparse")


def load_mat(path: Path, **options: Any) -> Dataset:
    """Read a ``.mat`` file of version 4 to 7.3.

    Points are the variable ``X``, ``fea`` or ``data``, else the only matrix; true classes
    ``y``, ``gnd`` or ``labels``. Rows are points; columns are, where there are as many labels
    as columns and not as rows.
    """
    with reading(path, "a .mat file"):
        if _is_hdf5(path):
            # MATLAB stores arrays column by column, h5py reads them row by row.
            return _load_hdf5(path, transpose=True, **options)
        from scipy import io, sparse

        held = {n: (shape, kind) for n, shape, kind in io.whosmat(path)}
        shapes = {n: s for n, (s, k) in held.items() if k in _NUMERIC or "int" in k}
        everything = {n: s for n, (s, _) in held.items()}

        def read(name: str) -> NDArray:
            shape, kind = held[name]
            # a sparse matrix is stored without its zeros, so its file may well be small
            packed = 0 if kind == "sparse" else path.stat().st_size
            rows = max(shape, default=0) if min(shape, default=0) == 1 else 0
            where = f"{path}, variable {name!r}"
            check_size(math.prod(shape), 8, where, rows=rows, packed=packed)
            value = io.loadmat(path, variable_names=[name])[name]
            return value.toarray() if sparse.issparse(value) else value

        return _assemble(path, shapes, everything, read, orient=True, **options)


def load_hdf5(path: Path, **options: Any) -> Dataset:
    """Read an HDF5 file: ``X`` (else the only matrix), ``y``, ``ids``, ``image_shape``."""
    with reading(path, "an HDF5 file"):
        return _load_hdf5(path, transpose=False, **options)


def _is_hdf5(path: Path) -> bool:
    """Whether the format's signature stands at byte 0, 512, 1024, 2048, ..."""
    with open(path, "rb") as file:
        at, size = 0, path.stat().st_size
        while at < size:
            file.seek(at)
            if file.read(len(_SIGNATURE)) == _SIGNATURE:
                return True
            at = max(512, 2 * at)
    return False


def _load_hdf5(path: Path, transpose: bool, **options: Any) -> Dataset:
    require("hdf5", f"{path}: an HDF5 file")
    import h5py

    with h5py.File(path, "r") as file:
        found: dict[str, h5py.Dataset] = {}

        def note(name: str, item: object) -> None:
            # Links out of the file are not visited, so none is followed.
            if isinstance(item, h5py.Dataset) and not name.startswith("#"):
                found[name] = item
            if len(found) > MOST_ARRAYS:
                raise DataError(
                    f"{path}: holds more than the {MOST_ARRAYS:,} arrays that are read; "
                    "keep those that are needed."
                )

        file.visititems(note)
        turn = (lambda s: s[::-1]) if transpose else (lambda s: s)
        shapes = {k: turn(v.shape) for k, v in found.items() if v.dtype.kind in "biufc" and v.shape}
        everything = {k: turn(v.shape or ()) for k, v in found.items()}

        def read(name: str) -> NDArray:
            values = read_dataset(found[name], f"{path}, dataset {name!r}")
            return values.T if transpose else values

        return _assemble(path, shapes, everything, read, orient=transpose, **options)


def read_dataset(item: h5py.Dataset, where: str) -> NDArray:
    """One dataset's values; refused where they lie in another file or are too many."""
    import h5py

    if item.is_virtual or item.external:
        raise DataError(f"{where}: its values lie in another file; store them in this one.")
    # a part of a chunk is only had by unpacking the whole of it
    values = max(math.prod(item.shape or (0,)), math.prod(item.chunks or (0,)))
    packed = Path(item.file.filename).stat().st_size
    rows = (item.shape or (0,))[0]
    check_size(values, item.dtype.itemsize, where, rows=rows, packed=packed)
    return item.asstr()[...] if h5py.check_string_dtype(item.dtype) else item[...]


def _assemble(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    everything: Mapping[str, tuple[int, ...]],
    read: Callable[[str], NDArray],
    *,
    orient: bool,
    labels: str | ArrayLike | None = None,
    ids: str | ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
) -> Dataset:
    X = read(choose_points(shapes, _POINTS, path, everything))
    y = _pick(labels, _LABELS if orient else ("y",), "labels", everything, read, path)
    names = _pick(ids, ("ids",), "ids", everything, read, path)
    if orient and y is not None and X.ndim == 2 and np.size(y) == X.shape[1] != X.shape[0]:
        X = X.T
    if image_shape is None and "image_shape" in everything:
        image_shape = as_image_shape(read("image_shape"), str(path))
    return from_array(
        X, labels=y, ids=names, image_shape=image_shape, name=path.stem, source=str(path)
    )


def _pick(
    given: Any,
    defaults: tuple[str, ...],
    option: str,
    held: Mapping[str, tuple[int, ...]],
    read: Callable[[str], NDArray],
    path: Path,
) -> Any:
    """Values for an option: as given, or read from the array that it names or usually means."""
    vectors = {k for k, shape in held.items() if shape and np.prod(shape) == max(shape)}
    found = choose_named(given, defaults, option, vectors if given is None else held, path)
    return read(found) if isinstance(found, str) else found
