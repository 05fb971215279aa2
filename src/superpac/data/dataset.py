"""A data set: points, their names, true classes where known, and how to draw a point."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from superpac.data import render
from superpac.data.checks import as_ids, as_image_shape, as_labels, as_points
from superpac.data.cuts import Cut
from superpac.data.image_files import LIMIT_PIXELS
from superpac.data.sound_files import read_sound
from superpac.errors import DataError, InputError, NotFoundError
from superpac.system.safe_text import as_it_was, encodable

Kind = Literal["image", "text", "sound", "table", "vector"]

KINDS: tuple[Kind, ...] = ("image", "text", "sound", "table", "vector")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with names, in the form in which everything else in the package takes them.

    Whatever is given is checked here, once: a `Dataset` that exists is usable.

    Parameters
    ----------
    X : array-like of shape (n, D)
        One point per row; keeps its storage type (``uint8`` pixels stay ``uint8``).
    ids : array-like of n values, optional
        Distinct names of the points; row numbers if left out.
    y : array-like of n values, optional
        True classes, used for measuring only. Any labels; kept as 0-based integers.
    class_names : tuple of str, optional
        Names of the classes; with them ``y`` must already be 0-based.
    name : str
        What people call the data.
    kind : {"image", "text", "sound", "table", "vector"}, optional
        How a point is drawn. By default what is given says it: `texts`, `sounds`, `paths` or
        `image_shape`, `rows` or `columns`; else it is a vector.
    image_shape : tuple, optional
        ``(height, width)`` or ``(height, width, 3)``, such that
        ``X[i].reshape(image_shape)`` is upright.
    columns : tuple of D str, optional
        Column names; those of `rows` where these are given.
    paths : tuple of n paths, optional
        Original image files, without links in any part of the path: none is followed later.
    default_dim : int, optional
        Subspace dimension that the literature uses for this data.
    extras : mapping of str to array
        Further facts, one value per point (such as ``bad`` of the Yale faces).
    shown : array-like of shape (n, D), optional
        Values to draw instead of `X`, for points that were rescaled, or with `features` made of
        these values, as many as there may be.
    source : str
        Where the points came from; errors name it.
    limit_pixels : int
        Largest original image that `draw` decodes.
    by_content : bool
        Whether points are known by their values alone, as files that people may rename: names do
        not count in the `fingerprint` then.
    texts : tuple of n str, optional
        What the points are, where `X` are vectors of texts.
    sounds : tuple of n paths, optional
        Sound files, without links as `paths`, where `X` are vectors of sounds.
    rows : tuple of n tuples of str, optional
        Rows of a table, where `X` are vectors of these rows.
    cuts : tuple of n Cut, optional
        Parts of photos that the points are, such as faces; `paths` are then those of the photos.
    features : str
        What made `X` of the things, such as an encoder's name; empty where `X` are their values.
    marks : tuple of n str, optional
        A hash of what each thing holds, of its file or its text, where `X` are vectors of things:
        they are known by it, and not by their values.
    absent : tuple of int
        Rows of things that are gone: the values of another thing stand in for them, and they cannot
        be drawn.
    whole : str
        Fingerprint that the points would have if none were absent.
    made_by : str
        Fingerprint of what made `X`, where that and the `marks` say all that `X` depends on;
        whoever puts other values in their place leaves it empty.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> data = Dataset([[1, 0], [2, 0], [0, 1]], y=["a", "a", "b"], name="toy")
    >>> data
    Dataset('toy', 3 points, 2 values each, 2 classes, vector)
    >>> data.subset([0, 2]).ids.tolist()
    ['0', '2']
    """

    X: NDArray
    ids: NDArray[np.str_] = None  # type: ignore[assignment]  # set in __post_init__
    y: NDArray[np.intp] | None = None
    class_names: tuple[str, ...] | None = None
    name: str = "data"
    kind: Kind = None  # type: ignore[assignment]  # set in __post_init__
    image_shape: tuple[int, ...] | None = None
    columns: tuple[str, ...] | None = None
    paths: tuple[Path, ...] | None = None
    default_dim: int | None = None
    extras: Mapping[str, NDArray] = field(default_factory=dict)
    shown: NDArray | None = None
    source: str = "array"
    limit_pixels: int = LIMIT_PIXELS
    by_content: bool = False
    texts: tuple[str, ...] | None = None
    sounds: tuple[Path, ...] | None = None
    rows: tuple[tuple[str, ...], ...] | None = None
    cuts: tuple[Cut, ...] | None = None
    features: str = ""
    marks: tuple[str, ...] | None = None
    made_by: str = ""
    absent: tuple[int, ...] = ()
    whole: str = ""

    def __post_init__(self) -> None:
        if self.cuts is not None:
            object.__setattr__(self, "paths", tuple(cut.path for cut in self.cuts))
        columns = None if self.columns is None else tuple(encodable(str(c)) for c in self.columns)
        heads = columns if self.rows is None else None
        shown = None if self.shown is None else as_points(self.shown, self.source, heads)
        made = bool(self.features) and shown is not None  # columns and shape are of what is shown
        X = as_points(self.X, self.source, None if made else heads)
        n, dim = X.shape if shown is None else (len(X), shown.shape[1])
        if shown is not None and shown.shape != (X.shape if not made else (n, dim)):
            raise DataError(f"{self.source}: shown has shape {shown.shape}, X has {X.shape}.")
        width = dim if self.rows is None else len(self.rows[0]) if self.rows else 0
        if columns is not None and len(columns) != width:
            raise DataError(
                f"{self.source}: {len(columns)} column names for {width} columns; give one each."
            )
        kind = self._check_kind(n)
        if kind == "table" and columns is None:
            columns = tuple(str(j) for j in range(width))
        y, names = self._check_classes(n)
        settled = {
            "X": _read_only(X),
            "ids": _read_only(as_ids(self.ids, n, self.source)),
            "y": y if y is None else _read_only(y),
            "class_names": names,
            "name": encodable(self.name),
            "kind": kind,
            "image_shape": _check_shape(
                self.image_shape, kind == "image" and self.paths is None, dim, self.source
            ),
            "columns": columns,
            "texts": None if self.texts is None else tuple(encodable(t) for t in self.texts),
            "extras": {k: _read_only(_check_extra(v, n, k)) for k, v in self.extras.items()},
        }
        if shown is not None:
            settled["shown"] = _read_only(shown)
        for key, value in settled.items():
            object.__setattr__(self, key, value)

    def _check_kind(self, n: int) -> Kind:
        """Kind of the points; what they are must be there, once for each."""
        needs: dict[Kind, str] = {"text": "texts", "sound": "sounds"}
        given: list[Kind] = [k for k, part in needs.items() if getattr(self, part) is not None]
        if self.image_shape or self.paths is not None:
            given.append("image")
        if self.rows is not None or (self.columns and not given):
            given.append("table")
        kind = self.kind or (given[0] if given else "vector")
        if kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}. Got {kind!r} instead.")
        if getattr(self, needs.get(kind, "X")) is None:
            raise DataError(f"{self.source}: points of kind {kind!r} need {needs[kind]}=.")
        names = {"paths": "image files", "sounds": "sound files", "texts": "texts", "rows": "rows"}
        names |= {"marks": "marks"}
        for part, what in names.items():
            held = getattr(self, part)
            if held is not None and len(held) != n:
                raise DataError(
                    f"{self.source}: {len(held)} {what} for {n} points; give one for each."
                )
        if self.rows and len({len(row) for row in self.rows}) > 1:
            raise DataError(f"{self.source}: rows differ in length; give every row equally many.")
        return kind

    def _check_classes(self, n: int) -> tuple[NDArray[np.intp] | None, tuple[str, ...] | None]:
        if self.y is None:
            return None, None
        if self.class_names is None:
            return as_labels(self.y, n, self.source)
        y = np.asarray(self.y)
        names = tuple(encodable(str(c)) for c in self.class_names)
        if y.shape != (n,) or y.dtype.kind not in "iu":
            raise DataError(
                f"{self.source}: labels must be {n} integers where class names are given; "
                f"got {y.dtype} of shape {y.shape}."
            )
        if n and not (y.min() >= 0 and y.max() < len(names)):
            raise DataError(
                f"{self.source}: labels run from {y.min()} to {y.max()}, which does not fit "
                f"{len(names)} class names; count classes from 0."
            )
        return y.astype(np.intp), names

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        classes = "" if self.n_classes is None else f", {self.n_classes} classes"
        n, dim = self.X.shape
        return f"Dataset({self.name!r}, {n} points, {dim} values each{classes}, {self.kind})"

    @property
    def n_classes(self) -> int | None:
        """Number of true classes that occur, or None where the truth is not known."""
        return None if self.y is None else len(np.unique(self.y))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the points in row order, and over their ids unless known by content.

        Vectors of things count by what made them and of what: a network may give other last bits
        on another machine.
        """
        if self.absent:  # what is computed with stand-ins is not kept as if all were there
            there = replace(self, absent=(), whole="").fingerprint
            return hashlib.sha256(json.dumps([there, self.absent]).encode()).hexdigest()
        names = None if self.by_content else self.ids.tolist()
        if self.marks is None:
            return self._digest(names)
        again = self.made_by and self.shown is None
        made = f"by {self.made_by}" if again else f"values {self._digest(None)}"
        return hashlib.sha256(json.dumps([made, self.marks, names]).encode()).hexdigest()

    @cached_property
    def earlier_fingerprints(self) -> tuple[str, ...]:
        """Fingerprints that earlier releases gave the same points.

        In the first ones the names of files counted, and later the values of vectors.
        """
        names = self.ids.tolist()
        found = []
        if self.marks is not None:
            found += [self._digest(None), self._digest(names)]
        if self.by_content:
            found.append(self._digest([as_it_was(name) for name in names]))
        return tuple(found)

    def _digest(self, names: list[str] | None) -> str:
        stored = _little_endian(self.X)
        digest = hashlib.sha256(json.dumps([stored.shape, stored.dtype.str]).encode())
        digest.update(np.ascontiguousarray(stored).data)
        if names is not None:
            digest.update(json.dumps(names).encode())
        return digest.hexdigest()

    @property
    def contents(self) -> tuple[str, ...]:
        """Digits for each point, the same for equal content: how a renamed file is found."""
        return self.value_contents if self.marks is None else self.marks

    @cached_property
    def value_contents(self) -> tuple[str, ...]:
        """Sixteen digits for each point, the same for equal values."""
        values = _little_endian(self.X if self.shown is None else self.shown)
        kind = values.dtype.str.encode()
        return tuple(
            hashlib.sha256(kind + np.ascontiguousarray(row).tobytes()).hexdigest()[:16]
            for row in values
        )

    def in_order(self, rows: ArrayLike) -> Dataset:
        """Return the same points in another order, to the last bit as if they had been read in it.

        Parameters
        ----------
        rows : array-like of int
            Every row number once.

        Examples
        --------
        >>> data = Dataset([[1.0, 5.0], [2.0, 3.0], [4.0, 4.0]]).standardised()
        >>> data.in_order([2, 0, 1]).ids.tolist()
        ['2', '0', '1']
        """
        part = self.subset(rows)
        if part.shown is None or part.features:
            return part
        # Means are sums over the rows, whose last bits depend on their order.
        return replace(part, X=part.shown, shown=None).standardised()

    def points(self) -> NDArray[np.float64]:
        """Return a fresh ``float64`` copy of the points, for computing.

        Examples
        --------
        >>> Dataset([[1, 2], [3, 4]]).points().dtype
        dtype('float64')
        """
        return np.array(self.X, dtype=np.float64, order="C")

    def subset(self, indices: ArrayLike) -> Dataset:
        """Return the points at these row numbers (or where a mask is true), in that order.

        Parameters
        ----------
        indices : array-like of int or bool
            Distinct row numbers, or one truth value per point.
        """
        rows = np.asarray(indices)
        if rows.dtype == bool and rows.shape == (len(self),):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
            raise InputError("indices must be a non-empty list of row numbers or a mask of rows.")
        if rows.min() < 0 or rows.max() >= len(self):
            raise InputError(
                f"indices run from {rows.min()} to {rows.max()}; "
                f"{self.name} has rows 0 to {len(self) - 1}."
            )
        gone = set(self.absent)
        return replace(
            self,
            absent=tuple(k for k, row in enumerate(rows.tolist()) if row in gone),
            whole="",
            X=self.X[rows],
            ids=self.ids[rows],
            y=None if self.y is None else self.y[rows],
            paths=_picked(self.paths, rows),
            texts=_picked(self.texts, rows),
            sounds=_picked(self.sounds, rows),
            rows=_picked(self.rows, rows),
            cuts=_picked(self.cuts, rows),
            marks=_picked(self.marks, rows),
            extras={k: v[rows] for k, v in self.extras.items()},
            shown=None if self.shown is None else self.shown[rows],
        )

    def shuffled(self, seed: int) -> Dataset:
        """Return the same points in a random order; many files are sorted by class."""
        return self.subset(np.random.default_rng(seed).permutation(len(self)))

    def sample_classes(self, n_classes: int, per_class: int | None, seed: int) -> Dataset:
        """Draw classes, then points of each, as the paper's experiments do.

        Parameters
        ----------
        n_classes : int
            How many classes; drawn without replacement.
        per_class : int or None
            How many points of each; None takes all.
        seed : int
            Same seed, same subset.

        Returns
        -------
        Dataset
            Rows in random order, classes renumbered from 0.

        References
        ----------
        Lipor and Balzano, "Leveraging Union of Subspace Structure to Improve Constrained
        Clustering", ICML 2017, section 5.

        Examples
        --------
        >>> from superpac.data import load
        >>> load("digits").sample_classes(3, 50, seed=0)
        Dataset('digits', 150 points, 64 values each, 3 classes, image)
        """
        if self.y is None or self.class_names is None:
            raise InputError(f"{self.name} has no true classes to sample from; give labels.")
        present, counts = np.unique(self.y, return_counts=True)
        if not 1 <= n_classes <= len(present):
            raise InputError(
                f"n_classes must be 1 to {len(present)} for {self.name}; got {n_classes}."
            )
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(present, n_classes, replace=False))
        rows = []
        for c in chosen:
            members = np.flatnonzero(self.y == c)
            if per_class is not None:
                if not 1 <= per_class <= len(members):
                    raise InputError(
                        f"per_class must be 1 to {counts.min()} for {self.name}, whose class "
                        f"{self.class_names[c]!r} has {len(members)} points; got {per_class}."
                    )
                members = rng.choice(members, per_class, replace=False)
            rows.append(members)
        picked = rng.permutation(np.concatenate(rows))
        part = self.subset(picked)
        names = tuple(self.class_names[c] for c in chosen)
        return replace(part, y=np.searchsorted(chosen, self.y[picked]), class_names=names)

    def standardised(self) -> Dataset:
        """Return columns with zero mean and unit variance; constant columns become zero.

        The original values stay in `shown`, so that people still see them.

        Examples
        --------
        >>> Dataset([[1, 5], [3, 5]]).standardised().X.round(9).tolist()
        [[-1.0, 0.0], [1.0, 0.0]]
        """
        X = self.points()
        constant = X.max(axis=0) == X.min(axis=0)
        largest = np.abs(X).max(axis=0)
        X /= np.where(largest > 0, largest, 1.0)  # the square of 1e300 would overflow
        X -= X.mean(axis=0)
        X[:, constant] = 0.0
        spread = X.std(axis=0)
        X /= np.where(spread > 0, spread, 1.0)
        return replace(self, X=X, shown=self.X if self.shown is None else self.shown)

    @cached_property
    def value_range(self) -> tuple[float, float]:
        """Smallest and largest value over all drawn points: black and white of the pictures."""
        values = self.X if self.shown is None else self.shown
        return float(values.min()), float(values.max())

    def describe(self, i: int) -> list[tuple[str, str]]:
        """Return column names and readable values of point i; never the true class.

        Examples
        --------
        >>> Dataset([[1.5, 2], [3, 4]], columns=("width", "height")).describe(0)
        [('width', '1.5'), ('height', '2')]
        """
        row = self._row(i)
        if self.rows is not None:
            return list(zip(self.columns or (), self.rows[i], strict=True))
        names = self.columns or tuple(str(j) for j in range(len(row)))
        return [(c, f"{v:.6g}") for c, v in zip(names, row.tolist(), strict=True)]

    def draw(self, i: int, size: int | None = None) -> Image.Image:
        """Draw point i for a person to look at; never shows the true class.

        Parameters
        ----------
        i : int
            Row number.
        size : int, optional
            Longest side in pixels at most. By default small images are enlarged to about 160,
            originals are reduced to 1024 where they are larger.

        Returns
        -------
        PIL.Image.Image
            Mode ``L`` or ``RGB``; an image, a card with the words of a text or the values of a
            table row, the waveform of a sound, or a plot.
        """
        row = self._row(i)
        if size is not None and size < 1:
            raise InputError(f"size must be at least 1 pixel; got {size}.")
        if self.kind == "text" and self.texts is not None:
            return render.words(self.texts[i], size)
        if self.kind == "sound" and self.sounds is not None:
            return render.waveform(read_sound(self.sounds[i]), size)
        if self.paths is not None:
            cut = None if self.cuts is None else self.cuts[i]
            return render.original(self.paths[i], size or 1024, self.limit_pixels, cut)
        if self.image_shape is not None:
            return render.pixels(row.reshape(self.image_shape), self.value_range, size)
        if self.kind == "table":
            return render.card(self.describe(i), size)
        return render.plot(row, self.value_range, size)

    def draw_behind(self, i: int, size: int | None = None) -> Image.Image:
        """Draw the whole photo that point i is a part of, with a frame around the part.

        Parameters
        ----------
        i : int
            Row number.
        size : int, optional
            Longest side in pixels at most, by default 1024.

        Returns
        -------
        PIL.Image.Image

        Raises
        ------
        InputError
            Where points are no parts of photos.
        """
        self._row(i)
        if self.cuts is None:
            raise InputError(f"{self.name} has no parts of photos; draw its points themselves.")
        return render.behind(self.cuts[i], size or 1024, self.limit_pixels)

    def _row(self, i: int) -> NDArray:
        if not 0 <= i < len(self):
            raise InputError(f"{self.name} has points 0 to {len(self) - 1}; got {i}.")
        if i in self.absent:
            raise NotFoundError(f"{self.ids[i]} is gone; put it back to see it again.")
        return (self.X if self.shown is None else self.shown)[i]


T = TypeVar("T")


def _picked(values: tuple[T, ...] | None, rows: NDArray) -> tuple[T, ...] | None:
    return None if values is None else tuple(values[i] for i in rows)


def _read_only(array: NDArray) -> NDArray:
    view = array.view()
    view.flags.writeable = False
    return view


def _little_endian(values: NDArray) -> NDArray:
    return values.astype(values.dtype.newbyteorder("<"), copy=False)


def _check_shape(
    shape: tuple[int, ...] | None, needed: bool, dim: int, source: str
) -> tuple[int, ...] | None:
    if shape is None:
        if needed:
            raise DataError(f"{source}: images need image_shape, such as (28, 28), or paths.")
        return None
    sides = as_image_shape(shape, source)
    fits = math.prod(sides) == dim
    if not fits or (len(sides) == 3 and sides[2] != 3):
        raise DataError(
            f"{source}: image_shape {sides} does not fit {dim} values per point; it must be "
            "(height, width) or (height, width, 3) with that product."
        )
    return sides


def _check_extra(values: ArrayLike, n: int, key: str) -> NDArray:
    array = np.asarray(values)
    if array.ndim == 0 or len(array) != n:
        raise DataError(f"extras[{key!r}] must have one value for each of {n} points.")
    return array
