"""How many clusters there may be, from the affinity alone: a first guess for when nobody knows.

Modularity of a spectral clustering is largest at somewhat more pieces than there are classes (1.3
to 3 times as many on the benchmark sets). That is as many as a strategy wants to start from: pieces
of one class are joined by answers, and what stays apart are the clusters.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from superpac.array_types import IntArray
from superpac.errors import DisconnectedGraphWarning
from superpac.graph.spectral import spectral_clustering

GROWTH = 1.25
MOST = 128


def guess_pieces(graph: sparse.csr_array, *, seed: int = 0) -> int:
    """Give the number of pieces at which a graph falls apart most clearly.

    Parameters
    ----------
    graph : scipy.sparse.csr_array of shape (n, n)
        Affinity, as :func:`~superpac.graph.spectral.check_affinity` gives it.
    seed : int, default=0
        Of the spectral clusterings.

    Returns
    -------
    int
        At least 2 where there are two points, at most 128 and a fifth of the points.

    References
    ----------
    Newman & Girvan, "Finding and evaluating community structure in networks", Phys. Rev. E 69,
    2004.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.kron(np.eye(4), np.ones((10, 10)))
    >>> guess_pieces(sparse.csr_array(A - np.diag(A.diagonal())))
    4
    """
    most = max(2, min(MOST, graph.shape[0] // 5))
    count, best, found, worse = 2, -np.inf, 2, 0
    while count <= most and worse < 4:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            labels = spectral_clustering(graph, count, random_state=seed, check_input=False)
        value = modularity(graph, labels, count)
        worse = 0 if value > best + 1e-9 else worse + 1
        if worse == 0:
            best, found = value, count
        count = max(count + 1, round(GROWTH * count))
    return found


def modularity(graph: sparse.csr_array, labels: IntArray, n_clusters: int) -> float:
    """Share of the graph's weight within clusters, less what chance would put there; at most 1."""
    edges = sparse.coo_array(graph)
    total = float(edges.data.sum())
    if total == 0:
        return 0.0
    rows, columns = edges.coords
    inside = float(edges.data[labels[rows] == labels[columns]].sum())
    volume = np.bincount(labels[rows], weights=edges.data, minlength=n_clusters) / total
    return inside / total - float(volume @ volume)
