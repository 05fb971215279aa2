"""How far ARPACK is with some eigenvectors: it says nothing itself, but each step is one product.

How many products it takes depends on the last eigenvalue that is wanted: on graphs of digits,
pictures and tables it was :func:`expected_products` of it, give or take a quarter, for 10 to 38
eigenvectors; where the next one is far off it takes fewer. That eigenvalue is known well after the
first sweeps. Between the sweeps ARPACK keeps what a thick restart would (Wu & Simon, SIAM J. Matrix
Anal. Appl. 22, 2000), so two inner products per step suffice to follow its small matrix, whose
eigenvalues are the estimates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from superpac.array_types import FloatArray
from superpac.graph.eigenpairs import symmetric_eigenpairs
from superpac.system.progress import Progress

USUAL_GAP = 0.02  # of the last eigenvalue wanted from 1, where nothing is known yet
KNOWN = 1e-4  # residual from which on its estimate is good enough


def expected_products(wanted: int, gap: float) -> float:
    """How many products ARPACK takes for the leading eigenvectors of a normalised affinity.

    Parameters
    ----------
    wanted : int
        Number of eigenvectors.
    gap : float
        What the last one's eigenvalue lacks to 1, or its distance from the next if that is more.

    Returns
    -------
    float

    Examples
    --------
    >>> round(expected_products(10, 0.012)), round(expected_products(10, 0.0005))
    (521, 2554)
    """
    return 13.7 * wanted**0.62 / float(np.sqrt(max(gap, 1e-6)))


class CountedProducts:
    """Products with a matrix that tell how far ARPACK is; the products are what they were.

    Parameters
    ----------
    product : callable
        Gives ``S v``.
    wanted : int
        Number of eigenvectors, the leading ones.
    basis : int
        Vectors that ARPACK keeps (``ncv``).
    progress : callable
        Called as ``progress(done, total)`` with products; `total` is an estimate.
    """

    def __init__(
        self, product: Callable[[FloatArray], FloatArray], wanted: int, basis: int,
        progress: Progress,
    ) -> None:  # fmt: skip
        self._product, self._progress = product, progress
        self.wanted, self.done = wanted, 0
        self.expected = expected_products(wanted, USUAL_GAP)
        self._small = np.zeros((basis, basis))  # the matrix in ARPACK's basis
        self._at = 0  # basis vectors so far
        self._last: FloatArray | None = None
        self._known = False

    def __call__(self, v: NDArray) -> FloatArray:
        """``S v``."""
        v = v.ravel()
        result = self._product(v)
        if not self._known:
            self._follow(v, result)
        self.done += 1
        # beyond what was expected nobody knows: a few more
        self._progress(self.done, max(round(self.expected), round(1.05 * self.done) + 1))
        return result

    def finish(self) -> None:
        """Tell that it is done."""
        self._progress(self.done, self.done)

    def _follow(self, v: FloatArray, result: FloatArray) -> None:
        """Enter a step into the small matrix; look at it when the basis is full."""
        if self._last is not None:
            link = float(v @ self._last)
            if self._at == self._small.shape[0]:
                self._restart(link)
            else:
                self._small[self._at, self._at - 1] = link
        if not self._known:
            self._small[self._at, self._at] = float(v @ result)
            self._at, self._last = self._at + 1, result

    def _restart(self, link: float) -> None:
        """Estimate the eigenvalues, and keep of the basis what ARPACK keeps."""
        lower = self._small
        values, vectors = symmetric_eigenpairs(lower + np.tril(lower, -1).T)
        left = np.abs(link * vectors[-1])
        basis, wanted = values.size, self.wanted
        last, next_one = values[basis - wanted], values[basis - wanted - 1]
        self.expected = expected_products(wanted, float(max(1.0 - last, last - next_one)))
        done = int((left[basis - wanted :] <= np.finfo(float).eps * np.abs(values[-wanted:])).sum())
        self._known = bool(left[basis - wanted] < KNOWN) or done > 1
        kept = wanted + min(done, (basis - wanted) // 2)
        top = np.arange(kept)
        self._small = np.zeros_like(lower)
        self._small[top, top] = values[basis - kept :]
        self._small[kept, top] = link * vectors[-1, basis - kept :]
        self._at = kept
