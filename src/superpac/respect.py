"""Labels that respect every answer: one set, one cluster; different sets, different clusters.

The paper's imputing encourages this but does not enforce it (Lipor & Balzano, ICML 2017, section
3.2); people expect it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from superpac.constraints import Constraints

IntArray = NDArray[np.intp]


def respect_answers(labels: ArrayLike, constraints: Constraints, n_clusters: int) -> IntArray:
    """Change as few labels as needed so that no answer is broken.

    Groups that are all known to differ are matched to clusters one to one, so that the fewest of
    their points move; the rest follow, largest group first, each to the cluster that most of its
    points have and no answer forbids. Where the answers show more groups than clusters, new
    clusters are opened.

    Parameters
    ----------
    labels : array-like of shape (n,)
        A clustering, 0 to ``n_clusters - 1``.
    constraints : Constraints
        The answers.
    n_clusters : int
        Number of clusters of the clustering.

    Returns
    -------
    ndarray of shape (n,)
        Labels; possibly more than `n_clusters` different ones.

    Examples
    --------
    >>> known = Constraints(4)
    >>> known.add(0, 1, "same", seq=1)
    True
    >>> known.add(1, 2, "different", seq=2)
    True
    >>> respect_answers([0, 1, 1, 1], known, 2).tolist()
    [1, 1, 0, 1]
    """
    result = np.array(labels, dtype=np.intp)
    touched = constraints.touched
    if touched.size == 0:
        return result
    groups = constraints.sets(touched)
    rivals: list[set[int]] = [set() for _ in groups]
    for a, b in constraints.sets_apart(touched):
        rivals[a].add(int(b))
        rivals[b].add(int(a))
    votes = np.zeros((len(groups), n_clusters), dtype=np.intp)
    for g, members in enumerate(groups):
        votes[g] = np.bincount(result[members], minlength=n_clusters)[:n_clusters]

    cluster = np.full(len(groups), -1, dtype=np.intp)
    core = _mutually_different(groups, rivals)
    table = np.zeros((len(core), max(n_clusters, len(core))))
    table[:, :n_clusters] = votes[core]
    rows, cols = linear_sum_assignment(table, maximize=True)
    cluster[np.array(core)[rows]] = cols

    opened = table.shape[1]
    for g in sorted(range(len(groups)), key=lambda g: (-groups[g].size, g)):
        if cluster[g] >= 0:
            continue
        forbidden = {int(cluster[r]) for r in rivals[g]}
        allowed = [c for c in np.argsort(-votes[g], kind="stable") if int(c) not in forbidden]
        later = [c for c in range(n_clusters, opened) if c not in forbidden]
        if allowed:
            cluster[g] = allowed[0]
        elif later:
            cluster[g] = later[0]
        else:
            cluster[g] = opened
            opened += 1
    for g, members in enumerate(groups):
        result[members] = cluster[g]
    return result


def _mutually_different(groups: list[NDArray[np.int64]], rivals: list[set[int]]) -> list[int]:
    """Greedy largest family of groups that are all known to differ from each other."""
    family: list[int] = []
    for g in sorted(range(len(groups)), key=lambda g: (-len(rivals[g]), -groups[g].size, g)):
        if rivals[g].issuperset(family):
            family.append(g)
    return family
