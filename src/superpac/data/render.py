"""Drawing a point: pixels, a card of values or of words, a waveform, a plot, a sheet of many."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from superpac.data import image_files
from superpac.data.checks import reading
from superpac.data.cuts import Cut
from superpac.data.sound_files import Sound

SMALL = 160
INK, PALE, PAPER, LINE = "#1b1f24", "#69727d", "#ffffff", "#0b62c4"
FRAME, FRAME_DARK = "#ffd60a", "#1b1f24"
_ROWS_ON_CARD, _COLUMNS_ON_CARD = 20, 3
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def _font(size: int) -> Font:
    return ImageFont.load_default(size=size)


def pixels(
    values: NDArray, value_range: tuple[float, float], size: int | None = None
) -> Image.Image:
    """Draw an array of pixels; `value_range` gives black and white.

    Small images are enlarged by a whole factor without smoothing, so that pixels stay equal.

    Examples
    --------
    >>> pixels(np.array([[0, 1], [1, 0]]), (0, 1), size=101).size
    (100, 100)
    """
    image = Image.fromarray(_to_bytes(values, value_range))
    longest = max(image.size)
    target = size or max(SMALL, min(longest, 1024))
    factor = target // longest
    if factor > 1:
        width, height = image.size
        return image.resize((width * factor, height * factor), Image.Resampling.NEAREST)
    image.thumbnail((target, target), Image.Resampling.LANCZOS)
    return image


def _to_bytes(values: NDArray, value_range: tuple[float, float]) -> NDArray[np.uint8]:
    low, high = value_range
    # Halved first: the span of -1e308..1e308 is not a float.
    span = high / 2 - low / 2
    if span <= 0:
        return np.full(values.shape, 128, dtype=np.uint8)
    scaled = (np.asarray(values, dtype=np.float64) / 2 - low / 2) / span
    return np.rint(np.clip(scaled, 0.0, 1.0) * 255).astype(np.uint8)


def original(
    path: Path,
    size: int,
    limit_pixels: int = image_files.LIMIT_PIXELS,
    cut: Cut | None = None,
) -> Image.Image:
    """Draw an original file, or what is shown of a part of it, at most `size` pixels on its longest
    side; enlarge very small ones.
    """
    with image_files.opened(path, limit_pixels) as image, reading(path, "an image"):
        height, width = image_files.upright_size(image)
        area = (0, 0, width, height) if cut is None else cut.shown
        # a JPEG decodes straight to a fraction; a part of it has to be large enough by itself
        part = min(area[2] - area[0], area[3] - area[1]) / min(width, height)
        image.draft(None, (math.ceil(2 * size / part),) * 2)
        turned = image_files.upright(image)
        if cut is not None:
            across, down = turned.width / width, turned.height / height
            left, right = round(area[0] * across), round(area[2] * across)
            top, bottom = round(area[1] * down), round(area[3] * down)
            turned = turned.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
        if image_files.is_deep(turned):
            values = np.asarray(turned, dtype=np.float64)
            values = np.nan_to_num(values, posinf=0.0, neginf=0.0)
            return pixels(values, (float(values.min()), float(values.max())), size)
        if turned.mode in ("L", "RGB", "RGBA") and "transparency" not in turned.info:
            # Large photographs are halved often enough before they are copied about.
            turned = turned.reduce(max(1, max(turned.size) // (2 * size)))
        drawn = image_files.eight_bit(turned, grey=turned.mode in ("1", "L", "LA"))
    factor = min(size, SMALL) // max(drawn.size)
    if factor > 1:
        width, height = drawn.size
        # a part of a photo has no pixels that anybody means to see
        how = Image.Resampling.NEAREST if cut is None else Image.Resampling.BICUBIC
        drawn = drawn.resize((width * factor, height * factor), how)
    else:
        drawn.thumbnail((size, size), Image.Resampling.LANCZOS)
    # A fresh copy carries no metadata of the original, such as where a photograph was taken.
    clean = Image.new(drawn.mode, drawn.size)
    clean.paste(drawn)
    return clean


def behind(cut: Cut, size: int, limit_pixels: int = image_files.LIMIT_PIXELS) -> Image.Image:
    """Draw the whole photo that a part was cut out of, with a frame around the part."""
    photo = original(cut.path, size, limit_pixels).convert("RGB")
    pen = ImageDraw.Draw(photo)
    factor = photo.width / cut.size[0]
    left, top, wide, high = (factor * side for side in cut.box)
    line = max(2, round(max(photo.size) / 160))
    # light within dark: it stands out from whatever is behind it
    for colour, reach in ((FRAME_DARK, 2 * line), (FRAME, line)):
        box = (left - reach, top - reach, left + wide + reach, top + high + reach)
        pen.rectangle(box, outline=colour, width=line)
    return photo


def card(lines: Sequence[tuple[str, str]], size: int | None = None) -> Image.Image:
    """Draw a table row as names and values, one below the other, in up to three columns."""
    shown = [(_tidy(c, 28), _tidy(v, 24)) for c, v in lines[: _ROWS_ON_CARD * _COLUMNS_ON_CARD]]
    if len(lines) > len(shown):
        shown.append((f"and {len(lines) - len(shown)} more", ""))
    blocks = -(-len(shown) // (_ROWS_ON_CARD + 1))
    deep = -(-len(shown) // blocks)
    parts = [_block(shown[k : k + deep]) for k in range(0, len(shown), deep)]
    canvas = (sum(p.width for p in parts), max(p.height for p in parts))
    image = Image.new("RGB", canvas, PAPER)
    left = 0
    for part in parts:
        image.paste(part, (left, 0))
        left += part.width
    return _at_most(image, size)


def _block(lines: Sequence[tuple[str, str]]) -> Image.Image:
    font, step, margin, gap = _font(15), 22, 12, 20
    left = max(font.getlength(c) for c, _ in lines)
    right = max(font.getlength(v) for _, v in lines)
    canvas = (int(left + right) + 2 * margin + gap, step * len(lines) + 2 * margin)
    image = Image.new("RGB", canvas, PAPER)
    pen = ImageDraw.Draw(image)
    for k, (column, value) in enumerate(lines):
        y = margin + k * step + step // 2
        pen.text((margin, y), column, fill=PALE, font=font, anchor="lm")
        pen.text((canvas[0] - margin, y), value, fill=INK, font=font, anchor="rm")
        if k:
            top = margin + k * step
            pen.line([(margin, top), (canvas[0] - margin, top)], fill="#e6e8eb")
    return image


def plot(values: NDArray, value_range: tuple[float, float], size: int | None = None) -> Image.Image:
    """Draw a vector: bars for a few values, a line for many, on the scale of the whole data."""
    width, height, margin = 320, 180, 10
    image = Image.new("RGB", (2 * width, 2 * height), PAPER)  # halved at the end: smooth lines
    pen = ImageDraw.Draw(image)
    low, high = min(value_range[0], 0.0), max(value_range[1], 0.0)
    span = (high / 2 - low / 2) or 1.0
    across = 2 * (width - 2 * margin)
    down = 2 * (height - 2 * margin)

    def at(value: float) -> float:
        return 2 * margin + down * (1.0 - (value / 2 - low / 2) / span)

    numbers = [float(v) for v in values]
    n = len(numbers)
    pen.line([(2 * margin, at(0.0)), (2 * margin + across, at(0.0))], fill="#b9c0c8", width=2)
    if n <= 12:
        slot = across / n
        for j, v in enumerate(numbers):
            x = 2 * margin + (j + 0.15) * slot
            top, bottom = sorted((at(v), at(0.0)))
            pen.rectangle([x, top, x + 0.7 * slot, max(bottom, top + 2)], fill=LINE)
    else:
        line = [(2 * margin + across * j / (n - 1), at(v)) for j, v in enumerate(numbers)]
        pen.line(line, fill=LINE, width=4, joint="curve")
    font = _font(22)
    for value, anchor in ((high, "la"), (low, "ld")):
        y = 6 if anchor == "la" else 2 * height - 6
        pen.text((8, y), f"{value:.3g}", fill=PALE, font=font, anchor=anchor)
    return _at_most(image.resize((width, height), Image.Resampling.LANCZOS), size)


def words(text: str, size: int | None = None) -> Image.Image:
    """Draw a text as a card, as much of it as fits.

    Examples
    --------
    >>> words("Where is my card?").size
    (320, 180)
    """
    wide, high, margin = 320, 180, 14
    font = _font(16)
    lines = _wrapped(_tidy(text, 2000), font, wide - 2 * margin)
    step = 22
    room = (high - 2 * margin) // step
    if len(lines) > room:
        lines = [*lines[: room - 1], lines[room - 1][:-1] + "…"]
    image = Image.new("RGB", (wide, high), PAPER)
    pen = ImageDraw.Draw(image)
    for k, line in enumerate(lines):
        pen.text((margin, margin + k * step), line, fill=INK, font=font)
    return _at_most(image, size)


def _wrapped(text: str, font: Font, width: int) -> list[str]:
    """Lines no wider than this, broken between words, and within one only where it must be."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if font.getlength(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines


