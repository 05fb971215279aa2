"""Who speaks for a cluster in an audit, and which clusters may be one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from superpac.answers.state import State
from superpac.array_types import IntArray


def representatives(labels: IntArray, state: State, affinity: sparse.csr_array) -> IntArray:
    """Give each cluster's clearest member: of its largest certain set, the best connected inside.

    Parameters
    ----------
    labels : ndarray of int of shape (n,)
        Clusters 0, 1, ...
    state : State
        What is known; items set aside do not represent others.
    affinity : sparse array of shape (n, n)
        How alike items are.

    Returns
    -------
    ndarray of int of shape (clusters,)
    """
    n, count = labels.size, int(labels.max(initial=0)) + 1
    onto = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
    inside = np.asarray((affinity @ onto)[np.arange(n), labels]).ravel()
    size = np.ones(n)
    for members in state.constraints.sets(state.constraints.touched):
        for cluster in np.unique(labels[members]):
            here = members[labels[members] == cluster]
            size[here] = here.size
    size[list(state.bad)] = 0
    order = np.lexsort((-inside, -size, labels))
    return order[np.searchsorted(labels[order], np.arange(count))].astype(np.intp)


def likely_pairs(labels: IntArray, affinity: sparse.csr_array) -> list[tuple[int, int]]:
    """Pairs of clusters, those first that are most alike by the affinity between them."""
    n, count = labels.size, int(labels.max(initial=0)) + 1
    onto = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
    between = (onto.T @ affinity @ onto).toarray()
    volume = np.maximum(between.sum(axis=1), 1e-12)
    alike = between / np.sqrt(np.outer(volume, volume))
    rows, columns = np.triu_indices(count, 1)
    order = np.argsort(-(alike + alike.T)[rows, columns], kind="stable")
    return [(int(rows[k]), int(columns[k])) for k in order]


def at_stake(pairs: list[tuple[int, int]], sizes: IntArray) -> int:
    """Items in wrong clusters if all these pairs of clusters were one class each.

    Parameters
    ----------
    pairs : list of (int, int)
        Clusters that may be one.
    sizes : ndarray of shape (clusters,)
        Their items.

    Returns
    -------
    int
        Items of every family of clusters but its largest cluster.

    Examples
    --------
    >>> at_stake([(0, 1), (1, 3)], np.array([10, 4, 7, 2]))
    6
    """
    if not pairs:
        return 0
    a, b = np.array(pairs).T
    graph = sparse.coo_array((np.ones(len(pairs)), (a, b)), shape=(sizes.size, sizes.size))
    _, family = connected_components(graph, directed=False)
    largest = np.zeros(int(family.max()) + 1)
    np.maximum.at(largest, family, sizes)
    return int(sizes.sum() - largest.sum())
