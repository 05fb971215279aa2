"""The two ADMM iterations of sparse subspace clustering; points are columns, as in the paper."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numba import njit, prange
from scipy.linalg import cho_factor, cho_solve, svd

from superpac.affinity._kernels.vectors import product
from superpac.affinity.base import Progress
from superpac.array_types import FloatArray


@dataclass(frozen=True)
class Settings:
    """How an ADMM run is set up; see :class:`superpac.affinity.ssc.SSC` for the meaning."""

    alpha: float
    affine: bool
    exact_diagonal: bool
    max_iter: int
    tol: float


@njit(cache=True, parallel=True)
def _shrink(Z, U, V, threshold, worst):
    """C = soft(Z + U), U = Z + U - C, V = C - U, row by row; `worst` gets the largest |Z - C|."""
    for i in prange(Z.shape[0]):
        largest = 0.0
        for k in range(Z.shape[1]):
            total = Z[i, k] + U[i, k]
            c = 0.0
            if total > threshold:
                c = total - threshold
            elif total < -threshold:
                c = total + threshold
            largest = max(largest, abs(Z[i, k] - c))
            U[i, k] = total - c
            V[i, k] = 2.0 * c - total
        worst[i] = largest


@njit(cache=True, parallel=True)
def _outlier_pass(
    Y, M, H, U, V, left_f, left_span, stretch, bottom, push, g, kappa, threshold, worst, sums
):
    """All that happens to the error block and its multipliers in one iteration, in one pass."""
    # worst gets the largest |Z - C| of each row; sums gets, for each of its slices of rows, the
    # squared column norms of Y - PZ and of Y - E
    d, n = Y.shape
    parts = sums.shape[0]
    for part in prange(parts):
        sums[part] = 0.0
        for i in range(part * d // parts, (part + 1) * d // parts):
            largest = 0.0
            for k in range(n):
                z = (left_f[i, k] + H[i, k] / kappa) / g + V[i, k] + bottom[i] * push[k]
                clean = Y[i, k] - z / g
                rest = clean + Y[i, k] * stretch[k] - left_span[i, k]
                M[i, k] += rest
                sums[part, 0, k] += rest * rest
                sums[part, 1, k] += clean * clean
                total = z + U[i, k]
                c = 0.0
                if total > threshold:
                    c = total - threshold
                elif total < -threshold:
                    c = total + threshold
                largest = max(largest, abs(z - c))
                U[i, k] = total - c
                V[i, k] = 2.0 * c - total
                H[i, k] = Y[i, k] + M[i, k] - V[i, k] / g
            worst[i] = largest


def shrink(Z: FloatArray, U: FloatArray, V: FloatArray, threshold: float) -> float:
    """Soft-threshold and update the scaled multiplier in place; the largest |Z - C|."""
    worst = np.zeros(Z.shape[0])
    _shrink(Z, U, V, threshold, worst)
    return float(worst.max(initial=0.0))


def move_to_one(Z: FloatArray, sums: FloatArray) -> float:
    """Update the multiplier of ``1'Z = 1'`` in place; the largest gap."""
    lack = Z.sum(axis=0) - 1.0
    sums += lack
    return float(np.abs(lack).max())


def times(A: FloatArray, B: FloatArray) -> FloatArray:
    """A B on Numba's threads."""
    out = np.empty((A.shape[0], B.shape[1]))
    product(A, B, out, numba.get_num_threads())
    return out


def smallest_of_largest(columns: FloatArray) -> float:
    """The smallest column maximum, columns of zeros left out; 0 when all are zero."""
    tops = columns.max(axis=0)
    tops = tops[tops > 0]
    return float(tops.min()) if tops.size else 0.0


