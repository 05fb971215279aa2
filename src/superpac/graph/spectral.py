"""From an affinity matrix to an embedding and labels.

Symmetric normalised spectral clustering with unit-length embedding rows (Ng, Jordan & Weiss, "On
spectral clustering", NIPS 2001). Eigenvectors are found one connected component at a time: on a
disconnected graph the eigenvalue 1 repeats, and a Krylov solver misses copies of it without a word.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lobpcg
from sklearn.utils import check_random_state

from superpac.array_types import FloatArray
from superpac.device.arrays import Array, to_host
from superpac.device.choice import HOST, Device, Torch
from superpac.errors import DisconnectedGraphWarning, InputError
from superpac.graph.chebyshev import TOLERANCE, chebyshev_vectors
from superpac.graph.kmeans import kmeans
from superpac.graph.lanczos_progress import USUAL_GAP, CountedProducts, expected_products
from superpac.graph.sparse_graph import tidy
from superpac.system.progress import Progress, no_progress, parts_of
from superpac.system.threads import limit_threads

Seed = int | np.random.RandomState | None

SYMMETRY = 1e-6  # an affinity given may differ from its mirror image by this share of its largest

DENSE_BELOW = 300  # a dense eigensolver is faster than Lanczos up to about this size
RUNS = 10  # of k-means, of which the best is taken
RESIDUAL = 1e-6

THERE_FROM = 20_000
"""Points from which a graphics processor takes the spectral step; the processor is as fast below,
and its steps are then the same on every device."""
GUARD = 12  # eigenvectors looked for beside those wanted: the last ones come late
DEGREE, SWEEPS = 20, 60  # of the filter there, which begins with random vectors


@dataclass(frozen=True)
class Embedding:
    """Leading eigenvectors of a normalised affinity.

    Attributes
    ----------
    vectors : ndarray of shape (n, k)
        Eigenvectors of ``D^-1/2 A D^-1/2``, orthonormal, largest eigenvalue first.
    values : ndarray of shape (k,)
        Their eigenvalues.
    n_components : int
        Connected components of the graph.
    component : ndarray of shape (n,)
        Component of each point.
    device : Device
        Where it was computed, and is clustered.

    Examples
    --------
    An embedding can be clustered after other uses of it, with the labels of
    :func:`spectral_clustering` if the same random state goes through both steps.

    >>> A = np.kron(np.eye(2), np.ones((4, 4))) + 0.01
    >>> rng = np.random.RandomState(0)
    >>> labels = spectral_embedding(A, 2, random_state=rng).cluster(2, rng)
    >>> bool((labels == spectral_clustering(A, 2, random_state=0)).all())
    True
    """

    vectors: FloatArray
    values: FloatArray
    n_components: int
    component: NDArray[np.int32]
    device: Device = HOST

    def rows(self) -> FloatArray:
        """Rows scaled to unit length; a point outside every kept component stays zero."""
        return unit_vectors(self.vectors)

    def cluster(
        self,
        n_clusters: int,
        rng: np.random.RandomState,
        *,
        n_init: int = RUNS,
        progress: Progress = no_progress,
    ) -> NDArray[np.intp]:
        """Label the points by k-means on the rows, as :func:`spectral_clustering` does."""
        if self.n_components > n_clusters:
            warnings.warn(
                f"The affinity graph has {self.n_components} connected components for "
                f"{n_clusters} clusters; small components were placed arbitrarily. Use more "
                "neighbours (a larger q, k or gamma) to connect it.",
                DisconnectedGraphWarning,
                stacklevel=3,
            )
        return cluster_rows(
            self.rows(), n_clusters, n_init=n_init, rng=rng, device=self.device, progress=progress
        )


def unit_vectors(vectors: FloatArray) -> FloatArray:
    """Rows of an embedding scaled to unit length; rows of rounding noise stay as they are."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 1e-12, norms, 1.0)


