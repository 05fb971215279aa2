"""How many clusters there may be, from the affinity alone: a first guess for when nobody knows.

A walk that starts in a cluster should still be there a few steps later, more often than chance has
it. How much more, summed over the clusters of a clustering, is its stability; at one step it is
modularity. One step sees every small clump, and splits a cluster into its poses or its lighting:
one and a half to three times as many pieces as classes on images of pixels, but as many pieces as
classes on the vectors of a good network. After some steps a walk has passed through all clumps of
its cluster and has not yet left it, on both.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from superpac.array_types import FloatArray, IntArray
from superpac.device.arrays import Array, filled, is_host, ratio, to_host
from superpac.device.choice import HOST, Device, Torch
from superpac.graph.spectral import cluster_rows, spectral_embedding, unit_vectors

STEPS = 4
GROWTH = 1.25
MOST = 128
FIRST = 16  # eigenvectors found at once to begin with; twice as many each time they run out


def guess_count(
    graph: sparse.csr_array, *, steps: int = STEPS, seed: int = 0, device: Device = HOST
) -> int:
    """Give the number of clusters that a walk on a graph leaves most seldom, beyond chance.

    Parameters
    ----------
    graph : scipy.sparse.csr_array of shape (n, n)
        Affinity, as :func:`~superpac.graph.spectral.check_affinity` gives it.
    steps : int, default=4
        Length of the walk.
    seed : int, default=0
        Of the spectral clusterings.
    device : Device, default=HOST
        Where it is computed.

    Returns
    -------
    int
        At least 2 where there are two points, at most 128 and a third of the points.

    References
    ----------
    Delvenne, Yaliraki & Barahona, "Stability of graph communities across time scales", PNAS 107,
    2010.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.kron(np.eye(4), np.ones((10, 10)))
    >>> guess_count(sparse.csr_array(A - np.diag(A.diagonal())))
    4
    """
    n = graph.shape[0]
    most = max(2, min(MOST, n // 3))
    values: dict[int, float] = {}
    vectors = np.zeros((n, 0))
    there = device.graph(graph) if isinstance(device, Torch) else graph

    def value(count: int) -> float:
        nonlocal vectors
        if count > vectors.shape[1]:
            wanted = min(n, max(FIRST, 2 * count))
            rng = np.random.RandomState(seed)
            vectors = spectral_embedding(
                graph, wanted, random_state=rng, check_input=False, device=device
            ).vectors
        if count not in values:
            rows, rng = unit_vectors(vectors[:, :count]), np.random.RandomState(seed)
            labels = cluster_rows(rows, count, n_init=10, rng=rng, device=device)
            values[count] = stability(there, labels, count, steps, device)
        return values[count]

    count, best, worse = 2, 2, 0
    while count <= most and worse < 4:
        worse = 0 if value(count) > value(best) + 1e-9 else worse + 1
        best = count if worse == 0 else best
        count = max(count + 1, round(GROWTH * count))
    # the numbers that were passed over on either side of the best
    reach = round((GROWTH - 1.0) * best)
    return max(range(max(2, best - reach), min(most, best + reach) + 1), key=value, default=best)


def stability(
    graph: Array, labels: IntArray, n_clusters: int, steps: int = 1, device: Device = HOST
) -> float:
    """Share of walks that end in the cluster they began in, less what chance has; at most 1.

    At one step this is modularity (Newman & Girvan, Phys. Rev. E 69, 2004).
    """
    belong = np.zeros((labels.size, n_clusters))
    belong[np.arange(labels.size), labels] = 1.0
    walks, share = (to_host(found) for found in _walks(graph, device.array(belong), steps))
    return float(np.trace(walks)) - float(share @ share)


def walk_lift(graph: Array, belong: Array, steps: int = STEPS) -> FloatArray:
    """How many times as often as chance has it a walk from one cluster ends in another.

    Where it is above 1, joining the two makes a clustering more stable.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Affinity: SciPy's, or PyTorch's beside such a `belong`.
    belong : array of shape (n, k)
        How much each point belongs to each cluster; rows sum to 1.
    steps : int, default=4
        Length of the walk.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric; 0 for a cluster that has no edge.

    Examples
    --------
    >>> A = sparse.csr_array(np.kron(np.eye(2), np.ones((4, 4))))
    >>> walk_lift(A, np.repeat(np.eye(4), 2, axis=0)).round(6)
    array([[2., 2., 0., 0.],
           [2., 2., 0., 0.],
           [0., 0., 2., 2.],
           [0., 0., 2., 2.]])
    """
    walks, share = (to_host(found) for found in _walks(graph, belong, steps))
    chance = np.outer(share, share)
    return np.divide(walks, chance, out=np.zeros_like(walks), where=chance > 0)


def _walks(graph: Array, belong: Array, steps: int) -> tuple[Array, Array]:
    """Share of all walks that go from one cluster to another, and that begin in each."""
    if is_host(belong):
        degree = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    else:
        degree = graph @ filled(belong.shape[0], 1.0, belong, "float64")
    total = float(degree.sum()) or 1.0
    scale = ratio(1.0, degree)[:, None]
    after = belong
    for _ in range(steps):
        after = (graph @ after) * scale
    weighed = belong * (degree / total)[:, None]
    return weighed.T @ after, weighed.sum(axis=0)
