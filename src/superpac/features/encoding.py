"""Things to a data set: every vector made once, and kept by what the thing holds.

A vector is kept under the content of its file or text and the encoder's fingerprint, so a second
run, a renamed file and a folder that grew by ten cost what is new. The vectors of an encoder lie
in a few dozen files of the cache: one for each thing would be slow to list, one for all of them
slow to write again.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.cache import CachePart, DiskCache
from superpac.data.dataset import Dataset
from superpac.data.image_files import open_plain
from superpac.data.things import Things
from superpac.errors import DataError, InputError, NotFoundError
from superpac.features.base import Encoder, Vectors, cores, members_of, run_parts
from superpac.features.registry import DEFAULTS, make_encoder
from superpac.system.progress import Progress, no_progress

_AT_ONCE = 1024
_SHELF = 1  # hexadecimal digits of a hash that say in which of 16 files its vector lies
_HASH = 32  # hexadecimal digits that name a content; 128 bits


def encode(
    things: Things,
    encoder: Any = None,
    *,
    cache: DiskCache | None = None,
    progress: Progress = no_progress,
    aside: Callable[[str, str], None] = lambda name, why: None,
) -> Dataset:
    """Turn things into a data set that shows them and computes with their vectors.

    Parameters
    ----------
    things : Things
        Photos, sounds or texts.
    encoder : str, Encoder or scikit-learn transformer, optional
        As in `superpac.features.make_encoder`; by default the one for this kind of things.
    cache : DiskCache, optional
        Where vectors are kept; by default nowhere.
    progress : callable, optional
        Called as ``progress(done, total)``; raising from it cancels, and most of what was made
        is kept.
    aside : callable, optional
        Called with the name of each thing that could not be read, and why; it is left out.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        Where the encoder is for another kind of things.
    DataError
        Where fewer than two things could be read.

    Examples
    --------
    >>> things = Things("text", texts=("a cat", "a small cat", "two dogs", "three dogs"))
    >>> encode(things, "text-plain")
    Dataset('things', 4 points, ... values each, text)
    """
    made = make_encoder(_named(things, encoder), kind=things.kind)
    if not isinstance(made, Encoder):
        return things.dataset(_by_transformer(made, things), features=type(made).__name__)
    if not made.by_itself:
        return things.dataset(made.fit(things).transform(things, progress=progress), made.name)
    part = None if cache is None else cache.lasting().part(f"vectors of {made.fingerprint}")
    vectors, broken = _vectors(made, things, part, progress)
    readable = things.without({row: _why(error) for row, error in broken.items()})
    for name, why in readable.set_aside[len(things.set_aside) :]:
        aside(name, why)
    kept = [row for row in range(len(things)) if row not in broken]
    return readable.dataset(vectors[kept], features=made.name)


def _named(things: Things, encoder: Any) -> Any:
    if encoder is not None and encoder != "":
        return encoder
    if things.kind not in DEFAULTS:
        raise InputError(
            f"{things.source}: rows of a table are numbers already, or name an encoder of your own "
            "as module:function."
        )
    return DEFAULTS[things.kind]


def _by_transformer(transformer: Any, things: Things) -> NDArray:
    """Vectors of any scikit-learn transformer, which sees all things at once."""
    members = [str(m) if isinstance(m, Path) else m for m in members_of(things)]
    rows = transformer.fit_transform(members)
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _vectors(
    encoder: Encoder, things: Things, part: CachePart | None, progress: Progress
) -> tuple[Vectors, dict[int, Exception]]:
    """Vectors of all things, each content once: from the cache where they are there."""
    encoder._things(things)  # the wrong kind is told before files are read
    members = members_of(things)
    marks, broken = _contents(members, cores(encoder.n_jobs))
    rows: dict[str, list[int]] = defaultdict(list)
    for row, mark in enumerate(marks):
        if row not in broken:
            rows[mark].append(row)
    found = {} if part is None else _from_shelves(part, rows)
    missing = [mark for mark in rows if mark not in found]
    done, total = len(things) - len(missing), len(things)
    progress(done, total)
    begun = 0
    while begun < len(missing):
        # ever more at once: what is interrupted loses at most half, and shelves are written rarely
        now = missing[begun : begun + max(_AT_ONCE, begun)]
        made, unreadable = encoder.transform_readable(
            things.subset([rows[mark][0] for mark in now]),
            progress=lambda d, _, before=done + begun: progress(before + d, total),  # type: ignore[misc]
        )
        new = {mark: made[k] for k, mark in enumerate(now) if k not in unreadable}
        for k, error in unreadable.items():
            broken |= dict.fromkeys(rows[now[k]], error)
        found |= new
        if part is not None:
            _to_shelves(part, new)
        begun += len(now)
    width = next((len(vector) for vector in found.values()), 0)
    vectors = np.zeros((len(things), width), dtype=np.float32)
    for mark, vector in found.items():
        vectors[rows[mark]] = vector
    return vectors, dict(sorted(broken.items()))


def _contents(members: Sequence[Any], threads: int) -> tuple[list[str], dict[int, Exception]]:
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


def content_mark(thing: str | Path | Sequence[str]) -> str:
    """Short hash of a text, of what a file holds, or of the cells of a row.

    Examples
    --------
    >>> len(content_mark("a cat")), content_mark("a cat") == content_mark("a dog")
    (32, False)
    """
    if not isinstance(thing, Path):
        text = thing if isinstance(thing, str) else json.dumps(list(thing))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HASH]
    with open_plain(thing) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_HASH]  # type: ignore[arg-type]


def _from_shelves(part: CachePart, wanted: Iterable[str]) -> dict[str, NDArray]:
    """Those vectors that are kept."""
    wanted = set(wanted)
    found: dict[str, NDArray] = {}
    for shelf in {mark[:_SHELF] for mark in wanted}:
        marks, vectors = _shelf(part, shelf)
        found |= {mark: vectors[k] for k, mark in enumerate(marks) if mark in wanted}
    return found


def _to_shelves(part: CachePart, new: dict[str, NDArray]) -> None:
    """Keep vectors beside those that are kept; what another process adds meanwhile may be lost."""
    sorted_out: dict[str, list[str]] = defaultdict(list)
    for mark in new:
        sorted_out[mark[:_SHELF]].append(mark)
    for shelf, marks in sorted_out.items():
        there, vectors = _shelf(part, shelf)
        fresh = sorted(set(marks).difference(there))
        if fresh:
            rows = np.stack([new[mark] for mark in fresh])
            both = np.concatenate([vectors, rows]) if there else rows
            part.put(f"shelf {shelf}", {"marks": [*there, *fresh], "vectors": both})


def _shelf(part: CachePart, shelf: str) -> tuple[list[str], NDArray]:
    kept = part.get(f"shelf {shelf}") or {}
    marks, vectors = kept.get("marks", []), kept.get("vectors", np.empty((0, 0), np.float32))
    return (marks, vectors) if len(marks) == len(vectors) else ([], vectors[:0])


def _why(error: Exception) -> str:
    """The sentence without the path at its beginning, which the name says already."""
    text = str(error)
    path, colon, rest = text.partition(": ")
    return rest if colon and "/" in path else text
