"""What people have their items in, as points: numbers as they are, all else through an encoder.

Where nobody names an encoder, one is chosen by what the things are. Tables of numbers, arrays and
benchmark sets are read as they always are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from superpac.cache import DiskCache
from superpac.data import load
from superpac.data.catalogue import CATALOGUE
from superpac.data.dataset import Dataset
from superpac.data.things import TABLES, Things, as_things, read_things
from superpac.errors import DataError
from superpac.features.base import Encoder
from superpac.features.choice import Choice, choose_encoder
from superpac.features.encoding import encode
from superpac.features.vectors_file import is_vectors_file, put_vectors
from superpac.system.progress import Progress, no_progress


def read_encoded(
    what: Any,
    *,
    features: Any = None,
    text: str | int | None = None,
    labels: Any = None,
    ids: Any = None,
    fewest: int = 2,
    cache: DiskCache | None = None,
    progress: Progress = no_progress,
    aside: Callable[[str, str], None] = lambda name, why: None,
    tell: Callable[[Choice], None] = lambda choice: None,
    show: Sequence[str] = (),
    tell_columns: Callable[[str], None] = lambda words: None,
) -> Dataset:
    r"""Read items and make vectors of them where they are photos, sounds or texts.

    Parameters
    ----------
    what : str, path, array-like, DataFrame, Dataset, Things, or list of paths or texts
        As `superpac.data.load` takes it, or a folder of photos of any sizes, a folder of sounds,
        a table with a column of texts or of files, or a list of these.
    features : str, Encoder or scikit-learn transformer, optional
        As `superpac.features.make_encoder` takes it, or a file with vectors. By default what the
        items are decides: small, grey images of one size stay pixels, other images, sounds and
        texts get the encoder for their kind, and all else are numbers already. A transformer gets
        the paths or texts, or the numbers where there are only these.
    text : str or int, optional
        Column of a table that holds texts.
    labels, ids
        As `superpac.data.load` takes them.
    fewest : int, default=2
        Fewer items are refused.
    cache : DiskCache, optional
        Where vectors are kept; by default nowhere.
    progress : callable, optional
        Called as ``progress(done, total)`` while vectors are made.
    aside : callable, optional
        Called with the name of each thing that cannot be used, and why; it is left out.
    tell : callable, optional
        Called with what was chosen, where nothing was named.
    show, tell_columns
        As `show` and `tell` of `superpac.data.load`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "asked.csv"
    ...     lines = ["text", "where is my new card", "my card is gone", "why is there a fee"]
    ...     _ = path.write_text("\n".join(lines))
    ...     data = read_encoded(path, features="text-plain")
    >>> data
    Dataset('asked', 3 points, 3 values each, text)
    """
    if isinstance(what, Dataset) and features is None:
        return what
    named = text is not None or isinstance(features, str | Encoder)
    found = _find(what, labels, ids, text, fewest, named, show, tell_columns)
    if isinstance(found, Dataset):
        return found if features is None else _by_values(found, features)
    return _vectors(found, features, labels, ids, fewest, cache, progress, aside, tell)


def _find(
    what: Any,
    labels: Any,
    ids: Any,
    text: Any,
    fewest: int,
    named: bool,
    show: Sequence[str],
    tell_columns: Callable[[str], None],
) -> Things | Dataset:
    """Things to encode, or numbers where there is nothing else and no encoder was named."""
    if isinstance(what, Things):
        return what
    if isinstance(what, Dataset):
        held = (what.paths, what.sounds, what.texts, what.rows)
        return what if all(part is None for part in held) else _things_of(what)
    if isinstance(what, list | tuple) and what and isinstance(what[0], str | os.PathLike):
        return as_things(what, fewest=fewest)
    place = _place(what)
    if isinstance(what, str | os.PathLike) and (named or (place is not None and place.is_dir())):
        return read_things(what, labels=labels, ids=ids, text=text, fewest=fewest)
    if show:
        return load(what, labels=labels, ids=ids, fewest=fewest, show=show, tell=tell_columns)
    try:
        return load(what, labels=labels, ids=ids, fewest=fewest)
    except DataError:
        if place is None or place.suffix.lower() not in TABLES:
            raise
        things = read_things(place, labels=labels, ids=ids, fewest=fewest)
        if things.kind == "table":
            return load(place, labels=labels, ids=ids, fewest=fewest, tell=tell_columns)
        return things


def _things_of(data: Dataset) -> Things:
    """What the points of a data set were before they became vectors."""
    kind = "table" if data.kind == "vector" else data.kind
    return Things(
        kind,
        names=tuple(data.ids.tolist()),
        paths=data.sounds if kind == "sound" else data.paths,
        texts=data.texts,
        rows=data.rows,
        columns=data.columns if data.rows is not None else None,
        y=data.y,
        class_names=data.class_names,
        name=data.name,
        source=data.source,
        by_content=data.by_content,
    )


def _by_values(data: Dataset, transformer: Any) -> Dataset:
    """Vectors that a scikit-learn transformer makes of numbers, beside what is shown to people."""
    if isinstance(transformer, str | Encoder):
        raise DataError(
            f"{data.source}: holds numbers only, and no photos, sounds or texts to encode; leave "
            "features out, or give the files or texts themselves."
        )
    rows = transformer.fit_transform(data.points())
    return replace(
        data,
        X=np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows),
        shown=data.X if data.shown is None else data.shown,
        features=type(transformer).__name__,
        default_dim=None,
    )


def _place(what: Any) -> Path | None:
    """Folder or file that is meant; none for the name of a benchmark and for points in memory."""
    if not isinstance(what, str | os.PathLike) or what in CATALOGUE or not os.fspath(what):
        return None
    try:
        path = Path(what).expanduser()
        return path if path.exists() else None
    except (ValueError, OSError, RuntimeError):
        return None


def _vectors(
    things: Things,
    features: Any,
    labels: Any,
    ids: Any,
    fewest: int,
    cache: DiskCache | None,
    progress: Progress,
    aside: Callable[[str, str], None],
    tell: Callable[[Choice], None],
) -> Dataset:
    """Points of things; what is broken is told after all is known to go on."""
    if features is None:
        choice = choose_encoder(things)
        tell(choice)
        if choice.as_they_are:
            return load(things.source, labels=labels, ids=ids, fewest=fewest, aside=aside)
        features = choice.encoder
    for name, why in things.set_aside:
        aside(name, why)
    if isinstance(features, str) and is_vectors_file(features):
        return put_vectors(things, features)
    return encode(things, features, cache=cache, progress=progress, aside=aside)
