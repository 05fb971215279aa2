"""Biswas & Jacobs: ask the pair that is expected to change the clustering most.

Biswas & Jacobs, "Active image clustering with pairwise constraints from humans", IJCV 108, 2014.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.graph.imputed_spectral import KnownSets
from superpac.strategies.base import Problem, Proposal, Strategy
from superpac.strategies.baselines.constrained_kmeans import known_groups
from superpac.strategies.baselines.procedure import Pair
from superpac.system.threads import one_thread

NEIGHBOURS = 10
BINS = 20
PAIRS = 20_000  # drawn for the histograms of distances


def spanning_tree(X: FloatArray) -> IntArray:
    """Edges of the Euclidean minimum spanning tree (Prim), shape (n - 1, 2).

    Examples
    --------
    >>> spanning_tree(np.array([[0.0], [3.0], [1.0]])).tolist()
    [[0, 2], [2, 1]]
    """
    n = X.shape[0]
    squared = np.einsum("ij,ij->i", X, X)
    near, parent = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
    left = np.ones(n, dtype=np.bool_)
    edges = np.zeros((max(n - 1, 0), 2), dtype=np.intp)
    last = 0
    for step in range(n - 1):
        left[last] = False
        gaps = squared + squared[last] - 2.0 * X @ X[last]
        better = left & (gaps < near)
        near[better], parent[better] = gaps[better], last
        last = int(np.argmin(np.where(left, near, np.inf)))
        edges[step] = parent[last], last
    return edges


@njit(cache=True)
def _root(parent, i):  # type: ignore[no-untyped-def]
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True)
def _forest(edges, set_of, n_sets, differ, n_clusters, first, second, hold, labels, used):  # type: ignore[no-untyped-def]
    """Kruskal under constraints; `hold` 1 joins the pair first, -1 keeps it apart, 0 neither.

    `differ` has two rows to spare, for points of the pair that are in no set.
    """
    n = labels.size
    parent = np.arange(n)
    tag = np.full(n, -1)  # root -> row in `differ`
    seen = np.full(n_sets, -1)
    parts = n
    for i in range(n):
        s = set_of[i]
        if s >= 0:
            if seen[s] == -1:
                seen[s] = i
                tag[i] = s
            else:
                parent[i] = seen[s]
                parts -= 1
    if hold != 0:
        for k in range(2):
            root = _root(parent, first if k == 0 else second)
            if tag[root] == -1:
                tag[root] = n_sets + k
        a, b = tag[_root(parent, first)], tag[_root(parent, second)]
        if hold == -1:
            differ[a, b] = True
            differ[b, a] = True
    used[:] = False
    begin = -1 if hold == 1 else 0
    for e in range(begin, edges.shape[0]):
        if parts <= n_clusters and e >= 0:
            break
        i = first if e == -1 else edges[e, 0]
        j = second if e == -1 else edges[e, 1]
        x, y = _root(parent, i), _root(parent, j)
        if x == y:
            continue
        a, b = tag[x], tag[y]
        if a >= 0 and b >= 0:
            if differ[a, b]:
                continue
            differ[a] |= differ[b]
            differ[:, a] |= differ[:, b]
        parent[y] = x
        tag[x] = max(a, b) if a == -1 or b == -1 else a
        parts -= 1
        if e >= 0:
            used[e] = True
    names = np.full(n, -1)
    count = 0
    for i in range(n):
        r = _root(parent, i)
        if names[r] == -1:
            names[r] = count
            count += 1
        labels[i] = names[r]
    return count


@njit(cache=True)
def _jaccard(one, other, count_one, count_other):  # type: ignore[no-untyped-def]
    table = np.zeros((count_one, count_other))
    for i in range(one.size):
        table[one[i], other[i]] += 1.0
    both = ((table * (table - 1.0)) / 2.0).sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    first = (rows * (rows - 1.0) / 2.0).sum()
    second = (columns * (columns - 1.0) / 2.0).sum()
    either = first + second - both
    return 1.0 if either == 0.0 else both / either


def pair_jaccard(one: IntArray, other: IntArray) -> float:
    """Jaccard index of two clusterings over pairs: together in both over together in either.

    Examples
    --------
    >>> round(pair_jaccard(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])), 3)
    0.25
    """
    return float(_jaccard(one, other, int(one.max()) + 1, int(other.max()) + 1))


class Forest:
    """Constrained minimum-spanning-forest clustering.

    Edges are taken shortest first; one that would join what is known to differ is left out; it ends
    at `n_clusters` trees. The edges are those of the spanning tree and between near neighbours: the
    latter stand in where an answer forbids the former.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    n_clusters : int
        Number of trees.
    n_neighbors : int, default=10
        Neighbours of each point.

    Examples
    --------
    >>> forest = Forest(np.array([[0.0], [0.1], [5.0], [5.2]]), 2)
    >>> nobody = KnownSets(np.full(4, -1), 0, np.zeros((0, 0), dtype=bool))
    >>> forest.cluster(nobody)[0].tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, X: FloatArray, n_clusters: int, n_neighbors: int = NEIGHBOURS) -> None:
        n = X.shape[0]
        self.n_clusters = n_clusters
        k = min(n_neighbors, n - 1)
        near = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
        pairs = np.column_stack([np.repeat(np.arange(n), k), near.ravel()])
        pairs = np.sort(np.concatenate([spanning_tree(X), pairs]), axis=1)
        pairs = np.unique(pairs, axis=0)
        lengths = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
        order = np.argsort(lengths, kind="stable")
        self.edges = np.ascontiguousarray(pairs[order])
        self.lengths = lengths[order]
        self.n = n

    def cluster(
        self, known: KnownSets, pair: Pair = (0, 0), hold: int = 0
    ) -> tuple[IntArray, NDArray[np.bool_]]:
        """Labels, and which edges were taken; with `hold` as if `pair` were the same (1) or not."""
        size = known.n_sets
        differ = np.zeros((size + 2, size + 2), dtype=np.bool_)
        if known.different is not None:
            differ[:size, :size] = known.different
        labels = np.zeros(self.n, dtype=np.intp)
        used = np.zeros(len(self.edges), dtype=np.bool_)
        first, second = pair
        given = self.edges, known.set_of, size, differ, self.n_clusters
        _forest(*given, first, second, hold, labels, used)
        return labels, used


