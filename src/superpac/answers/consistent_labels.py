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

# Of the search for a way to do with fewer clusters; a group costs one step where nothing is in the
# way.
STEPS_PER_GROUP = 3
STEPS_AT_LEAST = 2000


def respect_answers(
    labels: ArrayLike,
    constraints: Constraints,
    n_clusters: int,
    rows: FloatArray | None = None,
) -> IntArray:
    """Change a clustering so that no answer is broken.

    Groups that are all known to differ are matched to clusters one to one, so that the fewest of
    their points move; the rest follow, largest group first, each to the cluster that most of its
    points have and no answer forbids. Where that would open more clusters than there are, another
    way to seat the groups is searched for, the most constrained group first (DSATUR [1]_, with
    steps back). Where none is found, since the answers show more groups than clusters or the search
    was given up, the number of clusters gives way and not an answer: as few new clusters as were
    found to do are opened. With an embedding the points that nobody was asked about follow: k-means
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
        Labels; possibly more than `n_clusters` different ones. No answer is ever broken.

    Notes
    -----
    Whether "different" answers leave a way to do with K clusters is the question whether a graph
    has a colouring with K colours, which nobody knows how to tell fast. The search takes a number
    of steps in proportion to the groups, and always the same ones.

    References
    ----------
    .. [1] D. Brelaz, "New methods to color the vertices of a graph", Communications of the ACM 22,
       1979.

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

    cluster = _seat(cluster, groups, rivals, votes, table.shape[1])
    for g, members in enumerate(groups):
        result[members] = cluster[g]
    if rows is not None:
        centres = _centres(rows, np.asarray(labels), groups, cluster, votes, core)
        result = _hold(rows, result, centres, np.concatenate(groups))
    return result


def tied(labels: ArrayLike, constraints: Constraints) -> NDArray[np.bool_]:
    """Tell which items answers tie to the group that they stand in.

    A group may hold several sets of items that answers joined, and nobody said yet whether they are
    one. The group is then taken for its largest set, and the others are not tied to it.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Group of every item.
    constraints : Constraints
        The answers.

    Returns
    -------
    ndarray of bool of shape (n,)

    Examples
    --------
    >>> known = Constraints.fold(6, [[0, 1], [1, 2], [3, 4]], ["same", "same", "same"])
    >>> tied([0, 0, 0, 0, 0, 1], known).tolist()
    [True, True, True, False, False, False]
    """
    groups = np.asarray(labels)
    largest: dict[int, tuple[int, NDArray[np.int64]]] = {}
    for members in constraints.sets():
        for group, count in zip(*np.unique(groups[members], return_counts=True), strict=True):
            if count > max(largest.get(int(group), (1,))[0], 1):
                inside = members[groups[members] == group]
                largest[int(group)] = (int(count), inside)
    found = np.zeros(groups.size, dtype=np.bool_)
    for _, inside in largest.values():
        found[inside] = True
    return found


def _seat(
    cluster: IntArray,
    groups: list[NDArray[np.int64]],
    rivals: list[set[int]],
    votes: IntArray,
    width: int,
) -> IntArray:
    """Give every group without a cluster one that none of its rivals has."""
    seated = cluster.copy()
    opened = width
    for g in sorted(range(len(groups)), key=lambda g: (-groups[g].size, g)):
        if seated[g] >= 0:
            continue
        forbidden = {int(seated[r]) for r in rivals[g]}
        allowed = [c for c in np.argsort(-votes[g], kind="stable") if int(c) not in forbidden]
        later = [c for c in range(votes.shape[1], opened) if c not in forbidden]
        if allowed:
            seated[g] = allowed[0]
        elif later:
            seated[g] = later[0]
        else:
            seated[g] = opened
            opened += 1
    steps = STEPS_PER_GROUP * len(groups) + STEPS_AT_LEAST
    for fewer in range(width, opened):
        found, steps = _search(cluster, rivals, votes, fewer, steps)
        if found is not None:
            return found
    return seated


def _search(
    cluster: IntArray, rivals: list[set[int]], votes: IntArray, width: int, steps: int
) -> tuple[IntArray | None, int]:
    """Seat all groups in `width` clusters, going back from dead ends; and the steps left then.

    The next group is always the one with the fewest clusters left. Of the new clusters that nobody
    is in yet one is as good as another, so only the first is tried.
    """
    count, given = len(rivals), votes.shape[1]
    near = [np.array(sorted(r), dtype=np.intp) for r in rivals]
    taken = np.zeros((count, width), dtype=np.intp)  # rivals of a group in each cluster
    seated = cluster.copy()
    for g in np.flatnonzero(cluster >= 0).tolist():
        taken[near[g], cluster[g]] += 1
    degree = np.array([len(r) for r in rivals])
    liked = np.zeros((count, width), dtype=np.intp)
    liked[:, :given] = votes[:, :width]
    stack: list[tuple[int, list[int]]] = []  # groups seated here, and what is left to try for each

    def choices() -> tuple[int, list[int]] | None:
        """Group to seat next with its clusters, the best last; None when all are seated."""
        open_ = np.flatnonzero(seated < 0)
        if open_.size == 0:
            return None
        shut = (taken[open_] > 0).sum(axis=1)
        g = int(open_[np.lexsort((open_, -degree[open_], -shut))[0]])
        free = np.flatnonzero(taken[g] == 0)
        new = free[free > max(given - 1, int(seated.max()))]
        tries = free[~np.isin(free, new[1:])]
        return g, tries[np.argsort(-liked[g, tries], kind="stable")][::-1].tolist()

    while (ask := choices()) is not None:
        stack.append(ask)
        while stack and not stack[-1][1]:  # a dead end: lift the group seated last
            stack.pop()
            if not stack:
                return None, steps
            g = stack[-1][0]
            taken[near[g], seated[g]] -= 1
            seated[g] = -1
        steps -= 1
        if steps < 0:
            return None, 0
        g, tries = stack[-1]
        seated[g] = tries.pop()
        taken[near[g], seated[g]] += 1
    return seated, steps


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
