"""Smallest eigenpairs of the graph Laplacian L = D - W of an imputed affinity, again and again.

W is the affinity with answers imputed (1 within a certain set, 0 between sets known to differ). It
is never formed: the cliques act as a sum over each set. From one placed point to the next the
eigenvectors hardly move, so Chebyshev-filtered subspace iteration from the last ones needs a few
products where a solver from scratch needs hundreds (Zhou, Saad, Tiago & Chelikowsky, J. Comput.
Physics 219, 2006). Unlike a first-order update of the eigenvectors it is accurate to a tolerance:
a clique of weight-1 links is no small perturbation.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from superpac.array_types import FloatArray, IntArray
from superpac.graph.imputed_spectral import KnownSets

GUARD = 8  # vectors carried beyond those wanted: the last ones converge slowest
FRESH = 4  # of them drawn anew at every start
TOLERANCE = 1e-4  # of the residual, relative to the largest eigenvalue wanted
DEGREE = 20  # of the filter polynomial of one sweep
SWEEPS = 40


class ImputedLaplacian:
    """D - W for an affinity with answers imputed.

    Parameters
    ----------
    A : scipy.sparse.csr_array of shape (n, n)
        Affinity without answers.
    known : KnownSets or None
        What is known.
    must_link : float, default=1.0
        The value imputed for two points of one set.

    Attributes
    ----------
    degree : ndarray of shape (n,)
        Row sums of W.

    Examples
    --------
    >>> path = sparse.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> L = ImputedLaplacian(path, KnownSets(np.array([0, 1, 0]), 2))
    >>> L.product(np.eye(3)).tolist()  # 0 and 1 apart, 1 and 2 apart, 0 and 2 together
    [[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]]
    """

    def __init__(
        self, A: sparse.csr_array, known: KnownSets | None = None, must_link: float = 1.0
    ) -> None:
        n = A.shape[0]
        self.n, self.must_link = n, must_link
        self.inside: IntArray = np.zeros(0, dtype=np.intp)
        data = A.data
        if known is not None and (known.set_of >= 0).any():
            self.inside = np.flatnonzero(known.set_of >= 0)
            data = _masked(A, known)
        self.kept = sparse.csr_array((data, A.indices, A.indptr), A.shape)
        self.degree = np.asarray(self.kept.sum(axis=1)).ravel()
        self._loose = self.degree.copy()
        if known is not None and self.inside.size:
            set_of = known.set_of[self.inside]
            sizes = np.bincount(set_of, minlength=known.n_sets)
            self.degree[self.inside] += must_link * (sizes[set_of] - 1)
            self.gather = sparse.csr_array(
                (np.ones(self.inside.size), (set_of, self.inside)), shape=(known.n_sets, n)
            )
            self.spread = sparse.csr_array(self.gather.T)

    def product(self, V: FloatArray) -> FloatArray:
        """``L V`` for a block of columns."""
        out = self.degree[:, None] * V - self.kept @ V
        if self.inside.size:
            out -= self.must_link * (self.spread @ (self.gather @ V))
            out[self.inside] += self.must_link * V[self.inside]
        return out

    def toarray(self) -> FloatArray:
        """L in full."""
        full = -self.kept.toarray()
        if self.inside.size:
            same = (self.spread @ self.gather).tocoo()
            full[same.row, same.col] -= self.must_link
            full[self.inside, self.inside] += self.must_link
        full[np.arange(self.n), np.arange(self.n)] += self.degree
        return np.asarray(full, dtype=np.float64)

    def bound(self) -> float:
        """Bound of the largest eigenvalue: Gershgorin, a clique counted by its exact value."""
        clique = self.must_link * np.diff(self.gather.indptr).max() if self.inside.size else 0.0
        return max(float(2.0 * self._loose.max() + clique), 1e-12)


def _masked(A: sparse.csr_array, known: KnownSets) -> FloatArray:
    """Entries of A, those between points whose relation is known set to 0."""
    a = np.repeat(known.set_of, np.diff(A.indptr))
    b = known.set_of[A.indices]
    drop = (a >= 0) & (b >= 0)
    if known.different is not None:
        drop &= (a == b) | known.different[a, b]
    return np.where(drop, 0.0, A.data)


def smallest_pairs(
    L: ImputedLaplacian,
    k: int,
    *,
    start: FloatArray | None = None,
    rng: np.random.Generator,
    dense_below: int = 1000,
    single_above: int = 400,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Smallest `k` eigenpairs of a Laplacian.

    Parameters
    ----------
    L : ImputedLaplacian
        The operator.
    k : int
        Number of pairs, at most n.
    start : ndarray of shape (n, m), optional
        Block returned for a similar matrix; without it the solve is a function of L alone, dense
        for a small matrix.
    rng : numpy.random.Generator
        Draws what is missing of a block to start from.
    dense_below : int, default=1000
        Up to about this size a dense eigensolver is as fast.
    single_above : int, default=400
        Above about this size single precision, then corrected, saves time in it.

    Returns
    -------
    values : ndarray of shape (k,)
        Smallest first.
    vectors : ndarray of shape (n, k)
        Orthonormal.
    block : ndarray of shape (n, m)
        To start from next time.

    Examples
    --------
    >>> path = sparse.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> values, _, _ = smallest_pairs(ImputedLaplacian(path), 2, rng=np.random.default_rng(0))
    >>> values.round(6).tolist()
    [0.0, 1.0]
    """
    k = min(k, L.n)
    width = min(k + GUARD, L.n)
    if L.n <= max(dense_below, 4 * width):
        return _dense(L, k, width, single_above)
    if start is None or start.shape[1] != width:
        start = rng.normal(size=(L.n, width))
    else:
        # an eigenvector that has newly come down may be orthogonal to all the old ones
        fresh = rng.normal(size=(L.n, FRESH)) / np.sqrt(L.n)
        start = np.column_stack([start[:, : width - FRESH], fresh])
    top = L.bound()
    V = np.linalg.qr(start)[0]
    for sweep in range(SWEEPS + 1):
        product = L.product(V)
        values, turn = np.linalg.eigh(V.T @ product)
        V, product = V @ turn, product @ turn
        gap = np.linalg.norm(product[:, :k] - V[:, :k] * values[:k], axis=0)
        if sweep and gap.max() <= TOLERANCE * max(values[k - 1], 1e-8):
            return values[:k], V[:, :k], V
        if sweep < SWEEPS:
            V = np.linalg.qr(_filtered(L, V, product, float(values[-1]), top, values[0]))[0]
    # not converged: the dense solver where its n x n matrix is no burden
    return _dense(L, k, width, single_above) if L.n <= 5000 else (values[:k], V[:, :k], V)


