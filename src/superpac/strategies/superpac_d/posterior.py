"""Which set each point is in: three views of the sets, weighed as the answers so far suggest.

Each view (`view_scores`) scores every set; the posterior is the softmax of their weighted sum.
Weights are fitted to the points that answers have placed, each scored as if its own answer were not
known (stacking, Wolpert, "Stacked generalization", Neural Networks 5, 1992). Starting sets beyond
the number of clusters are joined into groups that are assumed to be one cluster until an answer
says otherwise; labels are the likeliest groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from superpac.answers.links import SAME, UNSURE, Link
from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.device.arrays import (
    Array,
    filled,
    indices_to_host,
    is_host,
    like,
    namespace,
    ratio,
    to_host,
    where_true,
)
from superpac.graph.cluster_count import walk_lift
from superpac.graph.diffusion import Claims, Diffusion, solve_work
from superpac.strategies.base import Problem
from superpac.strategies.superpac_d.assumed_links import (
    assumed_links,
    hosted,
    links_left,
    standing_groups,
)
from superpac.strategies.superpac_d.merge_chances import part_chances
from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets, mutual_claims
from superpac.strategies.superpac_d.set_likeness import SetLikeness, likeness_work
from superpac.strategies.superpac_d.settings import DEFAULT, Settings
from superpac.strategies.superpac_d.view_scores import (
    KernelView,
    SubspaceView,
    View,
    diffusion_shares,
    first_masses,
    near_labels,
    room_left,
)
from superpac.system.progress import Progress, no_progress, parts_of


@dataclass(frozen=True)
class _Steps:
    """Progress of what takes long in the first model."""

    solving: Progress = no_progress
    adding: Progress = no_progress
    columns: tuple[Progress, ...] = (no_progress, no_progress)
    scores: Progress = no_progress
    likeness: Progress = no_progress


class Posterior:
    """Beliefs that follow the sets.

    What is about all points and sets lives where the diffusion is computed: `claims`, `sets` and
    `groups` may be on a graphics processor. What is about sets alone, and the labels, does not.

    Parameters
    ----------
    problem : Problem
        What to work on.
    diffusion : Diffusion
        Solver on the problem's affinity.
    views : bool, default=True
        Whether subspaces and the kernel vote are used beside diffusion.
    settings : Settings
        The numbers.
    progress : callable, optional
        Called as ``progress(done, total)`` while the kernel is approximated.

    Attributes
    ----------
    keys : list of int
        The sets; all arrays below are in this order.
    members : list of list of int
        Their members.
    size, mass : ndarray of shape (S,)
        Their members, and the points they would hold.
    certain : ndarray of bool of shape (n,)
        Points in a set.
    place : ndarray of int of shape (n,)
        The set of each certain point, -1 for the rest.
    claims : ndarray of shape (n, S)
        Claims by diffusion, every column of one mass.
    sets : ndarray of shape (n, S)
        Posterior over sets, each point's own answers left out.
    groups : ndarray of shape (n, G)
        Posterior over groups of sets, with all that is known of single points.
    differ : ndarray of bool of shape (S, S)
        Sets known to differ.
    mutual : ndarray of shape (S, S)
        How much sets claim each other.
    lift : ndarray of shape (S, S)
        How many times as often as chance has it a walk goes from set to set, where K is unknown.
    parts : ndarray of shape (S, S)
        Chance that sets of two groups are one though no walk says so, where K is unknown.
    standing : ndarray of int of shape (S,)
        The group that each set is assumed to be in.
    group : ndarray of int of shape (S,)
        The same, with small groups beyond the number of clusters in their likeliest host.
    labels : ndarray of shape (n,)
        The labelling.
    weights : ndarray of shape (3,)
        Weights of the views.
    K : int
        Number of clusters: as given, or as many as were met.
    settled : bool
        Whether all of this follows from the sets as they are.
    """

    def __init__(
        self, problem: Problem, diffusion: Diffusion, *, views: bool = True,
        settings: Settings = DEFAULT, progress: Progress = no_progress,
    ) -> None:  # fmt: skip
        self.problem, self.diffusion, self.settings = problem, diffusion, settings
        least = settings.refresh_columns if problem.n <= settings.refresh else 1
        self.limit = max(least, settings.refresh // problem.n)
        self._views: tuple[View, ...] = ()
        if views:
            device = diffusion.device
            subspaces = SubspaceView(problem.X, int(np.max(problem.dim)), settings, device)
            kernel = KernelView(
                problem.X,
                settings,
                seed=problem.seed,
                remember=problem.remember,
                device=device,
                there=subspaces.points_there(),
                progress=progress,
            )
            self._views = subspaces, kernel
        self._likeness = SetLikeness(problem.X, problem.seed, settings)
        self._assumed: list[tuple[int, int]] | None = None
        self._steps = _Steps()
        self.K = problem.n_clusters
        self.forget()

    @contextmanager
    def telling(self, progress: Progress, sets: int, *, anew: bool) -> Iterator[None]:
        """Tell how far :meth:`follow` and :meth:`settle` are within: both if `anew`, or the last.

        `sets` is how many sets there are.
        """
        if progress is no_progress:
            yield
            return
        (n, ambient), nnz = self.problem.X.shape, self.diffusion.graph.nnz
        landmarks = min(n, self.settings.landmarks)
        once = self.problem.auto and not self._likeness.known
        work = [
            solve_work(nnz, sets) * anew,
            0.02 * n * ambient**2 * anew * bool(self._views),
            0.6 * n * sets * ambient * bool(self._views),
            0.25 * n * sets * landmarks * bool(self._views),
            200.0 * n * sets,
            likeness_work(n, ambient, self.settings) * once,
            100.0 * n * sets,
        ]
        whole = parts_of(progress, work)
        self._steps = _Steps(whole[0], whole[1], (whole[2], whole[3]), whole[4], whole[5])
        try:
            yield
            whole[-1](1, 1)
        finally:
            self._steps = _Steps()

    def forget(self) -> None:
        """Drop everything that came from answers."""
        self._claims = Claims(self.diffusion)
        for view in self._views:
            view.clear()
        self.weights = np.array(self.settings.weights_prior)
        self._observed: list[tuple[FloatArray, int]] = []
        self._fitted = 0
        self._links = list(self._assumed or [])
        self._unlinked, self._among_labels, self._before = False, False, self.K
        self.settled = False
        self._columns: list[Array] | None = None

    def save(self) -> tuple[Any, ...]:
        """What :meth:`restore` takes, for answers that begin with the same ones."""
        views = tuple(view.save() for view in self._views)
        fitted = len(self._observed), self.weights, self._fitted
        linked = self._links, self._unlinked, self._among_labels, self._before
        return self._claims.save(), views, fitted, linked

    def restore(self, saved: tuple[Any, ...], sets: ProvisionalSets) -> None:
        """Go back to what was saved, when the sets were these."""
        claims, views, (observed, self.weights, self._fitted), linked = saved
        self._links, self._unlinked, self._among_labels, self._before = linked
        self._claims.restore(claims)
        for view, part in zip(self._views, views, strict=True):
            view.restore(part)
        del self._observed[observed:]
        self._read(sets)

    def history(self, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        """What :meth:`adopt` needs beside something saved, in a process that has seen no answer."""
        return self._observed[: saved[2][0]], self._assumed, dict(self.diffusion.diagonal)

    def adopt(
        self, saved: tuple[Any, ...], history: tuple[Any, ...], sets: ProvisionalSets
    ) -> None:
        """Go on from what another process saved."""
        observed, assumed, diagonal = history
        self._observed, self._assumed = list(observed), assumed
        self.diffusion.diagonal.update(diagonal)
        self.restore(saved, sets)

    def observe(self, answer: Link) -> None:
        """Keep what the views say of a point whose set an answer is about to tell.

        Weights are for points in doubt, which questions are about; others would make them too sure.
        """
        if answer.answer != SAME or answer.unasked or not self._views or len(self.keys) < 2:
            return
        t, k = self._free_first(answer)
        if self.place[t] < 0 <= k:
            self._observed.append((to_host(self._scores([t]))[:, 0].T.copy(), k))

    def foretold(self, answer: Link, sets: ProvisionalSets) -> tuple[float, float] | None:
        """Chance given to the label of a free point that an answer is about to confirm or not.

        None where the answer says nothing about the label: between two sets, about a point asked
        before, or about a set outside the label's group.
        """
        t, k = self._free_first(answer)
        if answer.answer == UNSURE or self.place[t] >= 0 or k < 0 or sets.free_apart.get(t):
            return None
        self._fit()
        group = standing_groups(self._links, self.place, sets.differ(self.keys))
        chance = np.bincount(group, weights=to_host(softmax(self._logits([t])))[0])
        if group[k] != chance.argmax():
            return None
        return float(chance.max()), float(answer.answer == SAME)

    def _free_first(self, answer: Link) -> tuple[int, int]:
        """Point of an answer that is free, if one is, and the set of the other, or -1."""
        i, j = answer.i, answer.j
        return (i, int(self.place[j])) if self.place[i] < 0 else (j, int(self.place[i]))

    def follow(self, sets: ProvisionalSets) -> None:
        """Take in that the sets changed; :meth:`settle` computes what is read from them."""
        self._claims.follow(sets.members, self._steps.solving)
        self._read(sets)
        if self._views:
            xp = namespace(self._share)
            guess = xp.argmax(self._share, axis=1)
            self._fit()
            if self.weights[1] > self.weights[0]:
                # as K-subspaces does, once answers show that subspaces tell more than the graph
                self._refresh(guess, 0)
                guess = xp.argmax(self._logits(), axis=1)
            self._refresh(guess, self.limit)

    def begin_labels(self) -> None:
        """Go back to the links of the start, for labels that people bring along."""
        if not self._among_labels:
            self._among_labels, self._before = True, self.K
        self._links, self._unlinked = list(self._assumed or []), True

    def end_labels(self, sets: ProvisionalSets) -> None:
        """Link the sets before an answer that is no such label is taken in."""
        self.relink(sets)
        self._among_labels = False

    def relink(self, sets: ProvisionalSets) -> None:
        """Link all sets as at the start, if labels were brought along since.

        Without this the sets of these labels would be clusters beside those that were there.
        """
        if not self._unlinked:
            return
        self._unlinked = False
        if not sets.labelled:  # labels of one item each, which joined nothing
            return
        self.settle(sets)
        links = assumed_links(self.mutual, self.mass, self._wanted(sets), self.differ)
        self._links = [(self.members[a][0], self.members[b][0]) for a, b in links]
        self._read(sets)

    def _wanted(self, sets: ProvisionalSets) -> int:
        """Number of groups after labels were brought along.

        Where the number of clusters is unknown it is at most that of before, and one for each label
        and each group of before whose claims fall less on labelled points than a label's own.
        """
        if not self.problem.auto:
            return self.K
        claims, own = to_host(self._claims.matrix(self.keys)), to_host(self._own)
        near = near_labels(claims, own, self.place, list(sets.labelled))
        labels = int((near == 1.0).sum())
        bare = np.unique(self.standing[near < self.settings.label_near]).size
        return max(labels, min(labels + bare, self._before))

    def _refresh(self, guess: Array, limit: int) -> None:
        """Bring the views up to date with the sets that points are taken to be in."""
        guess[self._rows] = self._sets_of_rows
        by_key = like(np.asarray(self.keys, dtype=np.intp), guess)[guess]
        moments, *others = self._views
        moments.update(by_key, self.keys, limit, self._steps.adding)
        for view in others:
            view.update(by_key, self.keys, limit)
        self._columns = None

    def _read(self, sets: ProvisionalSets) -> None:
        """Take over the sets, the links that still stand, and the shares by diffusion."""
        self.settled = False
        self._columns = None
        self.keys = list(sets.members)
        self.members = [sets.members[key] for key in self.keys]
        self.size = np.array([len(points) for points in self.members])
        self.number = {key: k for k, key in enumerate(self.keys)}
        rows = np.concatenate([np.asarray(points, dtype=np.intp) for points in self.members])
        sets_of_rows = np.repeat(np.arange(self.size.size), self.size)
        self.place = np.full(self.problem.n, -1, dtype=np.intp)
        self.place[rows] = sets_of_rows
        self._held = rows, sets_of_rows
        self.certain = self.place >= 0
        raw = self._claims.matrix(self.keys)
        self._rows, self._sets_of_rows = like(rows, raw), like(sets_of_rows, raw)
        self._place = filled(self.problem.n, -1, raw, "int64")
        self._place[self._rows] = self._sets_of_rows
        self._certain = self._place >= 0
        unasked = self.place[list(sets.unasked)]
        self._told = bool(sets.unasked)
        self._drawn = self.size - np.bincount(unasked, minlength=len(self.keys))
        seeded = np.zeros(len(self.keys), dtype=np.bool_)
        seeded[self.place[list(sets.seeds)]] = True
        if self.problem.auto and self._assumed is not None:
            self.K = self._count(sets)
        elif self._assumed is not None:
            counted, differ = seeded | (self.size > 1), sets.differ(self.keys)
            self._links = links_left(self._links, self.place, differ, counted, self.K)
        self._share = self._diffused(raw, seeded)

    def _count(self, sets: ProvisionalSets) -> int:
        """Count clusters met: groups that hold a starting point, or more than one point."""
        group = standing_groups(self._links, self.place, sets.differ(self.keys))
        held = np.bincount(group, weights=self.size, minlength=group.size)
        held[group[self.place[list(sets.seeds)]]] += 1
        return max(1, int((held > 1).sum()))

    def settle(self, sets: ProvisionalSets) -> None:
        """Compute posterior, relations of sets and labels, if the sets changed since.

        Nothing of this enters what later answers make of the sets but the chance of a merge, so
        going through many answers need not compute it for each.
        """
        if self.settled:
            return
        self.settled = True
        self._fit()
        P = self.sets = softmax(self._logits())
        self._steps.scores(1, 1)
        held = to_host(P[~self._certain].sum(axis=0))
        self.mass = held + self.size
        self.differ = sets.differ(self.keys)
        graph, floor = self.settings.mutual_diffusion, self.settings.mutual_floor
        # rows of members alone: of all points only these are looked at
        ends = np.cumsum(self.size)
        mine = [list(range(end - size, end)) for end, size in zip(ends, self.size, strict=True)]
        claimed, believed = to_host(self.claims[self._rows]), to_host(P[self._rows])
        self.mutual = graph * mutual_claims(claimed, mine)
        self.mutual += (1 - graph) * mutual_claims(believed + floor, mine)
        if self._assumed is None:
            links = assumed_links(self.mutual, held, self.K)
            self._assumed = [(self.members[a][0], self.members[b][0]) for a, b in links]
            self._links = self._assumed
        self.standing = standing_groups(self._links, self.place, self.differ)
        if self.problem.auto:
            belong = namespace(P).asarray(P, copy=True)
            belong[self._rows] = 0.0
            belong[self._rows, self._sets_of_rows] = 1.0
            self.lift = walk_lift(self.diffusion.graph_there, belong)
            like_each_other = self._likeness.between(belong, self._steps.likeness)
            self.parts = part_chances(
                self.standing, self.mass, like_each_other, self.differ, self.settings
            )
        belief = np.stack([believed[points].mean(axis=0) for points in mine])
        apart = self._apart(sets)
        of_points = to_host(P[like(np.array([t for t, _ in apart], dtype=np.intp), P)])
        for (_, k), row in zip(apart, of_points, strict=True):
            belief[k] *= 1.0 - row  # what the point most likely is, the set most likely is not
        self.group = hosted(self.standing, belief, self.mass, self.differ, self.K, self.settings)
        self._label(sets, apart)

    def _apart(self, sets: ProvisionalSets) -> list[tuple[int, int]]:
        """Free points and the sets that they are known to differ from."""
        return [(t, self.number[key]) for t, keys in sets.free_apart.items() for key in keys]

    def _diffused(self, raw: Array, seeded: BoolArray) -> Array:
        """Shares of the sets in every point by diffusion; a certain point is judged by others."""
        diagonal = self.diffusion.diagonal
        of_rows = np.array([diagonal[t] for points in self.members for t in points])
        own = self._own = filled(self.problem.n, 0.0, raw, "float64")
        own[self._rows] = like(of_rows, raw)
        first = first_masses(self.size, seeded, self.K, self.settings)
        if self._told:
            first *= room_left(to_host(raw), to_host(own), self.place)
        drawn, first = like(self._drawn, raw), like(first, raw)
        self.claims, shares = diffusion_shares(raw, own, self._place, drawn, first, self.settings)
        return shares

    def _scores(self, rows: list[int] | slice = slice(None)) -> Array:
        """Scores of all views for some points, shape (V, rows, S)."""
        if self._columns is None:
            self._columns = [
                view.comparable(self.keys, told)
                for view, told in zip(self._views, self._steps.columns, strict=False)
            ]
        pairs = zip(self._views, self._columns, strict=True)
        scores = [view.scores(columns[rows]) for view, columns in pairs]
        xp = namespace(self._share)
        return xp.stack([xp.log(self._share[rows]), *scores])

    def _logits(self, rows: list[int] | slice = slice(None)) -> Array:
        """Weighted sum of the views for some points, shape (rows, S)."""
        scores = self._scores(rows)
        weights = like(self.weights[: len(scores)], scores)
        return namespace(scores).tensordot(weights, scores, axes=1)

    def _fit(self) -> None:
        """Learn the weights from the points placed, now and then."""
        settings = self.settings
        count = len(self._observed) // settings.weights_every
        if count != self._fitted:
            self._fitted = count
            last = settings.weights_every * count
            recent = self._observed[max(0, last - settings.weights_recent) : last]
            self.weights = fit_weights(recent, np.array(settings.weights_prior), settings)

    def _label(self, sets: ProvisionalSets, apart: list[tuple[int, int]]) -> None:
        """Groups' posterior and labels, with what each free point is known not to be."""
        F = pooled(self.sets, self.standing, self.standing.size)
        xp = namespace(F)
        if apart:
            points, known = np.array(apart, dtype=np.intp).T
            F[like(points, F), like(self.standing[known], F)] = 0.0
        heads, where = np.unique(self.group, return_inverse=True)
        G = pooled(F, where, heads.size)
        most = xp.max(G, axis=1)
        labels = indices_to_host(xp.argmax(G, axis=1))
        lost = to_host(where_true((most <= 0) & ~self._certain))
        rows, sets_of_rows = self._held
        labels[rows] = where[sets_of_rows]
        labels[lost] = heads.size + np.arange(lost.size)
        self._leave_hosts(sets, labels)
        self._keep_apart(sets, labels, G)
        self.groups = ratio(G, G.sum(axis=1)[:, None])
        self.labels = labels.astype(np.intp, copy=False)

    def _leave_hosts(self, sets: ProvisionalSets, labels: IntArray) -> None:
        """Give a group its own label again where a point of its host was said to differ from it."""
        for t, k in self._apart(sets):
            hosted_there = self.group[k] != self.standing[k]
            if hosted_there and labels[t] == labels[self.members[k][0]]:
                self._leave_host(k, labels)
        # two guests of one host may differ from each other, or a guest from a part of its host
        for a, b in np.argwhere(np.triu(self.differ)).tolist():
            if labels[self.members[a][0]] == labels[self.members[b][0]]:
                self._leave_host(a if self.group[a] != self.standing[a] else b, labels)

    def _leave_host(self, k: int, labels: IntArray) -> None:
        """Give the group of a set a label of its own."""
        own = int(labels.max()) + 1
        for other in np.flatnonzero(self.standing == self.standing[k]):
            labels[self.members[other]] = own

    def _keep_apart(self, sets: ProvisionalSets, labels: IntArray, G: Array) -> None:
        """Move free points away from the labels of all that they are said to differ from."""
        for t in dict.fromkeys((*sets.free_pairs, *sets.free_apart)):
            taken = {int(labels[o]) for o in sets.free_pairs.get(t, ())}
            differs = (self.members[self.number[key]][0] for key in sets.free_apart.get(t, ()))
            taken |= {int(labels[member]) for member in differs}
            if int(labels[t]) in taken:
                row = to_host(G[t])
                order = [int(k) for k in np.argsort(-row) if row[k] > 0 and int(k) not in taken]
                labels[t] = order[0] if order else int(labels.max()) + 1

    def beliefs_in(self, points: Sequence[int], places: Sequence[int]) -> FloatArray:
        """Chance of a set for each of some points, all asked for at once."""
        P = self.sets
        rows, columns = (like(np.array(part, dtype=np.intp), P) for part in (points, places))
        return to_host(P[rows, columns])

    def speakers(self, k: int, shut: set[int]) -> list[int]:
        """Few members that a set claims most: the clearest to compare with."""
        points = np.array([t for t in self.members[k] if t not in shut], dtype=np.intp)
        order = np.argsort(-to_host(self.claims[like(points, self.claims), k]), kind="stable")
        return [int(t) for t in points[order][: self.settings.speakers]]


