"""NumPy files and arrays. Nothing is unpickled, no header is believed without its bytes."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from superpac.data import mapped_files
from superpac.data.checks import as_image_shape, as_numbers, reading
from superpac.data.dataset import Dataset
from superpac.data.limits import MOST_ARRAYS, check_size
from superpac.errors import DataError

Header = tuple[tuple[int, ...], np.dtype]


def load_npy(
    path: Path,
    *,
    labels: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
) -> Dataset:
    """Read an ``.npy`` file: (points, values), or images as (points, height, width[, 3]).

    A large one is mapped, not read: its values stay in the file.
    """
    with reading(path, "an .npy file"), open(path, "rb") as file:
        header = _header(file, str(path))
        _check_header(header, path.stat().st_size - file.tell(), str(path))
        rows = header[0][0] if header[0] else 0
        check_size(_count(header), header[1].itemsize, str(path), rows=rows)
        if _count(header) * header[1].itemsize >= mapped_files.MAPPED_FROM:
            array = mapped_files.open_mapped(path)
        else:
            file.seek(0)
            array = npy.read_array(file, allow_pickle=False)
    return from_array(
        array, labels=labels, ids=ids, image_shape=image_shape, name=path.stem, source=str(path)
    )


def load_npz(
    path: Path,
    *,
    labels: str | ArrayLike | None = None,
    ids: str | ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
) -> Dataset:
    """Read an ``.npz`` file.

    Points are the array ``X``, else the only array of two or more dimensions. Taken along where
    present: ``y``, ``ids``, ``image_shape``; any other array of one value per point becomes an
    extra. `labels` and `ids` may name another key.
    """
    with reading(path, "an .npz file"), zipfile.ZipFile(path) as archive:
        headers = _headers(archive, path)
        key = choose_points(
            {k: shape for k, (shape, dtype) in headers.items() if dtype.kind in "biufc"},
            ("X",),
            path,
            all_shapes={k: shape for k, (shape, _) in headers.items()},
        )
        named = {
            "labels": choose_named(labels, ("y",), "labels", headers, path),
            "ids": choose_named(ids, ("ids",), "ids", headers, path),
            "image_shape": choose_named(
                image_shape, ("image_shape",), "image_shape", headers, path
            ),
        }
        taken = {key, *(v for v in named.values() if isinstance(v, str))}
        others = [
            k
            for k, (shape, dtype) in headers.items()
            if k not in {*taken, "image_shape"}
            and shape == headers[key][0][:1]
            and dtype.kind in "biuf"
        ]
        size = sum(_count(headers[k]) * headers[k][1].itemsize for k in (*taken, *others))
        # all together: single arrays of an archive may share their bytes
        rows = headers[key][0][0] if headers[key][0] else 0
        check_size(size, 1, str(path), rows=rows, packed=path.stat().st_size)
        points = _member(archive, path, key, headers)
        facts: dict[str, Any] = {
            k: _member(archive, path, v, headers) if isinstance(v, str) else v
            for k, v in named.items()
        }
        extras = {k: _member(archive, path, k, headers) for k in others}
    shape = facts.pop("image_shape")
    return from_array(
        points,
        image_shape=None if shape is None else as_image_shape(shape, str(path)),
        extras=extras,
        name=path.stem,
        source=str(path),
        **facts,
    )


def check_arrays(path: Path) -> None:
    """Refuse an ``.npy`` or ``.npz`` file that would take too much memory, by its headers alone.

    Parameters
    ----------
    path : Path
        The file. What the parser raises for one that is neither is left as it is.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            headers = _headers(archive, path).values()
        size = sum(_count(header) * header[1].itemsize for header in headers)
        check_size(size, 1, str(path), packed=path.stat().st_size)
        return
    with open(path, "rb") as file:
        header = _header(file, str(path))
        _check_header(header, path.stat().st_size - file.tell(), str(path))
    check_size(_count(header), header[1].itemsize, str(path))


