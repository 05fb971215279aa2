"""Sets of items that the votes hold together, whatever order the votes came in.

A vote is a log odds: "same" counts for a pair, "different" against it, by how reliable the person
is. Sets that votes speak for joining are joined, the most clearly spoken for first, until none is
left (greedy additive edge contraction; Keuper et al., "Efficient decomposition of image and mesh
graphs by lifted multicuts", ICCV 2015). Without contradictions these are the connected parts of
the "same" votes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log

import numpy as np

from superpac.answers.links import SAME, UNSURE, Link, Pair, pair_of
from superpac.array_types import IntArray

LEAST = 1e-9  # log odds this close to zero say nothing


def pair_odds(
    answers: Iterable[Link], rate: Mapping[str, float], usual: float
) -> dict[Pair, float]:
    """Log odds of "same" for every pair voted on, pairs in order.

    Examples
    --------
    >>> said = [Link(1, 4, 2, "same", "Ada"), Link(2, 2, 4, "different", "Bob")]
    >>> odds = pair_odds(said, {"Ada": 0.01}, 0.1)
    >>> {pair: round(value, 2) for pair, value in odds.items()}
    {(2, 4): 2.4}
    """
    votes = sorted((pair_of(a), a.answer, a.annotator) for a in answers if a.answer != UNSURE)
    odds: dict[Pair, float] = {}
    for pair, said, who in votes:
        wrong = rate.get(who, usual)
        weight = log((1.0 - wrong) / wrong)
        odds[pair] = odds.get(pair, 0.0) + (weight if said == SAME else -weight)
    return odds


def held_together(n: int, odds: Mapping[Pair, float]) -> IntArray:
    """For every item the smallest item of its set.

    Examples
    --------
    >>> held_together(5, {(0, 3): 2.0, (1, 2): 2.0, (2, 3): -1.0})
    array([0, 1, 1, 0, 4])
    >>> held_together(4, {(0, 1): 2.0, (1, 2): 1.0, (0, 2): -3.0})
    array([0, 0, 2, 3])
    """
    head = np.arange(n)

    def find(t: int) -> int:
        while head[t] != t:
            head[t] = head[head[t]]
            t = int(head[t])
        return t

    for (i, j), value in odds.items():
        if value > LEAST:
            a, b = find(i), find(j)
            head[max(a, b)] = min(a, b)
    torn = {find(i) for (i, j), value in odds.items() if value < -LEAST and find(i) == find(j)}
    for t in range(n):
        head[t] = find(t)
    for part in sorted(torn):
        members = np.flatnonzero(head == part)
        head[members] = _contracted(members.tolist(), odds)
    return head


def _contracted(members: list[int], odds: Mapping[Pair, float]) -> list[int]:
    """Sets within one connected part that holds a contradiction."""
    inside = set(members)
    name = {t: t for t in members}
    between: dict[int, dict[int, float]] = {t: {} for t in members}
    for (i, j), value in odds.items():
        if i in inside and j in inside:
            between[i][j] = between[j][i] = value
    while True:
        best = max(
            ((value, -a, -b) for a, row in between.items() for b, value in row.items() if a < b),
            default=(0.0, 0, 0),
        )
        if best[0] <= LEAST:
            return [name[t] for t in members]
        a, b = -best[1], -best[2]
        for other, value in between.pop(b).items():
            del between[other][b]
            if other != a:
                total = between[a].get(other, 0.0) + value
                between[a][other] = between[other][a] = total
        name = {t: a if where == b else where for t, where in name.items()}


def odds_between(
    odds: Mapping[Pair, float], place: IntArray
) -> tuple[dict[Pair, float], dict[int, dict[int, float]]]:
    """Log odds between sets, and between free items and sets.

    `place` gives the set of each item, -1 for one that is in none. What was said of two free items
    waits until one of them has a set.

    Examples
    --------
    >>> odds_between({(0, 1): -2.0, (0, 2): -1.0, (2, 3): -3.0}, np.array([0, 1, -1, -1]))
    ({(0, 1): -2.0}, {2: {0: -1.0}})
    """
    between: dict[Pair, float] = {}
    of_free: dict[int, dict[int, float]] = {}
    for (i, j), value in odds.items():
        a, b = int(place[i]), int(place[j])
        if a >= 0 and b >= 0:
            if a != b:
                pair = (min(a, b), max(a, b))
                between[pair] = between.get(pair, 0.0) + value
        elif a >= 0 or b >= 0:
            free, k = (i, b) if a < 0 else (j, a)
            row = of_free.setdefault(free, {})
            row[k] = row.get(k, 0.0) + value
    return between, of_free
