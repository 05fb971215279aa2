"""Drawings of things that everybody knows, no two alike: something to sort in the first minute.

They are made here, so they can be given away with the program and need no download.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from superpac.errors import InputError
from superpac.system.atomic_files import output_folder

SIDE = 224
_FINER = 3  # drawn larger and reduced, so that edges are smooth

Point = tuple[float, float]
Colour = tuple[int, int, int]


class _Pen:
    """Draws on a square from -1 to 1, upright, y downwards, as if by a hand that varies."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        size = SIDE * _FINER
        self.paper = self.colour(rng.uniform(), 0.12, 0.97)
        self.image = Image.new("RGB", (size, size), self.paper)
        self._draw = ImageDraw.Draw(self.image)
        self.pencil = bool(rng.uniform() < 0.4)  # lines on paper, nothing coloured in
        angle = math.radians(rng.normal(0, 9))
        scale = rng.uniform(0.5, 0.88) * size / 2
        wide, high = scale * rng.uniform(0.88, 1.12), scale * rng.uniform(0.88, 1.12)
        self._turn = math.cos(angle), math.sin(angle)
        self._stretch = wide * rng.choice((-1, 1)), high  # mirrored half the time
        self._middle = rng.normal(size / 2, size / 25, 2)
        self.thick = float(rng.uniform(0.035, 0.06))

    def colour(self, hue: float, saturation: float = 0.75, value: float = 0.9) -> Colour:
        """Colour near the one named."""
        h = (hue + self.rng.normal(0, 0.015)) % 1.0
        s = float(np.clip(saturation + self.rng.normal(0, 0.06), 0, 1))
        v = float(np.clip(value + self.rng.normal(0, 0.05), 0, 1))
        red, green, blue = colorsys.hsv_to_rgb(h, s, v)
        return round(255 * red), round(255 * green), round(255 * blue)

    def any_colour(self, saturation: float = 0.7, value: float = 0.85) -> Colour:
        """Any hue."""
        return self.colour(float(self.rng.uniform()), saturation, value)

    def polygon(
        self, points: Sequence[Point], fill: Colour | None, *, outline: bool = True
    ) -> None:
        """Fill a shape and draw its edge."""
        if fill is not None:
            there = [self._place(p) for p in points]
            self._draw.polygon(there, fill=self.paper if self.pencil else fill)
        if outline:
            self.line([*points, points[0], points[1]])

    def line(
        self, points: Sequence[Point], colour: Colour = (45, 40, 50), thick: float = 1.0
    ) -> None:
        """Draw a line through points."""
        if self.pencil:
            colour = (70, 70, 78)
        width = max(1, round(thick * self.thick * abs(self._stretch[0])))
        there = [self._place(p) for p in points]
        self._draw.line(there, fill=colour, width=width, joint="curve")
        for x, y in (there[0], there[-1]):  # round ends
            r = width / 2
            self._draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    def ellipse(
        self,
        middle: Point,
        wide: float,
        high: float,
        fill: Colour | None,
        *,
        outline: bool = True,
        between: tuple[float, float] = (0.0, 360.0),
        tilt: float = 0.0,
    ) -> None:
        """Draw an ellipse, or the part of it between two angles, clockwise from the right."""
        points = list(_arc(middle, wide, high, between, tilt))
        if between == (0.0, 360.0):
            points.pop()
        self.polygon(points, fill, outline=outline)

    def arc(
        self,
        middle: Point,
        wide: float,
        high: float,
        between: tuple[float, float],
        thick: float = 1.0,
    ) -> None:
        """Draw a part of the edge of an ellipse."""
        self.line(list(_arc(middle, wide, high, between, 0.0)), thick=thick)

    def picture(self) -> Image.Image:
        """What has been drawn, at its final size."""
        return self.image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)

    def _place(self, point: Point) -> Point:
        x, y = point[0] * self._stretch[0], point[1] * self._stretch[1]
        cos, sin = self._turn
        return (
            float(self._middle[0] + cos * x - sin * y),
            float(self._middle[1] + sin * x + cos * y),
        )


