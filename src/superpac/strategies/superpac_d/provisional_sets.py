"""Provisional sets: a point that differs from its likeliest sets opens one, to be settled later.

Comparing a new point with every set costs K(K-1)/2 questions before each cluster has one. Here the
few likeliest are asked; what is left over is a set whose relation to the others is not known yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from superpac.answers.links import DIFFERENT, SAME, Link
from superpac.array_types import BoolArray, FloatArray
from superpac.strategies.certain_sets import CertainSets
from superpac.strategies.superpac_d.checkpoints import copied
from superpac.strategies.superpac_d.settings import DEFAULT


class ProvisionalSets(CertainSets):
    """Certain and provisional sets as a fold over the answers in order.

    A free point becomes a set once it differs from two sets or more and the questions to the person
    who said so have moved on to another point, or once it differs from all sets. So the sets are a
    function of the answers alone, whatever made the strategy move on. What people say unasked opens
    no set: they look at the wall before them, not at the likeliest sets of a point.

    Parameters
    ----------
    n : int
        Number of points.
    seeds : iterable of int
        Points that are sets of their own before any question.
    give_up_after : int
        Differing from so many sets, a point that is left alone opens a set.

    Attributes
    ----------
    pending : dict of str to int
        For each person the free point whose comparisons are under way, the latest last.
    between_sets : bool
        Whether the last answer compared two sets.
    placed : list of int
        Points that joined a set by an answer, in order.
    unasked : set of int
        Those of them that a person put there without being asked: any number of one set at once,
        and mostly easy ones, so that they tell neither how points are spread nor what is hard.
    labelled : set of int
        Those of these whose labels were there beforehand.

    Examples
    --------
    >>> sets = ProvisionalSets(6, seeds=[0, 1, 2])
    >>> for seq, j in enumerate([0, 1]):
    ...     sets.take(Link(seq, 5, j, "different"))
    >>> sets.take(Link(3, 4, 0, "same"))
    >>> sets.members
    {0: [0, 4], 1: [1], 2: [2], 3: [5]}
    """

    def __init__(
        self, n: int, seeds: Iterable[int] = (), give_up_after: int = DEFAULT.give_up_after
    ) -> None:
        self.give_up_after = give_up_after
        super().__init__(n, seeds)

    def _reset(self) -> None:
        self.pending: dict[str, int] = {}
        self.between_sets = False
        self.placed: list[int] = []
        self.unasked: set[int] = set()
        self.labelled: set[int] = set()
        self.joins: list[Link] = []
        self.merges: list[Link] = []
        self.cuts: list[Link] = []
        super()._reset()

    def take(self, answer: Link) -> None:
        """Take in one answer."""
        last = self.pending.pop(answer.annotator, None)
        if (
            last is not None
            and last != answer.i
            and self.set_of[last] == -1
            and len(self._apart.get(last, ())) >= self.give_up_after
        ):
            self._open([last])
        self.between_sets = bool(self.set_of[answer.i] >= 0 and self.set_of[answer.j] >= 0)
        free = [p for p in (answer.i, answer.j) if self.set_of[p] == -1]
        super().take(answer)
        placed = [p for p in free if self.set_of[p] >= 0]
        self.placed += placed
        if answer.unasked:
            self.unasked.update(placed)
        if answer.known:
            self.labelled.update(placed)
        if answer.answer == DIFFERENT:
            self.cuts.append(answer)
        elif answer.answer == SAME:
            if self.between_sets:
                self.merges.append(answer)
            elif len(free) == 1:
                other = answer.j if free[0] == answer.i else answer.i
                self.joins.append(Link(answer.seq, free[0], other, SAME))
        if self.set_of[answer.i] == -1 and not answer.unasked:
            self.pending[answer.annotator] = answer.i

    def refold(self, answers: Iterable[Link]) -> None:
        """Start anew from these answers."""
        self._reset()
        for answer in answers:
            self.take(answer)

    def save(self) -> dict[str, Any]:
        """What :meth:`restore` takes; the set of each point follows from the members."""
        return copied({name: part for name, part in vars(self).items() if name != "set_of"})

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to what was saved."""
        vars(self).update(copied(saved))
        self.set_of = np.full(self.n, -1, dtype=np.intp)
        for key, points in self.members.items():
            self.set_of[points] = key

    @property
    def different(self) -> set[tuple[int, int]]:
        """Pairs of sets, smaller key first, that are known to differ."""
        return self._between

    @property
    def free_apart(self) -> dict[int, set[int]]:
        """For a free point the keys of the sets that it is known to differ from."""
        return self._apart

    @property
    def free_pairs(self) -> dict[int, set[int]]:
        """For a free point the free points that it is known to differ from."""
        return self._free_pairs

    def differ(self, keys: Sequence[int]) -> BoolArray:
        """Which sets are known to differ, in the order of `keys`; a symmetric matrix."""
        number = {key: k for k, key in enumerate(keys)}
        table = np.zeros((len(number), len(number)), dtype=np.bool_)
        for a, b in self._between:
            if a in number and b in number:
                table[number[a], number[b]] = table[number[b], number[a]] = True
        return table


def mutual_claims(claims: FloatArray, members: Sequence[Sequence[int]]) -> FloatArray:
    """How much sets claim each other's members, each row's share of what others claim.

    Parameters
    ----------
    claims : ndarray of shape (n, S)
        Claim of each set on each point, columns on one scale.
    members : sequence of sequences of int
        Members of each set.

    Returns
    -------
    ndarray of shape (S, S)
        Symmetric, zero diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> mutual_claims(np.array([[8.0, 3, 1], [3, 9, 1], [1, 1, 9]]), [[0], [1], [2]]).round(3)
    array([[0.   , 0.75 , 0.375],
           [0.75 , 0.   , 0.375],
           [0.375, 0.375, 0.   ]])
    """
    count = len(members)
    shares = np.zeros((count, count))
    for b, points in enumerate(members):
        row = claims[points].mean(axis=0)
        row[b] = 0.0
        total = row.sum()
        if total > 0:
            shares[b] = row / total
    return (shares + shares.T) / 2
