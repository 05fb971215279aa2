"""SCAL: subspace clustering with active learning, by influence on the subspaces.

Peng & Pavlidis, "Subspace clustering with active learning", IEEE BigData 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment

from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.graph.spectral import spectral_clustering
from superpac.strategies.base import Problem, Proposal, least
from superpac.strategies.certain_sets import CertainSets
from superpac.strategies.point_placing import Placing
from superpac.subspaces.geometry import cluster_dims
from superpac.system.threads import one_thread

MAX_ITER = 50


@dataclass(frozen=True)
class Affine:
    """An affine subspace fitted to a cluster."""

    mean: FloatArray
    basis: FloatArray  # leading eigenvectors of the covariance (divided by the number of points)
    left: float  # sum of the other eigenvalues
    size: int  # number of points


def fit_affine(X: FloatArray, dim: int) -> Affine:
    """Mean and leading directions of some points; an empty cluster is the origin."""
    n, ambient = X.shape
    if n == 0:
        return Affine(np.zeros(ambient), np.zeros((ambient, 0)), 0.0, 0)
    mean = X.mean(axis=0)
    centred = X - mean
    q = min(dim, n, ambient)
    if n < ambient:
        values, vectors = eigh(centred @ centred.T / n, subset_by_index=[n - q, n - 1])
        kept = values > 1e-12 * max(values[-1], 1e-300)
        basis = centred.T @ (vectors[:, kept] / np.sqrt(n * values[kept]))
        values = values[kept]
    else:
        values, basis = eigh(centred.T @ centred / n, subset_by_index=[ambient - q, ambient - 1])
    total = float((centred**2).sum()) / n
    return Affine(mean, basis[:, ::-1], max(total - float(values.sum()), 0.0), n)


def squared_residuals(X: FloatArray, subspaces: list[Affine]) -> FloatArray:
    """Squared distance of every point to every affine subspace: the sum over p > q."""
    table = np.zeros((X.shape[0], len(subspaces)))
    for k, space in enumerate(subspaces):
        centred = X - space.mean
        inner = centred @ space.basis
        table[:, k] = (centred**2).sum(axis=1) - (inner**2).sum(axis=1)
        if space.size == 0:
            table[:, k] = np.inf
    return np.maximum(table, 0.0)


def influence(table: FloatArray, labels: IntArray, subspaces: list[Affine]) -> FloatArray:
    """How much a point weighs on its own subspace more than it would on the second-best.

    With the mean, eigenvectors v and eigenvalues lambda of a cluster of N points and dimension q,
    ``|sum_{p>q} ([(x - mean)'v_p]^2 - lambda_p)| / (N - 1)`` for the own cluster, if the point were
    removed, minus ``sum_{p>q} ([(x - mean)'u_p]^2 - lambda_p) / (N + 1)`` for the nearest other
    one, if it were added.

    Parameters
    ----------
    table : ndarray of shape (n, K)
        Squared residuals.
    labels : ndarray of shape (n,)
        Cluster of each point.
    subspaces : list of Affine
        One per cluster.

    Returns
    -------
    ndarray of shape (n,)
    """
    rows = np.arange(table.shape[0])
    left = np.array([space.left for space in subspaces])
    size = np.array([space.size for space in subspaces], dtype=float)
    others = table.copy()
    others[rows, labels] = np.inf
    second = others.argmin(axis=1)
    removed = np.abs(table[rows, labels] - left[labels]) / np.maximum(size[labels] - 1, 1)
    gap = others[rows, second]
    added = np.where(np.isfinite(gap), gap - left[second], 0.0) / (size[second] + 1)
    return removed - added


class Scal(Placing):
    """SCAL.

    The free point of largest influence is placed, nearest subspace first. After each placed point
    the clustering goes on by K-subspaces (affine, as the formulas are) with the asked points
    pinned: certain sets are matched to clusters one to one so that most of their points stay. The
    paper asks for a point's class; here it is found by comparing with the member of each set that
    is nearest to its subspace.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, dimension, seed.

    References
    ----------
    Peng & Pavlidis, IEEE BigData 2019.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = Scal(problem).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "scal"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, explore=0)
        self.dims = cluster_dims(problem.dim, problem.n_clusters)
        with one_thread():  # the start that SUPERPAC has, so that questions alone are compared
            first = spectral_clustering(
                problem.affinity, problem.n_clusters, random_state=problem.seed
            )
            self.start = self._refine(first, np.full(problem.n, -1, dtype=np.intp))
        self._take(self.start)
        point = least(-self._influence, np.arange(problem.n), self.rng(0))
        self.sets = CertainSets(problem.n, seeds=[point])

    def labels(self, state: State) -> IntArray:
        """K-subspaces with the placed points pinned."""
        self._follow(state)
        return self._labels

    def _restarted(self) -> None:
        self._take(self.start)

    def _grown(self) -> None:
        with one_thread():
            self._take(self._refine(self._labels, self._pins()))

    def _take(self, labels: IntArray) -> None:
        """Take a labelling with the residuals and influences that follow from it."""
        self._labels = labels
        spaces = self._fit(labels)
        self._table = squared_residuals(self.problem.X, spaces)
        self._influence = influence(self._table, labels, spaces)

    def _pins(self) -> IntArray:
        """Cluster of each placed point, -1 for the others."""
        members = list(self.sets.members.values())
        K = self.problem.n_clusters
        votes = np.array([np.bincount(self._labels[m], minlength=K)[:K] for m in members])
        pins = np.full(self.problem.n, -1, dtype=np.intp)  # sets beyond the clusters stay free
        for s, cluster in zip(*linear_sum_assignment(votes, maximize=True), strict=True):
            pins[members[s]] = cluster
        return pins

    def _fit(self, labels: IntArray) -> list[Affine]:
        return [fit_affine(self.problem.X[labels == k], d) for k, d in enumerate(self.dims)]

    def _refine(self, labels: IntArray, pins: IntArray) -> IntArray:
        """Alternate nearest subspace and fit; pinned points stay."""
        labels = np.where(pins >= 0, pins, labels)
        for _ in range(MAX_ITER):
            table = squared_residuals(self.problem.X, self._fit(labels))
            new = np.where(pins >= 0, pins, table.argmin(axis=1)).astype(np.intp)
            if (new == labels).all():
                break
            labels = new
        return labels

    def _choose(self, state: State, avoid: frozenset[int]) -> int | None:
        free = self._free(state, avoid)
        if free.size == 0:
            return None
        return least(-self._influence, free, self.rng(state.n_answers + 1))

    def _ask(self, state: State, test: int, avoid: frozenset[int]) -> Proposal | None:
        labels, table = self._labels, self._table

        def by_distance(members: IntArray) -> IntArray:
            return members[np.argsort(table[members, labels[members]], kind="stable")]

        rivals = self._rivals(
            state, test, by_distance, cost=lambda _, speaker: float(table[test, labels[speaker]])
        )
        if not rivals:
            return None
        nth = "next " if self.sets.apart(test) else ""
        return Proposal(
            test,
            rivals[0].speaker,
            "This item weighs most on the group it may not belong to; the other stands for the "
            f"{nth}nearest known set.",
            {
                "influence": float(self._influence[test]),
                "residual": float(np.sqrt(rivals[0].cost)),
                "sets": float(len(self.sets.members)),
                "sets_left": float(len(rivals)),
            },
        )
