"""URASC-N and URASC: ask the point that would move the spectral embedding most.

Xiong, Johnson & Corso, "Active clustering with model-based uncertainty reduction", arXiv 1402.1783,
IEEE TPAMI 39, 2017. The score of a point is its gradient (how far the eigenvectors would move, to
first order, if it were linked to the certain sets) times its step (the entropy of its cluster).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.mixture import GaussianMixture

from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError
from superpac.graph.imputed_spectral import ImputedSpectral
from superpac.strategies.base import Problem, least
from superpac.strategies.baselines.farthest_first import FarthestFirst
from superpac.strategies.baselines.laplacian_eigenpairs import ImputedLaplacian, smallest_pairs
from superpac.strategies.point_placing import Rival
from superpac.strategies.superpac import Refit
from superpac.system.threads import one_thread

NEIGHBOURS = 20
SHARE = 1e-4  # every cluster's least share before normalising
TIE = 1e-6  # eigenvalues nearer than this are one eigenvalue


def eigenvector_change(
    vectors: FloatArray, values: FloatArray, sets: IntArray, n_clusters: int
) -> FloatArray:
    """First-order change of the leading eigenvectors of L = D - W if a point is linked to all sets.

    Linking i to j moves eigenvector k by the sum over p != k of
    ``(v_k(i) - v_k(j)) (v_p(i) - v_p(j)) / (lambda_k - lambda_p) v_p``. Summed over one
    representative of each set the coefficients have a closed form, so that all points cost
    O(n K P) for P eigenpairs.

    Parameters
    ----------
    vectors : ndarray of shape (n, P)
        Eigenvectors of the smallest eigenvalues of L.
    values : ndarray of shape (P,)
        Their eigenvalues, smallest first.
    sets : ndarray of shape (m,)
        One representative per set.
    n_clusters : int
        Eigenvectors 2 to ``n_clusters + 1`` count.

    Returns
    -------
    ndarray of shape (n,)
        Sum over these eigenvectors of the length of their change.

    References
    ----------
    Xiong, Johnson & Corso, arXiv 1402.1783, section 4.

    Examples
    --------
    >>> L = np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    >>> values, vectors = np.linalg.eigh(L)
    >>> eigenvector_change(vectors, values, np.array([0]), 1).round(4).tolist()
    [0.0, 0.433, 0.0]
    """
    speakers = vectors[sets]
    S = speakers.sum(axis=0)
    M = speakers.T @ speakers
    gap = values[:, None] - values
    inverse = np.divide(1.0, gap, out=np.zeros_like(gap), where=np.abs(gap) >= TIE)
    vectors = np.ascontiguousarray(vectors)
    return _change(vectors, S, M, inverse, len(sets), min(n_clusters + 1, values.size))


# reassociation lets the inner sum use vector instructions; nothing here relies on its order
@njit(cache=True, fastmath={"reassoc", "contract"})
def _change(V, S, M, inverse, m, most):  # type: ignore[no-untyped-def]
    """Sum over eigenvectors 1 to ``most - 1`` of the length of each row's coefficients."""
    total = np.zeros(V.shape[0])
    for i in range(V.shape[0]):
        row = V[i]
        for k in range(1, most):
            first, second, length = m * row[k] - S[k], row[k], 0.0
            for p in range(row.size):
                # m v_k v_p - v_k S_p - v_p S_k + M_kp
                part = (first * row[p] - second * S[p] + M[k, p]) * inverse[k, p]
                length += part * part
            total[i] += np.sqrt(length)
    return total


def entropy(shares: FloatArray) -> FloatArray:
    """Entropy of every row, in nats; 0 log 0 is 0."""
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.abs(np.einsum("ik,ik->i", shares, logs))


def nearest_neighbours(A: sparse.csr_array, k: int) -> sparse.csr_array:
    """Rows of an affinity cut to their `k` largest entries."""
    if A.nnz == 0:
        return A
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    order = np.lexsort((A.indices, -A.data, rows))
    rank = np.arange(A.nnz) - A.indptr[rows]
    keep = order[rank < k]
    return sparse.csr_array((A.data[keep], (rows[keep], A.indices[keep])), A.shape)


