"""How much is read at most, in one place. What is larger is refused by its header, unread.

Values may take a quarter of the memory that is free: clustering needs copies of them. Where they
are packed, they may not be a hundred times as large as their file, since that is a bomb and no
data. ``SUPERPAC_DATA_LIMIT`` (such as ``20 GB``) puts another size in place of the quarter, and
lets packed values be as large as that: who sets it has looked at the data.
"""

from __future__ import annotations

import os

from superpac.errors import DataError
from superpac.system.memory import free_bytes, parse_bytes

SETTING = "SUPERPAC_DATA_LIMIT"

SHARE = 0.25
"""Of the free memory; clustering copies the values, and needs more beside them."""

ROW_BYTES = 200
"""What an item takes beside its values: its name, its place in lists."""

RATIO = 100
"""Times that packed values may be as large as their file; photographs come to 2, digits to 10."""

LARGE = 64 * 2**20
"""Below this a bomb would harm nobody, and a small table of zeros is no bomb."""

LONGEST_LINE = 64 * 2**20
"""Characters in one line of a text file."""

MOST_ARRAYS = 10_000
"""Arrays in one file."""

PIXELS = 50_000_000
"""Largest image that is decoded; a few kB of PNG can claim 50,000 x 50,000 pixels."""

SECONDS = 900
"""Longest sound that is decoded; a quarter of an hour is 160 MB of samples at a CD's rate."""

LONGEST_TEXT = 100_000
"""Characters of one text; more is a book, which nobody compares with another at a glance."""


def limit_bytes() -> int:
    """Bytes that the values of a data set may take, with `ROW_BYTES` for each item."""
    text = os.environ.get(SETTING, "")
    return parse_bytes(SETTING, text) if text.strip() else int(SHARE * free_bytes())


def check_size(values: int, itemsize: int, where: str, *, rows: int = 0, packed: int = 0) -> None:
    """Refuse values that are too many before any memory is taken for them.

    Parameters
    ----------
    values, itemsize : int
        How many there are and the bytes of each.
    where : str
        The file, for the message.
    rows : int
        Items among them, each of which takes some bytes of its own.
    packed : int
        Bytes of the file that they come from, where it is packed; 0 where it is not.

    Raises
    ------
    DataError
        With the size, the limit, and how to raise it.
    """
    size, limit = values * itemsize, limit_bytes()
    needed = size + rows * ROW_BYTES
    if values < 0 or needed > limit:
        raise DataError(
            f"{where}: needs {_words(needed)} of memory, at most {_words(limit)} are read; split "
            f"or reduce it, or set {SETTING} to a larger size such as {_words(2 * needed)}."
        )
    trusted = bool(os.environ.get(SETTING, "").strip())
    if packed and not trusted and size > max(LARGE, RATIO * packed):
        raise DataError(
            f"{where}: {_words(packed)} unpack to {_words(size)}, more than {RATIO} times as "
            f"much, as no real data do; if it is meant so, set {SETTING} to a size such as "
            f"{_words(2 * needed)}."
        )


def _words(size: int) -> str:
    """Write a size as `parse_bytes` reads it.

    Examples
    --------
    >>> _words(999), _words(4_400_000_000), _words(8 * 10**15)
    ('999 B', '4.4 GB', '8000.0 TB')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            tenths = size // (unit // 10)
            return f"{tenths // 10}.{tenths % 10} {name}"
    return f"{size} B"
