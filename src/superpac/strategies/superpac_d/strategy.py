"""SUPERPAC-D: diffusion from certain sets, provisional sets, answers as evidence.

Where SUPERPAC clusters again after every placed point, SUPERPAC-D asks of every point which certain
set claims it: by diffusion over the affinity, by the sets' subspaces, and by a kernel vote. It
starts from the centres of twice as many pieces as there are clusters, without a question; questions
then settle which of these sets belong together, find clusters that have none, and place the points
between sets. An answer that all else speaks against is asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from superpac.answers.links import SAME, UNSURE, Link, pair_of
from superpac.answers.reliability import Reliability, learn_reliability
from superpac.answers.state import Effect, State
from superpac.answers.votes import chance_wrong
from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.device.arrays import Array, like, namespace, to_host, where_true
from superpac.device.choice import HOST
from superpac.graph.diffusion import Diffusion
from superpac.graph.spectral import normalized_affinity
from superpac.strategies.base import (
    Beliefs,
    Count,
    Memory,
    Outlook,
    Problem,
    Proposal,
    Strategy,
)
from superpac.strategies.superpac_d.checkpoints import (
    Checkpoints,
    digest,
    packed,
    unpacked,
    worth_keeping,
)
from superpac.strategies.superpac_d.doubts import ask_again, doubtful_answers
from superpac.strategies.superpac_d.merge_chances import (
    Settled,
    chance_of_count,
    changing,
    hidden,
    learned,
    merge_chances,
    regrouped,
    telling,
    walk_chances,
)
from superpac.strategies.superpac_d.posterior import Posterior
from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets
from superpac.strategies.superpac_d.question_worth import doubt_in_reach, told_by, worth_of_points
from superpac.strategies.superpac_d.settings import DEFAULT, Settings
from superpac.strategies.superpac_d.starting_points import starting_points, starting_work
from superpac.strategies.superpac_d.view_scores import kernel_work
from superpac.strategies.superpac_d.wording import join_question, place_question
from superpac.system.progress import Progress, no_progress, parts_of, stage_of
from superpac.system.threads import one_thread


class SuperpacD(Strategy):
    """SUPERPAC-D.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, dimension, seed.
    pieces : float, optional
        Starting sets per cluster; as the settings say by default.
    views : bool, default=True
        Whether subspaces and the kernel vote are used beside diffusion.
    doubt : bool, default=True
        Whether answers that do not fit are asked again.
    provisional : bool, default=True
        Whether a point that differs from its likeliest sets is left, instead of being compared
        with all.
    settings : Settings
        Every number of the method.

    Notes
    -----
    What is proposed is a function of the answers, in their order. Opening a session goes through
    all of them; taking answers back restores a checkpoint of the answers that still stand and goes
    on from there, with the same result. Where points times sets exceed 20,000 only the views of the
    sets that changed most are refreshed after an answer.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = SuperpacD(problem).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "superpac-d"
    weighs_answers = True
    keeps_answers = True
    finds_count = True

    def __init__(
        self,
        problem: Problem,
        *,
        pieces: float | None = None,
        views: bool = True,
        doubt: bool = True,
        provisional: bool = True,
        settings: Settings = DEFAULT,
    ) -> None:
        super().__init__(problem)
        self.doubt, self.provisional, self.settings = doubt, provisional, settings
        pieces = settings.pieces if pieces is None else pieces
        with one_thread():
            # of the residual's norm over all points: single ones come out as well with more of them
            large = problem.n > settings.refresh
            tol = settings.solve_tolerance_large if large else settings.solve_tolerance
            self.diffusion = Diffusion(problem.affinity, tol=tol, device=problem.device)
            count = max(1, min(problem.n, round(pieces * problem.n_clusters)))
            work = [sum(starting_work(self.diffusion, count))]
            work.append(sum(kernel_work(problem.n, problem.X.shape[1], settings)) if views else 0.0)
            starting, kernel = parts_of(stage_of(problem.progress, "clustering"), work)
            start = problem.remember(f"start {count} {tol}", lambda: self._start(count, starting))
            starting(1, 1)
            self.diffusion.quicken(problem.device.array(start["vectors"]))
            seeds = start["seeds"].tolist()
            self.sets = ProvisionalSets(problem.n, seeds, settings.give_up_after)
            self.model = Posterior(
                problem, self.diffusion, views=views, settings=settings, progress=kernel
            )
            kernel(1, 1)
        self._walk = normalized_affinity(self.diffusion.graph)
        self._first_unreached: Array | None = None
        self._checkpoints = Checkpoints(settings.checkpoint_bytes, settings.checkpoint_spacing)
        # of what is kept on disk: every choice that it depends on, and the answers it is behind
        self._kept_as = f"checkpoint 4 of {count} {views} {doubt} {provisional} {settings}"
        self._kept_at = 0
        self._begun = False
        self._opening = problem.progress  # nobody is told of what comes after the first question
        self._merged: dict[tuple[int, int], tuple[float, float]] = {}
        self._record: list[tuple[float, float]] = []  # what was believed of labels, what was said
        self._settled: list[Settled] = []  # the same of pairs of sets

    @property
    def _steps(self) -> Array:
        """Matrix of the walk where the posterior is computed."""
        return self._walk if self.problem.device is HOST else self.diffusion.matrix_there

    def _start(self, count: int, progress: Progress) -> dict[str, FloatArray | IntArray]:
        """Where sets begin, and the eigenvectors with which the solver is quicker."""
        points, vectors = starting_points(self.diffusion, count, self.problem.seed, progress)
        return {"seeds": np.array(points), "vectors": vectors}

    def labels(self, state: State) -> IntArray:
        """Likeliest group of every point; what is believed of the answers is never broken.

        Where the answers leave no room for it, there are more groups than clusters asked for.
        """
        self._follow(state)
        return self.model.labels

    def _in_order(self, state: State, avoid: frozenset[int]) -> Iterator[Proposal]:
        """Go on with a point half-way, ask again, settle two sets, or place a point."""
        self._follow(state)
        for question in self._questions(state, avoid):
            if question is not None:
                yield self._marked(question)

    def _questions(self, state: State, avoid: frozenset[int]) -> Iterator[Proposal | None]:
        """Questions in order, None for one that may not be asked now.

        Sets that others are being asked about now are not settled meanwhile: two people would be
        asked the same with other members.
        """
        sets, shut = self.sets, state.bad | avoid
        held = {int(place) for place in self.model.place[list(avoid)] if place >= 0}
        for pending in reversed(sets.pending.values()):
            if pending not in shut and sets.set_of[pending] == -1:
                yield self._compare(state, pending, shut, "goes on")
        free = sets.set_of == -1
        free[list(shut)] = False
        among = where_true(like(free, self.model.groups))
        yield from self._again(state, shut)
        yield from self._settle(state, shut, held, among)
        candidates = self._candidates(among, avoid)
        few = self.settings.point_candidates + (candidates[:1] != [] and candidates[0][1] == "far")
        for test, why in candidates[:few]:
            yield self._compare(state, test, shut, why)
        yield from self._settle(state, shut, held, among, last=True)
        yield from self._again(state, shut, rest=0)
        for test, why in candidates[few:]:  # for many people at once
            yield self._compare(state, test, shut, why)

    def compare(self, state: State, item: int) -> Proposal | None:
        """Give the question about an item that a person chose."""
        self._follow(state)
        if self.sets.set_of[item] == -1:
            question = self._compare(state, item, state.bad, "chosen")
            if question is not None:
                return question
        return super().compare(state, item)

    def exemplars(self, state: State, item: int, n: int) -> list[int]:
        """Clear members of the sets that an item may belong to, the likeliest set first."""
        self._follow(state)
        model, own = self.model, int(self.model.place[item])
        apart = {model.number[key] for key in self.sets.apart(item)}
        if own >= 0:
            apart |= {own, *np.flatnonzero(model.differ[own]).tolist()}
        found = []
        for k in np.argsort(-to_host(model.sets[item]), kind="stable").tolist():
            speakers = [] if k in apart else model.speakers(k, state.bad)
            found += [t for t in speakers if t != item and state.askable(item, t)][:1]
        return found[:n]

    def known_members(self, state: State) -> BoolArray:
        """Starting points and what answers have put into one set with others."""
        self._follow(state)
        return self.model.certain.copy()

    def reliability(self, state: State) -> Reliability:
        """How often each person errs, and how likely each answer is to be wrong."""
        self._follow(state)
        return self._known.votes.learned or Reliability()

    def beliefs(self, state: State) -> Beliefs:
        """Give the posterior of the labels, and how it fared with the answers so far."""
        self._follow(state)
        model, K = self.model, self.model.K
        width = model.groups.shape[1]
        places = np.arange(self.problem.n), np.minimum(model.labels, width - 1)
        own = to_host(model.groups[tuple(like(part, model.groups) for part in places)])
        right = np.where(model.labels < width, own, 0.0)
        masses = [model.mass[model.group == head] for head in np.unique(model.group)]
        totals = np.sort([mass.sum() for mass in masses])
        known = Beliefs(
            np.where(model.certain, 1.0, right),
            np.array(self._record).reshape(-1, 2),
            float(totals[: max(0, totals.size - K)].sum()),
        )
        if self.problem.auto:
            moved, spread = regrouped(
                self._learned_chances(), model.group, model.differ, model.mass
            )
            return replace(known, regrouped=moved, regrouped_spread=spread)
        return replace(
            known,
            assumed=float(sum(mass.sum() - mass.max() for mass in masses)),
            missing=hidden(model.group, model.mass, model.size, K, self.settings),
        )

    def outlook(self, state: State) -> Outlook:
        """Give the posterior of the labels, and what is at stake between sets."""
        self._follow(state)
        model = self.model
        width = model.groups.shape[1]
        free = ~model.certain
        free[list(state.bad)] = False
        faces = np.full(width, -1, dtype=np.intp)
        speakers = [(model.speakers(k, state.bad) or [-1])[0] for k in range(len(model.keys))]
        for k in np.argsort(model.mass, kind="stable"):  # the largest set of a group speaks for it
            label = -1 if speakers[k] < 0 else int(model.labels[speakers[k]])
            if 0 <= label < width:
                faces[label] = speakers[k]
        among = where_true(like(free, model.groups))
        reach = np.ones(free.size)
        doubt = to_host(doubt_in_reach(model.groups, among, self._steps, self.settings))
        reach[to_host(among)] = np.sqrt(doubt)
        one = self._learned_chances()
        one = np.maximum(one, one.T)
        changes = (changing if self.problem.auto else telling)(one, model.standing)
        mends = np.where(model.differ, 0.0, changes * np.minimum(model.mass, model.mass[:, None]))
        np.fill_diagonal(mends, 0.0)
        return Outlook(
            to_host(model.groups),
            free,
            reach,
            faces,
            np.array(speakers, dtype=np.intp),
            model.place,
            one,
            mends,
            self._known.votes.rate,
            lambda items: told_by(items, items, self._walk, self.settings),
        )

    def must_confirm(self, state: State, i: int, j: int) -> bool:
        """Whether a "same" joins two sets and would misplace many points if it were wrong."""
        self._follow(state)
        return self._marked(Proposal(i, j, "")).confirm

    def count(self, state: State) -> Count:
        """How many clusters were met, and how sure it is that these are all."""
        self._follow(state)
        model = self.model
        if not self.problem.auto:
            return Count(model.K, 1.0)
        seeds = set(self.sets.seeds)
        found = sum(not seeds.intersection(points) for points in model.members)
        sure = chance_of_count(
            self._learned_chances(),
            model.group,
            model.differ,
            self._small(),
            len(self.sets.joins),
            found,
        )
        return Count(model.K, sure)

    def _follow(self, state: State) -> None:
        """Take in what is new, answer by answer; from a checkpoint where some were taken back."""
        answers = state.answers
        if not self._begun and not self._recall(answers):
            self._begin()
        past = self._known.answers
        if answers == past and self.model.settled:
            return
        with one_thread():
            if answers[: len(past)] != past:
                self._go_back(answers)
            new = answers[self._known.n_answers :]
            # few of them are no stage of their own
            told = stage_of(self._opening, "answers") if len(new) > 1 else no_progress
            for at, answer in enumerate(new, 1):
                self._take(answer)
                told(at, len(new))
                if worth_keeping(
                    self._known.n_answers, len(answers), self.settings.checkpoint_spacing
                ):
                    saved = self.sets.save(), self.model.save(), dict(self._merged)
                    lengths = len(self._record), len(self._settled)
                    self._checkpoints.add(self._known.n_answers, (*saved, lengths))
            self._learn()
        self._opening = no_progress
        self._keep()

    def _disk(self) -> Memory | None:
        """Where checkpoints are kept; on a graphics processor going through the answers is fast."""
        return self.problem.memory if self.problem.device is HOST else None

    def _recall(self, answers: list[Link]) -> bool:
        """Go on from the checkpoint on disk, if these answers begin with those it was made of."""
        memory = self._disk()
        kept = None if memory is None or not answers else memory.get(self._kept_as)
        if kept is None or digest(answers[: kept["at"]]) != kept["digest"]:
            return False
        (sets, model, merged, _), self._record, self._settled, history = unpacked(kept)
        self._begun, self._kept_at = True, kept["at"]
        self._known = State.of(self.problem.n, answers[: kept["at"]])
        self._merged = merged
        self.sets.restore(sets)
        with one_thread():
            self.model.adopt(model, history, self.sets)
        return True

    def _keep(self) -> None:
        """Keep a checkpoint on disk now and then, of answers that are not likely to be taken back.

        The last answers are left out: they may be ones that a person has not given yet, tried out
        to have the next question ready.
        """
        memory, behind = self._disk(), self.settings.checkpoint_behind
        found = self._checkpoints.before(self._known.n_answers - behind)
        if memory is None or found is None or found[0] < self._kept_at + behind:
            return
        self._kept_at, saved = found
        record, settled = self._record[: saved[3][0]], self._settled[: saved[3][1]]
        values = packed((saved, record, settled, self.model.history(saved[1])))
        answers = self._known.answers[: self._kept_at]
        memory.put(self._kept_as, {**values, "at": self._kept_at, "digest": digest(answers)})

    def _learn(self) -> None:
        """Settle the model, and learn from it how often people err."""
        self.model.relink(self.sets)
        if not self.model.settled:
            told = stage_of(self._opening, "model")
            with self.model.telling(told, len(self.model.keys), anew=False):
                self.model.settle(self.sets)
        votes, between = self._known.votes, [pair_of(link) for link in self.sets.merges]
        votes.learned = learn_reliability(votes.all(), self.model.sets, self.model.place, between)

    def _begin(self) -> None:
        """Nothing answered yet."""
        self._begun = True
        self._known = State(self.problem.n)  # the answers taken in so far, read as everybody does
        self._merged, self._record, self._settled = {}, [], []
        with one_thread():
            self.model.forget()
            self.sets.refold([])
            told = stage_of(self._opening, "model")
            with self.model.telling(told, len(self.sets.members), anew=True):
                self.model.follow(self.sets)
                self.model.settle(self.sets)

    def _go_back(self, answers: list[Link]) -> None:
        """To the last checkpoint within what these answers have in common with those taken."""
        past = self._known.answers
        pairs = zip(answers, past, strict=False)
        common = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(answers), len(past)))
        kept = self._checkpoints.latest(common)
        if kept is None:
            self._begin()
            return
        at, (sets, model, merged, (recorded, settled)) = kept
        del self._record[recorded:], self._settled[settled:]
        self._known = State.of(self.problem.n, past[:at])
        self._merged = dict(merged)
        self.sets.restore(sets)
        self.model.restore(model, self.sets)

    def _take(self, answer: Link) -> None:
        """Take in one answer: what the model made of it before, then what it changes."""
        if answer.known:
            self.model.begin_labels()
        else:
            self.model.end_labels(self.sets)
        known = self._known
        known.votes.learned = None  # what is made of an answer depends on the answers alone
        heard = known.counts_for(answer)
        first = not known.votes.asked(heard.i, heard.j)
        if first:
            # the record is of points that questions were about: those are the doubtful ones
            foretold = None if heard.unasked else self.model.foretold(heard, self.sets)
            self._record += [] if foretold is None else [foretold]
            self.model.observe(heard)
            self._note_merge(heard)
        effect = known.hear(answer)
        if effect is Effect.CHANGED:
            self.sets.refold(known.votes.believed())
        elif effect is Effect.TAKEN:
            self.sets.take(heard)
        else:
            self.sets.between_sets = True  # a repeated answer is no reason to settle sets next
            if first:
                self.model.settled = False  # what was observed of it may change the weights
            return
        self.model.follow(self.sets)

    def _note_merge(self, answer: Link) -> None:
        """Keep how likely a merge was and how many points it moves, and whether it came to it."""
        a, b = int(self.model.place[answer.i]), int(self.model.place[answer.j])
        same, learns = answer.answer == SAME, self.problem.auto and answer.answer != UNSURE
        if not (same or learns) or a < 0 or b < 0 or a == b:
            return
        self.model.settle(self.sets)
        chance, stake = self._merge_risk(a, b)
        if same:
            self._merged[pair_of(answer)] = chance, stake
        if learns:
            together = bool(self.model.standing[a] == self.model.standing[b])
            self._settled.append((together, chance, same))

    def _merge_risk(self, a: int, b: int) -> tuple[float, float]:
        """Chance that two sets are one, by the votes alone, and how many points a merge moves."""
        chance = self._chances(self._known.votes.counted_rate)[a, b]
        return float(chance), float(min(self.model.mass[a], self.model.mass[b]))

    def _marked(self, question: Proposal) -> Proposal:
        """Mark a question whose "same" joins two sets and would misplace many points if wrong."""
        a, b = int(self.model.place[question.i]), int(self.model.place[question.j])
        if not self.doubt or a < 0 or b < 0 or a == b:
            return question
        chance, stake = self._merge_risk(a, b)
        risk = chance_wrong(chance, self._known.votes.counted_rate) * stake
        return replace(question, confirm=True) if risk > self.settings.doubt_points else question

    def _candidates(self, among: Array, avoid: frozenset[int]) -> list[tuple[int, str]]:
        """Free points worth asking about, best first: between groups, and near more such.

        What an answer that others are about to give will tell of a point is not worth asking.
        """
        if among.shape[0] == 0:
            return []
        xp = namespace(among)
        value = worth_of_points(self.model.groups, among, self._steps, self.settings)
        if avoid:
            asked = np.array(sorted(avoid), dtype=np.intp)
            told = told_by(asked, to_host(among), self._walk, self.settings)
            value *= like(np.prod(1.0 - told, axis=0), value)
        placed = len(self.sets.placed)
        order = xp.argsort(-value, stable=True)[: self.settings.point_candidates_most]
        found = [(t, "between") for t in to_host(among[order]).tolist()]
        missing = len(self.model.keys) < self.model.K
        every = self.settings.far_every
        sparse = missing and placed % self.settings.far_every_missing == 0
        if sparse or (self.problem.auto and placed % every == every - 1):
            unreached = self._unreached()
            found.insert(0, (int(among[xp.argmax(unreached[among])]), "far"))
        return found

    def _unreached(self) -> Array:
        # the solver's start must not depend on what was asked before: answers may be taken back
        if self._first_unreached is None:
            seeds = np.zeros(self.problem.n, dtype=np.bool_)
            seeds[list(self.sets.seeds)] = True
            self._first_unreached = self.diffusion.unreached(like(seeds, self.model.groups))
        certain = like(self.model.certain, self.model.groups)
        return self.diffusion.unreached(certain, self._first_unreached)

    def _compare(self, state: State, test: int, shut: set[int], why: str) -> Proposal | None:
        """Compare a free point with its likeliest set; None to leave it as a provisional one.

        A set it was said to differ from counts with the chance that this was wrong.
        """
        model, K = self.model, self.model.K
        apart = {model.number[key] for key in self.sets.apart(test)}
        chances = to_host(model.sets[test])
        belief = np.sqrt(chances)  # a point that is hard is harder than the model thinks
        even = self.settings.belief_even
        belief = (1.0 - even) * belief / belief.sum() + even / belief.size
        belief[list(apart)] *= self._known.votes.rate if self.doubt else 0.0
        settings = self.settings
        new = settings.new_weight * max(settings.new_chance, 1 - len(model.keys) / K)
        likeliest = belief.max() / (belief.sum() + new)
        left = len(apart) >= settings.give_up_after and likeliest < settings.give_up_chance
        if left and self.provisional:
            return None
        for k in np.argsort(-belief, kind="stable"):
            if int(k) in apart:
                asked = self._said_once(test, int(k), shut) if belief[k] > 0 else None
                question = None
                if asked is not None:
                    question = self._repeat(
                        state, Link(0, test, asked, "different"), shut, self.settings.rest
                    )
                if question is not None:
                    return question
                continue
            for other in model.speakers(int(k), shut):
                if self._askable(state, test, other):
                    chance = float(chances[k])
                    return place_question(test, other, why, chance, len(model.keys), len(apart))
        return None

    def _said_once(self, test: int, k: int, shut: set[int]) -> int | None:
        """Member of a set that a free point was said to differ from, by one vote only."""
        votes = [
            (self._known.votes.net(test, m), m) for m in self.model.members[k] if m not in shut
        ]
        against = [(net, m) for net, m in votes if net < 0]
        return against[0][1] if len(against) == 1 and against[0][0] == -1 else None

    def _again(
        self, state: State, shut: set[int], rest: int | None = None
    ) -> Iterator[Proposal | None]:
        """Ask again what the votes leave open, or an answer that all else speaks against."""
        if self.doubt:
            every = self.settings.doubt_merges_every
            missing = len(self.model.keys) < self.model.K and state.n_answers % every == every - 1
            votes = self._known.votes
            rest = self.settings.rest if rest is None else rest
            for link in doubtful_answers(
                votes, self.sets, self.model, self._merged, missing, self.settings
            ):
                yield self._repeat(state, link, shut, rest)

    def _chances(self, rate: float) -> FloatArray:
        """Chance that two sets are one, for all pairs, where so many answers are wrong."""
        model, count = self.model, len(self.model.keys)
        cuts = None
        if count > model.K and self.doubt:
            cuts = np.zeros((count, count))
            for cut in self.sets.cuts:
                a, b = model.place[cut.i], model.place[cut.j]
                if a >= 0 and b >= 0:
                    cuts[a, b] -= self._known.votes.net(cut.i, cut.j)
        if self.problem.auto:
            by_walks = walk_chances(
                model.lift, model.standing, model.differ, cuts, rate, self.settings
            )
            return np.maximum(by_walks, model.parts)
        return merge_chances(
            model.mutual,
            model.differ,
            cuts,
            self._small(),
            model.mass,
            model.K,
            rate,
            self.settings,
        )

    def _learned_chances(self) -> FloatArray:
        """The same, corrected by what answers about pairs of sets said where K is unknown."""
        chances = self._chances(self._known.votes.rate)
        if not self.problem.auto:
            return chances
        model = self.model
        return learned(chances, model.standing, self._settled)

    def _worth(self, mended: float, unsettled: float) -> bool:
        """Whether two sets are asked about to know the number of clusters."""
        worth = min(self.settings.merge_worth, max(unsettled, self.settings.merge_worth_least))
        return self.problem.auto and not self.sets.between_sets and mended > worth

    def _small(self) -> BoolArray:
        return self.model.mass < self.settings.small_set * self.problem.n / self.model.K

    def _settle(
        self,
        state: State,
        shut: set[int],
        held: set[int],
        among: Array,
        last: bool = False,
    ) -> Iterator[Proposal | None]:
        """Ask whether two sets are one, when that is likely or there are too many sets."""
        model, K = self.model, self.model.K
        count = len(model.keys)
        if count < 2:
            return
        upper = np.triu(self._learned_chances(), 1)
        small = self.settings.small_set * self.problem.n / K
        forced = int((model.mass >= small).sum()) > K and not self.sets.between_sets
        unsettled = self._most_doubt(among)
        at_stake = np.minimum(model.mass, model.mass[:, None])
        if self.problem.auto:
            # mended per question: where the label is wrong, a point takes two
            unsettled /= 1.0 + unsettled
            forced, changes = False, np.triu(changing(upper, model.standing), 1)
            order = changes * at_stake
        else:
            order, changes = telling(upper, model.standing), upper
        for flat in np.argsort(-order, axis=None, kind="stable")[: self.settings.merge_candidates]:
            a, b = divmod(int(flat), count)
            if a in held or b in held:
                continue
            change = float(changes[a, b])
            stake = float(at_stake[a, b])
            likely = change >= self.settings.merge_chance
            if change <= 0:
                return
            if stake < small:
                if not last and change * stake < unsettled:
                    continue
            elif not (likely or forced or last or self._worth(change * stake, unsettled)):
                continue
            yield self._join_question(state, a, b, float(upper[a, b]), shut)

    def _most_doubt(self, among: Array) -> float:
        """Chance of being wrong of the label that is most in doubt."""
        if among.shape[0] == 0:
            return 0.0
        xp = namespace(among)
        return max(0.0, 1.0 - float(xp.min(xp.max(self.model.groups[among], axis=1))))

    def _join_question(
        self, state: State, a: int, b: int, chance: float, shut: set[int]
    ) -> Proposal | None:
        model = self.model
        if model.differ[a, b]:
            for cut in self.sets.cuts:
                i, j = cut.i, cut.j
                between = {int(model.place[i]), int(model.place[j])} == {a, b}
                once = between and self._known.votes.net(i, j) == -1
                question = self._repeat(state, cut, shut, self.settings.rest) if once else None
                if question is not None:
                    return question
            return None
        if any(
            {model.place[link.i], model.place[link.j]} == {a, b}
            for link in self._known.votes.ties()
        ):
            return None  # checked in its turn, and not put before the person again at once
        for i in model.speakers(a, shut):
            for j in model.speakers(b, shut):
                if self._askable(state, i, j):
                    return join_question(i, j, chance, len(model.keys))
        return None

    def _repeat(self, state: State, link: Link, shut: set[int], rest: int) -> Proposal | None:
        """Check an answer with another member of the set; one that joined two sets as it was."""
        k = int(self.model.place[link.j])
        merge = any(pair_of(link) == pair_of(m) for m in self.sets.merges)
        others = self.model.speakers(k, shut) if k >= 0 and not merge else []

        def may(i: int, j: int) -> bool:
            return not {i, j} & shut and self._askable(state, i, j)

        votes = self._known.votes
        found = ask_again(link, votes, others, may, state.asked, votes.rate)
        just_now = [{a.i, a.j} for a in state.answers[len(state.answers) - rest :]]
        return None if found is None or {found.i, found.j} in just_now else found

    def _askable(self, state: State, i: int, j: int) -> bool:
        return i != j and not state.put_off(i, j)
