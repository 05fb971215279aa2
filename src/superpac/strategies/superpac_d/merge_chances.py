"""How likely it is that two sets are one cluster, and so how many clusters there are.

Below, `mutual` says how much sets claim each other, `differ` which are known to differ, `mass` how
many points each would hold, and `small` which hold few.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.strategies.superpac_d.set_likeness import likelier
from superpac.strategies.superpac_d.settings import DEFAULT, Settings

# of an answer about two sets: whether they were taken for one group, how likely they were one, and
# whether the answer said so
Settled = tuple[bool, float, bool]


def merge_chances(
    mutual: FloatArray, differ: BoolArray, cuts: FloatArray | None, small: BoolArray,
    mass: FloatArray, n_clusters: int, rate: float, settings: Settings = DEFAULT,
) -> FloatArray:  # fmt: skip
    """Chance that two sets are one, for all pairs.

    `cuts` holds the votes for "different" between sets, of which each is wrong with a chance of
    `rate`; without it what is known to differ is final.

    Examples
    --------
    >>> mutual = np.array([[0, .9, .1], [.9, 0, .1], [.1, .1, 0]])
    >>> no = np.zeros((3, 3), bool)
    >>> merge_chances(mutual, no, None, no[0], np.ones(3), 2, 0.01).round(2)
    array([[0.  , 0.45, 0.05],
           [0.45, 0.  , 0.05],
           [0.05, 0.05, 0.  ]])
    """
    count = mutual.shape[0]
    left_open = np.where(differ, 0.0, mutual)
    if cuts is not None:
        left_open = np.where(differ, mutual * rate ** (cuts + cuts.T), mutual)
    total = left_open.sum(axis=1, keepdims=True)
    beyond = settings.duplicates_excess * (count - n_clusters) / count
    usual = max(settings.duplicates_least, min(settings.duplicates_most, beyond))
    share = np.full((count, 1), usual)
    if count > n_clusters:  # beyond the clusters a small set is nearly surely part of another
        share[small] = settings.duplicates_small
    chance = share * left_open / (share * total + (1 - share))
    weaker = np.minimum(chance, chance.T)
    of_small = np.where(mass[:, None] < mass, chance, chance.T)
    return np.where(small | small[:, None], of_small, weaker)


def walk_chances(
    lift: FloatArray, standing: IntArray, differ: BoolArray, cuts: FloatArray | None, rate: float,
    settings: Settings = DEFAULT,
) -> FloatArray:  # fmt: skip
    """Chance that two sets are one, for all pairs, where the number of clusters is unknown.

    A number of clusters would say how many sets are duplicates. Without one, what counts is how
    many times as often as chance has it a walk goes from one to the other (`lift`): the odds are
    that, times the odds before for two sets of one group or of two. `cuts` and `rate` are those of
    :func:`merge_chances`.

    Examples
    --------
    >>> lift, no = np.array([[9.0, 1.0], [1.0, 9.0]]), np.zeros((2, 2), bool)
    >>> walk_chances(lift, np.array([0, 1]), no, None, 0.01).round(2)
    array([[0.  , 0.09],
           [0.09, 0.  ]])
    >>> walk_chances(lift, np.array([0, 0]), no, None, 0.01).round(2)
    array([[0.  , 0.75],
           [0.75, 0.  ]])
    """
    together = standing[:, None] == standing
    odds = lift * np.where(together, settings.merge_odds_assumed, settings.merge_odds)
    again = 0.0 if cuts is None else rate ** (cuts + cuts.T)
    odds = np.where(differ, odds * again, odds)
    np.fill_diagonal(odds, 0.0)
    return odds / (1.0 + odds)


def part_chances(
    group: IntArray, mass: FloatArray, like: FloatArray, differ: BoolArray,
    settings: Settings = DEFAULT,
) -> FloatArray:  # fmt: skip
    """Chance that one of two sets is in a part of the other's cluster, where K is unknown.

    For what no walk foretells: a cluster may lie in parts with nothing between them. A group of the
    usual size is such a part once in `merge_far`, a smaller one the more often the smaller it is.
    Which group it belongs to is told half by how alike sets are (`like`) and half not at all. Every
    "different" rules out one; a group that differs from all others is no part.

    Examples
    --------
    >>> apart, no = ~np.eye(3, dtype=bool), np.zeros((3, 3), bool)
    >>> found = part_chances(np.arange(3), np.array([90.0, 90, 9]), np.ones((3, 3)), no)
    >>> found.round(2)
    array([[0.  , 0.02, 0.37],
           [0.02, 0.  , 0.37],
           [0.37, 0.37, 0.  ]])
    >>> part_chances(np.arange(3), np.array([90.0, 90, 9]), np.ones((3, 3)), apart).max()
    np.float64(0.0)
    """
    heads, where = np.unique(group, return_inverse=True)
    count = heads.size
    if count < 2:
        return np.zeros(like.shape)
    weight = np.bincount(where, weights=mass).astype(np.float64)
    part = settings.merge_far ** -(weight / _usual(weight))
    apart = np.eye(count, dtype=np.bool_)
    alike = np.full((count, count), -1.0)
    np.logical_or.at(apart, (where[:, None], where), differ)
    np.maximum.at(alike, (where[:, None], where), like)
    share = likelier(alike, ~np.eye(count, dtype=np.bool_), settings.merge_like)
    np.fill_diagonal(share, 0.0)
    share /= share.sum(axis=1, keepdims=True)
    share = np.where(apart, 0.0, 0.5 * share + 0.5 / (count - 1))
    chance = (part / (part * share.sum(axis=1) + 1.0 - part))[:, None] * share
    of_smaller = np.where(weight[:, None] < weight, chance, chance.T)
    even = weight[:, None] == weight
    of_smaller = np.where(even, np.maximum(chance, chance.T), of_smaller)
    return of_smaller[np.ix_(where, where)]


def _usual(weight: FloatArray) -> float:
    """Size of the group that a point is in, at the median: many small parts hardly change it."""
    order = np.sort(weight)
    return float(order[np.searchsorted(np.cumsum(order), 0.5 * order.sum())])


def telling(chances: FloatArray, standing: IntArray) -> FloatArray:
    """How much an answer about each pair of sets would tell, to order the questions.

    Where two sets are taken for one already (by `standing`, the group that each is assumed to be
    in), a "same" that is all but sure changes nothing: those are asked first whose answer is open.

    Examples
    --------
    >>> chances = np.array([[0, .9, .6], [0, 0, .3], [0, 0, 0]])
    >>> telling(chances, np.array([0, 0, 0])).round(2)
    array([[0.  , 0.36, 0.96],
           [0.  , 0.  , 0.84],
           [0.  , 0.  , 0.  ]])
    """
    together = standing[:, None] == standing
    return np.where(together, 4.0 * chances * (1.0 - chances), chances)


def changing(chances: FloatArray, standing: IntArray) -> FloatArray:
    """Chance that an answer about each pair of sets changes the groups, where K is unknown.

    Examples
    --------
    >>> changing(np.array([[0, .9, .2], [0, 0, .2], [0, 0, 0]]), np.array([0, 0, 2])).round(2)
    array([[1. , 0.1, 0.2],
           [1. , 1. , 0.2],
           [0. , 0. , 1. ]])
    """
    return np.where(standing[:, None] == standing, 1.0 - chances, chances)


def learned(chances: FloatArray, standing: IntArray, settled: Sequence[Settled]) -> FloatArray:
    """Chances corrected by what answers about pairs of sets said so far.

    Pairs taken for one group and pairs of two groups are told apart. For either the odds are
    multiplied by those of the answers over those of what was expected of them, each with one
    "same" and one "different" more: without answers nothing changes.

    Examples
    --------
    >>> chances = np.array([[0, .5], [.5, 0]])
    >>> learned(chances, np.arange(2), [(False, 0.5, False)] * 8).round(2)
    array([[0. , 0.1],
           [0.1, 0. ]])
    >>> learned(chances, np.arange(2), [(True, 0.5, False)] * 8).round(2)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    factor = np.ones(2)
    for kind in (True, False):
        told = np.array([(chance, yes) for together, chance, yes in settled if together is kind])
        if told.size:
            expected, found = told.sum(axis=0)
            rest = len(told) - np.array([expected, found])
            factor[int(kind)] = (found + 1.0) / (expected + 1.0) * (rest[0] + 1.0) / (rest[1] + 1.0)
    together = standing[:, None] == standing
    by = factor[together.astype(np.intp)]
    return by * chances / (by * chances + 1.0 - chances)