def _arc(
    middle: Point, wide: float, high: float, between: tuple[float, float], tilt: float
) -> Iterator[Point]:
    cos, sin = math.cos(math.radians(tilt)), math.sin(math.radians(tilt))
    for angle in np.linspace(*between, 40):
        x, y = wide * math.cos(math.radians(angle)), high * math.sin(math.radians(angle))
        yield middle[0] + cos * x - sin * y, middle[1] + sin * x + cos * y


def _house(pen: _Pen) -> None:
    wall, roof = pen.any_colour(0.35, 0.95), pen.colour(0.02, 0.75, 0.75)
    pen.polygon(
        [(0.42, -0.9), (0.62, -0.9), (0.62, -0.2), (0.42, -0.2)], pen.colour(0.05, 0.5, 0.6)
    )
    pen.polygon([(-0.75, 0.9), (-0.75, -0.15), (0.75, -0.15), (0.75, 0.9)], wall)
    pen.polygon([(-0.95, -0.12), (0, -0.95), (0.95, -0.12)], roof)
    pen.polygon([(-0.15, 0.9), (-0.15, 0.3), (0.2, 0.3), (0.2, 0.9)], pen.colour(0.08, 0.6, 0.5))
    for x in (-0.55, 0.38):
        pen.polygon(
            [(x, 0.5), (x, 0.15), (x + 0.28, 0.15), (x + 0.28, 0.5)], pen.colour(0.55, 0.3, 1.0)
        )


def _tree(pen: _Pen) -> None:
    bark = pen.colour(0.07, 0.6, 0.5)
    pen.polygon([(-0.13, 0.95), (-0.09, 0.1), (0.09, 0.1), (0.15, 0.95)], bark)
    leaves = pen.colour(float(pen.rng.uniform(0.22, 0.38)), 0.7, 0.65)
    bushes = [(-0.42, -0.05, 0.38), (0.42, -0.05, 0.38), (-0.25, -0.5, 0.38), (0.28, -0.5, 0.36)]
    for x, y, r in bushes:
        pen.ellipse((x, y), r, r, leaves)
    pen.ellipse((0, -0.3), 0.45, 0.5, leaves, outline=False)


def _fish(pen: _Pen) -> None:
    skin = pen.any_colour(0.65, 0.95)
    pen.polygon([(0.45, 0), (0.95, -0.45), (0.85, 0), (0.95, 0.45)], skin)
    pen.polygon([(-0.2, -0.3), (0.15, -0.7), (0.3, -0.25)], skin)
    pen.ellipse((-0.15, 0), 0.72, 0.42, skin)
    pen.ellipse((-0.55, -0.1), 0.1, 0.1, (255, 255, 255))
    pen.ellipse((-0.56, -0.1), 0.04, 0.04, (30, 30, 40))
    for x in (-0.2, 0.05, 0.3):
        pen.arc((x - 0.12, 0), 0.14, 0.24, (-60, 60), 0.7)


def _cat(pen: _Pen) -> None:
    shade = float(pen.rng.uniform(0.4, 0.9))
    fur = pen.colour(0.08, float(pen.rng.uniform(0.05, 0.7)), shade)
    for side in (-1, 1):
        pen.polygon([(side * 0.7, -0.25), (side * 0.62, -0.95), (side * 0.12, -0.55)], fur)
    pen.ellipse((0, 0.08), 0.78, 0.7, fur)
    eye = pen.colour(float(pen.rng.choice((0.14, 0.3, 0.55))), 0.6, 0.95)
    for side in (-1, 1):
        pen.ellipse((side * 0.3, -0.05), 0.15, 0.18, eye)
        pen.ellipse((side * 0.3, -0.05), 0.04, 0.15, (25, 25, 30), outline=False)
        for drop in (0.22, 0.32, 0.42):
            pen.line([(side * 0.28, 0.32), (side * 0.98, drop)], thick=0.5)
    pen.polygon([(-0.09, 0.22), (0.09, 0.22), (0, 0.32)], pen.colour(0.97, 0.5, 0.9))
    pen.arc((-0.12, 0.4), 0.12, 0.1, (0, 180), 0.8)
    pen.arc((0.12, 0.4), 0.12, 0.1, (0, 180), 0.8)


