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
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from superpac.array_types import FloatArray, IntArray
from superpac.graph.eigenpairs import symmetric_eigenpairs
from superpac.graph.imputed_spectral import KnownSets, block_step

GUARD = 8  # vectors carried beyond those wanted, at least: the last ones converge slowest
GUARD_SHARE = 5  # one more for every so many wanted
FRESH = 4  # of them drawn anew at every start
TOLERANCE = 1e-4  # of the residual, relative to the largest eigenvalue wanted
DEGREE = 30  # of the filter polynomial of one sweep
SWEEPS = 40
COLUMNS = 64  # filtered at a time: a whole block of thousands of rows leaves the processor's cache
SKEWED = 1e-4  # least diagonal of a Cholesky factor that is trusted to orthonormalise a block


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
        self.set_of = np.full(n, -1, dtype=np.intp) if known is None else known.set_of
        self.gather = sparse.csr_array((0 if known is None else known.n_sets, n))
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
        # what a row is multiplied by in L: the sum over its own set counts the row itself
        self.diagonal = self.degree.copy()
        self.diagonal[self.inside] += must_link

    def product(self, V: FloatArray) -> FloatArray:
        """``L V`` for a block of columns."""
        V = np.ascontiguousarray(V)
        return self.step(V, V, 1.0, 0.0, 0.0)

    def step(self, V: FloatArray, W: FloatArray, p: float, q: float, r: float) -> FloatArray:
        """Give ``p L V + q V + r W``."""
        out, kept, ones = np.empty_like(V), self.kept, np.ones(self.n)
        sums, own = self.must_link * (self.gather @ V), p * self.diagonal + q
        block_step(
            kept.indptr, kept.indices, kept.data, ones, self.set_of, sums, V, W, -p, own, r, out
        )
        return out

    def toarray(self) -> FloatArray:
        """L in full."""
        full = -self.kept.toarray()
        if self.inside.size:
            same = (self.gather.T @ self.gather).tocoo()
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
    dense_below: int = 500,
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
    dense_below : int, default=500
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
    width = min(k + max(GUARD, k // GUARD_SHARE), L.n)
    if start is None or start.shape[1] != width:
        start = rng.normal(size=(L.n, width))
    else:
        # an eigenvector that has newly come down may be orthogonal to all the old ones
        fresh = rng.normal(size=(L.n, FRESH)) / np.sqrt(L.n)
        start = np.column_stack([start[:, : width - FRESH], fresh])
    top = L.bound()
    V = _basis(start)
    product = L.product(V)
    for sweep in range(SWEEPS + 1):
        values, turn = symmetric_eigenpairs(V.T @ product)
        V, product = V @ turn, product @ turn
        gap = np.linalg.norm(product[:, :k] - V[:, :k] * values[:k], axis=0)
        poor = gap > TOLERANCE * max(values[k - 1], 1e-8)
        if sweep and not poor.any():
            return values[:k], V[:, :k], V
        if sweep < SWEEPS:
            # those that are good by now stay as they are; the others leave them out
            moving = np.append(poor | (sweep == 0), np.ones(width - k, dtype=bool))
            # vectors drawn anew lie far up: what they would let through is damped from the first
            cut = float(values[-1] if sweep else values[-1 - FRESH])
            kept, known = V[:, ~moving], product[:, ~moving]
            new = _filtered(L, V[:, moving], product[:, moving], cut, top, values[0])
            new = _orthonormal(new, kept)
            V = np.column_stack([kept, new])
            product = np.column_stack([known, L.product(new)])
    # not converged: the dense solver where its n x n matrix is no burden
    return _dense(L, k, width, single_above) if L.n <= 5000 else (values[:k], V[:, :k], V)


def _orthonormal(F: FloatArray, apart: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns of F without their part in the orthonormal `apart`."""
    F = F / np.linalg.norm(F, axis=0)
    if apart.shape[1] == 0:
        return _basis(F)
    for _ in range(2):  # once leaves rounding errors where most of a column is taken away
        F = _basis(F - apart @ (apart.T @ F))
    return F


def _basis(F: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns; by their inner products where those are far from skew."""
    try:
        factor = cholesky(F.T @ F, lower=False)
    except LinAlgError:
        return np.linalg.qr(F)[0]
    if factor.diagonal().min() < SKEWED:
        return np.linalg.qr(F)[0]
    return solve_triangular(factor, F.T, trans="T").T


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
    values, turn = symmetric_eigenpairs(V.T @ L.product(V))
    vectors = V @ turn
    return values[:k], vectors[:, :k], vectors


def _filtered(
    L: ImputedLaplacian, V: FloatArray, product: FloatArray, cut: float, top: float, low: float
) -> FloatArray:
    """Damp the eigenvalues in [cut, top] by the scaled Chebyshev recurrence."""
    parts = [slice(begin, begin + COLUMNS) for begin in range(0, V.shape[1], COLUMNS)]
    return np.column_stack(
        [_filtered_part(L, V[:, part], product[:, part], cut, top, low) for part in parts]
    )


def _filtered_part(
    L: ImputedLaplacian, V: FloatArray, product: FloatArray, cut: float, top: float, low: float
) -> FloatArray:
    """Some columns of the filtered block."""
    centre, half = (top + cut) / 2.0, (top - cut) / 2.0
    sigma = first = half / (low - centre)
    last = np.ascontiguousarray(V)
    now = np.ascontiguousarray((product - centre * V) * (sigma / half))
    for _ in range(DEGREE - 1):
        after = 1.0 / (2.0 / first - sigma)
        scale = 2.0 * after / half
        last, now = now, L.step(now, last, scale, -scale * centre, -sigma * after)
        sigma = after
    return now
