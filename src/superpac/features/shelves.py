"""What was computed of things, kept by what each thing holds, and how that is known.

The values of an encoder lie in a few files of the cache: one for each thing would be slow to list,
one for all of them slow to write again.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from superpac.cache import CachePart
from superpac.data.cuts import Cut
from superpac.data.image_files import open_plain
from superpac.errors import DataError, NotFoundError
from superpac.features.base import run_parts

_HASH = 32  # hexadecimal digits that name a content; 128 bits
_DIGITS = 1  # hexadecimal digits of a hash that say in which of 16 files its value lies


class Shelves:
    """Values by the hash of a thing's content; without a place nothing is kept.

    Parameters
    ----------
    part : CachePart or None
        Where they are kept.
    """

    def __init__(self, part: CachePart | None) -> None:
        self._part = part

    def get(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Those values that are kept."""
        wanted = set(wanted)
        found: dict[str, Any] = {}
        for shelf in {mark[:_DIGITS] for mark in wanted}:
            marks, values = self._shelf(shelf)
            found |= {mark: values[k] for k, mark in enumerate(marks) if mark in wanted}
        return found

    def put(self, new: Mapping[str, Any]) -> None:
        """Keep values beside those that are kept; what another process adds meanwhile may be lost.

        All are arrays of one length, or all are values that JSON can hold.
        """
        if self._part is None:
            return
        sorted_out: dict[str, list[str]] = defaultdict(list)
        for mark in new:
            sorted_out[mark[:_DIGITS]].append(mark)
        for shelf, marks in sorted_out.items():
            there, values = self._shelf(shelf)
            fresh = sorted(set(marks).difference(there))
            if not fresh:
                continue
            rows: Any = [new[mark] for mark in fresh]
            if isinstance(rows[0], np.ndarray):
                rows = np.stack(rows)
                both = np.concatenate([values, rows]) if there else rows
            else:
                both = [*values, *rows]
            self._part.put(f"shelf {shelf}", {"marks": [*there, *fresh], "vectors": both})

    def _shelf(self, shelf: str) -> tuple[list[str], Any]:
        kept = (None if self._part is None else self._part.get(f"shelf {shelf}")) or {}
        marks, values = kept.get("marks", []), kept.get("vectors", [])
        return (marks, values) if len(marks) == len(values) else ([], [])


def content_marks(members: Sequence[Any], threads: int) -> tuple[list[str], dict[int, Exception]]:
    """Hash of what each thing holds; files that are gone are named."""
    marks = [""] * len(members)
    broken: dict[int, Exception] = {}

    def mark(rows: range) -> None:
        for row in rows:
            try:
                marks[row] = content_mark(members[row])
            except (DataError, NotFoundError) as error:
                broken[row] = error

    step = 64
    starts = range(0, len(members), step)
    parts = (range(k, min(k + step, len(members))) for k in starts)
    for _ in run_parts(mark, parts, threads):
        pass
    return marks, broken


def content_mark(thing: str | Path | Cut | Sequence[str]) -> str:
    """Short hash of a text, of what a file or a part of it holds, or of the cells of a row.

    Examples
    --------
    >>> len(content_mark("a cat")), content_mark("a cat") == content_mark("a dog")
    (32, False)
    """
    if isinstance(thing, Cut):
        facts = [thing.content or content_mark(thing.path), thing.box]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_HASH]
    if not isinstance(thing, Path):
        text = thing if isinstance(thing, str) else json.dumps(list(thing))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HASH]
    with open_plain(thing) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_HASH]  # type: ignore[arg-type]


def why(error: Exception) -> str:
    """The sentence without the path at its beginning, which the name says already."""
    text = str(error)
    path, colon, rest = text.partition(": ")
    return rest if colon and "/" in path else text