def fit_weights(
    observed: Sequence[tuple[FloatArray, int]], prior: FloatArray, settings: Settings
) -> FloatArray:
    """Weights of the views that make the known sets likeliest.

    Newton's method on the multinomial likelihood with a Gaussian prior about `prior`.

    Parameters
    ----------
    observed : sequence of (ndarray of shape (S, V), int)
        For each placed point the scores of the sets there were by `V` views, and the set it is in.
    prior : ndarray of shape (V,)
        Weights before any answer; positive.
    settings : Settings
        Strength of the prior, least weight, steps.

    Returns
    -------
    ndarray of shape (V,)

    Examples
    --------
    >>> views = np.stack([np.eye(2), np.zeros((2, 2))], axis=2)
    >>> w = fit_weights([(views[0], 0), (views[1], 1)] * 20, np.ones(2), Settings())
    >>> bool(w[0] > 1.5), float(w[1].round(3))
    (True, 1.0)
    """
    weights = prior.copy()
    if not observed:
        return weights
    pull = settings.weights_strength / prior**2
    widest = max(scores.shape[0] for scores, _ in observed)
    stack = np.zeros((len(observed), widest, prior.size))
    absent = np.ones((len(observed), widest), dtype=np.bool_)
    for m, (scores, _) in enumerate(observed):
        stack[m, : scores.shape[0]] = scores
        absent[m, : scores.shape[0]] = False
    truth = np.array([k for _, k in observed])
    chosen = stack[np.arange(truth.size), truth]
    most = settings.weights_step_most
    for _ in range(settings.weights_steps):
        logits = stack @ weights
        logits[absent] = -np.inf
        P = softmax(logits)
        mean = np.einsum("ms,msv->mv", P, stack)
        gradient = (chosen - mean).sum(axis=0) - pull * (weights - prior)
        spread = np.einsum("ms,msv,msw->vw", P, stack, stack, optimize=True) - mean.T @ mean
        step = np.linalg.solve(spread + np.diag(pull), gradient)
        weights = np.maximum(weights + np.clip(step, -most, most), settings.weights_least)
        if np.abs(step).max() < settings.weights_tolerance:
            break
    return weights


