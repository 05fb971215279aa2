"""Diffusion: affinity and certain sets -> how strongly each set claims each point.

With S the normalised affinity, ``g_t`` solves ``(I - alpha S) g_t = e_t``: what a walk that starts
at t and dies with probability 1 - alpha per step leaves behind. The claim of a set is the sum of
``g_t`` over its members (Zhou, Bousquet, Lal, Weston & Schoelkopf, "Learning with local and global
consistency", NIPS 2003). One more certain point is one more solve; taking it back subtracts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy import sparse

from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError
from superpac.graph.spectral import normalized_affinity

ALPHA = 0.99
POWER = 2.0
DENSE = 2500  # up to here the inverse is kept: every column is then a look-up
MAX_ITER = 2000


# Unsigned numbers of entries and points spare a test for negative ones at each, and in order the
# sums need no gathering of vectors: together this halves the time of a product.
@njit(cache=True)
def _product(indptr, indices, data, v, out):  # type: ignore[no-untyped-def]
    """``out = S v`` for a sparse S with unsigned indices."""
    e, one = np.uint64(0), np.uint64(1)
    for i in range(out.size):
        total, end = 0.0, np.uint64(indptr[i + 1])
        while e < end:
            total += data[e] * v[indices[e]]
            e += one
        out[i] = total


@njit(cache=True, fastmath={"reassoc", "contract"})
def _solve_one(indptr, indices, data, alpha, mask, b, x, tol):  # type: ignore[no-untyped-def]
    """Conjugate gradients for (I - alpha M S M) x = b on the points where mask is 1, in place."""
    n = b.size
    r, p, q = np.empty(n), np.empty(n), np.empty(n)
    goal, rr = 0.0, 0.0
    for i in range(n):
        if not mask[i]:
            x[i] = 0.0
    _product(indptr, indices, data, x, q)
    for i in range(n):
        r[i] = b[i] - x[i] + alpha * q[i] if mask[i] else 0.0
        goal += b[i] * b[i] if mask[i] else 0.0
        p[i] = r[i]
        rr += r[i] * r[i]
    goal *= tol * tol
    for _ in range(MAX_ITER):
        if rr <= goal:
            break
        _product(indptr, indices, data, p, q)
        pq = 0.0
        for i in range(n):
            q[i] = p[i] - alpha * q[i] if mask[i] else 0.0
            pq += p[i] * q[i]
        step, new = rr / pq, 0.0
        for i in range(n):
            x[i] += step * p[i]
            r[i] -= step * q[i]
            new += r[i] * r[i]
        grow = new / rr
        rr = new
        for i in range(n):
            p[i] = r[i] + grow * p[i]


@njit(cache=True, parallel=True)
def _solve_many(indptr, indices, data, alpha, mask, B, X, tol):  # type: ignore[no-untyped-def]
    """One solve per row of B, side by side."""
    for c in prange(B.shape[0]):
        _solve_one(indptr, indices, data, alpha, mask, B[c], X[c], tol)


class Diffusion:
    """Solver of ``(I - alpha S) g = b`` on one affinity.

    Parameters
    ----------
    affinity : sparse array of shape (n, n)
        As :func:`~superpac.graph.spectral.check_affinity` gives it.
    alpha : float, default=0.99
        Share of the walk that goes on each step; below 1.
    power : float, default=2.0
        Weights are raised to it first. Affinities of self-expressive methods have many small
        false entries; squaring them away lowers the error on every benchmark tried.
    tol : float, default=1e-6
        Largest residual, relative to the right-hand side.

    Attributes
    ----------
    graph : scipy.sparse.csr_array
        The affinity scaled to a largest entry of 1 and raised to `power`.
    diagonal : dict of int to float
        ``g_t[t]`` of the columns asked for so far.

    References
    ----------
    Zhou et al., "Learning with local and global consistency", NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> path = sparse.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> walk = Diffusion(path, alpha=0.5)
    >>> S = np.diag([0.5**0.5] * 2, 1) + np.diag([0.5**0.5] * 2, -1)
    >>> bool(np.allclose((np.eye(3) - 0.5 * S) @ walk.columns([0, 2]), np.eye(3)[:, [0, 2]]))
    True
    """

    def __init__(
        self,
        affinity: sparse.sparray,
        *,
        alpha: float = ALPHA,
        power: float = POWER,
        tol: float = 1e-6,
    ) -> None:
        if not 0 <= alpha < 1:
            raise InputError(f"The 'alpha' parameter must be in [0, 1). Got {alpha!r} instead.")
        if not power > 0:
            raise InputError(f"The 'power' parameter must be positive. Got {power!r} instead.")
        self.alpha, self.power, self.tol = float(alpha), float(power), float(tol)
        self.graph = sparse.csr_array(affinity, dtype=np.float64, copy=True)
        if self.graph.nnz:
            self.graph.data = (self.graph.data / self.graph.data.max()) ** self.power
        self.graph.eliminate_zeros()  # small entries may vanish when raised to a power
        self.n = self.graph.shape[0]
        S = normalized_affinity(self.graph)
        self._parts = (
            S.indptr.astype(np.int64),
            S.indices.astype(np.uint32),  # half the memory to read at every step
            S.data.astype(np.float64),
        )
        self._everyone = np.ones(self.n)
        self._slow: tuple[FloatArray, FloatArray] | None = None
        self._inverse: FloatArray | None = None
        self.diagonal: dict[int, float] = {}

    def quicken(self, vectors: FloatArray) -> None:
        """Keep leading eigenvectors of S, with which later solves need half the steps.

        What decays slowest in conjugate gradients is the part in these vectors; it is solved for
        beforehand (deflation; Nicolaides, SIAM J. Numer. Anal. 24, 1987). They need not be exact,
        only linearly independent.
        """
        if self.n <= DENSE:
            return
        V = np.linalg.qr(vectors)[0]
        values, mix = np.linalg.eigh(V.T @ (self._matrix() @ V))
        self._slow = V @ mix, 1.0 / (1.0 - self.alpha * np.minimum(values, 1.0))

    def columns(self, points: Sequence[int] | IntArray) -> FloatArray:
        """Give ``g_t`` for some points, one column per point; shape (n, m)."""
        where = np.asarray(points, dtype=np.intp)
        if self.n <= DENSE:
            found = np.maximum(self._dense()[:, where], 0.0)
        else:
            right = np.zeros((where.size, self.n))
            right[np.arange(where.size), where] = 1.0
            found = np.maximum(self.solve(right.T), 0.0)
        for c, t in enumerate(where):
            self.diagonal[int(t)] = float(found[t, c])
        return found

    def solve(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Solve for any right-hand sides, shape (n, m), from a first guess if there is one."""
        B = np.ascontiguousarray(right.T, dtype=np.float64)
        if start is not None:
            X = np.array(start.T, order="C", dtype=np.float64)
        elif self._slow is not None:
            V, gain = self._slow
            X = ((B @ V) * gain) @ V.T
        else:
            X = np.zeros_like(B)
        kernel_input = (*self._parts, self.alpha, self._everyone)
        if B.shape[0] == 1:
            _solve_one(*kernel_input, B[0], X[0], self.tol)
        else:
            _solve_many(*kernel_input, B, X, self.tol)
        return X.T

    def unreached(self, certain: NDArray[np.bool_], start: FloatArray | None = None) -> FloatArray:
        """Unlabelled mass about each point: the walk's visits before it meets a certain point.

        Solves ``(I - alpha S_uu) h = 1`` over the uncertain points, from an earlier result if there
        is one; 0 at certain points.
        """
        mask = np.where(certain, 0.0, 1.0)
        h = np.zeros(self.n) if start is None else start.copy()
        # only an order of magnitude is wanted of it
        _solve_one(*self._parts, self.alpha, mask, mask.copy(), h, max(self.tol, 1e-4))
        return h

    def _dense(self) -> FloatArray:
        """Inverse of ``I - alpha S``, computed when first asked for."""
        if self._inverse is None:
            self._inverse = np.linalg.inv(np.eye(self.n) - self.alpha * self._matrix().toarray())
        return self._inverse

    def _matrix(self) -> sparse.csr_array:
        """S as SciPy has it."""
        indptr, indices, data = self._parts
        return sparse.csr_array((data, indices.astype(np.int32), indptr), shape=(self.n, self.n))


