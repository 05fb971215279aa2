"""SUPERPAC, with UoS-Explore as its start, and SUPERPAC-S: the paper's algorithms as written.

Lipor & Balzano, "Leveraging Union of Subspace Structure to Improve Constrained Clustering", ICML
2017, Algorithms 1 and 2. The test point is the free point of least margin between the estimated
subspaces; it is compared with one representative of each certain set, nearest subspace first; what
was learned is imputed into the affinity, which is clustered again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from superpac.answers.consistent_labels import respect_answers
from superpac.answers.links import DIFFERENT, SAME, Link
from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError
from superpac.graph.imputed_spectral import ImputedSpectral, KnownSets
from superpac.strategies.base import Problem, Proposal, least
from superpac.strategies.certain_sets import CertainSets
from superpac.strategies.point_placing import Placing
from superpac.subspaces.tracker import SubspaceTracker
from superpac.system.threads import one_thread

Refit = Literal["exact", "warm"]
Impute = Literal["implied", "asked"]

CACHE_BYTES = 64_000_000  # labellings kept, so that taking answers back costs no clustering


class Superpac(Placing):
    """SUPERPAC (Algorithm 1).

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, dimension, seed.
    explore : int or None, default=None
        Question budget of UoS-Explore; None takes the paper's 2K, 0 starts without it.
    refit : {"exact", "warm"}, default="exact"
        "exact" clusters from scratch after each placed point, so that the next question is a
        function of the answers alone; "warm" starts from the last eigenvectors and labels.
    must_link : float, default=1.0
        The value imputed for two points of one set, where the largest affinity is 2.
    n_init : int, default=10
        k-means restarts of an exact clustering.
    impute : {"implied", "asked"}, default="implied"
        Whether all that follows from the answers is imputed, as Algorithm 1 says, or only the
        pairs that were asked. The latter is always clustered from scratch.
    extra_vectors : int, default=0
        Eigenvectors in the embedding beyond one per cluster.
    unit_embedding : bool, default=True
        Whether rows of the embedding are scaled to unit length.

    Notes
    -----
    The last three are other readings of the paper, which names no spectral clustering in
    particular; docs/reproduction compares them.

    References
    ----------
    Lipor & Balzano, ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from superpac.affinity import TSC
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = Superpac(problem).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "superpac"

    def __init__(
        self,
        problem: Problem,
        *,
        explore: int | None = None,
        refit: Refit = "exact",
        must_link: float = 1.0,
        n_init: int = 10,
        impute: Impute = "implied",
        extra_vectors: int = 0,
        unit_embedding: bool = True,
    ) -> None:
        super().__init__(problem, explore=2 * problem.n_clusters if explore is None else explore)
        if refit not in ("exact", "warm"):
            raise InputError(
                f"The 'refit' option must be 'exact' or 'warm'. Got {refit!r} instead."
            )
        if impute not in ("implied", "asked"):
            raise InputError(
                f"The 'impute' option must be 'implied' or 'asked'. Got {impute!r} instead."
            )
        K = problem.n_clusters
        self.refit = refit
        self.impute = impute
        self.model = ImputedSpectral(
            problem.affinity,
            K,
            seed=problem.seed,
            must_link=must_link,
            n_init=n_init,
            extra_vectors=extra_vectors,
            unit_rows=unit_embedding,
        )
        self.tracker = SubspaceTracker(problem.X, K, problem.dim)
        self.start = self.model.exact(step=0)
        self.tracker.update(self.start)
        everyone = np.arange(problem.n)
        sign = -1.0 if self.explore else 1.0  # Explore begins with the surest point
        first = least(sign * self.tracker.margins, everyone, self.rng(0))
        self.sets = CertainSets(problem.n, seeds=[first])
        self._cache: dict[bytes, tuple[IntArray, FloatArray]] = {}
        self._first_rows = self.model.rows()
        self._links: Sequence[Link] = ()

    def labels(self, state: State) -> IntArray:
        """Paper's labelling: may break answers, since imputing does not enforce them."""
        self._follow(state)
        return self._clustered()[0] if self._placed_since() else self.start

    def embedding(self, state: State) -> FloatArray:
        """Unit rows of the spectral embedding behind the labels."""
        self._follow(state)
        return self._clustered()[1] if self._placed_since() else self._first_rows

    def geometry(self, state: State) -> SubspaceTracker:
        """Subspaces, residuals and margins of the labels."""
        labels = self.labels(state)
        with one_thread():
            return self.tracker.update(labels)

    def _prepare(self, state: State) -> None:
        self.geometry(state)

    def _clustered(self) -> tuple[IntArray, FloatArray]:
        """Labels and embedding for the certain sets as they are."""
        known = self.sets.known()
        key = known.set_of.astype(np.int32).tobytes()
        found = self._cache.get(key)
        if found is None:
            step = int((known.set_of >= 0).sum())
            with one_thread():
                found = self._cluster(known, step), self.model.rows()
            self._cache[key] = found
            while len(self._cache) * (found[0].nbytes + found[1].nbytes) > CACHE_BYTES:
                self._cache.pop(next(iter(self._cache)))
                if len(self._cache) == 1:
                    break
        return found

    def _cluster(self, known: KnownSets, step: int) -> IntArray:
        """Labels with answers imputed, by the reading and the way that were chosen."""
        if self.impute == "implied":
            return (self.model.exact if self.refit == "exact" else self.model.warm)(
                known, step=step
            )
        pairs: dict[str, list[tuple[int, int]]] = {SAME: [], DIFFERENT: []}
        for link in self._links[: self.sets.used]:
            inside = known.set_of[link.i] >= 0 and known.set_of[link.j] >= 0
            if inside and link.answer in pairs:
                pairs[link.answer].append((link.i, link.j))
        same, different = (np.array(pairs[said], dtype=np.intp) for said in (SAME, DIFFERENT))
        return self.model.cluster(self.model.asked_matrix(same, different), step=step)

    def _follow(self, state: State) -> None:
        self._links = state.links
        super()._follow(state)

    def _choose(self, state: State, avoid: frozenset[int]) -> int | None:
        free = self._free(state, avoid)
        if free.size == 0:
            return None
        rng = self.rng(state.n_answers + 1)
        if not self._exploring():
            return least(self.tracker.margins, free, rng)
        labels = self.tracker.labels
        seen = np.unique(labels[self.sets.set_of >= 0])
        unseen = free[~np.isin(labels[free], seen)]
        if unseen.size:
            return least(-self.tracker.margins, unseen, rng)
        return int(rng.choice(free))

    def _ask(self, state: State, test: int, avoid: frozenset[int]) -> Proposal | None:
        """First askable comparison of a test point, nearest subspace first."""
        margins, residuals = self.tracker.margins, self.tracker.residuals
        labels = self.tracker.labels
        rivals = self._rivals(
            state,
            test,
            speakers=lambda members: members[np.argsort(-margins[members], kind="stable")],
            cost=lambda _, speaker: float(residuals[test, labels[speaker]]),
        )
        if not rivals:
            return None
        distance, other = rivals[0].cost, rivals[0].speaker
        placed = len(self.sets.apart(test))
        words = (
            "This item is the surest of a group not met yet"
            if self._exploring()
            else f"This item lies almost as near one group as another (margin {margins[test]:.3f})"
        )
        return Proposal(
            test,
            other,
            f"{words}; the other is the surest of the "
            f"{'nearest' if placed == 0 else 'next nearest'} known set.",
            {
                "margin": float(margins[test]),
                "residual": distance,
                "sets": float(len(self.sets.members)),
                "sets_left": float(len(rivals)),
            },
        )


