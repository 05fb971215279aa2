"""A person's own function as an encoder, from a list of things to rows of numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.errors import DataError, InputError, SuperpacError
from superpac.features.base import Encoder, digest, file_digest, short
from superpac.system.named_function import load_function


class FunctionFeatures(Encoder):
    """Vectors from a function of a module.

    The function gets a list of things - paths of images or sounds, or texts - and gives one row of
    numbers for each. It is called from one thread.

    Parameters
    ----------
    place : str
        ``module:function`` or ``file.py:function``.
    kind : {"image", "text", "sound"}
        What is handed to it.
    n_jobs : int or None
        Ignored: who wrote the function did not say that it may run twice at once.

    Examples
    --------
    >>> FunctionFeatures("statistics:mean").name
    'statistics:mean'
    """

    batch: ClassVar[int] = 32
    alone: ClassVar[bool] = True
    repeats: ClassVar[bool] = False  # its file may change and its vectors not, and the reverse

    def __init__(self, place: str = "", kind: str = "image", *, n_jobs: int | None = None) -> None:
        self.place = place
        self.kind = kind  # type: ignore[misc]
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return self.place

    @cached_property
    def _function(self) -> Callable[[list[Any]], Any]:
        return load_function(self.place)

    @property
    def dimension(self) -> int:
        """Numbers in a vector; known once the function was called."""
        if not hasattr(self, "_dimension"):
            raise InputError(
                f"How many numbers {self.place} gives is known once it was called; "
                "transform things first."
            )
        return self._dimension

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the file that the function stands in: a changed function makes new vectors."""
        try:
            file = inspect.getsourcefile(self._function)
        except TypeError:  # compiled, or an object that can be called
            file = None
        weights = file_digest(Path(file)) if file and Path(file).is_file() else None
        return digest(encoder="function", place=self.place, kind=self.kind, weights=weights)

    def transform_readable(self, X: Any, **options: Any) -> Any:
        """As in every encoder; the first things say how many numbers there are."""
        things = self._things(X)
        if not things:
            raise InputError(f"{self.place}: there is nothing to encode; give at least one thing.")
        self._dimension = len(self._call(things[:1])[0])
        return super().transform_readable(X, **options)

    def _encode(self, batch: Sequence[Any]) -> NDArray:
        rows = self._call(batch)
        if rows.shape[1] != self._dimension:
            raise InputError(
                f"{self.place} gives {rows.shape[1]} numbers for {short(batch[0])} and "
                f"{self._dimension} for others; give as many for each."
            )
        return rows

    def _call(self, batch: Sequence[Any]) -> NDArray:
        given = [str(thing) if isinstance(thing, Path) else thing for thing in batch]
        try:
            rows = np.asarray(self._function(given), dtype=np.float32)
        except SuperpacError:
            raise
        except Exception as error:  # whatever a person's own function does
            reason = (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(".")
            raise DataError(
                f"{short(batch[0])}: {self.place} stopped with {type(error).__name__} ({reason}); "
                "try the function on this thing alone."
            ) from error
        if rows.ndim != 2 or len(rows) != len(batch) or rows.shape[1] == 0:
            raise InputError(
                f"{self.place} must give one row of numbers for each of the {len(batch)} things "
                f"it was handed; got shape {rows.shape}."
            )
        return rows