def chance_of_count(
    chances: FloatArray, group: IntArray, differ: BoolArray, small: BoolArray, placed: int,
    found: int = 0,
) -> float:  # fmt: skip
    """Chance that the number of groups is the number of clusters.

    No two groups may be one, no group may be two, and no cluster may have been missed: beside
    `placed` points that joined a set `found` began one, so the next does with a chance of
    (found + 1) in (placed + found + 2) (Laplace's rule of succession).

    Examples
    --------
    >>> apart = ~np.eye(2, dtype=bool)
    >>> no = np.zeros(2, bool)
    >>> chance_of_count(np.zeros((2, 2)), np.arange(2), apart, no, placed=98)
    0.99
    >>> chance_of_count(np.full((2, 2), 0.5), np.arange(2), ~apart, no, placed=98)
    0.495
    """
    sure = 1.0 - (found + 1.0) / (placed + found + 2.0)
    heads = np.unique(group[~small])
    for x, a in enumerate(heads):
        mine = np.flatnonzero((group == a) & ~small)
        for k in mine[1:]:  # parts of one group that no answer has joined
            sure *= float(chances[k, mine[0]])
        for b in heads[x + 1 :]:
            other = np.flatnonzero((group == b) & ~small)
            if not differ[np.ix_(mine, other)].any():
                sure *= 1.0 - float(chances[np.ix_(mine, other)].max())
    return round(sure, 6)