def noisy(Y: FloatArray, settings: Settings, progress: Progress) -> tuple[FloatArray, int]:
    """Minimise |C|_1 + mu1/2 |Y - YC|^2, diag C = 0; C and the iterations."""
    n = Y.shape[1]
    G = Y.T @ Y
    off = np.abs(G)
    np.fill_diagonal(off, 0.0)
    scale = smallest_of_largest(off)
    del off
    if scale == 0.0:
        return np.zeros((n, n)), 0
    mu1, mu2 = settings.alpha / scale, settings.alpha
    system = mu1 * G
    system[np.diag_indices(n)] += mu2
    if settings.affine:
        system += mu2
    A = cho_solve(cho_factor(system, lower=True, overwrite_a=True), np.eye(n), overwrite_b=True)
    A = np.ascontiguousarray(A)
    fixed = times(A, mu1 * G)
    if settings.affine:
        fixed += mu2 * A.sum(axis=1, keepdims=True)
    del G, system
    diagonal = np.diag(A).copy()
    ones_A = A.sum(axis=1)
    U, V, Z = np.zeros((n, n)), np.zeros((n, n)), np.empty((n, n))
    sums = np.zeros(n)  # scaled multiplier of 1'C = 1'
    for done in range(1, settings.max_iter + 1):  # noqa: B007
        product(A, V, Z, numba.get_num_threads())
        Z *= mu2
        Z += fixed
        if settings.affine:
            Z -= mu2 * ones_A[:, None] * sums
        if settings.exact_diagonal:
            # the minimum subject to a zero diagonal; setting the diagonal to zero afterwards, as in
            # the published iteration, ends at another point (a shrunken target)
            Z -= A * (np.diag(Z) / diagonal)
        np.fill_diagonal(Z, 0.0)
        error = shrink(Z, U, V, 1.0 / mu2)
        if settings.affine:
            error = max(error, move_to_one(Z, sums))
        progress(done, settings.max_iter)
        if error <= settings.tol:
            break
    return U + V, done


def with_outliers(Y: FloatArray, settings: Settings, progress: Progress) -> tuple[FloatArray, int]:
    """Minimise |C|_1 + g |E|_1 subject to Y = YC + E, diag C = 0; C and the iterations."""
    # The dictionary is P = [Y, I/g]. With the thin SVD of Y every product with the inverse of
    # mu1 P'P + mu2 I goes through matrices of the rank of Y, so P is never formed.
    d, n = Y.shape
    longest = float(np.abs(Y).sum(axis=0).max())
    if longest == 0.0:
        return np.zeros((n, n)), 0
    g = settings.alpha / longest
    T = np.abs(Y.T @ Y)
    np.fill_diagonal(T, 0.0)
    scale = smallest_of_largest(np.maximum(T, np.abs(Y).max(axis=0) / g))
    del T
    mu1, mu2 = settings.alpha / scale, settings.alpha
    left, s, rightT = svd(Y, full_matrices=False, lapack_driver="gesdd")
    rank = int(np.sum(s > s[0] * max(d, n) * np.finfo(float).eps))
    left, s, rightT = np.ascontiguousarray(left[:, :rank]), s[:rank, None], rightT[:rank]
    leftT = np.ascontiguousarray(left.T)
    kappa = mu2 / mu1 + 1.0 / g**2
    inverse = 1.0 / (s**2 + kappa)
    SVt = np.ascontiguousarray(s * rightT)
    VS = np.ascontiguousarray(SVt.T)
    # what the affine constraint adds: a rank-one change of the inverse
    y_ones = SVt.sum(axis=1, keepdims=True)
    a_top = (1.0 - SVt.T @ (inverse * y_ones)) / mu2
    a_bottom = -(left @ (inverse * y_ones)) / (mu2 * g)
    a_share = mu2 / (1.0 + mu2 * float(a_top.sum()))
    U, V = np.zeros((n, n)), np.zeros((n, n))
    Ue, Ve = np.zeros((d, n)), np.zeros((d, n))
    M = np.zeros((d, n))  # scaled multiplier of Y = PZ
    Y = np.ascontiguousarray(Y)
    H = Y.copy()  # always Y + M - Ve / g
    affine_sums = np.zeros(n)
    push = np.zeros(n)
    worst = np.zeros(d)
    norms = np.zeros((16, 2, n))
    for done in range(1, settings.max_iter + 1):  # noqa: B007
        a = times(SVt, V)
        e = times(leftT, H) - a
        Z = V + times(VS, inverse * e)
        span = a + s**2 * (inverse * e)  # left' Y Z
        if settings.affine:
            push = a_share * (1.0 - affine_sums - Z.sum(axis=0))
            Z += a_top * push
            span += (SVt @ a_top) * push
        left_f = times(left, (inverse - 1.0 / kappa) * e - a / kappa)
        left_span = times(left, span)
        stretch = np.diag(Z).copy()
        np.fill_diagonal(Z, 0.0)
        _outlier_pass(
            Y, M, H, Ue, Ve, left_f, left_span, stretch, a_bottom[:, 0], push,
            g, kappa, 1.0 / mu2, worst, norms,
        )  # fmt: skip
        error = max(shrink(Z, U, V, 1.0 / mu2), float(worst.max()))
        rest, clean = np.sqrt(norms.sum(axis=0))
        good = clean > 1e-12 * longest
        if good.any():
            error = max(error, float((rest[good] / clean[good]).max()))
        if settings.affine:
            error = max(error, move_to_one(Z, affine_sums))
        progress(done, settings.max_iter)
        if error <= settings.tol:
            break
    return U + V, done
