"""Diffusion: affinity and certain sets -> how strongly each set claims each point.

With S the normalised affinity, ``g_t`` solves ``(I - alpha S) g_t = e_t``: what a walk that starts
at t and dies with probability 1 - alpha per step leaves behind. The claim of a set is the sum of
``g_t`` over its members (Zhou, Bousquet, Lal, Weston & Schoelkopf, "Learning with local and global
consistency", NIPS 2003). One more certain point is one more solve; taking it back subtracts it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numba import get_num_threads, njit, prange
from scipy import sparse

from superpac.array_types import IntArray
from superpac.device.arrays import Array, SideBySide, filled, is_host, like, namespace, to_host
from superpac.device.choice import HOST, Device, Torch
from superpac.errors import InputError
from superpac.graph.eigenpairs import symmetric_eigenpairs
from superpac.graph.spectral import normalized_affinity
from superpac.system.progress import Progress, no_progress

ALPHA = 0.99
POWER = 2.0
DENSE = 2500  # up to here the inverse is kept: every column is then a look-up
MAX_ITER = 2000
LOOK_EVERY = 8  # steps of a solve on a graphics processor between two looks whether it is done


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


class _Solver(ABC):
    """Products with S, and conjugate gradients for (I - alpha M S M) x = b."""

    @abstractmethod
    def matrix(self) -> Array:
        """S, SciPy's or PyTorch's."""

    def product(self, V: Array) -> Array:
        """``S V``."""
        return self.matrix() @ V

    @abstractmethod
    def solve(self, B: Array, X: Array, tol: float, progress: Progress) -> Array:
        """Solve for right-hand sides B, from X; both (m, n)."""

    @abstractmethod
    def solve_masked(self, mask: Array, b: Array, x: Array, tol: float) -> Array:
        """Solve for one right-hand side where the mask is 1, from x."""


class _NumbaSolver(_Solver):
    """One solve per thread, on the processor."""

    def __init__(self, S: sparse.csr_array, alpha: float) -> None:
        self.alpha = alpha
        self.parts = (
            S.indptr.astype(np.int64),
            S.indices.astype(np.uint32),  # half the memory to read at every step
            S.data.astype(np.float64),
        )
        self.everyone = np.ones(S.shape[0])

    def matrix(self) -> sparse.csr_array:
        """S as SciPy has it."""
        indptr, indices, data = self.parts
        n = self.everyone.size
        return sparse.csr_array((data, indices.astype(np.int32), indptr), shape=(n, n))

    def solve(self, B: Array, X: Array, tol: float, progress: Progress) -> Array:
        count = B.shape[0]
        if count == 1:
            _solve_one(*self.parts, self.alpha, self.everyone, B[0], X[0], tol)
            return X
        # as many at a time as there are threads, where somebody wants to know how far it is
        step = max(1, count if progress is no_progress else get_num_threads())
        for first in range(0, count, step):
            some = slice(first, first + step)
            _solve_many(*self.parts, self.alpha, self.everyone, B[some], X[some], tol)
            progress(min(first + step, count), count)
        return X

    def solve_masked(self, mask: Array, b: Array, x: Array, tol: float) -> Array:
        x = x.copy()
        _solve_one(*self.parts, self.alpha, mask, b, x, tol)
        return x


class _TorchSolver(_Solver):
    """Steps of which no result is looked at but now and then.

    A graphics processor works on while the program prepares its next step, unless it has to wait
    for a number: so whether a solve is done is asked every few steps only.
    """

    def __init__(self, S: sparse.csr_array, alpha: float, device: Torch) -> None:
        self.alpha, self.S = alpha, device.graph(S)

    def matrix(self) -> Array:
        return self.S

    def solve(self, B: Array, X: Array, tol: float, progress: Progress) -> Array:
        # one after the other: a product with several vectors takes longer than as many single ones
        for row, b in enumerate(B):
            X[row] = self._steps(b, X[row], tol)
            progress(row + 1, B.shape[0])
        return X

    def solve_masked(self, mask: Array, b: Array, x: Array, tol: float) -> Array:
        return self._steps(b * mask, x * mask, tol, mask)

    def _steps(self, b: Array, x: Array, tol: float, mask: Array | None = None) -> Array:
        """Conjugate gradients; few passes over the vectors, as reading them is what takes long."""
        import torch

        def apply(v: Array) -> Array:
            found = torch.addmv(v, self.S, v, alpha=-self.alpha)
            return found if mask is None else found * mask

        goal = tol * tol * torch.dot(b, b)
        x, r = x.clone(), b - apply(x)
        p, rr = r.clone(), torch.dot(r, r)
        for step in range(MAX_ITER):
            if step % LOOK_EVERY == 0 and bool(rr <= goal):
                break
            q = apply(p)
            # a solve that is done to the last bit has nothing left to divide by
            length = rr / torch.dot(p, q).clamp(min=1e-300)
            x.addcmul_(p, length)
            r.addcmul_(q, length, value=-1.0)
            new = torch.dot(r, r)
            p = torch.addcmul(r, p, new / rr.clamp(min=1e-300))
            rr = new
        return x


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
    device : Device, default=HOST
        Where it is solved, and where the arrays are that it takes and gives.

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
        device: Device = HOST,
    ) -> None:
        if not 0 <= alpha < 1:
            raise InputError(f"The 'alpha' parameter must be in [0, 1). Got {alpha!r} instead.")
        if not power > 0:
            raise InputError(f"The 'power' parameter must be positive. Got {power!r} instead.")
        self.alpha, self.power, self.tol = float(alpha), float(power), float(tol)
        self.device = device
        self.graph = sparse.csr_array(affinity, dtype=np.float64, copy=True)
        if self.graph.nnz:
            self.graph.data = (self.graph.data / self.graph.data.max()) ** self.power
        self.graph.eliminate_zeros()  # small entries may vanish when raised to a power
        self.n = self.graph.shape[0]
        S = normalized_affinity(self.graph)
        self._solver: _Solver = (
            _TorchSolver(S, self.alpha, device)
            if isinstance(device, Torch)
            else _NumbaSolver(S, self.alpha)
        )
        self._empty = device.array(np.zeros(0))
        self._slow: tuple[Array, Array] | None = None
        self._inverse: Array | None = None
        self.diagonal: dict[int, float] = {}

    def product(self, V: Array) -> Array:
        """One step of the walk: ``S V``."""
        return self._solver.product(V)

    @property
    def matrix_there(self) -> Array:
        """S where arrays are computed, for products with them."""
        return self._solver.matrix()

    @cached_property
    def graph_there(self) -> Array:
        """The graph where arrays are computed, for products with them."""
        return self.device.graph(self.graph) if isinstance(self.device, Torch) else self.graph

    def quicken(self, vectors: Array) -> None:
        """Keep leading eigenvectors of S, with which later solves need half the steps.

        What decays slowest in conjugate gradients is the part in these vectors; it is solved for
        beforehand (deflation; Nicolaides, SIAM J. Numer. Anal. 24, 1987). They need not be exact,
        only linearly independent.
        """
        if self.n <= DENSE:
            return
        xp = namespace(vectors)
        V = xp.linalg.qr(vectors)[0]
        values, mix = symmetric_eigenpairs(V.T @ self.product(V))
        self._slow = V @ mix, 1.0 / (1.0 - self.alpha * xp.clip(values, None, 1.0))

    def columns(self, points: Sequence[int] | IntArray, progress: Progress = no_progress) -> Array:
        """Give ``g_t`` for some points, one column per point; shape (n, m)."""
        where = np.asarray(points, dtype=np.intp)
        if where.size == 0:
            return filled((self.n, 0), 0.0, self._empty, "float64")
        index = like(where, self._empty)
        xp = namespace(self._empty)
        if self.n <= DENSE:
            found = xp.clip(self._dense()[:, index], 0.0, None)
        else:
            right = filled((where.size, self.n), 0.0, self._empty, "float64")
            right[like(np.arange(where.size), index), index] = 1.0
            found = xp.clip(self.solve(right.T, progress=progress), 0.0, None)
        own = to_host(found[index, like(np.arange(where.size), index)])
        self.diagonal.update(zip(where.tolist(), own.tolist(), strict=True))
        return found

    def solve(
        self, right: Array, start: Array | None = None, progress: Progress = no_progress
    ) -> Array:
        """Solve for any right-hand sides, shape (n, m), from a first guess if there is one."""
        xp = namespace(right)
        B = _in_order(right.T)
        if start is not None:
            X = (
                xp.asarray(start.T, copy=True)
                if not is_host(start)
                else np.array(start.T, order="C", dtype=np.float64)
            )
        elif self._slow is not None:
            V, gain = self._slow
            X = ((B @ V) * gain) @ V.T
        else:
            X = xp.zeros_like(B)
        return self._solver.solve(B, X, self.tol, progress).T

    def unreached(self, certain: Array, start: Array | None = None) -> Array:
        """Unlabelled mass about each point: the walk's visits before it meets a certain point.

        Solves ``(I - alpha S_uu) h = 1`` over the uncertain points, from an earlier result if there
        is one; 0 at certain points.
        """
        mask = namespace(certain).where(certain, 0.0, 1.0)
        h = filled(self.n, 0.0, mask, "float64") if start is None else start
        # only an order of magnitude is wanted of it
        return self._solver.solve_masked(mask, mask, h, max(self.tol, 1e-4))

    def _dense(self) -> Array:
        """Inverse of ``I - alpha S``, computed when first asked for."""
        if self._inverse is None:
            S = normalized_affinity(self.graph).toarray()
            self._inverse = self.device.array(np.linalg.inv(np.eye(self.n) - self.alpha * S))
        return self._inverse


def solve_work(nnz: int, columns: int) -> float:
    """Nanoseconds that :meth:`Diffusion.solve` is likely to take, about, to tell progress by."""
    return 50.0 * nnz * columns


def _sum_of(columns: Array, which: list[int]) -> Array:
    """Sum of some of the columns."""
    return columns[:, like(np.array(which, dtype=np.intp), columns)].sum(axis=1)


def _in_order(rows: Array) -> Array:
    """Rows one behind the other in memory, in double precision."""
    if is_host(rows):
        return np.ascontiguousarray(rows, dtype=np.float64)
    return rows.contiguous()


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
    total : dict of int to array of shape (n,)
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
        self.total: dict[int, Array] = {}
        self._members: dict[int, set[int]] = {}
        self._beside = SideBySide()

    def follow(
        self, members: Mapping[int, Sequence[int]], progress: Progress = no_progress
    ) -> None:
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
        solved = self.diffusion.columns(needed, progress)
        place = {t: c for c, t in enumerate(needed)}
        fresh = {}
        for (key, came), (_, left) in zip(plus, minus, strict=True):
            column = filled(self.diffusion.n, 0.0, solved, "float64")
            for old in heirs[key]:
                column += self.total[old]
            column += _sum_of(solved, [place[t] for t in came])
            if left:
                column -= _sum_of(solved, [place[t] for t in left])
                column = namespace(column).clip(column, 0.0, None)
            fresh[key] = column
        for key in gone:
            del self.total[key], self._members[key]
        self.total.update(fresh)
        self._members.update({key: now[key] for key in changed})

    def save(self) -> tuple[dict[int, Array], dict[int, set[int]]]:
        """What :meth:`restore` takes; columns are never changed in place, so they are shared."""
        return dict(self.total), dict(self._members)

    def restore(self, saved: tuple[dict[int, Array], dict[int, set[int]]]) -> None:
        """Go back to what was saved."""
        self.total, self._members = dict(saved[0]), dict(saved[1])

    def matrix(self, keys: Sequence[int]) -> Array:
        """Claims as columns in the order of `keys`, shape (n, len(keys)); until the next call."""
        if not keys:
            return filled((self.diffusion.n, 0), 0.0, self.diffusion.columns([]), "float64")
        return self._beside.array([self.total[key] for key in keys])
