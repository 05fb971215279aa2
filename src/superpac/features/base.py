"""What every encoder shares: things in, one vector each out, in batches on all cores."""

from __future__ import annotations

import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from superpac.cache import DiskCache
from superpac.data.cuts import Cut
from superpac.data.things import Things
from superpac.errors import DataError, InputError, NotFoundError
from superpac.system.progress import Progress, no_progress

Vectors = NDArray[np.float32]


class Encoder(TransformerMixin, BaseEstimator):
    """Base of the encoders: a scikit-learn transformer from things to vectors.

    Nothing is learned from the things, so `fit` only gives the encoder back. A subclass says which
    `kind` of things it takes and implements :meth:`_encode`, which may run in several threads at
    once. The parameter ``n_jobs`` exists in every subclass: None or -1 takes all cores.
    """

    kind: ClassVar[str] = "image"
    batch: ClassVar[int] = 8
    """Things that are worked on at once: what is in memory is this many for each core."""

    by_itself: ClassVar[bool] = True
    """Whether a vector depends on its thing alone, so that it can be kept and used elsewhere."""

    repeats: ClassVar[bool] = True
    """Whether things and the fingerprint are all that a vector depends on."""

    alone: ClassVar[bool] = False
    """Whether it runs in one thread, since what does the work may have threads of its own."""

    n_jobs: int | None

    @property
    @abstractmethod
    def name(self) -> str:
        """Text from which `superpac.features.make_encoder` makes this encoder."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Numbers in a vector."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on: the weights and every step before them."""

    def _prepare(self) -> None:
        """Load what is needed, before threads begin: it is loaded once, and errors come early."""

    @abstractmethod
    def _encode(self, batch: Sequence[Any]) -> NDArray:
        """Vectors of a few things, one row each; DataError where one of them cannot be read."""

    def parts_of(
        self, things: Things, *, cache: DiskCache | None = None, progress: Progress = no_progress
    ) -> Things:
        """Give the things that are encoded where these are more than one each, as faces in photos.

        Parameters
        ----------
        things : Things
            What a person has.
        cache : DiskCache, optional
            Where what was found is kept.
        progress : callable, optional
            Called as ``progress(done, total)``.

        Returns
        -------
        Things
            The same where each thing is one.
        """
        return things

    def fit(self, X: Any = None, y: object = None) -> Encoder:
        """Give the encoder back: it learns nothing from the things.

        Parameters
        ----------
        X, y : ignored
            Present for API consistency.

        Returns
        -------
        self : object
        """
        return self

    def transform(self, X: Any, *, progress: Progress = no_progress) -> Vectors:
        """Turn things into vectors.

        Parameters
        ----------
        X : list of paths or texts, or Things
            What the encoder's `kind` says: files of images or sounds, or texts.
        progress : callable, optional
            Called as ``progress(done, total)`` while the work goes on; raising from it cancels.

        Returns
        -------
        ndarray of float32, shape (n, dimension)

        Raises
        ------
        DataError
            Where a file cannot be read; the sentence names it.
        """
        vectors, broken = self.transform_readable(X, progress=progress)
        for error in broken.values():
            raise error
        return vectors

    def transform_readable(
        self, X: Any, *, progress: Progress = no_progress
    ) -> tuple[Vectors, dict[int, DataError | NotFoundError]]:
        """As :meth:`transform`, but what cannot be read is named and no obstacle.

        Returns
        -------
        vectors : ndarray of float32, shape (n, dimension)
            Rows of zeros where a thing could not be read.
        broken : dict
            Row number to the error that says why.
        """
        things = self._things(X)
        self._prepare()
        vectors = np.zeros((len(things), self.dimension), dtype=np.float32)
        broken: dict[int, DataError | NotFoundError] = {}

        def work(rows: Sequence[int]) -> int:
            part = [things[k] for k in rows]
            try:
                vectors[list(rows)] = self._checked(part)
            except (DataError, NotFoundError):
                for k in rows:
                    try:
                        vectors[k] = self._checked([things[k]])[0]
                    except (DataError, NotFoundError) as error:
                        broken[k] = error
            return len(rows)

        parts = self._parts(things)
        done = 0
        progress(0, len(things))
        threads = 1 if self.alone else cores(self.n_jobs)
        with closing(run_parts(work, parts, threads)) as sizes:
            for size in sizes:
                done += size
                progress(done, len(things))
        return vectors, dict(sorted(broken.items()))

    def _checked(self, part: Sequence[Any]) -> NDArray:
        """Vectors of a batch, refused where they are not finite numbers."""
        rows = np.asarray(self._encode(part), dtype=np.float32)
        if not np.isfinite(rows).all():
            raise DataError(
                f"{short(part[0])}: {self.name} gives numbers that are NaN or infinite for it; "
                "look whether the file is sound, or take another encoder."
            )
        return rows

    def _parts(self, things: Sequence[Any]) -> Sequence[Sequence[int]]:
        """Cut the row numbers into batches, none of them empty."""
        n = len(things)
        return [range(k, min(k + self.batch, n)) for k in range(0, n, self.batch)]

    def _things(self, X: Any) -> list[Any]:
        """List of resolved paths or of texts; a sentence where something else was given."""
        kind = getattr(X, "kind", None)
        if isinstance(kind, str):
            if kind != self.kind:
                raise InputError(
                    f"The encoder {self.name} takes {PLURALS[self.kind]}; got "
                    f"{PLURALS.get(kind, kind)}. Name another encoder, or leave it out."
                )
            return list(members_of(X))
        if isinstance(X, (str, bytes, os.PathLike)) or not isinstance(X, Iterable):
            raise InputError(
                f"The encoder {self.name} takes a list of {PLURALS[self.kind]}; "
                f"got {type(X).__name__}. Put a single one into a list."
            )
        things = [x.item() if isinstance(x, np.generic) else x for x in X]
        if self.kind == "table":
            return things
        allowed = (str,) if self.kind == "text" else (str, os.PathLike)
        if self.kind == "image" and things and all(isinstance(thing, Cut) for thing in things):
            return things
        for thing in things:
            if not isinstance(thing, allowed):
                raise InputError(
                    f"The encoder {self.name} takes a list of "
                    f"{'texts' if self.kind == 'text' else 'paths'}; "
                    f"got {type(thing).__name__} in it."
                )
        # links are looked through once, here: none is followed when the file is opened
        return things if self.kind == "text" else [Path(thing).resolve() for thing in things]

    def set_params(self, **params: Any) -> Encoder:
        """Set parameters, as in every estimator; what was read for the old ones is forgotten.

        Returns
        -------
        self : object
        """
        for name in _read_once(self):
            delattr(self, name)
        return super().set_params(**params)

    def __getstate__(self) -> dict[str, Any]:
        """Leave what was loaded out of copies: it is read again where it is needed."""
        state = dict(super().__getstate__())
        for name in _read_once(self):
            del state[name]
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