def _car(pen: _Pen) -> None:
    paint = pen.any_colour(0.8, 0.85)
    pen.polygon(
        [(-0.5, -0.1), (-0.28, -0.5), (0.32, -0.5), (0.6, -0.1)], pen.colour(0.55, 0.25, 1.0)
    )
    pen.line([(0.02, -0.5), (0.02, -0.1)])
    body = [(-0.95, 0.35), (-0.92, -0.02), (-0.5, -0.12), (0.6, -0.12), (0.92, 0.02), (0.95, 0.35)]
    pen.polygon(body, paint)
    for x in (-0.52, 0.55):
        pen.ellipse((x, 0.37), 0.23, 0.23, (50, 50, 58))
        pen.ellipse((x, 0.37), 0.1, 0.1, (200, 200, 205))
    pen.ellipse((-0.86, 0.08), 0.07, 0.07, pen.colour(0.14, 0.5, 1.0))


def _boat(pen: _Pen) -> None:
    pen.line([(0, 0.4), (0, -0.95)], pen.colour(0.08, 0.6, 0.45), 1.4)
    pen.polygon([(0.06, -0.88), (0.06, 0.25), (0.75, 0.25)], pen.any_colour(0.35, 1.0))
    pen.polygon([(-0.07, -0.7), (-0.07, 0.25), (-0.55, 0.25)], pen.any_colour(0.2, 1.0))
    hull = [(-0.85, 0.4), (0.85, 0.4), (0.55, 0.8), (-0.55, 0.8)]
    pen.polygon(hull, pen.colour(0.06, 0.65, float(pen.rng.uniform(0.4, 0.8))))
    wave = [(x, 0.86 + 0.06 * math.sin(9 * x)) for x in np.linspace(-1, 1, 50).tolist()]
    pen.line(wave, pen.colour(0.58, 0.7, 0.8), 1.5)


def _flower(pen: _Pen) -> None:
    stalk = pen.colour(0.3, 0.7, 0.55)
    pen.line([(0, 0), (0.03, 0.95)], stalk, 2.0)
    pen.ellipse((0.24, 0.6), 0.26, 0.1, stalk, tilt=-30)
    pen.ellipse((-0.2, 0.7), 0.24, 0.1, stalk, tilt=30)
    petals, number = pen.any_colour(0.6, 0.98), int(pen.rng.integers(5, 9))
    for k in range(number):
        angle = 360 * k / number
        x, y = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        pen.ellipse((0.38 * x, 0.38 * y - 0.35), 0.27, 0.16, petals, tilt=angle)
    pen.ellipse((0, -0.35), 0.2, 0.2, pen.colour(0.13, 0.85, 0.95))


def _cup(pen: _Pen) -> None:
    clay = pen.any_colour(0.6, 0.95)
    pen.ellipse((0.6, 0.2), 0.3, 0.3, None)
    pen.ellipse((0.6, 0.2), 0.2, 0.2, None)
    pen.polygon([(-0.65, -0.25), (0.55, -0.25), (0.42, 0.75), (-0.52, 0.75)], clay)
    pen.ellipse((-0.05, -0.25), 0.6, 0.14, pen.colour(0.07, 0.75, 0.35))
    for x in (-0.3, 0.0, 0.28):
        steam = [
            (x + 0.06 * math.sin(8 * t), -0.5 - 0.4 * t) for t in np.linspace(0, 1, 20).tolist()
        ]
        pen.line(steam, (150, 150, 160), 0.8)


def _umbrella(pen: _Pen) -> None:
    cloth, other = pen.any_colour(0.75, 0.9), pen.any_colour(0.4, 0.98)
    pen.line([(0, -0.5), (0, 0.7)], thick=1.5)
    pen.arc((0.14, 0.7), 0.14, 0.16, (0, 180), 1.5)
    pen.line([(0, -0.8), (0, -0.6)], thick=1.3)
    pen.ellipse((0, 0), 0.92, 0.7, cloth, between=(180, 360))
    pen.ellipse((0, 0), 0.34, 0.7, other, between=(180, 360))
    for x in (-0.63, 0.0, 0.63):
        pen.ellipse((x, 0.01), 0.3, 0.1, pen.paper, between=(180, 360), outline=False)
        pen.arc((x, 0.01), 0.3, 0.1, (180, 360))