class UrascN(FarthestFirst):
    """URASC-N: gradient times the entropy of the labels among a point's neighbours.

    It starts with Explore; then the free point of largest gradient times entropy is placed, sets in
    order of its affinity with their most similar member.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, seed.
    explore : int or None, default=None
        Question budget of Explore; None takes 2K.
    refit : {"exact", "warm"}, default="exact"
        "exact" computes eigenpairs and clustering from scratch after each placed point; "warm"
        starts from the last ones and is several times faster on thousands of points.
    must_link : float, default=1.0
        The value imputed for two points of one set.
    n_init : int, default=10
        k-means restarts of an exact clustering.

    References
    ----------
    Xiong, Johnson & Corso, arXiv 1402.1783; TPAMI 2017.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = UrascN(problem).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "urasc-n"

    def __init__(
        self,
        problem: Problem,
        *,
        explore: int | None = None,
        refit: Refit = "exact",
        must_link: float = 1.0,
        n_init: int = 10,
    ) -> None:
        super().__init__(problem, explore=2 * problem.n_clusters if explore is None else explore)
        if refit not in ("exact", "warm"):
            raise InputError(
                f"The 'refit' option must be 'exact' or 'warm'. Got {refit!r} instead."
            )
        self.refit = refit
        self.must_link = must_link
        self.model = ImputedSpectral(
            problem.affinity,
            problem.n_clusters,
            seed=problem.seed,
            must_link=must_link,
            n_init=n_init,
        )
        self.neighbours = nearest_neighbours(self.model.A, NEIGHBOURS)
        self._block: FloatArray | None = None
        self._model_key: bytes | None = None
        self._score_key: bytes | None = None
        self._scores: FloatArray = np.zeros(0)

    def labels(self, state: State) -> IntArray:
        """Spectral clustering of the imputed affinity."""
        self._follow(state)
        self._cluster()
        return self._labels

    def embedding(self, state: State) -> FloatArray:
        """Unit rows of the spectral embedding behind the labels."""
        self._follow(state)
        self._cluster()
        return self._rows

    def _cluster(self) -> None:
        """Labels and embedding for the certain sets as they are."""
        known, key = self._known()
        if key == self._model_key:
            return
        refit = self.model.exact if self.refit == "exact" else self.model.warm
        with one_thread():
            self._labels, self._rows = refit(known, step=self.n_placed), self.model.rows()
        self._model_key = key

    def _score(self) -> FloatArray:
        """Gradient times step of every point, for the certain sets as they are."""
        known, key = self._known()
        if key == self._score_key:
            return self._scores
        self._cluster()
        # of the affinity that is clustered, imputed answers included
        L = ImputedLaplacian(self.model.A, known, self.must_link)
        start = self._block if self.refit == "warm" else None
        # the member that joined first stands for a set: any other would change with each answer
        speakers = np.array([members[0] for members in self.sets.members.values()], dtype=np.intp)
        K = self.problem.n_clusters
        with one_thread():
            values, vectors, self._block = smallest_pairs(
                L, max(5 * K, K + 2), start=start, rng=self.rng(1, self.n_placed)
            )
            self.gradient = eigenvector_change(vectors, values, speakers, K)
            self.step = entropy(self._shares())
        self._scores, self._score_key = self.gradient * self.step, key
        return self._scores

    def _shares(self) -> FloatArray:
        """Probability of each cluster for every point."""
        K = self.problem.n_clusters
        member = np.zeros((self.problem.n, K))
        member[np.arange(self.problem.n), self._labels] = 1.0
        shares = self.neighbours @ member
        total = shares.sum(axis=1, keepdims=True)
        shares = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0) + SHARE
        return shares / shares.sum(axis=1, keepdims=True)

    def _next(self, free: IntArray, rng: np.random.Generator) -> int:
        return least(-self._score(), free, rng)

    def _why(self, test: int) -> str:
        return "Placing this item would move the clustering most"

    def _order(self, state: State, test: int) -> list[Rival]:
        """Sets by similarity of their most similar member; in Explore by their centroids."""
        if self._exploring():
            return super()._order(state, test)
        # in a sparse affinity most sets would tie at 0: there the inner product decides
        A, X = self.model.A, self.problem.X
        affinity = np.zeros(self.problem.n)
        span = slice(A.indptr[test], A.indptr[test + 1])
        affinity[A.indices[span]] = A.data[span]
        known = np.flatnonzero(self.sets.set_of >= 0)
        likeness = np.zeros(self.problem.n)
        likeness[known] = np.abs(X[known] @ X[test])
        order = np.lexsort((-likeness, -affinity))
        place = np.empty(self.problem.n, dtype=np.intp)
        place[order] = np.arange(self.problem.n)
        return self._rivals(
            state,
            test,
            speakers=lambda members: members[np.argsort(place[members])],
            cost=lambda _, speaker: float(place[speaker]),
        )


class Urasc(UrascN):
    """URASC, parametric: the entropy comes from a Gaussian mixture in the eigenspace.

    One full-covariance Gaussian per cluster is fitted to the rows of the spectral embedding by a
    few steps of expectation-maximisation from the current labels.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, seed.
    **options
        Options of :class:`UrascN`.

    References
    ----------
    Xiong, Johnson & Corso, arXiv 1402.1783; TPAMI 2017.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = Urasc(problem, explore=0).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "urasc"

    def _shares(self) -> FloatArray:
        return mixture_shares(self._rows, self._labels, self.problem.n_clusters)


def mixture_shares(rows: FloatArray, labels: IntArray, n_clusters: int) -> FloatArray:
    """Posterior of a Gaussian mixture that starts from given labels.

    Parameters
    ----------
    rows : ndarray of shape (n, width)
        Embedding.
    labels : ndarray of shape (n,)
        Clusters to start from.
    n_clusters : int
        Number of clusters; an empty one has probability 0.

    Returns
    -------
    ndarray of shape (n, n_clusters)

    Examples
    --------
    >>> rows = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> mixture_shares(rows, np.array([0, 0, 0, 1, 1, 1]), 3).round(3)[[0, 5]].tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    filled = np.unique(labels)
    first = np.zeros((rows.shape[0], filled.size))
    first[np.arange(rows.shape[0]), np.searchsorted(filled, labels)] = 1.0
    # the floor keeps a cluster of few points, or of points on a line, from collapsing
    floor = 1e-3 * float(rows.var(axis=0).mean()) + 1e-9
    mixture = GaussianMixture(filled.size, reg_covar=floor, max_iter=1)
    mixture._initialize(rows, first)
    for _ in range(10):
        _, logs = mixture._e_step(rows)
        mixture._m_step(rows, logs)
    shares = np.zeros((rows.shape[0], n_clusters))
    shares[:, filled] = np.exp(mixture._e_step(rows)[1])
    return shares