def from_array(
    values: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
    columns: tuple[str, ...] | None = None,
    extras: Mapping[str, NDArray] | None = None,
    name: str = "array",
    source: str = "array",
) -> Dataset:
    """Make a data set of an array, copying nothing; 3-D and 4-D arrays are stacks of images."""
    if isinstance(labels, str) or isinstance(ids, str):
        raise DataError(
            f"{source}: has no named columns; give labels and ids as one value per point."
        )
    points = values
    if not hasattr(values, "tocsr") and not isinstance(values, np.ma.MaskedArray):
        points = as_numbers(values, source)
        stack = points.ndim == 3 or (points.ndim == 4 and points.shape[3] in (1, 3))
        if stack and image_shape is None and points.size:
            image_shape = points.shape[1:3] if points.shape[3:] in ((), (1,)) else points.shape[1:]
            points = points.reshape(len(points), -1)
    return Dataset(
        points,  # type: ignore[arg-type]
        ids=ids,  # type: ignore[arg-type]
        y=labels,  # type: ignore[arg-type]
        name=name,
        image_shape=image_shape,
        columns=columns,
        extras=extras or {},
        source=source,
    )


def choose_points(
    shapes: Mapping[str, tuple[int, ...]],
    names: tuple[str, ...],
    path: Path,
    all_shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> str:
    """Which of several arrays are the points: one of these names, else the only matrix."""
    for name in names:
        if name in shapes or name in (all_shapes or {}):
            return name
    matrices = [k for k, shape in shapes.items() if len(shape) >= 2 and min(shape) > 1]
    if len(matrices) == 1:
        return matrices[0]
    held = ", ".join(f"{k} {shape}" for k, shape in list((all_shapes or shapes).items())[:8])
    raise DataError(
        f"{path}: which array holds the points is not clear (it has {held or 'none'}); "
        f"name it {names[0]!r} or keep a single 2-D array in the file."
    )


def choose_named(
    given: Any, defaults: tuple[str, ...], option: str, held: Collection[str], path: Path
) -> Any:
    """Name of the array that an option means, or the values given for it; None where neither."""
    if given is None:
        return next((name for name in defaults if name in held), None)
    if isinstance(given, str) and given not in held:
        raise DataError(
            f"{path}: has no array {given!r} for {option}=; it has {', '.join(sorted(held))}."
        )
    return given


def _headers(archive: zipfile.ZipFile, path: Path) -> dict[str, Header]:
    headers = {}
    if len(archive.infolist()) > MOST_ARRAYS:
        raise DataError(
            f"{path}: holds {len(archive.infolist()):,} arrays, at most {MOST_ARRAYS:,} are read; "
            "keep those that are needed."
        )
    for info in archive.infolist():
        if info.filename.endswith(".npy"):
            where = f"{path}, array {info.filename[:-4]!r}"
            with archive.open(info) as member:
                header = _header(member, where)
                stored = info.file_size - member.tell()
            if not header[1].hasobject:
                _check_header(header, stored, where)
            headers[info.filename[:-4]] = header
    return headers


def _header(file: IO[bytes], where: str) -> Header:
    version = npy.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(file)
    else:
        raise DataError(f"{where}: .npy version {version} is not read; save it with np.save again.")
    return shape, dtype


def _check_header(header: Header, stored: int, where: str) -> None:
    """Memory is taken for what the header claims, so the claim must be covered by bytes."""
    _, dtype = header
    if dtype.hasobject:
        as_numbers(np.empty(0, dtype=object), where)
    size = _count(header) * dtype.itemsize
    if size > stored:
        raise DataError(
            f"{where}: is cut off, {size:,} bytes of values are announced and "
            f"{stored:,} are there; copy or download the file again."
        )


def _count(header: Header) -> int:
    """Number of values that a header claims, however large."""
    return math.prod(header[0])


def _member(
    archive: zipfile.ZipFile, path: Path, key: str, headers: Mapping[str, Header]
) -> NDArray:
    where = f"{path}, array {key!r}"
    if headers[key][1].hasobject:
        as_numbers(np.empty(0, dtype=object), where)
    with archive.open(f"{key}.npy") as member:
        return npy.read_array(member, allow_pickle=False)