def _mushroom(pen: _Pen) -> None:
    stem = pen.colour(0.11, 0.15, 0.97)
    pen.polygon([(-0.22, -0.1), (0.22, -0.1), (0.3, 0.85), (-0.3, 0.85)], stem)
    cap = pen.colour(
        float(pen.rng.choice((0.0, 0.02, 0.08))), 0.8, float(pen.rng.uniform(0.6, 0.9))
    )
    pen.ellipse((0, 0.05), 0.85, 0.85, cap, between=(180, 360))
    for x, y, r in (
        (-0.42, -0.25, 0.12),
        (0.05, -0.5, 0.14),
        (0.45, -0.22, 0.11),
        (0.02, -0.14, 0.08),
    ):
        pen.ellipse((x, y), r, 0.85 * r, (250, 246, 238))


def _apple(pen: _Pen) -> None:
    skin = pen.colour(float(pen.rng.choice((0.99, 0.01, 0.14, 0.25))), 0.8, 0.85)
    for side in (-1, 1):
        pen.ellipse((side * 0.3, 0.2), 0.48, 0.62, skin)
    pen.ellipse((0, 0.22), 0.45, 0.52, skin, outline=False)
    pen.line([(0, -0.3), (0.06, -0.8)], pen.colour(0.07, 0.6, 0.4), 1.8)
    pen.ellipse((0.34, -0.62), 0.28, 0.13, pen.colour(0.3, 0.7, 0.65), tilt=-25)
    pen.ellipse((-0.42, -0.02), 0.08, 0.14, (255, 255, 255), outline=False, tilt=25)


def _butterfly(pen: _Pen) -> None:
    wing, spot = pen.any_colour(0.7, 0.95), pen.any_colour(0.5, 1.0)
    for side in (-1, 1):
        pen.ellipse((side * 0.48, -0.35), 0.48, 0.34, wing, tilt=side * -30)
        pen.ellipse((side * 0.38, 0.38), 0.36, 0.28, wing, tilt=side * 35)
        pen.ellipse((side * 0.52, -0.38), 0.18, 0.13, spot)
        pen.ellipse((side * 0.4, 0.4), 0.12, 0.1, spot)
        pen.line([(0, -0.5), (side * 0.2, -0.92)], thick=0.8)
    pen.ellipse((0, 0), 0.09, 0.58, (60, 50, 55))


def _dog(pen: _Pen) -> None:
    fur = pen.colour(0.08, float(pen.rng.uniform(0.1, 0.7)), float(pen.rng.uniform(0.45, 0.95)))
    ear = pen.colour(0.07, 0.6, 0.4)
    pen.ellipse((0, 0.05), 0.66, 0.72, fur)
    for side in (-1, 1):
        pen.ellipse((side * 0.66, -0.05), 0.2, 0.52, ear, tilt=side * -12)
        pen.ellipse((side * 0.25, -0.15), 0.09, 0.11, (30, 28, 30))
    pen.ellipse((0, 0.36), 0.34, 0.28, pen.colour(0.1, 0.12, 0.97))
    pen.ellipse((0, 0.22), 0.14, 0.1, (35, 30, 32))
    pen.line([(0, 0.3), (0, 0.44)], thick=0.8)
    pen.arc((0, 0.4), 0.2, 0.14, (20, 160), 0.8)


def _rabbit(pen: _Pen) -> None:
    fur = pen.colour(0.08, float(pen.rng.uniform(0.02, 0.4)), float(pen.rng.uniform(0.55, 0.97)))
    for side in (-1, 1):
        pen.ellipse((side * 0.28, -0.55), 0.17, 0.46, fur, tilt=side * 10)
        pen.ellipse((side * 0.28, -0.53), 0.08, 0.32, pen.colour(0.97, 0.3, 0.95), tilt=side * 10)
    pen.ellipse((0, 0.3), 0.6, 0.56, fur)
    for side in (-1, 1):
        pen.ellipse((side * 0.24, 0.15), 0.08, 0.1, (35, 28, 32))
        for drop in (0.38, 0.48):
            pen.line([(side * 0.2, 0.42), (side * 0.85, drop)], thick=0.5)
    pen.ellipse((0, 0.36), 0.08, 0.06, pen.colour(0.97, 0.5, 0.9))
    pen.polygon([(-0.09, 0.52), (0.09, 0.52), (0.09, 0.7), (-0.09, 0.7)], (255, 255, 255))
    pen.line([(0, 0.52), (0, 0.7)], thick=0.6)


