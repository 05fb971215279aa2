"""Spectral clustering of an affinity with answers imputed, again and again as answers come in.

Two points known to be in the same set get the entry 1, two points known to be in different sets the
entry 0, always starting from the original affinity scaled to a largest entry of 2 (Lipor & Balzano,
ICML 2017, Algorithm 1). The imputed matrix is never formed on the fast path: zeroed entries are
masked, and the must-link cliques act as a sum over each set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError
from superpac.graph.chebyshev import chebyshev_vectors
from superpac.graph.kmeans import kmeans
from superpac.graph.spectral import cluster_rows, spectral_embedding, unit_vectors
from superpac.metrics import align_labels

GUARD = 6  # eigenvectors kept beyond K at least: one that rises into the top K is already there
# Where K is large, eigenvalues lie close together: more vectors, and longer steps to part them.
GUARD_SHARE = 6  # one vector for every so many clusters
DEGREE = 12  # of the filter, at least
DEGREE_SHARE = 3  # one for every so many clusters
THOROUGH = 8  # every so many steps a warm clustering has as many fresh starts as an exact one


def scaled_affinity(A: sparse.csr_array) -> sparse.csr_array:
    """Affinity scaled once so that its largest entry is 2; an empty graph stays as it is."""
    top = A.data.max(initial=0.0)
    return A * (2.0 / top) if top > 0 else A


@njit(cache=True)
def _mask(indptr, indices, data, set_of, different, everything):  # type: ignore[no-untyped-def]
    """Entries of A with those between known points zeroed, and the degrees of what is left."""
    n = indptr.size - 1
    m = different.shape[0]
    out = data.copy()
    degree = np.zeros(n)
    for i in range(n):
        a = set_of[i]
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            b = set_of[indices[p]]
            if a >= 0 and b >= 0 and (a == b or everything or (m > 0 and different[a, b])):
                out[p] = 0.0
            total += out[p]
        degree[i] = total
    return out, degree


@njit(cache=True, parallel=True)
def block_step(indptr, indices, data, scale, set_of, sums, V, W, p, q, r, out):  # type: ignore[no-untyped-def]
    """Do ``out = p S V + q V + r W`` for the normalised imputed affinity S.

    `sums` holds, for each set, the must-link weight times the sum of the scaled rows of V; `q` is a
    number per row.
    """
    n, k = V.shape
    for i in prange(n):
        row = out[i]
        for c in range(k):
            row[c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            w = data[e]
            if w != 0.0:
                j = indices[e]
                w *= scale[j]
                for c in range(k):
                    row[c] += w * V[j, c]
        a = set_of[i]
        if a >= 0:
            for c in range(k):
                row[c] += sums[a, c]
        u = p * scale[i]
        for c in range(k):
            row[c] = u * row[c] + q[i] * V[i, c] + r * W[i, c]


@dataclass(frozen=True)
class KnownSets:
    """What is known between points: their sets, and which sets are known to differ.

    Attributes
    ----------
    set_of : ndarray of shape (n,)
        Set of each point, -1 for a free point.
    n_sets : int
        Number of sets.
    different : ndarray of bool of shape (n_sets, n_sets) or None
        Pairs of sets known to differ; None means every pair.
    """

    set_of: IntArray
    n_sets: int
    different: NDArray[np.bool_] | None = None


class ImputedSpectral:
    """Spectral clustering that follows growing knowledge.

    Parameters
    ----------
    A : scipy.sparse.csr_array of shape (n, n)
        Original affinity, as :func:`~superpac.graph.spectral.check_affinity` gives it.
    n_clusters : int
        Number of clusters.
    seed : int, default=0
        Of the eigensolver's start and of k-means; every call derives its own from it.
    n_init : int, default=10
        k-means restarts of an exact clustering.
    must_link : float, default=1.0
        The value imputed for two points of one set.
    extra_vectors : int, default=0
        Eigenvectors in the embedding beyond one per cluster.
    unit_rows : bool, default=True
        Whether rows of the embedding are scaled to unit length.

    References
    ----------
    Lipor & Balzano, ICML 2017.

    Examples
    --------
    >>> from superpac.graph.spectral import check_affinity
    >>> A = np.kron(np.eye(2), np.ones((4, 4))) + 0.01
    >>> model = ImputedSpectral(check_affinity(A), 2)
    >>> known = KnownSets(np.array([0, -1, -1, 0, 1, -1, -1, -1]), 2)
    >>> labels = model.exact(known, step=1)
    >>> bool(labels[0] == labels[3] != labels[4])
    True
    """

    def __init__(
        self,
        A: sparse.csr_array,
        n_clusters: int,
        *,
        seed: int = 0,
        n_init: int = 10,
        must_link: float = 1.0,
        extra_vectors: int = 0,
        unit_rows: bool = True,
    ) -> None:
        most = min(GUARD, A.shape[0] - n_clusters)
        if not 0 <= extra_vectors <= most:
            raise InputError(
                f"The 'extra_vectors' option must be between 0 and {most}. "
                f"Got {extra_vectors!r} instead."
            )
        self.A = scaled_affinity(A)
        self.n_clusters = n_clusters
        self.n_vectors = n_clusters + extra_vectors
        self.unit_rows = unit_rows
        self.seed = seed
        self.n_init = n_init
        self.must_link = must_link
        self._vectors: FloatArray | None = None
        self._labels: IntArray | None = None

    def _rng(self, step: int) -> np.random.RandomState:
        """Random draws of one step, the same however it was reached."""
        return np.random.RandomState(np.random.SeedSequence((self.seed, step)).generate_state(1))

    def rows(self) -> FloatArray:
        """Rows of the embedding behind the last labels, of unit length unless told otherwise."""
        if self._vectors is None:
            self.exact()
        leading = self._vectors[:, : self.n_vectors]  # type: ignore[index]
        return unit_vectors(leading) if self.unit_rows else np.ascontiguousarray(leading)

    def matrix(self, known: KnownSets) -> sparse.csr_array:
        """Form the imputed affinity in full."""
        data, _ = self._masked(known)
        # copy: dropping zeros works in place, and A shares these index arrays
        kept = sparse.csr_array((data, self.A.indices, self.A.indptr), self.A.shape, copy=True)
        kept.eliminate_zeros()
        inside = np.flatnonzero(known.set_of >= 0)
        if inside.size == 0:
            return kept
        ones = np.ones(inside.size)
        Z = sparse.csr_array(
            (ones, (inside, known.set_of[inside])), shape=(self.A.shape[0], known.n_sets)
        )
        cliques = sparse.csr_array(Z @ Z.T)
        cliques.setdiag(0)
        cliques.eliminate_zeros()
        return sparse.csr_array(kept + self.must_link * cliques)

    def asked_matrix(self, same: IntArray, different: IntArray) -> sparse.csr_array:
        """Form the affinity with the pairs themselves imputed, not what follows from them.

        `same` and `different` hold a pair in each row.
        """
        A = sparse.lil_array(self.A)
        for pairs, value in ((different, 0.0), (same, self.must_link)):
            for i, j in pairs:
                A[i, j] = A[j, i] = value
        return sparse.csr_array(A)

    def exact(self, known: KnownSets | None = None, *, step: int = 0) -> IntArray:
        """Cluster from scratch; `step`, usually the number of answers, derives the draws."""
        return self.cluster(self.A if known is None else self.matrix(known), step=step)

    def cluster(self, graph: sparse.csr_array, *, step: int = 0) -> IntArray:
        """Cluster an affinity with whatever has been imputed into it, from scratch."""
        rng = self._rng(step)
        guard = max(GUARD, self.n_clusters // GUARD_SHARE)
        wanted = min(self.n_clusters + guard, self.A.shape[0])
        found = spectral_embedding(graph, wanted, random_state=rng, check_input=False)
        if found.n_components > self.n_clusters:
            # which components are kept depends on how many vectors are asked for
            found = spectral_embedding(graph, self.n_vectors, random_state=rng, check_input=False)
        self._vectors = found.vectors
        self._labels = cluster_rows(self.rows(), self.n_clusters, n_init=self.n_init, rng=rng)
        return self._labels

    def warm(self, known: KnownSets, *, step: int) -> IntArray:
        """Cluster from the last eigenvectors and labels; falls back to :meth:`exact`.

        Eigenvectors are improved until their residual is small, so they do not depend on the way
        they were reached. k-means takes the best of the last labels and fresh starts: the last
        labels alone drift away from the optimum.
        """
        if self._vectors is None or self._labels is None:
            return self.exact(known, step=step)
        last = self._labels
        vectors = self._improve(known, self._vectors)
        if vectors is None:
            self._labels = align_labels(self.exact(known, step=step), last)
            return self._labels
        self._vectors = vectors
        fresh = self.n_init if step % THOROUGH == 0 else max(2, self.n_clusters // 8)
        labels = self._follow(self.rows(), last, self._rng(step), fresh)
        self._labels = align_labels(labels, last)
        return self._labels

    def _masked(self, known: KnownSets) -> tuple[FloatArray, FloatArray]:
        """Entries of A without those between known points, and their row sums."""
        different = known.different
        return _mask(
            self.A.indptr,
            self.A.indices,
            self.A.data,
            known.set_of,
            np.zeros((0, 0), dtype=np.bool_) if different is None else different,
            different is None,
        )

    def _operator(self, known: KnownSets) -> _Operator | None:
        """Normalised imputed affinity; None with more components than clusters."""
        data, degree = self._masked(known)
        inside = known.set_of >= 0
        sizes = np.bincount(known.set_of[inside], minlength=known.n_sets)
        degree[inside] += self.must_link * (sizes[known.set_of[inside]] - 1)
        component = self._components(data, known)
        # points without a neighbour are set aside, as in spectral_embedding
        joined = np.flatnonzero(degree > 0)
        component[degree <= 0] = -1
        if joined.size == 0:
            return None
        component[joined] = np.unique(component[joined], return_inverse=True)[1]
        if component.max() >= self.n_clusters:
            return None
        return _Operator(self.A, data, degree, known, self.must_link, component)

    def _improve(self, known: KnownSets, start: FloatArray) -> FloatArray | None:
        """Top eigenvectors from `start`; None where the exact way has to be taken."""
        if self.A.shape[0] < 10 * start.shape[1]:
            return None
        S = self._operator(known)
        if S is None:
            return None
        degree = max(DEGREE, self.n_clusters // DEGREE_SHARE)
        return chebyshev_vectors(S, start, self.n_vectors, degree=degree)

    def _components(self, data: FloatArray, known: KnownSets) -> NDArray[np.int32]:
        """Connected component of each point; a set is tied together by a star."""
        inside = np.flatnonzero(known.set_of >= 0)
        kept = sparse.csr_array((data, self.A.indices, self.A.indptr), self.A.shape, copy=True)
        kept.eliminate_zeros()
        count, component = connected_components(kept, directed=False)
        if count == 1:
            return component
        links = sparse.csr_array(
            (np.ones(inside.size), (component[inside], count + known.set_of[inside])),
            shape=(count + known.n_sets, count + known.n_sets),
        )
        _, joined = connected_components(links, directed=False)
        return np.unique(joined[:count], return_inverse=True)[1][component].astype(np.int32)

    def _follow(
        self, rows: FloatArray, last: IntArray, rng: np.random.RandomState, fresh: int
    ) -> IntArray:
        """Best k-means of the last labels' centres and fresh starts."""
        sums = np.zeros((self.n_clusters, rows.shape[1]))
        np.add.at(sums, last, rows)
        counts = np.bincount(last, minlength=self.n_clusters)
        start = sums / counts[:, None] if counts.all() else None
        return kmeans(rows, self.n_clusters, n_init=fresh, rng=rng, start=start)


