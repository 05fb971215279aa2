"""EnSC: elastic-net subspace clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy import sparse

from superpac.affinity._kernels.ensc import ensc_coefficients
from superpac.affinity.base import Progress
from superpac.affinity.parameters import choice, flag, integer, real
from superpac.affinity.self_expressive import WAYS, SelfExpressive, working_memory
from superpac.array_types import FloatArray
from superpac.device.choice import DEVICES

if TYPE_CHECKING:
    from superpac.affinity._kernels.torch_search import Search


@dataclass(repr=False, eq=False, kw_only=True)
class EnSC(SelfExpressive):
    r"""Elastic-net subspace clustering (EnSC).

    Point j is expressed by the others through the elastic net

    .. math:: \min_c \tau |c|_1 + \tfrac{1-\tau}{2} |c|_2^2 + \tfrac{\gamma_j}{2} |x_j - X'c|_2^2,
              \quad c_j = 0, \quad \gamma_j = \gamma\tau / \max_{i \ne j} |x_i'x_j|,

    solved with an oracle-guided active set [1]_. The coefficients become an affinity, which is
    clustered spectrally.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=50.0
        Weight of the fit, larger than 1 (at 1 all coefficients are zero). 50 is the published
        value; 3 to 10 gives sparser rows and is often better (USPS: 36% error at 5, 49% at 50).
    tau : float in (0, 1], default=0.9
        Share of the l1 norm in the penalty; 1 is the lasso of sparse subspace clustering.
    tol : float, default=1e-4
        The optimality conditions hold within ``tol * tau``.
    normalize : bool, default=True
        Scale every point to unit length first; all-zero points stay zero and end up isolated.
    to_affinity : {"unit", "raw", "max", "knn"}, default="unit"
        From coefficients to affinity, see
        :func:`~superpac.affinity.self_expressive.affinity_from_coefficients`.
    rho : float in (0, 1], default=1.0
        Share of the l1 norm of every row of coefficients to keep.
    n_neighbors : int, default=3
        Neighbours per point for ``to_affinity="knn"``.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where coefficients are computed. "cuda" is a graphics processor (needs the extra ``gpu``),
        in single precision: there the conditions hold within 0.0005 `tau` where `tol` is less.
        "auto" takes it from 5,000 points on where there is one.
    random_state : int, RandomState instance or None, default=None
        Seed of the k-means at the end of the spectral step.
    n_jobs : int or None, default=None
        Threads; None or -1 takes all.

    Attributes
    ----------
    coefficients_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        Row j expresses point j.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        Half of ``|C| + |C|'``, C scaled as `to_affinity` says.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.

    References
    ----------
    .. [1] C. You, C.-G. Li, D. Robinson, R. Vidal, "Oracle Based Active Set Algorithm for Scalable
       Elastic Net Subspace Clustering", CVPR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from superpac.affinity import EnSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(30, 3)) @ rng.normal(size=(3, 20)) for _ in range(2)])
    >>> labels = EnSC(n_clusters=2, random_state=0).fit(X).labels_
    >>> bool((labels[:30] == labels[0]).all() and (labels[30:] != labels[0]).all())
    True
    """

    by_rows = True

    gamma: float = real(50.0, "(1, inf)")
    tau: float = real(0.9, "(0, 1]")
    tol: float = real(1e-4, "(0, inf]")
    normalize: bool = flag(True)
    to_affinity: str = choice("unit", WAYS)
    rho: float = real(1.0, "(0, 1]")
    n_neighbors: int = integer(3)
    device: str = choice("auto", DEVICES)

    def _coefficients(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        return ensc_coefficients(
            X,
            float(self.gamma),
            float(self.tau),
            tol=float(self.tol),
            working_memory=working_memory(),
            progress=progress,
            where=self._where,
        )

    def _coefficients_on(self, search: Search, progress: Progress) -> sparse.csr_array:
        from superpac.affinity._kernels.torch_ensc import ensc_rows

        return ensc_rows(
            search, float(self.gamma), float(self.tau), tol=float(self.tol), progress=progress
        )

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        A = super()._graph(X, progress)
        return A if self.to_affinity == "knn" else 0.5 * A
