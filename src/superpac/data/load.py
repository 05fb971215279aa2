"""The one way in: whatever people have their points in becomes a `Dataset`."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from superpac.data import arrays, hdf5, image_folder, mixed_tables, tables
from superpac.data.benchmarks import load_benchmark
from superpac.data.catalogue import CATALOGUE
from superpac.data.dataset import Dataset
from superpac.data.image_files import LIMIT_PIXELS, raster_suffixes
from superpac.data.mapped_files import is_mapped
from superpac.errors import DataError, InputError, NotFoundError

if TYPE_CHECKING:
    import pandas as pd

_READERS: dict[str, Callable[..., Dataset]] = {
    ".npy": arrays.load_npy,
    ".npz": arrays.load_npz,
    ".csv": tables.load_csv,
    ".tsv": tables.load_csv,
    ".txt": tables.load_csv,
    ".data": tables.load_csv,
    ".parquet": tables.load_parquet,
    ".pq": tables.load_parquet,
    ".mat": hdf5.load_mat,
    ".h5": hdf5.load_hdf5,
    ".hdf5": hdf5.load_hdf5,
    ".hdf": hdf5.load_hdf5,
}


def load(
    what: str | os.PathLike[str] | ArrayLike | pd.DataFrame | Dataset,
    *,
    labels: str | int | ArrayLike | None = None,
    size: int | tuple[int, int] | None = None,
    grey: bool = True,
    ids: str | int | ArrayLike | None = None,
    standardise: bool = False,
    image_shape: tuple[int, ...] | None = None,
    limit_pixels: int = LIMIT_PIXELS,
    fewest: int = 2,
    aside: Callable[[str, str], None] | None = None,
    show: Sequence[str] = (),
    tell: Callable[[str], None] | None = None,
) -> Dataset:
    """Load points from a benchmark's name, a file, an image folder, an array or a DataFrame.

    Parameters
    ----------
    what : str, path, array-like, DataFrame or Dataset
        A name from `superpac.data.available`; a ``.npy``, ``.npz``, ``.csv``, ``.tsv``,
        ``.parquet``, ``.mat`` or ``.h5`` file; a folder of images; or points in memory. A name
        wins over a file of the same name; write ``./digits`` for the file. A ``.npy`` file of
        64 MB or more, and an ``np.memmap``, are not copied: leave the file as it is meanwhile.
    labels : str, int or array-like, optional
        True classes, for measuring only: a column's name or number, an array's name in the
        file, "folders" for an image folder, or one label per point.
    size : int or (height, width), optional
        For image folders: resize to this.
    grey : bool, default=True
        For image folders: grey values instead of colours.
    ids : str, int or array-like, optional
        Names of the points, given as `labels` is.
    standardise : bool, default=False
        Scale every column to zero mean and unit variance (constant ones to zero), as tables
        with mixed units need.
    image_shape : tuple, optional
        For arrays and tables whose rows are images: (height, width) or (height, width, 3).
    limit_pixels : int
        For image folders: larger images are refused undecoded.
    fewest : int, default=2
        Fewer points are refused; 1 does for points that are added to others, and a single image is
        read then.
    aside : callable, optional
        For image folders: called with the name of each image that cannot be read, and why, which is
        left out then; by default the first one is an error.
    show : sequence of str, optional
        For CSV and Parquet files: columns that are shown and not used.
    tell : callable, optional
        For CSV and Parquet files: columns of texts, empty cells and decimal commas are no error
        then, and this is called with one sentence that says what was made of them.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        The data cannot be used; the sentence names the file, the row and a remedy.
    NotFoundError
        There is no such file or benchmark.

    Examples
    --------
    >>> from superpac.data import load
    >>> load("digits")
    Dataset('digits', 1797 points, 64 values each, 10 classes, image)
    >>> load([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], labels=["a", "b", "b"]).y.tolist()
    [0, 1, 1]
    """
    given = {"labels": labels, "ids": ids, "image_shape": image_shape}
    only_images = {"size": size, "grey": None if grey else grey}
    if isinstance(what, str | os.PathLike):
        data = _from_place(what, given, only_images, limit_pixels, aside, fewest, show, tell)
    else:
        _refuse({**only_images, "show": show or None}, "files")
        data = _from_memory(what, given)
    if len(data) < fewest:
        raise DataError(f"{data.source}: has 1 point, at least two are needed; add rows.")
    return data.standardised() if standardise else data


def _from_place(
    what: str | os.PathLike[str],
    given: dict[str, Any],
    only_images: dict[str, Any],
    limit_pixels: int,
    aside: Callable[[str, str], None] | None,
    fewest: int,
    show: Sequence[str],
    tell: Callable[[str], None] | None,
) -> Dataset:
    if isinstance(what, str) and what in CATALOGUE:
        _refuse({**given, **only_images}, "other data than a benchmark, whose facts are known,")
        return load_benchmark(what)
    if not os.fspath(what):
        raise NotFoundError("The data have no name; give a benchmark's name, a file or a folder.")
    try:
        path = Path(what).expanduser()
        exists = path.exists()
    except (ValueError, OSError, RuntimeError) as error:
        raise NotFoundError(f"{str(what)[:200]!r} is not a usable path ({error}).") from error
    if not exists:
        raise NotFoundError(_not_found(str(what)))
    if path.is_dir() or (fewest == 1 and path.suffix.lower() in raster_suffixes()):
        _refuse({"image_shape": given.pop("image_shape")}, "arrays and tables")
        return image_folder.load_images(
            path,
            **_check_folder_labels(given),
            size=only_images["size"],
            grey=only_images["grey"] is None,
            limit_pixels=limit_pixels,
            aside=aside,
        )
    _refuse(only_images, "an image folder")
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        if suffix in raster_suffixes():
            raise DataError(
                f"{path}: is a single image; give the folder that holds all the images."
            )
        raise DataError(
            f"{path}: files ending in {suffix or 'nothing'} are not read; give "
            f"{', '.join(_READERS)}, or a folder of images."
        )
    if not path.is_file():
        raise DataError(f"{path}: is not a plain file; give the path of a data file.")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; give at least two points.")
    reader = _READERS[suffix]
    if reader not in (tables.load_csv, tables.load_parquet) or given["image_shape"] is not None:
        _refuse({"show": show or None}, "CSV and Parquet files")
        return reader(path, **given)
    try:
        if not show:
            return reader(path, **given)
    except DataError:
        if tell is None:
            raise
    facts = {option: given[option] for option in ("labels", "ids")}
    return mixed_tables.load_mixed(path, **facts, show=show, tell=tell or (lambda words: None))


def _check_folder_labels(given: dict[str, Any]) -> dict[str, Any]:
    for option, allowed in (("labels", "'folders' or "), ("ids", "")):
        value = given[option]
        if isinstance(value, str | int) and not (option == "labels" and value == "folders"):
            raise InputError(
                f"{option} must be {allowed}one value per file for an image folder; got {value!r}."
            )
    return given


def _from_memory(what: Any, given: dict[str, Any]) -> Dataset:
    if isinstance(what, Dataset):
        _refuse(given, "other data than a Dataset, which has them already,")
        return what
    if _is_frame(what):
        return tables.load_frame(what, **given)
    if isinstance(what, np.ndarray) and not is_mapped(what):
        # A copy, so that what the caller does to the array later cannot change the points.
        what = what.copy()
    elif not isinstance(what, Sequence) and not any(
        hasattr(what, a) for a in ("__array__", "tocsr")
    ):
        raise InputError(
            f"data must be a name, a path, a 2-D array, a DataFrame or a Dataset; "
            f"got {type(what).__name__}."
        )
    return arrays.from_array(what, **given)


def _is_frame(what: Any) -> bool:
    """Whether it is a DataFrame; whoever has one has imported pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(what, pandas.DataFrame)


def _refuse(options: dict[str, Any], meant_for: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name}= is meant for {meant_for}; leave it out here.")


def _not_found(what: str) -> str:
    close = difflib.get_close_matches(what.lower(), CATALOGUE, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return (
        f"{what}: no such file or folder, and no benchmark of that name; {hint}"
        "superpac data list names the benchmarks."
    )