def _dense(
    L: ImputedLaplacian, k: int, width: int, single_above: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Eigenpairs by a dense solver."""
    full = L.toarray()
    if L.n < single_above:
        values, vectors = eigh(full, subset_by_index=[0, width - 1])
        return values[:k], vectors[:, :k], vectors
    # Half the time: vectors in single precision, then a Rayleigh-Ritz step in double, after which
    # eigenvalues are good to the square of the vectors' error.
    _, near = eigh(full.astype(np.float32), subset_by_index=[0, width - 1], overwrite_a=True)
    V = np.linalg.qr(near.astype(np.float64))[0]
    values, turn = np.linalg.eigh(V.T @ L.product(V))
    vectors = V @ turn
    return values[:k], vectors[:, :k], vectors


def _filtered(
    L: ImputedLaplacian, V: FloatArray, product: FloatArray, cut: float, top: float, low: float
) -> FloatArray:
    """Damp the eigenvalues in [cut, top] by the scaled Chebyshev recurrence."""
    centre, half = (top + cut) / 2.0, (top - cut) / 2.0
    sigma = first = half / (low - centre)
    last, now = V, (product - centre * V) * (sigma / half)
    for _ in range(DEGREE - 1):
        after = 1.0 / (2.0 / first - sigma)
        scale = 2.0 * after / half
        step = L.product(now)
        step -= centre * now
        step *= scale
        step -= (sigma * after) * last
        last, now = now, step
        sigma = after
    return now
