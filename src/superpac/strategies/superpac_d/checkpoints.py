"""Checkpoints of a strategy that is a fold over the answers: dense near the end, sparse before.

Taking back the last answers then costs a few steps and not one for every answer given. At age a, in
answers, one checkpoint in a/4 is kept, so their number grows with the logarithm of the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.links import Link
from superpac.strategies.superpac_d.settings import DEFAULT


def worth_keeping(at: int, now: int, spacing: int = DEFAULT.checkpoint_spacing) -> bool:
    """Whether a checkpoint after `at` answers is kept once there are `now`.

    The distance of two checkpoints is at most their age divided by `spacing`.

    Examples
    --------
    >>> [at for at in range(1, 41) if worth_keeping(at, 40)]
    [8, 12, 16, 20, 24, 26, 28, 30, 32, 33, 34, 35, 36, 37, 38, 39, 40]
    """
    reach = max(1, (now - at) // spacing)
    return 0 < at <= now and at % (1 << (reach.bit_length() - 1)) == 0


class Checkpoints:
    """What was saved after some numbers of answers, within a bound on its arrays' bytes.

    What is saved is never changed afterwards, so that checkpoints share the arrays that did not
    change between them; shared arrays count once. A copy, and what is unpickled, is empty: only
    time is lost by that.

    Parameters
    ----------
    limit : int
        Largest number of bytes.
    spacing : int
        As in :func:`worth_keeping`.

    Attributes
    ----------
    nbytes : int
        Bytes of all arrays kept.

    Examples
    --------
    >>> kept = Checkpoints()
    >>> for n in range(1, 41):
    ...     kept.add(n, {"a": np.array([float(n)])})
    >>> kept.latest(25)
    (24, {'a': array([24.])})
    >>> kept.at
    [8, 12, 16, 20, 24]
    >>> kept.latest(7) is None
    True
    """

    def __init__(
        self, limit: int = DEFAULT.checkpoint_bytes, spacing: int = DEFAULT.checkpoint_spacing
    ) -> None:
        self.limit, self.spacing = limit, spacing
        self._forget()

    def _forget(self) -> None:
        """Hold nothing."""
        self.nbytes = 0
        self._saved: dict[int, Any] = {}
        self._uses: dict[int, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"limit": self.limit, "spacing": self.spacing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    @property
    def at(self) -> list[int]:
        """Numbers of answers after which something was saved, ascending."""
        return list(self._saved)

    def add(self, at: int, saved: Any) -> None:
        """Save what holds after `at` answers, more than before; thin out what is older."""
        self._saved[at] = saved
        for array in _arrays(saved):
            uses = self._uses.get(id(array), 0)
            self._uses[id(array)] = uses + 1
            self.nbytes += 0 if uses else array.nbytes
        for old in [old for old in self._saved if not worth_keeping(old, at, self.spacing)]:
            self._drop(old)
        while self.nbytes > self.limit and self._saved:
            before = [0, *self._saved]
            lost = {n: (n - b) / (at - n + 1) for b, n in zip(before, self._saved, strict=False)}
            self._drop(min(lost, key=lost.__getitem__))

    def latest(self, length: int) -> tuple[int, Any] | None:
        """Drop what is later than `length` answers and give the last that is left, if any."""
        for late in [at for at in self._saved if at > length]:
            self._drop(late)
        return next(reversed(self._saved.items()), None)

    def before(self, length: int) -> tuple[int, Any] | None:
        """Give what was saved last within the first `length` answers, and drop nothing."""
        at = max((at for at in self._saved if at <= length), default=None)
        return None if at is None else (at, self._saved[at])

    def _drop(self, at: int) -> None:
        """Let go of what was saved after `at` answers."""
        for array in _arrays(self._saved.pop(at)):
            self._uses[id(array)] -= 1
            if not self._uses[id(array)]:
                del self._uses[id(array)]
                self.nbytes -= array.nbytes


def _arrays(saved: Any) -> Iterator[NDArray[Any]]:
    """All arrays in nested tuples and dicts."""
    if isinstance(saved, np.ndarray):
        yield saved
    elif isinstance(saved, (tuple, dict)):
        for part in saved.values() if isinstance(saved, dict) else saved:
            yield from _arrays(part)


def copied(value: Any) -> Any:
    """Copy an array, or a list, set or dict and the lists and sets that it holds.

    Examples
    --------
    >>> members = {0: [1, 2]}
    >>> copy = copied(members)
    >>> members[0].append(3)
    >>> copy
    {0: [1, 2]}
    """
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return value.copy() if isinstance(value, (np.ndarray, list, set)) else value


def packed(value: Any) -> dict[str, Any]:
    """Write nested tuples, lists, sets and dicts of arrays and plain values as a cache takes it.

    Examples
    --------
    >>> unpacked(packed(({3: {(1, 2)}}, [Link(1, 0, 2, "same")]))) == (
    ...     {3: {(1, 2)}},
    ...     [Link(1, 0, 2, "same")],
    ... )
    True
    """
    arrays: list[NDArray[Any]] = []

    def plain(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            arrays.append(part)
            return {"array": len(arrays) - 1}
        if isinstance(part, Link):
            return {"link": list(part)}
        if isinstance(part, dict):
            return {"dict": [[plain(key), plain(inner)] for key, inner in part.items()]}
        for kind in (tuple, list, set):
            if isinstance(part, kind):
                return {kind.__name__: [plain(inner) for inner in part]}
        return part.item() if isinstance(part, np.generic) else part

    tree = plain(value)
    return {"tree": tree, **{str(n): array for n, array in enumerate(arrays)}}


def unpacked(kept: Mapping[str, Any]) -> Any:
    """Undo :func:`packed`."""

    def whole(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        ((kind, inner),) = part.items()
        if kind == "array":
            return kept[str(inner)]
        if kind == "link":
            return Link(*inner)
        if kind == "dict":
            return {whole(key): whole(value) for key, value in inner}
        return {"tuple": tuple, "list": list, "set": set}[kind](map(whole, inner))

    return whole(kept["tree"])


def digest(answers: Sequence[Link]) -> str:
    """Tell one sequence of answers from another."""
    return sha256(repr([tuple(link) for link in answers]).encode()).hexdigest()
