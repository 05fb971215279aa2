"""A part of a photo that is an item of its own, such as one face of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

Box = tuple[int, int, int, int]

_AROUND = 1.6  # side of what is shown, in longer sides of the box: hair and chin belong to a face


@dataclass(frozen=True)
class Cut:
    """Part of a photo.

    Attributes
    ----------
    path : Path
        The photo, without links in any part of the path.
    size : (int, int)
        Width and height of the photo as it stands upright, in pixels.
    box : (int, int, int, int)
        Left, top, width and height of the part, in these pixels.
    points : tuple of (float, float)
        Marks within it by which it is set straight, in the same pixels: of a face the eyes, the
        nose and the corners of the mouth. None where the box is all that is known.
    content : str
        Hash of what the photo's file holds; empty where it was not read.

    Examples
    --------
    >>> Cut(Path("party.jpg"), (640, 480), (100, 50, 40, 60)).shown
    (72, 32, 168, 128)
    """

    path: Path
    size: tuple[int, int]
    box: Box
    points: tuple[tuple[float, float], ...] = ()
    content: str = ""

    @property
    def shown(self) -> Box:
        """Square around the box, within the photo, that people see: left, top, right, bottom."""
        left, top, width, height = self.box
        half = _AROUND * max(width, height) / 2
        x, y = left + width / 2, top + height / 2
        return (
            max(0, math.floor(x - half)),
            max(0, math.floor(y - half)),
            min(self.size[0], math.ceil(x + half)),
            min(self.size[1], math.ceil(y + half)),
        )

    @property
    def whole(self) -> bool:
        """Whether what people see is the whole photo."""
        return self.shown == (0, 0, *self.size)
