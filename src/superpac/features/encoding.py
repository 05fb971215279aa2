"""Things to a data set: every vector made once, and kept by what the thing holds.

A vector is kept under the content of its file or text and the encoder's fingerprint, so a second
run, a renamed file and a folder that grew by ten cost what is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.cache import DiskCache
from superpac.data.dataset import Dataset
from superpac.data.joining import join
from superpac.data.things import Things
from superpac.errors import InputError
from superpac.features.base import Encoder, Vectors, cores, digest, members_of
from superpac.features.registry import DEFAULTS, ENCODERS, make_encoder
from superpac.features.shelves import Shelves, content_marks, why
from superpac.system.progress import Progress, no_progress

_AT_ONCE = 1024


def encode(
    things: Things,
    encoder: Any = None,
    *,
    cache: DiskCache | None = None,
    progress: Progress = no_progress,
    aside: Callable[[str, str], None] = lambda name, why: None,
) -> Dataset:
    """Turn things into a data set that shows them and computes with their vectors.

    With the encoder ``face`` the points are the faces in the photos, one for each.

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
        Where fewer things could be read than are needed.

    Examples
    --------
    >>> things = Things("text", texts=("a cat", "a small cat", "two dogs", "three dogs"))
    >>> encode(things, "text-plain")
    Dataset('things', 4 points, ... values each, text)
    """
    given = things
    made = make_encoder(_named(things, encoder), kind=things.kind)
    if isinstance(made, Encoder):
        things = made.parts_of(things, cache=cache, progress=progress)
    if not isinstance(made, Encoder):
        X = _by_transformer(made, things)
        return things.dataset(X, type(made).__name__, marks=marks_of(things))
    if not made.by_itself:
        X, marks = made.fit(things).transform(things, progress=progress), marks_of(things)
        return things.dataset(X, made.name, marks=marks, made_by=_made_of_all(made, marks))
    part = None if cache is None else cache.lasting().part(f"vectors of {made.fingerprint}")
    vectors, marks, broken = _vectors(made, things, Shelves(part), progress)
    readable = things.without({row: why(error) for row, error in broken.items()})
    for name, reason in readable.set_aside[len(given.set_aside) :]:
        aside(name, reason)
    kept = [row for row in range(len(things)) if row not in broken]
    return readable.dataset(
        vectors[kept],
        made.name,
        marks=[marks[row] for row in kept],
        made_by=made.fingerprint if made.repeats else "",
    )


def marks_of(things: Things) -> list[str]:
    """Hash of what each thing holds.

    Parameters
    ----------
    things : Things
        Photos, sounds, texts or rows.

    Returns
    -------
    list of str

    Raises
    ------
    DataError
        Where a file cannot be read; the sentence names it.

    Examples
    --------
    >>> len(marks_of(Things("text", texts=("a cat", "a dog"))))
    2
    """
    marks, broken = content_marks(members_of(things), cores(None))
    for error in broken.values():
        raise error
    return marks


def joined(first: Dataset, more: Dataset) -> Dataset:
    """Put the things of one data set after those of another, as `superpac.data.joining.join` does.

    Vectors that depend on all things are made anew of all of them.

    Parameters
    ----------
    first, more : Dataset
        With vectors of one encoder, or with values.

    Returns
    -------
    Dataset
    """
    if not _of_all(first.features) or first.features != more.features:
        return join(first, more)
    bare = [replace(data, X=np.zeros((len(data), 1)), made_by="") for data in (first, more)]
    return of_these(join(*bare))


def of_these(data: Dataset) -> Dataset:
    """Give a data set with the vectors that its things have by themselves, without others.

    Some encoders learn from all things together: once some are taken away, vectors are made anew.

    Parameters
    ----------
    data : Dataset
        Any; most come back as they are.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> texts = ("a cat", "a small cat", "two dogs", "three dogs")
    >>> four = encode(Things("text", texts=texts), "text-plain")
    >>> two = encode(Things("text", texts=texts[:2]), "text-plain")
    >>> of_these(four.subset([0, 1])).fingerprint == two.fingerprint
    True
    """
    if not _of_all(data.features) or data.marks is None:
        return data
    encoder = make_encoder(data.features)
    made_by = _made_of_all(encoder, data.marks)
    if data.made_by == made_by:
        return data
    return replace(data, X=encoder.fit(data).transform(data), made_by=made_by)


def _of_all(features: str) -> bool:
    """Whether vectors are of an encoder that learns from all things."""
    return features in ENCODERS and not make_encoder(features).by_itself


def _made_of_all(encoder: Encoder, marks: Sequence[str]) -> str:
    """What vectors depend on that are learned from all things, in whatever order these are."""
    return digest(encoder=encoder.fingerprint, things=sorted(marks))


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
    encoder: Encoder, things: Things, shelves: Shelves, progress: Progress
) -> tuple[Vectors, list[str], dict[int, Exception]]:
    """Vectors and marks of all things, each content once: from the cache where it is there."""
    encoder._things(things)  # the wrong kind is told before files are read
    members = members_of(things)
    marks, broken = content_marks(members, cores(encoder.n_jobs))
    rows: dict[str, list[int]] = defaultdict(list)
    for row, mark in enumerate(marks):
        if row not in broken:
            rows[mark].append(row)
    found = shelves.get(rows)
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
        shelves.put(new)
        begun += len(now)
    width = next((len(vector) for vector in found.values()), 0)
    vectors = np.zeros((len(things), width), dtype=np.float32)
    for mark, vector in found.items():
        vectors[rows[mark]] = vector
    return vectors, marks, dict(sorted(broken.items()))
