"""Low-rank representation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, svd
from threadpoolctl import threadpool_limits

from superpac.affinity._kernels.top_k import update_top
from superpac.affinity.base import AffinityEstimator, Progress, no_progress, unit_rows
from superpac.affinity.parameters import flag, integer, real
from superpac.array_types import FloatArray
from superpac.graph.sparse_graph import rows_to_matrix, tidy

# |cos|^4 below this says nothing; noiseless subspaces then fall apart as they should.
NEGLIGIBLE = 1e-12
BLOCK = 1024
ONE_THREAD_BELOW = 1500


@dataclass(repr=False, eq=False, kw_only=True)
class LRR(AffinityEstimator):
    """Low-rank representation (LRR).

    With points as the columns of X it solves ``min |Z|_* + lambda |E|_2,1  s.t.  X = XZ + E`` by
    an inexact augmented Lagrangian method; without noise the solution is ``Z = V V'`` of the
    skinny SVD of X. With ``Z = U S V'`` and M = U S^(1/2) with unit rows, the affinity is
    ``|M M'|^4`` entry by entry.

    The solver works in the coordinates of X's singular vectors, where the dictionary is diagonal:
    an iteration costs one eigenproblem of size rank(X) and two products, never N x N. The
    affinity is built block by block and keeps the `keep` largest entries of each row (and, by
    symmetry, column).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=2
        Price of an outlying point; smaller explains more of the data as noise. It goes with the
        length of the points: 1 to 4 does well for unit-length faces, the 0.18 of the paper belongs
        to raw pixels in [0, 1] (``normalize=False``).
    noiseless : bool, default=False
        Take the closed form instead; `lam` and the solver's parameters are then not used.
    mu, mu_factor, mu_max : float, default=1e-6, 1.1, 1e10
        Penalty of the solver: where it starts, its growth per iteration, where it ends.
    tol : float, default=1e-8
        The solver stops when no entry of X - XZ - E and Z - J is larger.
    max_iter : int, default=1000
        Most iterations of the solver.
    keep : int, default=200
        Most affinity entries kept per row.
    normalize : bool, default=True
        Scale points to unit length first.
    random_state : int, RandomState or None
        Seed of the spectral step; the affinity itself is deterministic.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)
    n_iter_ : int
        Iterations of the solver.

    References
    ----------
    G. Liu, Z. Lin and Y. Yu, "Robust subspace segmentation by low-rank representation", ICML 2010;
    G. Liu et al., "Robust recovery of subspace structures by low-rank representation", IEEE TPAMI
    35(1), 2013.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 2, 2, 12, seed=0)
    >>> A = LRR(n_clusters=2, noiseless=True).affinity(X)
    >>> bool(A[:20, 20:].nnz == 0)
    True
    """

    lam: float = real(2.0, "(0, inf]")
    noiseless: bool = flag()
    mu: float = real(1e-6, "(0, inf]")
    mu_factor: float = real(1.1, "(1, inf]")
    mu_max: float = real(1e10, "(0, inf]")
    tol: float = real(1e-8, "(0, inf]")
    max_iter: int = integer(1000)
    keep: int = integer(200)
    normalize: bool = flag(True)

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        if self.normalize:
            X = unit_rows(X)
        else:  # the problem scales with X; work near 1 so that squares stay in range
            top = float(np.abs(X).max())
            X = X / (top if top > 0 else 1.0)
        V, s = skinny_svd(X)
        if self.noiseless or s.size == 0:
            self.n_iter_ = 0
            M = V
        else:
            lam = self.lam if self.normalize or top == 0 else self.lam * top
            # Small eigenproblems lose more to waiting for a second thread than it does for them.
            with threadpool_limits(1 if s.size < ONE_THREAD_BELOW else None):
                Z, self.n_iter_ = solve_lrr(
                    s,
                    V,
                    lam,
                    mu=self.mu,
                    mu_factor=self.mu_factor,
                    mu_max=self.mu_max,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    progress=progress,
                )
            left, sizes = _left_singular(Z)
            M = (V @ left) * np.sqrt(sizes)
        M = unit_rows(M)
        M[~X.any(axis=1)] = 0.0  # a zero point has no direction, only rounding noise
        A = _fourth_power_graph(M, self.keep)
        progress(self.max_iter, self.max_iter)
        return A


def skinny_svd(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors (n_samples, r) and singular values (r,) of the rows of X."""
    V, s, _ = svd(X, full_matrices=False, check_finite=False)
    rank = int(np.sum(s > max(X.shape) * np.finfo(float).eps * s[0])) if s[0] > 0 else 0
    return V[:, :rank], s[:rank]