class Claims:
    """Claim of every certain set on every point, kept as the sets change.

    Whatever changed between two calls of :meth:`follow` - points added, sets merged or split,
    answers taken back - only the points that moved cost a solve.

    Parameters
    ----------
    diffusion : Diffusion
        The solver.

    Attributes
    ----------
    total : dict of int to ndarray of shape (n,)
        For every set the sum of ``g_t`` over its members.

    Examples
    --------
    >>> import numpy as np
    >>> path = sparse.csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    >>> claims = Claims(Diffusion(path))
    >>> claims.follow({0: [0], 1: [4]})
    >>> bool(claims.total[0][1] > claims.total[1][1])
    True
    >>> claims.follow({0: [0, 4]})
    >>> bool(np.allclose(claims.total[0], claims.diffusion.columns([0, 4]).sum(axis=1)))
    True
    """

    def __init__(self, diffusion: Diffusion) -> None:
        self.diffusion = diffusion
        self.total: dict[int, FloatArray] = {}
        self._members: dict[int, set[int]] = {}

    def follow(self, members: Mapping[int, Sequence[int]]) -> None:
        """Bring the claims up to date with the sets."""
        now = {key: set(points) for key, points in members.items()}
        changed = [key for key in now if self._members.get(key) != now[key]]
        gone = [key for key in self._members if key not in now]
        if not changed and not gone:
            return
        # every old set that changed is inherited by the new set that holds most of it
        heirs: dict[int, list[int]] = {key: [] for key in changed}
        for old in [*gone, *(key for key in changed if key in self._members)]:
            best, shared = -1, 0
            for key in changed:
                common = len(now[key] & self._members[old])
                if common > shared:
                    best, shared = key, common
            if 2 * shared > len(self._members[old]):
                heirs[best].append(old)
        plus: list[tuple[int, list[int]]] = []
        minus: list[tuple[int, list[int]]] = []
        for key in changed:
            inherited = set().union(*(self._members[old] for old in heirs[key]))
            plus.append((key, sorted(now[key] - inherited)))
            minus.append((key, sorted(inherited - now[key])))
        needed = sorted({t for _, points in [*plus, *minus] for t in points})
        solved = self.diffusion.columns(needed) if needed else np.zeros((self.diffusion.n, 0))
        place = {t: c for c, t in enumerate(needed)}
        fresh = {}
        for (key, came), (_, left) in zip(plus, minus, strict=True):
            column = np.zeros(self.diffusion.n)
            for old in heirs[key]:
                column += self.total[old]
            column += solved[:, [place[t] for t in came]].sum(axis=1)
            if left:
                column -= solved[:, [place[t] for t in left]].sum(axis=1)
                np.maximum(column, 0.0, out=column)
            fresh[key] = column
        for key in gone:
            del self.total[key], self._members[key]
        self.total.update(fresh)
        self._members.update({key: now[key] for key in changed})

    def save(self) -> tuple[dict[int, FloatArray], dict[int, set[int]]]:
        """What :meth:`restore` takes; columns are never changed in place, so they are shared."""
        return dict(self.total), dict(self._members)

    def restore(self, saved: tuple[dict[int, FloatArray], dict[int, set[int]]]) -> None:
        """Go back to what was saved."""
        self.total, self._members = dict(saved[0]), dict(saved[1])

    def matrix(self, keys: Sequence[int]) -> FloatArray:
        """Claims as columns in the order of `keys`; shape (n, len(keys))."""
        if not keys:
            return np.zeros((self.diffusion.n, 0))
        return np.column_stack([self.total[key] for key in keys])