def waveform(sound: Sound, size: int | None = None) -> Image.Image:
    """Draw how loud a sound is from its begin to its end; its length stands below.

    Examples
    --------
    >>> waveform(Sound(np.zeros(100, np.float32), 8000)).size
    (320, 120)
    """
    wide, high, margin = 320, 120, 10
    image = Image.new("RGB", (2 * wide, 2 * high), PAPER)  # halved at the end: smooth lines
    pen = ImageDraw.Draw(image)
    bars = 2 * (wide - 2 * margin)
    edges = np.linspace(0, len(sound.samples), min(bars, len(sound.samples)) + 1).astype(int)
    tops = np.maximum.reduceat(sound.samples, edges[:-1])
    bottoms = np.minimum.reduceat(sound.samples, edges[:-1])
    # the loudest of each fills the height: a quiet recording is no other voice
    loudest = max(float(np.abs(sound.samples).max()), 1e-4)
    middle, reach = high - 14, high - 2 * margin - 14
    step = bars / len(tops)
    for k, (top, bottom) in enumerate(zip(tops.tolist(), bottoms.tolist(), strict=True)):
        x = 2 * margin + k * step
        box = [x, middle - reach * top / loudest - 1, x + max(0.0, step - 1), 0.0]
        box[3] = max(box[1], middle - reach * bottom / loudest + 1)
        pen.rectangle(box, fill=LINE)
    told = f"{sound.seconds:.1f} s"
    pen.text((2 * (wide - margin), 2 * high - 6), told, fill=PALE, font=_font(22), anchor="rd")
    return _at_most(image.resize((wide, high), Image.Resampling.LANCZOS), size)


