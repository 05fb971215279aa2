"""Labels that respect every answer: one set, one cluster; different sets, different clusters.

The paper's imputing encourages this but does not enforce it (Lipor & Balzano, ICML 2017, section
3.2); people expect it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from superpac.answers.constraints import Constraints
from superpac.array_types import FloatArray, IntArray


def respect_answers(
    labels: ArrayLike,
    constraints: Constraints,
    n_clusters: int,
    rows: FloatArray | None = None,
) -> IntArray:
    """Change a clustering so that no answer is broken.

    Groups that are all known to differ are matched to clusters one to one, so that the fewest of
    their points move; the rest follow, largest group first, each to the cluster that most of its
    points have and no answer forbids. Where the answers show more groups than clusters, new
    clusters are opened. With an embedding the points that nobody was asked about follow: k-means
    goes on from there with the groups held where they are, so that a cluster which the answers
    split in two takes its free points along.

    Parameters
    ----------
    labels : array-like of shape (n,)
        A clustering, 0 to ``n_clusters - 1``.
    constraints : Constraints
        The answers.
    n_clusters : int
        Number of clusters of the clustering.
    rows : ndarray of shape (n, width), optional
        Spectral embedding with unit rows.

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
    [0, 0, 1, 1]
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
    chosen, given = linear_sum_assignment(table, maximize=True)
    cluster[np.array(core)[chosen]] = given

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
    if rows is not None:
        centres = _centres(rows, np.asarray(labels), groups, cluster, votes, core)
        result = _hold(rows, result, centres, np.concatenate(groups))
    return result


def _centres(
    rows: FloatArray,
    labels: IntArray,
    groups: list[NDArray[np.int64]],
    cluster: IntArray,
    votes: IntArray,
    core: list[int],
) -> FloatArray:
    """Centres to go on from: a group that left its cluster stands for the one it was given."""
    centres = np.full((max(int(cluster.max()) + 1, votes.shape[1]), rows.shape[1]), np.nan)
    for c in range(votes.shape[1]):
        if (labels == c).any():
            centres[c] = rows[labels == c].mean(axis=0)
    for g in core:
        stays = cluster[g] < votes.shape[1] and 2 * votes[g, cluster[g]] >= groups[g].size
        if not stays or (cluster[core] == cluster[g]).sum() > 1:
            centres[cluster[g]] = rows[groups[g]].mean(axis=0)
    return centres


def _hold(rows: FloatArray, labels: IntArray, centres: FloatArray, held: IntArray) -> IntArray:
    """k-means in which the held points never move."""
    fixed = labels[held]
    for _ in range(30):
        known = np.flatnonzero(~np.isnan(centres[:, 0]))
        gaps = (centres[known] ** 2).sum(axis=1) - 2 * rows @ centres[known].T
        new = known[np.argmin(gaps, axis=1)]
        new[held] = fixed
        if (new == labels).all():
            break
        labels = new
        for c in np.unique(labels):
            centres[c] = rows[labels == c].mean(axis=0)
    return labels


def _mutually_different(groups: list[NDArray[np.int64]], rivals: list[set[int]]) -> list[int]:
    """Greedy largest family of groups that are all known to differ from each other."""
    family: list[int] = []
    for g in sorted(range(len(groups)), key=lambda g: (-len(rivals[g]), -groups[g].size, g)):
        if rivals[g].issuperset(family):
            family.append(g)
    return family