class Biswas(Strategy):
    """Biswas & Jacobs.

    A pair's worth is ``p_same |1 - J(C, C_same)| + (1 - p_same) |1 - J(C, C_diff)|``: how far the
    clustering C is expected to move, J the Jaccard index over pairs. p_same is read off the
    histograms of distances within and between the current clusters. Candidates are the longest
    edges inside trees and the shortest links between trees, where an answer can move something; at
    most `n_candidates` of each, since both clusterings are computed in full for every one.

    Parameters
    ----------
    problem : Problem
        Points, number of clusters, seed; the affinity is not used.
    n_candidates : int, default=50
        Pairs of each kind that are weighed.
    n_neighbors : int, default=10
        Neighbours of each point among the edges.

    References
    ----------
    Biswas & Jacobs, IJCV 2014.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = np.array([[0.0], [0.1], [2.0], [5.0], [5.1]])
    >>> strategy = Biswas(Problem(X, sparse.csr_array((5, 5)), 2, dim=1))
    >>> question = strategy.propose(State(5))[0]
    >>> question.i != question.j
    True
    """

    name = "biswas"

    def __init__(
        self, problem: Problem, *, n_candidates: int = 50, n_neighbors: int = NEIGHBOURS
    ) -> None:
        super().__init__(problem)
        self.n_candidates = n_candidates
        with one_thread():
            self.forest = Forest(problem.X, problem.n_clusters, n_neighbors)
        rng = self.rng(0)
        self._sample = rng.integers(problem.n, size=(PAIRS, 2))
        self._sample = self._sample[self._sample[:, 0] != self._sample[:, 1]]
        self._gaps = self._lengths(self._sample)
        self._bins = np.quantile(self._gaps, np.linspace(0, 1, BINS + 1)[1:-1])
        self._key: tuple[int, int] | None = None

    def labels(self, state: State) -> IntArray:
        """Constrained minimum-spanning-forest clustering; breaks no answer.

        Where the answers leave no room for K clusters, there are more.
        """
        self._follow(state)
        return self._labels

    def _follow(self, state: State) -> None:
        """Cluster anew where the answers changed."""
        key = (state.revision, state.n_answers)
        if key != self._key:
            self._known = known_groups(state.constraints)
            self._labels, self._used = self.forest.cluster(self._known)
            self._key = key

    def same_chance(self, pairs: IntArray) -> FloatArray:
        """Chance that pairs are the same, from how far apart they are."""
        ends = self._labels[self._sample]
        together = ends[:, 0] == ends[:, 1]
        bins = np.searchsorted(self._bins, self._gaps)
        inside = np.bincount(bins[together], minlength=BINS) + 1.0
        total = np.bincount(bins, minlength=BINS) + 2.0
        return (inside / total)[np.searchsorted(self._bins, self._lengths(pairs))]

    def _lengths(self, pairs: IntArray) -> FloatArray:
        """Distances of pairs of points."""
        X = self.problem.X
        return np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)

    def worth(self, pairs: IntArray, chances: FloatArray) -> FloatArray:
        """Expected change of the clustering by each pair's answer."""
        values = np.zeros(len(pairs))
        for k, (i, j) in enumerate(pairs):
            pair = int(i), int(j)
            same = pair_jaccard(self._labels, self.forest.cluster(self._known, pair, 1)[0])
            apart = pair_jaccard(self._labels, self.forest.cluster(self._known, pair, -1)[0])
            values[k] = chances[k] * (1 - same) + (1 - chances[k]) * (1 - apart)
        return values

    def _best(self, state: State, avoid: frozenset[int]) -> Proposal | None:
        """Weigh the candidates and give the best."""
        self._follow(state)
        pairs = self._candidates(state, avoid)
        if len(pairs) == 0:
            return None
        chances = self.same_chance(pairs)
        values = self.worth(pairs, chances)
        ties = np.flatnonzero(values >= values.max() - 1e-12)
        best = int(ties[0] if ties.size == 1 else self.rng(state.n_answers + 1).choice(ties))
        return Proposal(
            int(pairs[best, 0]),
            int(pairs[best, 1]),
            "The answer about this pair is expected to change the clustering most.",
            {"expected_change": float(values[best]), "chance": float(chances[best])},
        )

    def _candidates(self, state: State, avoid: frozenset[int]) -> IntArray:
        """Pairs worth weighing that may be asked now."""
        inner = self.forest.edges[self._used][::-1]
        chosen = self._first(state, avoid, inner) + self._first(state, avoid, self._between())
        return np.array(chosen, dtype=np.intp).reshape(-1, 2)

    def _between(self) -> IntArray:
        """Shortest link between every two clusters, large likely pairs first."""
        labels, X = self._labels, self.problem.X
        count = int(labels.max()) + 1
        size = np.bincount(labels)
        edges = self.forest.edges
        ends = np.sort(labels[edges], axis=1)
        crossing = np.flatnonzero(ends[:, 0] != ends[:, 1])
        pair = (ends[:, 0] * count + ends[:, 1])[crossing]
        names, where = np.unique(pair, return_index=True)  # edges are sorted by length
        link = {int(p): edges[crossing[w]] for p, w in zip(names, where, strict=True)}
        if len(link) < count * (count - 1) // 2:
            members = [np.flatnonzero(labels == c) for c in range(count)]
            centres = np.array([X[m].mean(axis=0) for m in members])
            gaps = ((X - centres[labels]) ** 2).sum(axis=1)
            middle = [int(m[np.argmin(gaps[m])]) for m in members]
            for one in range(count):
                for other in range(one + 1, count):
                    link.setdefault(one * count + other, np.array([middle[one], middle[other]]))
        pairs = np.array(list(link.values()), dtype=np.intp).reshape(-1, 2)
        if len(pairs) == 0:
            return pairs
        first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
        weight = self.same_chance(pairs) * size[first] * size[second]
        return pairs[np.argsort(-weight, kind="stable")]

    def _first(self, state: State, avoid: frozenset[int], pairs: IntArray) -> list[Pair]:
        """First pairs that may be asked now."""
        found = ((int(i), int(j)) for i, j in pairs)
        may = (pair for pair in found if avoid.isdisjoint(pair) and state.askable(*pair))
        return list(islice(may, self.n_candidates))