def pooled(values: Array, group: IntArray, count: int) -> Array:
    """Columns summed by group."""
    if not is_host(values):
        return values @ like(np.eye(count)[group], values)
    total = np.zeros((values.shape[0], count))
    for k, g in enumerate(group):
        total[:, g] += values[:, k]
    return total


def softmax(logits: Array) -> Array:
    """Exponentials of every row, made to sum to one."""
    if not is_host(logits):
        return logits.softmax(dim=1)
    P = _less_largest(logits)
    np.exp(P, out=P)
    _to_sum_one(P)
    return P


@njit(cache=True)
def _less_largest(values):  # type: ignore[no-untyped-def]
    """Every row less its largest entry."""
    out = np.empty(values.shape)
    for i in range(values.shape[0]):
        top = -np.inf
        for k in range(values.shape[1]):
            top = max(top, values[i, k])
        for k in range(values.shape[1]):
            out[i, k] = values[i, k] - top
    return out


@njit(cache=True)
def _to_sum_one(rows):  # type: ignore[no-untyped-def]
    """Divide every row by its sum, in place."""
    for i in range(rows.shape[0]):
        total = 0.0
        for k in range(rows.shape[1]):
            total += rows[i, k]
        for k in range(rows.shape[1]):
            rows[i, k] /= total
