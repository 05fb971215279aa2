"""SSC: sparse subspace clustering by ADMM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from superpac.affinity._kernels.ssc_admm import Settings, noisy, with_outliers
from superpac.affinity.base import Progress, use_threads
from superpac.affinity.parameters import choice, flag, integer, real
from superpac.affinity.self_expressive import WAYS, SelfExpressive
from superpac.array_types import FloatArray
from superpac.errors import InputError

MAX_POINTS = 8000
"""Most points that SSC takes; it holds five dense matrices of that size."""

SMALL = 100_000  # entries under which starting a thread takes longer than an iteration


@dataclass(repr=False, eq=False, kw_only=True)
class SSC(SelfExpressive):
    r"""Sparse subspace clustering (SSC).

    Every point is written as a sparse combination of the others. With points as columns of X,
    either with dense noise,

    .. math:: \min \|C\|_1 + \tfrac{\lambda_z}{2} \|X - XC\|_F^2, \quad diag\,C = 0,

    or, with ``outliers=True``, with sparse gross errors E,

    .. math:: \min \|C\|_1 + \lambda_e \|E\|_1, \quad X = XC + E, \quad diag\,C = 0,

    where :math:`\lambda_z = \alpha / \min_i \max_{j \ne i} |x_i'x_j|` and
    :math:`\lambda_e = \alpha / \max_j \|x_j\|_1`, both solved by ADMM with one factorisation.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=20.0
        Weight of the fit, also the ADMM penalty (20 for faces, 800 for motion in [1]_).
    outliers : bool, default=False
        Allow sparse gross errors in every point (the setting for faces).
    affine : bool, default=False
        Demand that coefficients sum to one: affine instead of linear subspaces (motion).
    diagonal : {"exact", "published"}, default="exact"
        Without outliers the published iteration sets the diagonal to zero after each linear solve,
        which ends near, not at, the minimum of the objective above; ``"exact"`` solves under the
        constraint. With outliers both end at the minimum, and the published iteration is used.
    max_iter : int, default=200
        Most iterations (published: 150 for faces, 200 for motion).
    tol : float, default=2e-4
        Ends once the two copies of the coefficients differ by at most this anywhere, and the
        constraints hold as closely.
    normalize : bool, default=True
        Scale every point to unit length first; all-zero points stay zero and end up isolated. The
        published runs on faces take raw pixels (False).
    to_affinity : {"max", "unit", "raw", "knn"}, default="max"
        From coefficients to affinity, see
        :func:`~superpac.affinity.self_expressive.affinity_from_coefficients`.
    rho : float in (0, 1], default=1.0
        Share of the l1 norm of every row of coefficients to keep (1 faces, 0.7 motion).
    n_neighbors : int, default=3
        Neighbours per point for ``to_affinity="knn"``.
    random_state : int, RandomState instance or None, default=None
        Seed of the k-means at the end of the spectral step.
    n_jobs : int or None, default=None
        Threads; None or -1 takes all.

    Attributes
    ----------
    coefficients_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        Row j expresses point j.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The affinity.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.
    n_iter_ : int
        ADMM iterations taken.

    Notes
    -----
    The published ADMM holds dense matrices of all points by all points, so more than 8,000 points
    are refused; :class:`~superpac.affinity.ensc.EnSC` with ``tau=1`` solves the same lasso, with
    one weight per point, in sparse memory.

    References
    ----------
    .. [1] E. Elhamifar, R. Vidal, "Sparse Subspace Clustering: Algorithm, Theory, and
       Applications", IEEE TPAMI 35(11), 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from superpac.affinity import SSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(30, 3)) @ rng.normal(size=(3, 20)) for _ in range(2)])
    >>> labels = SSC(n_clusters=2, random_state=0).fit(X).labels_
    >>> bool((labels[:30] == labels[0]).all() and (labels[30:] != labels[0]).all())
    True
    """

    alpha: float = real(20.0, "(0, inf)")
    outliers: bool = flag()
    affine: bool = flag()
    diagonal: str = choice("exact", ("exact", "published"))
    max_iter: int = integer(200)
    tol: float = real(2e-4, "[0, inf]")
    normalize: bool = flag(True)
    to_affinity: str = choice("max", WAYS)
    rho: float = real(1.0, "(0, 1]")
    n_neighbors: int = integer(3)

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        super()._check_parameters(n_samples, n_features)
        if n_samples > MAX_POINTS:
            raise InputError(
                f"SSC holds dense matrices and takes at most {MAX_POINTS} points. "
                f"Got {n_samples}; use EnSC or SSCOMP, which stay sparse, or take a sample."
            )

    def _coefficients(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        solve = with_outliers if self.outliers else noisy
        settings = Settings(
            alpha=float(self.alpha),
            affine=bool(self.affine),
            exact_diagonal=self.diagonal == "exact",
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )
        n, d = X.shape
        small = n * (n + d) < SMALL
        with use_threads(1 if small else self.n_jobs), threadpool_limits(1, user_api="blas"):
            C, self.n_iter_ = solve(np.asfortranarray(X.T), settings, progress)
        progress(self.max_iter, self.max_iter)
        return sparse.csr_array(C.T)
