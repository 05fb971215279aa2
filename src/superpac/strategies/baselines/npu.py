"""NPU: normalised point-based uncertainty.

Xiong, Azimi & Fern, "Active learning of constraints for semi-supervised clustering", IEEE TKDE 26,
2014. Of all free points the one is placed that tells most about its cluster per question.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.strategies.base import Problem, least
from superpac.strategies.baselines.explore_consolidate import PairwiseKMeans
from superpac.strategies.baselines.urasc import entropy
from superpac.strategies.point_placing import Rival


def set_proximity(leaves: IntArray, sets: list[list[int]]) -> FloatArray:
    """Mean random-forest proximity of every point to every set.

    The proximity of two points is the share of trees in which they reach the same leaf. It is
    counted leaf by leaf, so that no n x n matrix is formed.

    Parameters
    ----------
    leaves : ndarray of int of shape (n, n_trees)
        Leaf of each point in each tree.
    sets : list of list of int
        Members of each set.

    Returns
    -------
    ndarray of shape (n, n_sets)

    Examples
    --------
    >>> leaves = np.array([[0, 0], [0, 1], [2, 1]])
    >>> set_proximity(leaves, [[0], [1, 2]]).tolist()
    [[1.0, 0.25], [0.5, 0.75], [0.0, 0.75]]
    """
    n, n_trees = leaves.shape
    placed = np.concatenate([np.asarray(members, dtype=np.intp) for members in sets])
    sizes = np.array([len(members) for members in sets])
    owner = np.repeat(np.arange(len(sets)), sizes)
    total = np.zeros((n, len(sets)))
    for t in range(n_trees):
        column = leaves[:, t]
        table = np.zeros((int(column.max()) + 1, len(sets)))
        np.add.at(table, (column[placed], owner), 1.0)
        total += table[column]
    return total / (n_trees * sizes)


def uncertainty_per_question(shares: FloatArray) -> FloatArray:
    """Entropy of every row over the expected number of questions to place the point.

    With sets asked in descending order of probability the j-th ends the questions with its own
    probability: ``H(p) / sum_j j p_(j)``.

    Examples
    --------
    >>> uncertainty_per_question(np.array([[0.5, 0.5], [1.0, 0.0]])).round(4).tolist()
    [0.4621, 0.0]
    """
    ordered = -np.sort(-shares, axis=1)
    return entropy(shares) / (ordered @ np.arange(1, shares.shape[1] + 1))


class Npu(PairwiseKMeans):
    """NPU.

    The probability of a set is proportional to the mean proximity of the point to its members, in a
    random forest trained on the current clustering; the free point of largest entropy per expected
    question is placed, likeliest set first. The clustering is PCKMeans, as for the other rivals,
    and not the paper's MPCKMeans, which learns a metric for each cluster beside; the first set is a
    random point.

    Parameters
    ----------
    problem : Problem
        Points, number of clusters, seed; the affinity is not used.
    n_trees : int, default=50
        Size of the forest.
    w : float, default=1.0
        Cost of a broken constraint in PCKMeans, where points have unit length.

    References
    ----------
    Xiong, Azimi & Fern, TKDE 2014.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> problem = Problem(X, sparse.csr_array((4, 4)), 2, dim=1)
    >>> question = Npu(problem, n_trees=5).propose(State(4))[0]
    >>> question.i != question.j
    True
    """

    name = "npu"

    def __init__(self, problem: Problem, *, n_trees: int = 50, w: float = 1.0) -> None:
        super().__init__(problem, explore=0, w=w)
        self.n_trees = n_trees
        self._forest_key: bytes | None = None
        self._leaves: IntArray = np.zeros((0, 0), dtype=np.intp)
        self._shares_key: bytes | None = None
        self.shares: FloatArray = np.zeros((0, 0))

    def _grow(self) -> IntArray:
        """Leaves of a forest for the current clustering, grown anew only when that changed."""
        labels = self._clustered()
        # clusters in the order of their first points: another numbering is no other clustering
        _, first, names = np.unique(labels, return_index=True, return_inverse=True)
        labels = np.argsort(np.argsort(first))[names]
        key = labels.tobytes()
        if key != self._forest_key:
            forest = RandomForestClassifier(self.n_trees, random_state=self.problem.seed, n_jobs=1)
            forest.fit(self.problem.X, labels)
            self._leaves = forest.apply(self.problem.X).astype(np.intp)
            self._forest_key = key
        return self._leaves

    def _prepare(self, state: State) -> None:
        """Probabilities of the sets for every point, for the certain sets as they are."""
        self._follow(state)
        self._clustered()
        if self._shares_key == self._key:
            return
        near = set_proximity(self._grow(), list(self.sets.members.values()))
        total = near.sum(axis=1, keepdims=True)
        even = np.full_like(near, 1.0 / near.shape[1])
        self.shares = np.divide(near, total, out=even, where=total > 0)
        self._shares_key = self._key

    def _next(self, free: IntArray, rng: np.random.Generator) -> int:
        return least(-uncertainty_per_question(self.shares), free, rng)

    def _why(self, test: int) -> str:
        return "Placing this item tells most for the questions it takes"

    def _order(self, state: State, test: int) -> list[Rival]:
        """Likeliest set first; the member that joined it first speaks for it."""
        column = {key: k for k, key in enumerate(self.sets.members)}
        return self._rivals(
            state,
            test,
            speakers=lambda members: members,
            cost=lambda key, _: 1.0 - float(self.shares[test, column[key]]),
        )
