"""Certain sets: groups of points whose mutual relations the answers have settled.

A point placed by "same" joins a set; a point that differs from every set starts one (Lipor &
Balzano, ICML 2017, after Basu, Banerjee & Mooney, "Active semi-supervision for pairwise constrained
clustering", SDM 2004). A point half-way through its questions is still free.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from superpac.answers.links import DIFFERENT, SAME, Link
from superpac.answers.state import State
from superpac.graph.imputed_spectral import KnownSets


class CertainSets:
    """Certain sets as a fold over the answers in order.

    Parameters
    ----------
    n : int
        Number of points.
    seeds : iterable of int
        Points that are sets of their own before any question.

    Examples
    --------
    >>> sets = CertainSets(5, seeds=[0])
    >>> sets.take(Link(1, 3, 0, "different"))
    >>> sets.take(Link(2, 4, 3, "same"))
    >>> sets.members
    {0: [0], 1: [3, 4]}
    """

    def __init__(self, n: int, seeds: Iterable[int] = ()) -> None:
        self.n = n
        self.seeds = tuple(seeds)
        self.revision = -1
        self._reset()

    def _reset(self) -> None:
        self.members: dict[int, list[int]] = {}
        self.set_of = np.full(self.n, -1, dtype=np.intp)
        self.used = 0
        self._apart: dict[int, set[int]] = {}  # free point -> sets it differs from
        self._between: set[tuple[int, int]] = set()  # pairs of sets known to differ
        self._free_pairs: dict[int, set[int]] = {}  # free point -> free points it differs from
        self._next = 0
        for point in self.seeds:
            self._open([point])

    def follow(self, state: State) -> bool:
        """Take in the links that are new in the state; True if it began anew with all of them."""
        anew = state.revision != self.revision or self.used > len(state.links)
        if anew:
            self.restart(state.revision)
        for link in state.links[self.used :]:
            self.take(link)
        return anew

    def restart(self, revision: int) -> None:
        """Forget all links, to take in those of another revision of the state."""
        self._reset()
        self.revision = revision

    def take(self, answer: Link) -> None:
        """Take in one answer."""
        self.used += 1
        i, j = answer.i, answer.j
        if answer.answer == SAME:
            self._join(i, j)
        elif answer.answer == DIFFERENT:
            self._part(i, j)

    def apart(self, point: int) -> set[int]:
        """Sets that a free point is known to differ from."""
        return self._apart.get(point, set())

    def known_different(self, i: int, j: int) -> bool:
        """Whether two points, or the sets they are in, are known to differ."""
        a, b = int(self.set_of[i]), int(self.set_of[j])
        if a == -1 and b == -1:
            return j in self._free_pairs.get(i, ())
        if a == -1 or b == -1:
            return max(a, b) in self._apart.get(i if a == -1 else j, ())
        return (min(a, b), max(a, b)) in self._between

    def known(self) -> KnownSets:
        """What can be imputed: sets in order of creation, and which of them are known to differ."""
        number = {key: k for k, key in enumerate(self.members)}
        set_of = np.full(self.n, -1, dtype=np.intp)
        for key, points in self.members.items():
            set_of[points] = number[key]
        count = len(number)
        if len(self._between) == count * (count - 1) // 2:
            return KnownSets(set_of, count)
        different = np.zeros((count, count), dtype=np.bool_)
        for a, b in self._between:
            different[number[a], number[b]] = different[number[b], number[a]] = True
        return KnownSets(set_of, count, different)

    def _open(self, points: list[int]) -> None:
        key = self._next
        self._next += 1
        self.members[key] = []
        for point in points:
            self._add(point, key)

    def _add(self, point: int, key: int) -> None:
        """Put a free point into a set and pass on what is known about it."""
        self.members[key].append(point)
        self.set_of[point] = key
        for other in self._apart.pop(point, ()):
            if other != key:
                self._between.add((min(key, other), max(key, other)))
        for other in self._free_pairs.pop(point, ()):
            if self.set_of[other] == -1:
                self._apart.setdefault(other, set()).add(key)
            elif self.set_of[other] != key:
                pair = int(self.set_of[other]), key
                self._between.add((min(pair), max(pair)))

    def _join(self, i: int, j: int) -> None:
        if self.known_different(i, j):
            return  # what speaks against it came first
        a, b = int(self.set_of[i]), int(self.set_of[j])
        if a == -1 and b == -1:
            self._open([i, j])
        elif a == -1:
            self._add(i, b)
        elif b == -1:
            self._add(j, a)
        elif a != b:
            self._merge(min(a, b), max(a, b))
        self._settle()

    def _merge(self, keep: int, drop: int) -> None:
        points = self.members.pop(drop)
        self.members[keep] += points
        self.set_of[points] = keep

        def name(key: int) -> int:
            return keep if key == drop else key

        pairs = {(name(a), name(b)) for a, b in self._between}
        self._between = {(min(p), max(p)) for p in pairs if p[0] != p[1]}
        self._apart = {p: {name(key) for key in keys} for p, keys in self._apart.items()}

    def _part(self, i: int, j: int) -> None:
        a, b = int(self.set_of[i]), int(self.set_of[j])
        if a >= 0 and b >= 0:
            if a != b:
                self._between.add((min(a, b), max(a, b)))
        elif a >= 0:
            self._apart.setdefault(j, set()).add(a)
        elif b >= 0:
            self._apart.setdefault(i, set()).add(b)
        else:
            self._free_pairs.setdefault(i, set()).add(j)
            self._free_pairs.setdefault(j, set()).add(i)
        self._settle()

    def _settle(self) -> None:
        """Open a set for a free point that is known to differ from all there are."""
        for point, keys in list(self._apart.items()):
            if len(keys) >= len(self.members) and keys.issuperset(self.members):
                self._open([point])
                return