def sheet(
    draw: Callable[[int, int], Image.Image],
    captions: Sequence[str],
    columns: int = 8,
    cell: int = 128,
) -> Image.Image:
    """Lay points out in a grid, each drawn by ``draw(position, pixels)`` with a caption below."""
    font, caption, gap = _font(12), 18, 8
    drawn = [draw(k, cell) for k in range(len(captions))]
    wide, high = max(p.width for p in drawn), max(p.height for p in drawn)
    columns = max(1, min(columns, len(drawn)))
    rows = -(-len(drawn) // columns)
    step = (wide + gap, high + caption + gap)
    image = Image.new("RGB", (gap + columns * step[0], gap + rows * step[1]), PAPER)
    pen = ImageDraw.Draw(image)
    for k, (point, text) in enumerate(zip(drawn, captions, strict=True)):
        x, y = gap + (k % columns) * step[0], gap + (k // columns) * step[1]
        image.paste(point, (x + (wide - point.width) // 2, y + (high - point.height) // 2))
        pen.text((x + wide // 2, y + high + 3), _fit(text, font, wide), PALE, font, anchor="ma")
    return image


def _fit(text: str, font: Font, width: int) -> str:
    text = _tidy(text, 80)
    while len(text) > 1 and font.getlength(text) > width:
        # The end of a path tells images apart, its beginning seldom does.
        text = "…" + text.lstrip("…")[1:]
    return text


def _tidy(text: str, longest: int) -> str:
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _at_most(image: Image.Image, size: int | None) -> Image.Image:
    if size is not None and max(image.size) > size:
        image.thumbnail((size, size), Image.Resampling.LANCZOS)
    return image