class _Operator:
    """Block products with the normalised imputed affinity, without forming it."""

    def __init__(
        self,
        A: sparse.csr_array,
        data: FloatArray,
        degree: FloatArray,
        known: KnownSets,
        must_link: float,
        component: NDArray[np.int32],
    ) -> None:
        self.A, self.data, self.degree = A, data, degree
        self.scale = np.divide(1.0, np.sqrt(degree), out=np.zeros(degree.size), where=degree > 0)
        self.set_of = known.set_of
        inside = np.flatnonzero(known.set_of >= 0)
        rows = np.flatnonzero(component >= 0)
        component, degree = component[rows], degree[rows]
        self.top = np.zeros((A.shape[0], int(component.max()) + 1))
        self.top[rows, component] = np.sqrt(degree)  # the exact eigenvectors of eigenvalue 1
        self.own = np.zeros(A.shape[0])  # a point is no neighbour of its own clique
        self.own[inside] = must_link * self.scale[inside] ** 2
        self.gather = sparse.csr_array(
            (must_link * self.scale[inside], (known.set_of[inside], inside)),
            shape=(max(known.n_sets, 1), A.shape[0]),
        )

    def step(self, V: FloatArray, W: FloatArray, p: float, q: float, r: float) -> FloatArray:
        """Give ``p S V + q V + r W``."""
        out = np.empty_like(V)
        A, set_of, every = self.A, self.set_of, np.full(V.shape[0], q)
        sums = self.gather @ V
        block_step(A.indptr, A.indices, self.data, self.scale, set_of, sums, V, W, p, every, r, out)
        if self.own.any():
            rows = np.flatnonzero(self.own)
            out[rows] -= p * self.own[rows, None] * V[rows]
        return out
