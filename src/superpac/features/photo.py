"""One photo as a network takes it: turned upright, in RGB, resized to the network's square."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from superpac.data import image_files
from superpac.data.checks import reading
from superpac.data.cuts import Cut
from superpac.errors import DataError

CROPS = ("centre", "squeeze")


def read_photo(path: Path | Cut, size: tuple[int, int], crop: str = "centre") -> NDArray[np.uint8]:
    """Read a photo, or what is shown of a part of it, of any size, mode and orientation.

    Parameters
    ----------
    path : Path or Cut
        Without links in any part of it.
    size : (int, int)
        Height and width that the network takes.
    crop : {"centre", "squeeze"}
        Resize so that the photo covers the size and cut off what is over on both sides, or
        resize both sides each by its own factor.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder).resolve() / "red.png"
    ...     Image.new("RGB", (40, 20), (255, 0, 0)).save(path)
    ...     read_photo(path, (8, 8))[0, 0].tolist()
    [255, 0, 0]
    """
    height, width = size
    with open_photo(path, max(size)) as plain, reading(photo_file(path), "an image"):
        box = None if crop == "squeeze" else _centre(plain.size, (width, height))
        drawn = plain.resize((width, height), Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)
        return np.asarray(drawn)


def photo_file(what: Path | Cut) -> Path:
    """File of a photo, or of the photo that a part was cut out of."""
    return what.path if isinstance(what, Cut) else what


@contextmanager
def open_photo(what: Path | Cut, least: int) -> Iterator[Image.Image]:
    """Open a photo upright and in RGB, neither side decoded to fewer than `least` pixels."""
    path = photo_file(what)
    with image_files.opened(path) as image, reading(path, "an image"):
        height, width = image_files.upright_size(image)
        area = what.shown if isinstance(what, Cut) else (0, 0, width, height)
        # a JPEG decodes straight to a fraction of its size
        part = min(area[2] - area[0], area[3] - area[1]) / min(width, height)
        image.draft("RGB", (math.ceil(least / part),) * 2)
        upright = _eight_bit(image_files.upright(image), path)
        if isinstance(what, Cut):
            factor = upright.width / width
            left, top, right, bottom = (round(side * factor) for side in area)
            upright = upright.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
        yield upright


def _centre(have: tuple[int, int], want: tuple[int, int]) -> tuple[float, float, float, float]:
    """Largest box in the middle of a picture with the proportions that are wanted."""
    factor = min(have[0] / want[0], have[1] / want[1])
    width, height = want[0] * factor, want[1] * factor
    left, top = (have[0] - width) / 2, (have[1] - height) / 2
    # rounding may lead out of the picture by a hair
    return max(0.0, left), max(0.0, top), min(have[0], left + width), min(have[1], top + height)


def _eight_bit(image: Image.Image, path: Path) -> Image.Image:
    """Mode RGB; of more bits than eight the darkest pixel becomes black, the lightest white."""
    if not image_files.is_deep(image):
        return image_files.eight_bit(image, grey=False)
    values = np.asarray(image, dtype=np.float64)
    if not np.isfinite(values).all():
        raise DataError(f"{path}: has pixels that are NaN or infinite; remove the file.")
    low, span = values.min(), float(np.ptp(values)) or 1.0
    scaled = np.rint((values - low) * (255.0 / span)).astype(np.uint8)
    return Image.fromarray(scaled).convert("RGB")
