"""A folder of images as points: one row of pixels per file, in the order of the file names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from superpac.data import folder_files, image_files, limits
from superpac.data.checks import reading
from superpac.data.dataset import Dataset
from superpac.errors import DataError, InputError
from superpac.system.safe_text import well_formed

Size = int | tuple[int, int]


def parse_size(text: str) -> tuple[int, int]:
    """Read ``"48x42"`` (height x width) or ``"32"`` (both), as written after ``--size``.

    Examples
    --------
    >>> parse_size("48x42"), parse_size("32")
    ((48, 42), (32, 32))
    """
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) > 2 or not all(p.strip().isascii() and p.strip().isdigit() for p in parts):
        raise InputError(f"size must be HEIGHTxWIDTH such as 48x42, or one number; got {text!r}.")
    return check_target(tuple(int(p) for p in parts) if len(parts) == 2 else int(parts[0]))


def check_target(size: Size | Sequence[int]) -> tuple[int, int]:
    """(height, width) from a size given as one number or a pair."""
    sides = (size, size) if isinstance(size, int | np.integer) else tuple(size)
    if len(sides) != 2 or not all(isinstance(s, int | np.integer) and s >= 1 for s in sides):
        raise InputError(
            f"size must be (height, width) in whole pixels or one number; got {size!r}."
        )
    return int(sides[0]), int(sides[1])


def load_images(
    folder: Path,
    *,
    labels: str | ArrayLike | None = None,
    ids: ArrayLike | None = None,
    size: Size | None = None,
    grey: bool = True,
    limit_pixels: int = image_files.LIMIT_PIXELS,
) -> Dataset:
    """Read every image below a folder; the options are those of `superpac.data.load`.

    Hidden files and files that are no images by their extension are passed over, links that lead
    out of the folder are refused. ``labels="folders"`` takes the name of each image's own folder as
    its true class. Ids are the paths below `folder` unless given; images are known by their content
    then, and files may be renamed.
    """
    found = find_images(folder)
    # A file name may be any bytes; the page, exports and terminals need text.
    names = [well_formed(f.relative_to(folder).as_posix()) for f in found]
    # Resolved, so that a link put in a file's place later is seen as one and not followed.
    files = [f.resolve() for f in found]
    target = None if size is None else check_target(size)
    shape = _common_shape(files, target, limit_pixels)
    depth = 1 if grey else 3
    values = len(files) * shape[0] * shape[1] * depth
    limits.check_size(values, 1, f"{folder} (a smaller --size helps)", rows=len(files))
    X = _read_all(files, shape, target is not None, grey, limit_pixels)
    return Dataset(
        X,
        ids=names if ids is None else ids,  # type: ignore[arg-type]
        y=folder_files.own_folders(folder, names) if isinstance(labels, str) else labels,  # type: ignore[arg-type]
        name=folder.resolve().name or str(folder),
        image_shape=shape if grey else (*shape, 3),
        paths=tuple(files),
        source=str(folder),
        limit_pixels=limit_pixels,
        by_content=ids is None,
    )


def find_images(folder: Path) -> list[Path]:
    """Image files below a folder, sorted by their path parts."""
    found: list[Path] = []
    others: Counter[str] = Counter()
    for path in folder_files.files_below(folder):
        suffix = path.suffix.lower()
        if suffix in image_files.VECTOR_SUFFIXES:
            raise DataError(f"{path}: vector graphics are not read; save it as PNG, or remove it.")
        if suffix not in image_files.raster_suffixes():
            others[suffix or "no extension"] += 1
            continue
        if folder_files.leads_out(path, folder):
            raise DataError(
                f"{path}: a link that leads out of the folder; put the image itself there."
            )
        found.append(path)
    if not found:
        raise DataError(
            f"{folder}: no image in this folder (it holds {folder_files.tally(others)}); give a "
            "folder of images, or the path of a .npy, .npz, .csv, .parquet, .mat or .h5 file."
        )
    return found


def _common_shape(
    files: Sequence[Path], target: tuple[int, int] | None, limit_pixels: int
) -> tuple[int, int]:
    """Read all headers first, so that a bad file is named before the long work starts."""
    first: tuple[int, int] | None = None
    for path in files:
        with image_files.opened(path, limit_pixels) as image, reading(path, "an image"):
            shape = image_files.upright_size(image)
        if first is None:
            first = shape
        elif target is None and shape != first:
            raise DataError(
                f"{path}: {shape[0]}x{shape[1]} pixels (height x width) but {files[0].name} has "
                f"{first[0]}x{first[1]}; resize all with size=({first[0]}, {first[1]}) or "
                f"--size {first[0]}x{first[1]}."
            )
    return target or first or (0, 0)


def _read_all(
    files: Sequence[Path], shape: tuple[int, int], resize: bool, grey: bool, limit_pixels: int
) -> NDArray:
    X: NDArray | None = None
    for k, path in enumerate(files):
        row = _read_one(path, shape, resize, grey, limit_pixels).reshape(-1)
        if X is None:
            X = np.empty((len(files), row.size), dtype=row.dtype)
        elif row.dtype != X.dtype:
            raise DataError(
                f"{path}: has {row.dtype} pixels but {files[0].name} has {X.dtype}, whose scales "
                "differ; convert all images to the same depth."
            )
        if row.dtype.kind == "f" and not np.isfinite(row).all():
            raise DataError(f"{path}: has pixels that are NaN or infinite; remove the file.")
        X[k] = row
    return X if X is not None else np.empty((0, 0))


def _read_one(
    path: Path, shape: tuple[int, int], resize: bool, grey: bool, limit_pixels: int
) -> NDArray:
    height, width = shape
    with image_files.opened(path, limit_pixels) as image, reading(path, "an image"):
        if resize:
            # JPEG decodes straight to a fraction of its size; twice the target keeps it sharp.
            image.draft(None, (2 * max(shape), 2 * max(shape)))
        turned = image_files.upright(image)
        if image_files.is_deep(turned):
            return _deep(turned, shape, resize, grey)
        plain = image_files.eight_bit(turned, grey)
        if resize and plain.size != (width, height):
            plain = plain.resize((width, height), Image.Resampling.BICUBIC)
        return np.asarray(plain)


def _deep(image: Image.Image, shape: tuple[int, int], resize: bool, grey: bool) -> NDArray:
    values = np.asarray(image)
    if values.dtype == np.int32 and values.min() >= 0 and values.max() < 2**16:
        values = values.astype(np.uint16)
    values = values.astype(values.dtype.newbyteorder("="))
    if resize and values.shape != shape:
        whole = Image.fromarray(values.astype(np.float32))
        reduced = np.asarray(whole.resize((shape[1], shape[0]), Image.Resampling.BICUBIC))
        if values.dtype.kind in "iu":
            limits = np.iinfo(values.dtype)
            reduced = np.clip(np.rint(reduced), limits.min, limits.max)
        values = reduced.astype(values.dtype)
    return values if grey else np.repeat(values[..., None], 3, axis=2)