class SuperpacPinned(Superpac):
    """SUPERPAC with the certain sets held in clusters of their own.

    Imputing alone may leave two certain sets in one cluster, or split a must-link clique off its
    class, and then more answers make the clustering worse. Here k-means goes on with every certain
    set held in a cluster of its own, and subspaces and margins come from that labelling. No answer
    is broken: where the answers need more clusters than were asked for, there are more, and points
    in those beyond count for the subspace that SUPERPAC has them in.

    References
    ----------
    Wagstaff et al., "Constrained k-means clustering with background knowledge", ICML 2001.
    """

    name = "superpac-pinned"

    def __init__(self, problem: Problem, **options: object) -> None:
        super().__init__(problem, **options)  # type: ignore[arg-type]
        self._pinned: tuple[tuple[int, int], IntArray] | None = None

    def labels(self, state: State) -> IntArray:
        """Labelling that breaks no answer; more than K clusters where the answers need them."""
        key = (state.revision, state.n_answers)
        if self._pinned is None or self._pinned[0] != key:
            free, rows = super().labels(state), self.embedding(state)
            held = respect_answers(free, state.constraints, self.problem.n_clusters, rows)
            self._pinned = (key, held)
        return self._pinned[1]

    def geometry(self, state: State) -> SubspaceTracker:
        """Subspaces, residuals and margins of the K clusters."""
        held, free = self.labels(state), super().labels(state)
        with one_thread():
            return self.tracker.update(np.where(held < self.problem.n_clusters, held, free))


class SuperpacS(Superpac):
    """SUPERPAC-S: a new labelling counts only if it lowers the K-subspaces cost.

    The certain sets grow all the same. Read strictly this can freeze at an early labelling of low
    cost; it is here because the paper shows it.

    References
    ----------
    Lipor & Balzano, ICML 2017, section 4 (COIL-20).
    """

    name = "superpac-s"

    def __init__(self, problem: Problem, **options: object) -> None:
        super().__init__(problem, **options)  # type: ignore[arg-type]
        self._judge = SubspaceTracker(problem.X, problem.n_clusters, problem.dim)
        self._accepted: list[tuple[int, IntArray, float]] = []

    def labels(self, state: State) -> IntArray:
        """Last labelling that lowered the cost."""
        self._follow(state)
        return self._accepted[-1][1] if self._accepted else self.start

    def _restarted(self) -> None:
        self._accepted = []

    def _grown(self) -> None:
        if self._placed_since():
            self._consider(self._clustered()[0])

    def _consider(self, labels: IntArray) -> None:
        if not self._accepted:
            cost = self._judge.update(self.start).cost()
            self._accepted.append((0, self.start, cost))
        cost = self._judge.update(labels).cost()
        if cost < self._accepted[-1][2]:
            self._accepted = [(self.sets.used, labels, cost)]
