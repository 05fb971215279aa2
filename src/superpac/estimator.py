"""Active subspace clustering as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from superpac.data import Dataset
from superpac.session.questions import Question, Receipt
from superpac.session.session import Session
from superpac.session.spec import AFFINITY_OF_VALUES, DEFAULT_STRATEGY, Spec
from superpac.simulation.loop import AnswerLoop


class ActiveSubspaceClustering(ClusterMixin, BaseEstimator):
    """Cluster points, asking an oracle about as few pairs as possible.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    affinity : str, default="ensc:gamma=5"
        Affinity by name, such as ``tsc:q=5``.
    strategy : str, default="superpac-d"
        Which questions are asked.
    options : mapping, optional
        Options of the strategy.
    dim : int or None, default=None
        Subspace dimension; None chooses it from the data.
    oracle : callable, optional
        ``oracle(i, j)`` gives "same", "different" or "unsure". Without one, `fit` only clusters
        and :meth:`ask` and :meth:`tell` go on from there.
    questions : int, default=100
        Budget of `fit`.
    until : float or None, default=None
        Share of items in a wrong cluster that is good enough: `fit` stops once the upper end of
        the estimated error left is at or below it. Needs a strategy that gives one, superpac-d.
    random_state : int, default=0
        Seed.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Clusters; no answer that is believed is broken. Where the answers leave no room for
        `n_clusters`, there are more.
    session_ : Session
        The session behind it.
    n_questions_ : int
        Questions answered.

    References
    ----------
    Lipor & Balzano, "Leveraging Union of Subspace Structure to Improve Constrained Clustering",
    ICML 2017.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> def person(i, j):
    ...     return "same" if y[i] == y[j] else "different"
    >>> model = ActiveSubspaceClustering(3, affinity="tsc:q=4", oracle=person, questions=20).fit(X)
    >>> model.n_questions_
    20
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = AFFINITY_OF_VALUES,
        strategy: str = DEFAULT_STRATEGY,
        options: Mapping[str, Any] | None = None,
        dim: int | None = None,
        oracle: Callable[[int, int], str] | None = None,
        questions: int = 100,
        until: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.strategy = strategy
        self.options = options
        self.dim = dim
        self.oracle = oracle
        self.questions = questions
        self.until = until
        self.random_state = random_state

    def fit(self, X: NDArray, y: object = None) -> ActiveSubspaceClustering:
        """Build the affinity, then ask the oracle until the budget is spent.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self
        """
        points = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        spec = Spec(
            self.n_clusters,
            affinity=self.affinity,
            strategy=self.strategy,
            options=self.options or {},
            dim=self.dim,
            seed=self.random_state or 0,
        )
        self.session_ = Session.create(Dataset(points), spec)
        oracle = self.oracle
        if oracle is not None:
            answers = AnswerLoop(
                self.session_,
                # a text in any case: None would end the loop, but here it is a mistake to refuse
                lambda question: str(oracle(question.i, question.j)),
                self.questions,
                until=self.until,
            )
            for _ in answers:
                pass
        self._settle()
        return self

    def ask(self) -> Question | None:
        """Give the next question; None when nothing is left to ask."""
        return self.session_.ask()

    def tell(self, answer: str, pair: tuple[int, int] | None = None) -> Receipt:
        """Take an answer to the current question, or about a given pair."""
        receipt = self.session_.tell(answer, pair)
        self._settle()
        return receipt

    def _settle(self) -> None:
        self.labels_ = self.session_.labels()
        self.n_questions_ = self.session_.progress()["questions"]
