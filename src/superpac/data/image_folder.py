"""A folder of images as points: one row of pixels per file, in the order of the file names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from superpac.data import folder_files, image_files, limits
from superpac.data.checks import reading
from superpac.data.dataset import Dataset
from superpac.errors import DataError, InputError, NotFoundError

SMALL = 200
"""Longest side of an image that is small: cropped faces of a camera rig have 192 x 168 pixels."""

REDUCED = 32
"""Sides of an image whose pixels are compared, where images are larger or of several sizes."""

Size = int | tuple[int, int]
Aside = Callable[[str, str], None]
"""Is told the name of what is left out, and why."""


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
    aside: Aside | None = None,
) -> Dataset:
    """Read every image below a folder; the options are those of `superpac.data.load`.

    Hidden files and files that are no images by their extension are passed over, links that lead
    out of the folder are refused. ``labels="folders"`` takes the name of each image's own folder as
    its true class. Ids are the paths below `folder` unless given; images are known by their content
    then, and files may be renamed.
    """
    found = find_images(folder, aside)
    names = [folder_files.name_below(f, folder) for f in found]
    # Resolved, so that a link put in a file's place later is seen as one and not followed.
    files = [f.resolve() for f in found]
    target = None if size is None else check_target(size)
    broken: set[int] = set()

    def leave_out(row: int, error: DataError | NotFoundError) -> None:
        if aside is None:
            raise error
        broken.add(row)
        aside(names[row], str(error).removeprefix(f"{files[row]}: "))

    shape = _common_shape(files, target, limit_pixels, leave_out)
    depth = 1 if grey else 3
    values = len(files) * shape[0] * shape[1] * depth
    limits.check_size(values, 1, f"{folder} (a smaller --size helps)", rows=len(files))
    whole = [row for row in range(len(files)) if row not in broken]
    X = _read_all(files, whole, shape, target is not None, grey, limit_pixels, leave_out)
    if len(broken) == len(files):
        raise DataError(f"{folder}: none of its {len(files)} images can be read; give others.")
    by_folder = isinstance(labels, str)
    classes: Any = folder_files.own_folders(folder, names, broken) if by_folder else labels
    data = Dataset(
        X,
        ids=names if ids is None else ids,  # type: ignore[arg-type]
        y=classes,
        name=folder.resolve().name or str(folder),
        image_shape=shape if grey else (*shape, 3),
        paths=tuple(files),
        source=str(folder),
        limit_pixels=limit_pixels,
        by_content=ids is None,
    )
    return data.subset([row for row in whole if row not in broken]) if broken else data


def fitting_size(folder: Path) -> tuple[tuple[int, int] | None, str]:
    """Size that the images of a folder are to be reduced to before pixels are compared, and why.

    Parameters
    ----------
    folder : Path
        With images.

    Returns
    -------
    (height, width) or None, and str
        None where all are small and of one size: they are fine as they are.
    """
    sizes: set[tuple[int, int]] = set()

    def leave_out(name: str, why: str) -> None:
        """Whoever reads the images names those that cannot be read."""

    for path in find_images(folder, leave_out):
        with suppress(DataError, NotFoundError), image_files.opened(path.resolve()) as image:
            sizes.add(image_files.upright_size(image))
    if len(sizes) > 1:
        return (REDUCED, REDUCED), "of several sizes"
    if any(max(size) > SMALL for size in sizes):
        return (REDUCED, REDUCED), f"larger than {SMALL} x {SMALL}"
    return None, ""


def find_images(folder: Path, aside: Aside | None = None) -> list[Path]:
    """Image files below a folder, sorted by their path parts."""

    def leave_out(path: Path, why: str) -> None:
        if aside is None:
            raise DataError(f"{path}: {why}.")
        aside(folder_files.name_below(path, folder), why)

    found: list[Path] = []
    others: Counter[str] = Counter()
    for path in folder_files.files_below(folder):
        suffix = path.suffix.lower()
        if suffix in image_files.VECTOR_SUFFIXES:
            leave_out(path, "vector graphics are not read; save it as PNG, or remove it")
            continue
        if suffix not in image_files.raster_suffixes():
            others[suffix or "no extension"] += 1
            continue
        if folder_files.leads_out(path, folder):
            leave_out(path, "a link that leads out of the folder; put the image itself there")
            continue
        found.append(path)
    if not found:
        raise DataError(
            f"{folder}: no image in this folder (it holds {folder_files.tally(others)}); give a "
            "folder of images, or the path of a .npy, .npz, .csv, .parquet, .mat or .h5 file."
        )
    return found


def _common_shape(
    files: Sequence[Path],
    target: tuple[int, int] | None,
    limit_pixels: int,
    leave_out: Callable[[int, DataError | NotFoundError], None],
) -> tuple[int, int]:
    """Read all headers first, so that a bad file is named before the long work starts."""
    first: tuple[int, int] | None = None
    named = ""
    for k, path in enumerate(files):
        try:
            with image_files.opened(path, limit_pixels) as image, reading(path, "an image"):
                shape = image_files.upright_size(image)
        except (DataError, NotFoundError) as error:
            leave_out(k, error)
            continue
        if first is None:
            first, named = shape, path.name
        elif target is None and shape != first:
            raise DataError(
                f"{path}: {shape[0]}x{shape[1]} pixels (height x width) but {named} has "
                f"{first[0]}x{first[1]}; resize all with size=({first[0]}, {first[1]}) or "
                f"--size {first[0]}x{first[1]}."
            )
    return target or first or (0, 0)


def _read_all(
    files: Sequence[Path],
    readable: Sequence[int],
    shape: tuple[int, int],
    resize: bool,
    grey: bool,
    limit_pixels: int,
    leave_out: Callable[[int, DataError | NotFoundError], None],
) -> NDArray:
    """Pixels of those files that are readable; rows of zeros for the others."""
    X: NDArray | None = None
    named = ""
    for k in readable:
        path = files[k]
        try:
            row = _read_one(path, shape, resize, grey, limit_pixels).reshape(-1)
            if row.dtype.kind == "f" and not np.isfinite(row).all():
                raise DataError(f"{path}: has pixels that are NaN or infinite; remove the file.")
        except (DataError, NotFoundError) as error:
            leave_out(k, error)
            continue
        if X is None:
            X, named = np.zeros((len(files), row.size), dtype=row.dtype), path.name
        elif row.dtype != X.dtype:
            raise DataError(
                f"{path}: has {row.dtype} pixels but {named} has {X.dtype}, whose scales "
                "differ; convert all images to the same depth."
            )
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