def solve_lrr(
    s: FloatArray,
    V: FloatArray,
    lam: float,
    *,
    mu: float = 1e-6,
    mu_factor: float = 1.1,
    mu_max: float = 1e10,
    tol: float = 1e-8,
    max_iter: int = 1000,
    progress: Progress = no_progress,
) -> tuple[FloatArray, int]:
    """LRR in singular coordinates: Z of the problem for X' = U diag(s) V' is ``V @ result``.

    Z may be sought in the row space of X and E in its column space, because anything outside only
    adds to the objective; the dictionary there is diag(s). Gives the coefficients, one column per
    point, and the number of iterations.
    """
    data = s[:, None] * V.T
    Z = np.zeros_like(data)
    E = np.zeros_like(data)
    Y1 = np.zeros_like(data)
    Y2 = np.zeros_like(data)
    solve = 1.0 / (1.0 + s * s)[:, None]
    for iteration in range(1, max_iter + 1):
        J = shrink_singular_values(Z + Y2 / mu, 1.0 / mu)
        Z = solve * (s[:, None] * (data - E + Y1 / mu) + J - Y2 / mu)
        left_over = data - s[:, None] * Z
        E = shrink_columns(left_over + Y1 / mu, lam / mu)
        gap1 = left_over - E
        gap2 = Z - J
        worst = max(np.abs(gap1).max(), np.abs(gap2).max())
        progress(min(iteration, max_iter), max_iter)
        if worst < tol:
            break
        Y1 += mu * gap1
        Y2 += mu * gap2
        mu = min(mu * mu_factor, mu_max)
    return J, iteration


def shrink_singular_values(M: FloatArray, threshold: float) -> FloatArray:
    """Soft-threshold the singular values of a wide matrix, through its small Gram matrix."""
    if np.linalg.norm(M) <= threshold:  # true of most early iterations, and saves their work
        return np.zeros_like(M)
    values, W = eigh(M @ M.T, check_finite=False, overwrite_a=True, driver="evd")
    sizes = np.sqrt(np.maximum(values, 0.0))
    kept = sizes > threshold
    W = W[:, kept]
    return (W * (1.0 - threshold / sizes[kept])) @ (W.T @ M)


def shrink_columns(M: FloatArray, threshold: float) -> FloatArray:
    """Shorten every column by `threshold`, to zero where it is shorter than that."""
    norms = np.linalg.norm(M, axis=0)
    factor = np.divide(norms - threshold, norms, out=np.zeros_like(norms), where=norms > threshold)
    return M * factor


def _left_singular(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors and values of Z above 1e-4 of the largest, as the authors' code."""
    left, sizes, _ = svd(Z, full_matrices=False, check_finite=False)
    kept = sizes > 1e-4 * sizes[0]
    return left[:, kept], sizes[kept]


def _fourth_power_graph(M: FloatArray, keep: int) -> sparse.csr_array:
    """|M M'|^4 with the `keep` largest entries of each row, made symmetric by the larger."""
    n = M.shape[0]
    keep = min(keep, n - 1)
    indices = np.full((n, keep), -1, dtype=np.int64)
    values = np.full((n, keep), NEGLIGIBLE)
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        block = np.minimum(np.abs(M[rows] @ M.T), 1.0) ** 4
        update_top(block, start, 0, values[rows], indices[rows])
    Z = rows_to_matrix(indices, values, n)
    return tidy(Z.maximum(Z.T))
