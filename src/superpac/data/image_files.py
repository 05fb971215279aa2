"""Opening one image file safely: raster formats only, a cap on pixels, no links followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO

from PIL import Image, ImageOps, UnidentifiedImageError

from superpac.data import limits
from superpac.data.checks import reading
from superpac.errors import DataError

LIMIT_PIXELS = limits.PIXELS

# Not raster images, or only stubs that call a program or handler of the user's.
_NOT_RASTER = frozenset({"EPS", "WMF", "BUFR", "GRIB", "HDF5", "MPEG", "PDF", "FPX", "MIC"})
_STRIP = 256
VECTOR_SUFFIXES = frozenset({".svg", ".svgz", ".eps", ".ps", ".ai", ".pdf", ".wmf", ".emf"})


@cache
def raster_formats() -> tuple[str, ...]:
    """Names of the formats that may be opened."""
    Image.init()
    return tuple(sorted(set(Image.OPEN) - _NOT_RASTER))


@cache
def raster_suffixes() -> frozenset[str]:
    """File extensions of those formats."""
    formats = set(raster_formats())
    return frozenset(s for s, f in Image.EXTENSION.items() if f in formats)


@contextmanager
def open_plain(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain file whose path was resolved when its folder was read, without following links.

    Whatever became a link or a pipe since, the file or a folder on the way to it, leads elsewhere
    and is refused; a pipe is not waited for.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder).resolve()
    ...     _ = (place / "a").write_text("inside")
    ...     (place / "b").symlink_to("a")
    ...     with open_plain(place / "a") as file:
    ...         print(file.read())
    ...     with open_plain(place / "b") as file:
    ...         pass
    Traceback (most recent call last):
    superpac.errors.DataError: ...b: not a plain file, or a link is on the way to it; ...
    """
    other = (
        f"{path}: not a plain file, or a link is on the way to it; put the file itself back there."
    )
    with reading(path, "a file"):
        try:
            handle = _step_by_step(path)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
                raise DataError(other) from error
            raise
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise DataError(other)
        yield file


def _step_by_step(path: Path) -> int:
    """Open a file, one part of its path after the other, none of them a link."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd:  # Windows: making a link takes an administrator
        return os.open(path, flags)
    place = Path(os.path.abspath(path))
    # where the system can, going through a folder takes no right to list it
    through = os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)
    here = os.open(place.anchor, through)
    try:
        for part in place.parts[1:-1]:
            below = os.open(part, through, dir_fd=here)
            os.close(here)
            here = below
        return os.open(place.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)


@contextmanager
def opened(path: Path, limit_pixels: int = LIMIT_PIXELS) -> Iterator[Image.Image]:
    """Open an image, header only; anything but a raster image within the limit is refused."""
    with reading(path, "an image"), open_plain(path) as file:
        try:
            image = Image.open(file, formats=raster_formats())
        except UnidentifiedImageError as error:
            raise DataError(
                f"{path}: not an image that can be read (damaged, empty, or a vector format such "
                "as SVG or EPS); save it as PNG, or remove it."
            ) from error
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise DataError(
                f"{path}: the image claims far more pixels than the {limit_pixels:,} allowed; "
                "reduce it first, or remove it."
            ) from error
        with image:
            check_pixels(path, image.size, limit_pixels)
            yield image


def check_whole(path: Path, limit_pixels: int = LIMIT_PIXELS) -> None:
    """Refuse an image that is cut off or cannot be opened.

    An image that ends as its format says is not decoded: a thousand photographs are looked at in
    a second.
    """
    with opened(path, limit_pixels) as image, reading(path, "an image"):
        if not _ends_well(image):
            image.draft(None, (1, 1))  # JPEG decodes a fraction of itself, but to its end
            image.load()


def _ends_well(image: Image.Image) -> bool:
    """Whether the last bytes of the file are those that end a JPEG or a PNG."""
    file = getattr(image, "fp", None)
    if file is None or image.format not in ("JPEG", "MPO", "PNG"):
        return False
    here = file.tell()
    file.seek(max(0, file.seek(0, os.SEEK_END) - 64))
    end = file.read(64)
    file.seek(here)
    if image.format == "PNG":
        return bool(end[-8:-4] == b"IEND")
    return bool(end.rstrip(b"\0").endswith(b"\xff\xd9"))


def check_pixels(path: Path, size: tuple[int, int], limit_pixels: int) -> None:
    """Refuse an image of more pixels than allowed."""
    width, height = size
    if width * height > limit_pixels:
        raise DataError(
            f"{path}: {width} x {height} pixels, at most {limit_pixels:,} are read; "
            "reduce it first, or raise limit_pixels."
        )
    if width == 0 or height == 0:
        raise DataError(f"{path}: the image has no pixels; remove it.")


def upright(image: Image.Image) -> Image.Image:
    """Turn a photograph, in place, as its camera's orientation tag says."""
    ImageOps.exif_transpose(image, in_place=True)
    return image


def upright_size(image: Image.Image) -> tuple[int, int]:
    """(height, width) after `upright`, without decoding the image."""
    width, height = image.size
    return (width, height) if image.getexif().get(0x0112, 1) in (5, 6, 7, 8) else (height, width)


def is_deep(image: Image.Image) -> bool:
    """Whether pixels have more than 8 bits, as in 16-bit PNG or float TIFF."""
    return image.mode == "F" or image.mode.startswith("I")


def eight_bit(image: Image.Image, grey: bool) -> Image.Image:
    """Mode L or RGB; what is transparent becomes black."""
    target = "L" if grey else "RGB"
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return _on_black(image, target)
    return image if image.mode == target else image.convert(target)


def _on_black(image: Image.Image, mode: str) -> Image.Image:
    """Lay on black a strip at a time: four whole copies of a large photograph are a gigabyte."""
    drawn = Image.new(mode, image.size)
    for top in range(0, image.height, _STRIP):
        box = (0, top, image.width, min(top + _STRIP, image.height))
        strip = image.crop(box).convert("RGBA")
        drawn.paste(strip.convert(mode), box, mask=strip.getchannel("A"))
    return drawn