def check_affinity(A: Any, *, tol: float = SYMMETRY) -> sparse.csr_array:
    """Check a matrix from outside as an affinity, and give it in the form used everywhere.

    This is the one place where an affinity is looked at with suspicion: what is built here is
    symmetric by construction.

    Parameters
    ----------
    A : array-like or sparse of shape (n, n)
        Symmetric and non-negative; any diagonal.
    tol : float, default=1e-6
        Largest difference between A and A' relative to the largest entry. Within it the mean
        ``(A + A') / 2`` is taken; beyond it the matrix is refused.

    Returns
    -------
    scipy.sparse.csr_array
        Sorted indices, no stored zeros, zero diagonal; never the matrix given.

    Examples
    --------
    >>> check_affinity([[5.0, 1.0], [1.0, 0.0]]).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    if not sparse.issparse(A):
        try:
            A = np.asarray(A)
        except ValueError:
            raise InputError(
                "An affinity must be a square matrix. Got rows of different lengths instead."
            ) from None
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"An affinity must be a square matrix. Got shape {A.shape} instead.")
    if A.dtype.kind not in "biuf":
        raise InputError(f"An affinity must hold real numbers. Got type {A.dtype} instead.")
    graph = sparse.csr_array(A, dtype=np.float64)
    if not np.isfinite(graph.data).all():
        raise InputError("An affinity must be finite. Got NaN or infinity; replace it by 0.")
    if graph.data.min(initial=0.0) < 0:
        raise InputError(
            f"Negative values in data: an affinity must be non-negative. Got {graph.data.min():g}; "
            "take absolute values first."
        )
    if _is_mirrored(graph):
        return graph.copy()
    graph = tidy(graph)
    top = float(graph.data.max(initial=0.0))
    if top > 0:
        gap = abs(graph / top - graph.T / top)  # divided first: differences of 1e308 overflow
        worst = float(gap.data.max(initial=0.0))
        if worst > tol:
            raise InputError(
                f"An affinity must be symmetric. Got entries that differ from their mirror image "
                f"by up to {worst:.2g} of the largest; pass A + A.T, or raise tol."
            )
        if worst > 0:
            graph = tidy(graph / 2.0 + graph.T / 2.0)
    return graph


def _is_mirrored(graph: sparse.csr_array) -> bool:
    """Whether a matrix is in order and symmetric to the last bit, as what is built here is.

    Of many entries this is known in a tenth of the time that putting them in order takes.
    """
    if graph.indices.dtype != np.int32 or not graph.has_canonical_format:
        return False
    if not graph.data.all() or graph.diagonal().any():
        return False
    other = graph.T.tocsr()  # its rows are in order, since they were gathered row by row
    return all(
        np.array_equal(getattr(graph, part), getattr(other, part))
        for part in ("indptr", "indices", "data")
    )


def normalized_affinity(A: sparse.csr_array) -> sparse.csr_array:
    """``D^-1/2 A D^-1/2``; rows of isolated points stay zero."""
    degree = np.asarray(A.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    S = A.copy()
    S.data = A.data * np.repeat(scale, np.diff(A.indptr)) * scale[A.indices]
    return S


@limit_threads(
    1
)  # work by single vectors: on a busy machine two threads took 2 to 17 times as long
def top_eigenvectors(
    S: sparse.csr_array,
    k: int,
    rng: np.random.RandomState,
    device: Device = HOST,
    progress: Progress = no_progress,
) -> tuple[FloatArray, FloatArray]:
    """Largest `k` eigenpairs of a connected symmetric matrix, largest first, residuals checked."""
    n = S.shape[0]
    if n <= max(DENSE_BELOW, 3 * k):
        return top_eigenvectors_dense(S, k)
    start = rng.uniform(0.5, 1.5, n)
    if isinstance(device, Torch) and n >= THERE_FROM:
        found = top_eigenvectors_there(S, k, start, device)
        if found is not None:
            return found
    basis = arpack_basis(n, k)
    counted = CountedProducts(S.__matmul__, k, basis, progress)
    told = S if progress is no_progress else LinearOperator(S.shape, counted, dtype=S.dtype)
    try:
        values, vectors = eigsh(told, k=k, which="LA", v0=start, ncv=basis)
    except ArpackNoConvergence:
        guess = rng.normal(size=(n, k))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # judged by the residual below
            values, vectors = lobpcg(S, guess, largest=True, tol=RESIDUAL / 10, maxiter=2000)
    counted.finish()
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    if np.linalg.norm(S @ vectors - vectors * values, axis=0).max() > RESIDUAL and n <= 5000:
        return top_eigenvectors_dense(S, k)
    return values, vectors


def arpack_basis(n: int, k: int) -> int:
    """Vectors that ARPACK keeps for `k` eigenvectors."""
    return min(n, max(2 * k + 20, 40))


def embedding_work(n: int, nnz: int, n_vectors: int) -> float:
    """Nanoseconds that :func:`spectral_embedding` is likely to take, about, to tell progress by."""
    if n <= max(DENSE_BELOW, 3 * n_vectors):
        return 10.0 * n**3
    each = 1.3 * nnz + 0.8 * n * arpack_basis(n, n_vectors)
    return expected_products(n_vectors, USUAL_GAP) * each


def clustering_work(n: int, n_clusters: int, n_init: int) -> float:
    """Nanoseconds that :func:`cluster_rows` is likely to take, about, to tell progress by."""
    return 120.0 * n * n_clusters * n_init


def spectral_work(A: Any, n_clusters: int, n_init: int) -> tuple[float, float]:
    """Nanoseconds of :func:`spectral_embedding` and of :func:`cluster_rows`, about."""
    n = A.shape[0] if hasattr(A, "shape") else len(A)
    nnz = A.nnz if sparse.issparse(A) else n * n
    return embedding_work(n, nnz, n_clusters), clustering_work(n, n_clusters, n_init)


class _There:
    """Block products with a matrix on a graphics processor."""

    def __init__(self, S: sparse.csr_array, device: Torch) -> None:
        self.S = device.graph(S)
        self.top = device.array(np.zeros((S.shape[0], 0)))

    def step(self, V: Array, W: Array, p: float, q: float, r: float) -> Array:
        """Give ``p S V + q V + r W``."""
        return p * (self.S @ V) + q * V + r * W


def top_eigenvectors_there(
    S: sparse.csr_array, k: int, start: FloatArray, device: Torch
) -> tuple[FloatArray, FloatArray] | None:
    """Do the same on a graphics processor, by Chebyshev filters; None where they do not converge.

    Lanczos goes by single vectors, each of which has to wait for the last; a filter takes a block
    of vectors through the same product. `start` is the one that Lanczos would begin with: the draws
    after it are then the same on every device. Where millions of points lie in tight clumps, many
    eigenvalues are all but one and nothing finds their eigenvectors to the last digit; Lanczos
    would then go on for hours, so what moves no label is enough.
    """
    import torch

    draw = torch.Generator(device.where).manual_seed(int(start[0] * 2**31))
    shape = S.shape[0], k + GUARD
    block = torch.randn(shape, generator=draw, device=device.where, dtype=torch.float64)
    block[:, 0] = device.array(start)
    there = _There(S, device)
    V = chebyshev_vectors(
        there, block, k, degree=DEGREE, sweeps=SWEEPS, tolerance=RESIDUAL, enough=TOLERANCE
    )
    if V is None:
        return None
    V = V[:, :k]
    return to_host((V * (there.S @ V)).sum(dim=0)), to_host(V)


def top_eigenvectors_dense(S: sparse.csr_array, k: int) -> tuple[FloatArray, FloatArray]:
    """Do the same by a dense eigensolver: slow, and right."""
    n = S.shape[0]
    dense = S.toarray()
    try:
        values, vectors = eigh(dense, subset_by_index=[n - k, n - 1])
    except np.linalg.LinAlgError:  # LAPACK's choice of a few can fail where all of them do not
        values, vectors = np.linalg.eigh(dense)
        values, vectors = values[n - k :], vectors[:, n - k :]
    return values[::-1], vectors[:, ::-1]


def spectral_embedding(
    A: Any,
    n_vectors: int,
    *,
    random_state: Seed = None,
    check_input: bool = True,
    device: Device = HOST,
    progress: Progress = no_progress,
) -> Embedding:
    """Leading eigenvectors of the normalised affinity, right on disconnected graphs too.

    Spectra are computed per connected component and merged. Points without any neighbour are set
    aside (their rows are zero): each would take an eigenvector, and so a cluster, for itself. When
    there are still more components than `n_vectors`, those smaller than a quarter of the mean
    cluster size are set aside too, then the largest are kept.

    Parameters
    ----------
    A : array-like or sparse of shape (n, n)
        Affinity.
    n_vectors : int
        Number of eigenvectors, at most n.
    random_state : int, RandomState or None
        Of the eigensolver's starting vector.
    check_input : bool, default=True
        False trusts `A` to be as :func:`check_affinity` gives it.
    device : Device, default=HOST
        Where it is computed, for 20,000 points or more.
    progress : callable, optional
        Called as ``progress(done, total)``, where `total` is an estimate; raising from it cancels.

    Returns
    -------
    Embedding

    References
    ----------
    Ng, Jordan & Weiss, NIPS 2001; von Luxburg, "A tutorial on spectral clustering", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> E = spectral_embedding(A, 2, random_state=0)
    >>> E.n_components, E.values.round(6).tolist()
    (2, [1.0, 1.0])
    """
    graph = check_affinity(A) if check_input else A
    n = graph.shape[0]
    if not 1 <= n_vectors <= n:
        raise InputError(
            f"The number of eigenvectors must be between 1 and n = {n}. Got {n_vectors} instead."
        )
    rng = check_random_state(random_state)
    S = normalized_affinity(graph)
    count, component = connected_components(S, directed=False)
    if count == 1:
        (part,) = parts_of(progress, [1])
        values, vectors = top_eigenvectors(S, n_vectors, rng, device, part)
        part(1, 1)
        return Embedding(vectors, values, 1, component, device)

    sizes = np.bincount(component, minlength=count)
    largest = np.argsort(-sizes, kind="stable")
    kept = largest[sizes[largest] > 1]
    if kept.size > n_vectors:
        kept = kept[sizes[kept] >= 0.25 * n / n_vectors]
    if kept.size == 0:
        kept = largest
    kept = kept[:n_vectors]
    found: list[tuple[float, NDArray[np.intp], FloatArray]] = []
    for c, part in zip(kept, parts_of(progress, sizes[kept].tolist()), strict=True):
        members = np.flatnonzero(component == c)
        if members.size == 1:
            found.append((1.0, members, np.ones(1)))
            continue
        block = S[members][:, members]
        values, vectors = top_eigenvectors(block, min(n_vectors, members.size), rng, device, part)
        part(1, 1)
        found += [(float(v), members, vectors[:, j]) for j, v in enumerate(values)]
    # the eigenvalue 1 of each component is exact by construction, so ties keep the larger first
    found.sort(key=lambda pair: -round(pair[0], 12))
    chosen = found[:n_vectors]
    merged = np.zeros((n, n_vectors))
    merged_values = np.zeros(n_vectors)
    for j, (value, members, vector) in enumerate(chosen):
        merged[members, j] = vector
        merged_values[j] = value
    return Embedding(merged, merged_values, int(count), component, device)


def spectral_clustering(
    A: Any,
    n_clusters: int,
    *,
    n_init: int = RUNS,
    random_state: Seed = None,
    check_input: bool = True,
    device: Device = HOST,
    progress: Progress = no_progress,
) -> NDArray[np.intp]:
    """Cluster an affinity: leading eigenvectors, unit rows, k-means++ with restarts.

    Parameters
    ----------
    A : array-like or sparse of shape (n, n)
        Affinity: symmetric, non-negative.
    n_clusters : int
        Number of clusters.
    n_init : int, default=10
        Restarts of k-means; the least inertia wins.
    random_state : int, RandomState or None
        Seed of the eigensolver's start and of k-means.
    check_input : bool, default=True
        False trusts `A` to be as :func:`check_affinity` gives it.
    device : Device, default=HOST
        Where it is computed, for 20,000 points or more.
    progress : callable, optional
        Called as ``progress(done, total)`` with the share of the time; raising from it cancels.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0 to ``n_clusters - 1``.

    Warns
    -----
    DisconnectedGraphWarning
        When the graph has more connected components than clusters.

    References
    ----------
    Ng, Jordan & Weiss, "On spectral clustering: analysis and an algorithm", NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.kron(np.eye(2), np.ones((4, 4))) + 0.01
    >>> labels = spectral_clustering(A, 2, random_state=0)
    >>> bool(labels[0] == labels[3] != labels[4] == labels[7])
    True
    """
    rng = check_random_state(random_state)
    finding, placing = parts_of(progress, spectral_work(A, n_clusters, n_init))
    embedding = spectral_embedding(
        A, n_clusters, random_state=rng, check_input=check_input, device=device, progress=finding
    )
    return embedding.cluster(n_clusters, rng, n_init=n_init, progress=placing)


def cluster_rows(
    rows: FloatArray,
    n_clusters: int,
    *,
    n_init: int,
    rng: np.random.RandomState,
    device: Device = HOST,
    progress: Progress = no_progress,
) -> NDArray[np.intp]:
    """Label unit-length embedding rows by k-means++ with restarts."""
    if n_clusters == 1:
        progress(1, 1)
        return np.zeros(rows.shape[0], dtype=np.intp)
    there = device.array(rows) if rows.shape[0] >= THERE_FROM else rows
    return kmeans(there, n_clusters, n_init=n_init, rng=rng, progress=progress)
