"""Leading eigenvectors of a matrix that changed a little, from those it had before."""

from __future__ import annotations

from typing import Protocol

from superpac.device.arrays import Array, namespace
from superpac.graph.eigenpairs import symmetric_eigenpairs

TOLERANCE = 1e-4  # of the eigenvector residual; looser loses eigenvectors, tighter moves no label


class Operator(Protocol):
    """A symmetric matrix S, known by its products."""

    top: Array  # eigenvectors of the largest eigenvalue that are known exactly

    def step(self, V: Array, W: Array, p: float, q: float, r: float) -> Array:
        """Give ``p S V + q V + r W``."""
        ...


def chebyshev_vectors(
    S: Operator,
    start: Array,
    wanted: int,
    *,
    degree: int = 12,
    sweeps: int = 8,
    tolerance: float = TOLERANCE,
    enough: float | None = None,
) -> Array | None:
    """Leading eigenvectors, largest first, by Chebyshev-filtered subspace iteration.

    S has its spectrum in [-1, 1] and the largest eigenvalue 1; `start` is an orthonormal guess with
    more columns than are `wanted`. It ends at a residual of `tolerance`; after the last sweep one
    of `enough` will do, if that is given. None if the residual stayed larger. Zhou, Saad, Tiago &
    Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace iteration",
    J. Comput. Physics 219, 2006.
    """
    xp = namespace(start)
    V = xp.linalg.qr(xp.concat([S.top, start[:, S.top.shape[1] :]], axis=1))[0]
    for sweep in range(sweeps + 1):
        product = S.step(V, V, 1.0, 0.0, 0.0)
        values, turn = symmetric_eigenpairs(V.T @ product)
        values, turn = xp.flip(values), xp.flip(turn, axis=1)
        V, product = V @ turn, product @ turn
        left = product[:, :wanted] - V[:, :wanted] * values[:wanted]
        if sweep == sweeps:
            tolerance = max(tolerance, enough or 0.0)
        if xp.linalg.vector_norm(left, axis=0).max() <= tolerance:
            return V
        if sweep < sweeps:
            V = xp.linalg.qr(_filter(S, V, product, float(values[-1]), degree))[0]
    return None


def _filter(S: Operator, V: Array, product: Array, cut: float, degree: int) -> Array:
    """Damp eigenvalues below `cut` by the scaled Chebyshev recurrence."""
    centre, half = (cut - 1.0) / 2.0, (cut + 1.0) / 2.0
    sigma = first = half / (1.0 - centre)
    last, now = V, (product - centre * V) * (sigma / half)
    for _ in range(degree - 1):
        after = 1.0 / (2.0 / first - sigma)
        scale = 2.0 * after / half
        last, now = now, S.step(now, last, scale, -scale * centre, -sigma * after)
        sigma = after
    return now
