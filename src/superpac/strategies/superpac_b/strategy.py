"""SUPERPAC-B: one model of sets and items, and the question that is expected to mend most.

As SUPERPAC-D it starts from the centres of twice as many pieces as there are clusters, without a
question. Everything else follows from one model of the votes, which does not depend on their
order: an item that is said not to be in its likeliest set counts for the next likeliest at once,
and is asked about again only if that is worth more than any other question.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from superpac.answers.links import UNSURE, Link, Pair
from superpac.answers.reliability import PRIOR_ANSWERS, PRIOR_WRONG, Reliability, learn_reliability
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.graph.diffusion import Diffusion
from superpac.graph.spectral import normalized_affinity
from superpac.strategies.base import Problem, Proposal, Strategy
from superpac.strategies.superpac_b.doubts import Doubt, doubtful_items, doubtful_merges
from superpac.strategies.superpac_b.model import Model
from superpac.strategies.superpac_b.settings import DEFAULT, Settings
from superpac.strategies.superpac_b.vote_sets import pair_odds
from superpac.strategies.superpac_d.merge_chances import telling
from superpac.strategies.superpac_d.question_worth import doubt_in_reach, runner_up
from superpac.strategies.superpac_d.starting_points import starting_points
from superpac.strategies.superpac_d.wording import join_question, place_question
from superpac.system.threads import one_thread

AGAIN = "An earlier answer about these does not fit the others; this checks it."
USUAL = PRIOR_WRONG / PRIOR_ANSWERS


class SuperpacB(Strategy):
    """SUPERPAC-B, where the number of clusters is known.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, dimension, seed.
    doubt : bool, default=True
        Whether answers that do not fit are asked again.
    settings : Settings
        Every number of the method.

    Notes
    -----
    What is proposed is a function of the answers as a multiset: any order gives the same labels and
    the same next question.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = SuperpacB(problem).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "superpac-b"
    revision = 2
    weighs_answers = True

    def __init__(
        self, problem: Problem, *, doubt: bool = True, settings: Settings = DEFAULT
    ) -> None:
        super().__init__(problem)
        self.doubt, self.settings = doubt, settings
        with one_thread():
            self.diffusion = Diffusion(problem.affinity)
            count = max(1, min(problem.n, round(settings.pieces * problem.n_clusters)))
            seeds, vectors = starting_points(self.diffusion, count, problem.seed)
            self.diffusion.quicken(vectors)
            self.model = Model(problem, self.diffusion, seeds, settings)
        self._walk = normalized_affinity(self.diffusion.graph)
        self._reliability = Reliability()
        self._votes: tuple[Link, ...] = ()

    def labels(self, state: State) -> IntArray:
        """Likeliest group of every item; those that votes hold together have one label."""
        self._follow(state)
        return self.model.labels

    def reliability(self, state: State) -> Reliability:
        """How often each person errs, and how likely each answer is to be wrong."""
        self._follow(state)
        return self._reliability

    def _follow(self, state: State) -> None:
        """Bring the model up to date with the votes, whatever it followed before."""
        votes = tuple(sorted((a for a in state.answers if a.answer != UNSURE), key=_by_content))
        if votes == self._votes:
            return
        self._votes = votes
        with one_thread():
            self.model.follow(pair_odds(votes, {}, USUAL), USUAL)
            found = self._reliability = self._learn(votes)
            more = max([found.rate, *found.by.values()])
            if more > self.settings.rate_matters * USUAL:
                self.model.follow(pair_odds(votes, found.by, found.rate), found.rate)
                self._reliability = self._learn(votes)

    def _learn(self, votes: tuple[Link, ...]) -> Reliability:
        """Error rates of people; pairs of starting points say nothing about items."""
        seeds = set(self.model.seeds.tolist())
        between = [(v.i, v.j) for v in votes if v.i in seeds and v.j in seeds]
        return learn_reliability(votes, self.model.prior, self.model.place, between)

    def _in_order(self, state: State, avoid: frozenset[int]) -> Iterator[Proposal]:
        """Questions from the one that is expected to mend most."""
        self._follow(state)
        shut = frozenset(state.bad | avoid)
        ranked = [*self._joins(state, avoid), *self._places(shut), *self._again()]
        ranked.sort(key=lambda entry: -entry[0])
        for _, kind, what in ranked:
            question = getattr(self, kind)(state, what, shut)
            if question is not None:
                yield question

    # what may be asked, with the items that each question is expected to mend

    def _places(self, shut: frozenset[int]) -> list[tuple[float, str, object]]:
        """Free items: the chance that the runner-up is right, and how much doubt is in reach."""
        model = self.model
        among = np.flatnonzero(~model.certain)
        among = among[~np.isin(among, list(shut))]
        if among.size == 0:
            return []
        reach = np.maximum(doubt_in_reach(model.groups, among, self._walk), 0.0)
        worth = runner_up(model.groups[among]) * reach**self.settings.reach_power
        found: list[tuple[float, str, object]] = [
            (w, "_place", t) for w, t in zip(worth.tolist(), among.tolist(), strict=True)
        ]
        if len(model.members) < model.K and len(self._votes) % 4 < 2:
            # a cluster without a set: look where walks from the sets reach least
            far = int(among[np.argmax(self.diffusion.unreached(model.certain)[among])])
            found.append((np.inf, "_place", far))
        return found

    def _joins(self, state: State, avoid: frozenset[int]) -> list[tuple[float, str, object]]:
        """Pairs of sets: how much the answer tells, and how many items hang on it.

        Unlikely ones come last, but for every other question while there are too many large sets.
        """
        model = self.model
        held = {int(k) for k in model.place[list(avoid)] if k >= 0}
        tells = np.triu(telling(model.chances, model.standing), 1)
        usual = self.problem.n / model.K
        stakes = np.minimum(model.mass, model.mass[:, None])
        surplus = int((~model.small).sum()) > model.K  # two large sets are one, whatever was said
        many = surplus and len(self._votes) % 2 == 0
        found: list[tuple[float, str, object]] = []
        for a, b in np.argwhere(tells > 0).tolist():
            chance, large = float(model.chances[a, b]), not (model.small[a] or model.small[b])
            # among large sets the likeliest pair first: what it settles tells about the others
            worth = float(tells[a, b] * (usual if large else stakes[a, b]))
            likely = chance >= self.settings.merge_chance
            if a in held or b in held or (model.differ[a, b] and not (likely or surplus)):
                continue
            if not likely and not (many and large):
                worth *= 1e-6
            found.append((worth, "_join", (a, b)))
        return found

    def _again(self) -> list[tuple[float, str, object]]:
        """Answers that would misplace items if they were wrong."""
        if not self.doubt:
            return []
        doubts = [*doubtful_items(self.model), *doubtful_merges(self.model)]
        return [(doubt.worth, "_check", doubt) for doubt in doubts]

    # questions in words

    def _place(self, state: State, t: int, shut: frozenset[int]) -> Proposal | None:
        """Compare a free item with its likeliest set."""
        model, said = self.model, self.model.said_of_free.get(t, {})
        for k in np.argsort(-model.sets[t], kind="stable").tolist():
            for other in model.speakers(k, shut):
                if t != other and not state.put_off(t, other) and not state.asked(t, other):
                    chance, asked = float(model.sets[t, k]), len(said)
                    why = "goes on" if asked else "between"
                    return place_question(t, other, why, chance, len(model.members), asked)
        return None

    def _join(self, state: State, pair: Pair, shut: frozenset[int]) -> Proposal | None:
        """Compare clear members of two sets."""
        model, (a, b) = self.model, pair
        found = self._fresh(state, model.speakers(a, shut), model.speakers(b, shut))
        if found is None:
            return None
        return join_question(*found, float(model.chances[a, b]), len(model.members))

    def _check(self, state: State, doubt: Doubt, shut: frozenset[int]) -> Proposal | None:
        """Ask again whether two parts of a set belong together, with other members."""
        model, k = self.model, int(self.model.place[doubt.part[0]])
        sides = (
            model.clearest([t for t in side if t not in shut], k)
            for side in (doubt.part, doubt.rest)
        )
        found = self._fresh(state, *sides)
        numbers = {"rate": self._reliability.rate, "again": 1.0}
        return None if found is None else Proposal(*found, AGAIN, numbers)

    def _fresh(self, state: State, some: list[int], others: list[int]) -> Pair | None:
        """The clearest pair of two groups of items that nobody was asked about yet."""
        pairs = ((i, j) for i in some for j in others if not state.put_off(i, j))
        return next((pair for pair in pairs if not state.asked(*pair)), None)


def _by_content(vote: Link) -> tuple[int, int, str, str]:
    """What a vote says, whenever it was given."""
    return min(vote.i, vote.j), max(vote.i, vote.j), vote.answer, vote.annotator
