"""Answers that would misplace items if they were wrong: how many, by the model.

A vote stands against what the views say of the items without it. Where these speak against it, and
where much hangs on it, the model expects items to be misplaced; a second vote is worth that many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from superpac.array_types import FloatArray, IntArray
from superpac.strategies.superpac_b.model import Model


class Doubt(NamedTuple):
    """Two parts of a set that may not belong together.

    `worth` is how many items are expected to be misplaced by it.
    """

    worth: float
    part: list[int]
    rest: list[int]


def doubtful_items(model: Model) -> list[Doubt]:
    """Items that votes placed in a set and that the views would rather see elsewhere."""
    items = np.flatnonzero(model.certain & (model.size[model.place] > 1))
    items = items[~np.isin(items, model.seeds)]
    votes = _votes_for_place(model, items)
    belief = model.prior[items, model.place[items]]
    wrong = (1.0 - belief) / (1.0 - belief + belief * np.exp(np.minimum(votes, 50.0)))
    found = []
    for t, worth in zip(items.tolist(), wrong.tolist(), strict=True):
        if worth > model.settings.doubt:
            rest = [o for o in model.members[model.place[t]].tolist() if o != t]
            found.append(Doubt(worth, [t], rest))
    return found


def _votes_for_place(model: Model, items: IntArray) -> FloatArray:
    """Log odds of all votes between each item and the rest of its set."""
    total = np.zeros(model.problem.n)
    for (i, j), value in model.odds.items():
        if model.place[i] >= 0 and model.place[i] == model.place[j]:
            total[i] += value
            total[j] += value
    return total[items]


def doubtful_merges(model: Model) -> list[Doubt]:
    """Sets that one pair of items holds together, each side with a starting point.

    How likely the two sides were one cluster, and how many items each would have held, is as
    before any answer.
    """
    number = {int(t): s for s, t in enumerate(model.seeds)}
    found = []
    for k in np.flatnonzero(np.bincount(model.place[model.seeds]) > 1).tolist():
        inside = set(model.members[k].tolist())
        pairs = {p: v for p, v in model.odds.items() if p[0] in inside and p[1] in inside}
        for part, rest in _sides(inside, pairs):
            one, two = ([number[t] for t in side if t in number] for side in (part, rest))
            if not one or not two:
                continue
            votes = sum(v for (i, j), v in pairs.items() if (i in part) != (j in part))
            chance = float(np.clip(model.first_chances[np.ix_(one, two)].max(), 0.01, 0.99))
            stake = min(model.first_mass[one].sum(), model.first_mass[two].sum())
            worth = (1.0 - chance) / (1.0 - chance + chance * np.exp(min(votes, 50.0))) * stake
            if worth > model.settings.doubt:
                found.append(Doubt(float(worth), sorted(part), sorted(rest)))
    return found


def _sides(
    inside: set[int], pairs: dict[tuple[int, int], float]
) -> Iterator[tuple[set[int], set[int]]]:
    """For every pair that alone connects two parts of a set, the two parts."""
    near: dict[int, list[int]] = {t: [] for t in inside}
    for (i, j), value in pairs.items():
        if value > 0:
            near[i].append(j)
            near[j].append(i)
    for (i, j), value in pairs.items():
        if value <= 0:
            continue
        reached, stack = {i}, [i]
        while stack:
            t = stack.pop()
            for other in near[t]:
                if other not in reached and {t, other} != {i, j}:
                    reached.add(other)
                    stack.append(other)
        if j not in reached:
            yield reached, inside - reached