PLURALS = {"image": "images", "text": "texts", "sound": "sounds", "table": "rows of a table"}


def cores(n_jobs: int | None) -> int:
    """Threads to use: as many as asked for, at most as many as this process may run on.

    Examples
    --------
    >>> cores(1)
    1
    """
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    available = there or 1
    if n_jobs is None or n_jobs == -1:
        return available
    if not isinstance(n_jobs, int | np.integer) or n_jobs < 1:
        raise InputError(f"n_jobs must be None, -1 or a positive integer; got {n_jobs!r}.")
    return min(int(n_jobs), available)


def run_parts(
    work: Callable[[Any], Any], parts: Iterable[Any], threads: int
) -> Generator[Any, None, None]:
    """Give results as they come; where it ends early, what has not begun is not done.

    Examples
    --------
    >>> sorted(run_parts(lambda k: k * k, range(4), 2))
    [0, 1, 4, 9]
    """
    if threads == 1:
        for part in parts:
            yield work(part)
        return
    pool = ThreadPoolExecutor(threads)
    running: set[Future[Any]] = set()
    try:
        for part in parts:
            running.add(pool.submit(work, part))
            if len(running) >= 2 * threads:  # so that none has to wait for the next
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    yield each.result()
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                yield each.result()
    finally:
        pool.shutdown(cancel_futures=True)


def digest(**facts: Any) -> str:
    """Hash of named facts, for a fingerprint.

    Examples
    --------
    >>> digest(size=224) == digest(size=224), digest(size=224) == digest(size=225)
    (True, False)
    """
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unit(rows: NDArray) -> NDArray:
    """Scale every row to unit length; a row of zeros stays.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)


def short(thing: object) -> str:
    """Name of a thing for a sentence: a path whole, of a text the beginning."""
    text = str(thing.path if isinstance(thing, Cut) else thing)
    return text if isinstance(thing, Path | Cut) or len(text) <= 60 else f"{text[:57]}..."


def _read_once(encoder: Encoder) -> list[str]:
    """Names of properties that were computed and kept."""
    kept = list(vars(encoder))
    return [n for n in kept if isinstance(getattr(type(encoder), n, None), cached_property)]


def members_of(things: Any) -> Sequence[Any]:
    """Texts, rows, files or parts of photos of a collection, or of a data set, as its kind says."""
    if getattr(things, "cuts", None) is not None:
        return list(things.cuts)
    part = {"text": "texts", "table": "rows", "sound": "sounds"}.get(things.kind, "paths")
    found = getattr(things, part, None)
    if found is None:
        found = getattr(things, "paths", None)
    if found is None:
        raise InputError(
            f"{things!r} has numbers only, and no {PLURALS.get(things.kind, 'things')} to encode; "
            "give the files or texts themselves."
        )
    return found
