"""SSC-OMP: sparse subspace clustering by orthogonal matching pursuit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy import sparse

from superpac.affinity._kernels.omp import omp_coefficients
from superpac.affinity.base import Progress
from superpac.affinity.parameters import choice, flag, integer, real
from superpac.affinity.self_expressive import WAYS, SelfExpressive, working_memory
from superpac.array_types import FloatArray
from superpac.device.choice import DEVICES

if TYPE_CHECKING:
    from superpac.affinity._kernels.torch_search import Search


@dataclass(repr=False, eq=False, kw_only=True)
class SSCOMP(SelfExpressive):
    """Sparse subspace clustering by orthogonal matching pursuit (SSC-OMP).

    Every point is expressed by at most `n_nonzero` others, chosen greedily: the next atom is the
    one most correlated with what is left of the point, and all coefficients are then fitted anew by
    least squares. The coefficients become an affinity, which is clustered spectrally.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_nonzero : int, default=10
        Largest number of atoms per point, about the dimension of the subspaces (5 for the faces of
        Yale B, 10 for MNIST in [1]_).
    eps : float, default=1e-6
        A point is done once its residual is at most `eps` times its length.
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
        where points are kept in single precision. "auto" takes it from 5,000 points on where there
        is one.
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

    Notes
    -----
    Correlations are kept within scikit-learn's ``working_memory`` (``sklearn.set_config``; 1 GiB
    unless set): up to about 23,000 points then need each inner product once, beyond it they are
    recomputed block by block for every atom.

    References
    ----------
    .. [1] C. You, D. Robinson, R. Vidal, "Scalable Sparse Subspace Clustering by Orthogonal
       Matching Pursuit", CVPR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from superpac.affinity import SSCOMP
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(30, 3)) @ rng.normal(size=(3, 20)) for _ in range(2)])
    >>> labels = SSCOMP(n_clusters=2, n_nonzero=3, random_state=0).fit(X).labels_
    >>> bool((labels[:30] == labels[0]).all() and (labels[30:] != labels[0]).all())
    True
    """

    by_rows = True

    n_nonzero: int = integer(10)
    eps: float = real(1e-6, "[0, inf]")
    normalize: bool = flag(True)
    to_affinity: str = choice("unit", WAYS)
    rho: float = real(1.0, "(0, 1]")
    n_neighbors: int = integer(3)
    device: str = choice("auto", DEVICES)

    def _coefficients(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        return omp_coefficients(
            X,
            self.n_nonzero,
            float(self.eps),
            working_memory=working_memory(),
            progress=progress,
            where=self._where,
        )

    def _coefficients_on(self, search: Search, progress: Progress) -> sparse.csr_array:
        from superpac.affinity._kernels.torch_omp import omp_rows

        return omp_rows(search, self.n_nonzero, float(self.eps), progress=progress)