def regrouped(
    chances: FloatArray, group: IntArray, differ: BoolArray, mass: FloatArray
) -> tuple[float, float]:
    """Points expected to change group, were all sets settled: their number, and its deviation.

    These are the points of a group that is one with a larger, and of a part that is not of its
    group.

    Examples
    --------
    >>> chances, apart = np.full((3, 3), 0.5), np.zeros((3, 3), bool)
    >>> apart[0, 2] = apart[1, 2] = apart[2, 0] = apart[2, 1] = True
    >>> regrouped(chances, np.arange(3), apart, np.array([8.0, 2.0, 5.0]))
    (1.0, 1.0)
    >>> regrouped(chances, np.array([0, 0, 2]), apart, np.array([8.0, 2.0, 5.0]))
    (1.0, 1.0)
    """
    heads, where = np.unique(group, return_inverse=True)
    weight = np.bincount(where, weights=mass)
    moves = []
    for a in range(heads.size):
        parts = np.flatnonzero(where == a)
        lesser = np.delete(parts, np.argmax(mass[parts]))
        moves += [(1.0 - chances[k, parts[parts != k]].max(), mass[k]) for k in lesser]
        for b in range(a):
            between = np.ix_(where == a, where == b)
            if not differ[between].any():
                moves.append((chances[between].max(), min(weight[a], weight[b])))
    chance, points = np.array(moves).reshape(-1, 2).T
    spread = np.sqrt((chance * (1.0 - chance) * points**2).sum())
    return float(chance @ points), float(spread)


def hidden(
    group: IntArray, mass: FloatArray, size: IntArray, n_clusters: int,
    settings: Settings = DEFAULT,
) -> float:  # fmt: skip
    """Points that may be in clusters without a group of their own, where K is known.

    As many clusters are missing as there are fewer groups of any size than clusters. Each may be
    half of a group, the largest first; of a group that hides one, half of the points that an
    answer put there (`size` has the certain points of each set) would have shown it.

    Examples
    --------
    >>> group, mass = np.arange(4), np.array([80.0, 40, 40, 1])
    >>> hidden(group, mass, np.ones(4, int), 4)
    40.0
    >>> hidden(group, mass, np.array([3, 1, 1, 1]), 4)
    20.0
    >>> hidden(group, np.full(4, 40.0), np.ones(4, int), 4)
    0.0
    """
    _, where = np.unique(group, return_inverse=True)
    weight = np.bincount(where, weights=mass)
    told = np.bincount(where, weights=size - 1.0)
    usual = weight.sum() / n_clusters
    missing = n_clusters - int((weight >= settings.small_group * usual).sum())
    stakes = np.sort(np.minimum(0.5 * weight, usual) * 0.5**told)[::-1]
    return float(stakes[: max(0, missing)].sum())
