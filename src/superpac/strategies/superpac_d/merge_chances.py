"""How likely it is that two sets are one cluster, and so how many clusters there are.

Below, `mutual` says how much sets claim each other, `differ` which are known to differ, `mass` how
many points each would hold, and `small` which hold few.
"""

from __future__ import annotations

import numpy as np

from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.strategies.superpac_d.settings import DEFAULT, Settings


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
