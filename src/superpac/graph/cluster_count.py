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
from superpac.graph.spectral import (
    cluster_rows,
    clustering_work,
    embedding_work,
    spectral_embedding,
    unit_vectors,
)
from superpac.system.progress import WHOLE, Progress, no_progress

STEPS = 4
GROWTH = 1.25
MOST = 128
FIRST = 16  # eigenvectors found at once to begin with; twice as many each time they run out
RUNS = 10  # of k-means for each number
LIKELY = 8  # number of clusters that progress is told for until more is known
WORSE = 4  # numbers in a row that are no better, after which no larger ones are tried


def guess_count(
    graph: sparse.csr_array,
    *,
    steps: int = STEPS,
    seed: int = 0,
    device: Device = HOST,
    progress: Progress = no_progress,
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
    progress : callable, optional
        Called as ``progress(done, total)`` with the share of the time; raising from it cancels.

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
    most = most_clusters(n)
    values: dict[int, float] = {}
    vectors = np.zeros((n, 0))
    there = device.graph(graph) if isinstance(device, Torch) else graph
    bar = _Bar(graph, most, progress)

    def value(count: int) -> float:
        nonlocal vectors
        if count > vectors.shape[1]:
            wanted = vectors_for(count, n)
            rng = np.random.RandomState(seed)
            vectors = spectral_embedding(
                graph,
                wanted,
                random_state=rng,
                check_input=False,
                device=device,
                progress=bar.part(bar.of_vectors(wanted)),
            ).vectors
        if count not in values:
            rows, rng = unit_vectors(vectors[:, :count]), np.random.RandomState(seed)
            part = bar.part(bar.of_labels(count))
            labels = cluster_rows(rows, count, n_init=RUNS, rng=rng, device=device, progress=part)
            values[count] = stability(there, labels, count, steps, device)
        return values[count]

    count, best, worse = 2, 2, 0
    while count <= most and worse < WORSE:
        worse = 0 if value(count) > value(best) + 1e-9 else worse + 1
        best = count if worse == 0 else best
        # a few clusters are believed in only once more of them were no better
        bar.expect(best if worse > 1 else max(best, LIKELY))
        count = next_count(count)
    found = max(numbers_beside(best, most), key=value, default=best)
    bar.finish()
    return found


def counting_work(graph: sparse.csr_array) -> float:
    """Nanoseconds that :func:`guess_count` is likely to take, about, to tell progress by."""
    return _Bar(graph, most_clusters(graph.shape[0]), no_progress).total


def most_clusters(n: int) -> int:
    """Largest number that is tried."""
    return max(2, min(MOST, n // 3))


def next_count(count: int) -> int:
    """Number that is tried after one."""
    return max(count + 1, round(GROWTH * count))


def numbers_beside(best: int, most: int) -> range:
    """Numbers that were passed over on either side of the best, and those that were not."""
    reach = round((GROWTH - 1.0) * best)
    return range(max(2, best - reach), min(most, best + reach) + 1)


def vectors_for(count: int, n: int) -> int:
    """Eigenvectors that are found at once when so many are needed and not there."""
    return min(n, max(FIRST, 2 * count))


class _Bar:
    """How far the search is, if the best number so far is the best of all.

    Numbers up to the best take less time than those after it and beside it, so what is expected is
    right for most of the time, whatever the number is.
    """

    def __init__(self, graph: sparse.csr_array, most: int, progress: Progress) -> None:
        self.n, self.nnz = graph.shape[0], graph.nnz
        self.most, self.progress = most, progress
        self.done, self.told = 0.0, 0
        self.expect(LIKELY)

    def of_vectors(self, wanted: int) -> float:
        """Work of finding eigenvectors."""
        return embedding_work(self.n, self.nnz, wanted)

    def of_labels(self, count: int) -> float:
        """Work of one number."""
        return clustering_work(self.n, count, RUNS)

    def expect(self, best: int) -> None:
        """Add up what there is to do where this number is the best."""
        tried, there, worse, count = set[int](), 0, 0, 2
        self.total = 0.0
        while count <= self.most and worse < WORSE:
            worse += count > best
            tried.add(count)
            count = next_count(count)
        for number in sorted(tried | set(numbers_beside(best, self.most))):
            if number > there:
                there = vectors_for(number, self.n)
                self.total += self.of_vectors(there)
            self.total += self.of_labels(number)

    def part(self, work: float) -> Progress:
        """Progress of the next piece of work."""
        before = self.done
        self.done += work

        def tell(done: int, total: int) -> None:
            self.tell((before + work * done / max(total, 1)) / self.total)

        return no_progress if self.progress is no_progress else tell

    def tell(self, share: float) -> None:
        """Tell a share; where more turned out to be needed it stays where it was."""
        at = round(WHOLE * min(share, 0.99))
        if at > self.told:
            self.told = at
            self.progress(at, WHOLE)

    def finish(self) -> None:
        """Tell that it is done."""
        self.progress(WHOLE, WHOLE)


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