def _bus(pen: _Pen) -> None:
    paint = pen.any_colour(0.8, 0.88)
    pen.polygon([(-0.95, 0.4), (-0.95, -0.5), (0.95, -0.5), (0.95, 0.4)], paint)
    glass = pen.colour(0.55, 0.25, 1.0)
    for x in (-0.82, -0.4, 0.02, 0.44):
        pen.polygon([(x, -0.05), (x, -0.36), (x + 0.34, -0.36), (x + 0.34, -0.05)], glass)
    for x in (-0.55, 0.55):
        pen.ellipse((x, 0.42), 0.21, 0.21, (50, 50, 58))
        pen.ellipse((x, 0.42), 0.09, 0.09, (200, 200, 205))


def _fir(pen: _Pen) -> None:
    bark = pen.colour(0.07, 0.6, 0.45)
    pen.polygon([(-0.11, 0.95), (-0.11, 0.6), (0.11, 0.6), (0.11, 0.95)], bark)
    needles = pen.colour(float(pen.rng.uniform(0.3, 0.44)), 0.7, 0.55)
    for top, base, wide in ((-0.2, 0.65, 0.68), (-0.6, 0.25, 0.54), (-0.95, -0.2, 0.4)):
        pen.polygon([(-wide, base), (0, top), (wide, base)], needles)


KINDS: dict[str, Callable[[_Pen], None]] = {
    "apple": _apple,
    "boat": _boat,
    "bus": _bus,
    "butterfly": _butterfly,
    "car": _car,
    "cat": _cat,
    "cup": _cup,
    "dog": _dog,
    "fir": _fir,
    "fish": _fish,
    "flower": _flower,
    "house": _house,
    "mushroom": _mushroom,
    "rabbit": _rabbit,
    "tree": _tree,
    "umbrella": _umbrella,
}
"""What can be drawn."""


def draw(kind: str, number: int = 0) -> Image.Image:
    """Draw one picture.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    number : int, default=0
        Which of the many that differ in colours, size and pose; the same number, the same picture.

    Returns
    -------
    PIL.Image.Image
        224 x 224 pixels, in colour.

    Examples
    --------
    >>> draw("cat").size, draw("cat", 1) == draw("cat", 2)
    ((224, 224), False)
    """
    if kind not in KINDS:
        raise InputError(f"A drawing must be one of {', '.join(KINDS)}. Got {kind!r} instead.")
    pen = _Pen(np.random.default_rng([list(KINDS).index(kind), number]))
    KINDS[kind](pen)
    return pen.picture()


def write_drawings(folder: str | Path, per_kind: int = 15, *, by_kind: bool = False) -> int:
    """Write a folder of drawings, in no order.

    Parameters
    ----------
    folder : str or path
        Must not exist yet.
    per_kind : int, default=15
        Pictures of each kind.
    by_kind : bool, default=False
        Whether each kind has a folder of its own, which tells what is right, for measuring.

    Returns
    -------
    int
        How many were written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_drawings(Path(place) / "drawings", 2)
    32
    """
    if per_kind < 1:
        raise InputError(f"per_kind must be 1 or more. Got {per_kind} instead.")
    wanted = [(kind, number) for kind in KINDS for number in range(per_kind)]
    mixed = np.random.default_rng(0).permutation(len(wanted))
    with output_folder(Path(folder)) as made:
        for place, row in enumerate(mixed):
            kind, number = wanted[row]
            name = f"{kind}/{number + 1:03}.png" if by_kind else f"drawing-{place + 1:03}.png"
            (made / name).parent.mkdir(exist_ok=True)
            draw(kind, number).save(made / name)
    return len(wanted)
