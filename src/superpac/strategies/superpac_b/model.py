"""One model of what the votes say: sets, the class of every item, and how sure it all is.

Unknown are the set of every item and which sets are one cluster. The prior of an item is the
softmax of three weighted views, each of which leaves the item out; the likelihood of a vote is one
minus the person's error rate where it is right, and the rate where it is wrong. Everything is a
function of the votes as a multiset: the order in which they came plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from superpac.answers.links import Pair
from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.graph.diffusion import Diffusion
from superpac.strategies.base import Problem
from superpac.strategies.superpac_b.settings import Settings
from superpac.strategies.superpac_b.views import KernelVote, NestedSubspaces
from superpac.strategies.superpac_b.vote_sets import held_together, odds_between
from superpac.strategies.superpac_d.assumed_links import (
    assumed_links,
    hosted,
    links_left,
    standing_groups,
)
from superpac.strategies.superpac_d.merge_chances import merge_chances
from superpac.strategies.superpac_d.posterior import fit_weights, pooled, softmax
from superpac.strategies.superpac_d.provisional_sets import mutual_claims
from superpac.strategies.superpac_d.settings import DEFAULT as COMMON
from superpac.strategies.superpac_d.view_scores import first_masses, log_shares, shared_masses


class Model:
    """Beliefs that follow from votes.

    Parameters
    ----------
    problem : Problem
        What to work on.
    diffusion : Diffusion
        Solver on the problem's affinity.
    seeds : sequence of int
        Items that are sets of their own before any question.
    settings : Settings
        The numbers.

    Attributes
    ----------
    members : list of ndarray of int
        Members of each set, in order of their first item; all arrays below are in this order.
    place : ndarray of int of shape (n,)
        The set of each item, -1 for a free one.
    certain : ndarray of bool of shape (n,)
        Items in a set.
    prior : ndarray of shape (n, S)
        Chance of every set for every item, its own votes left out.
    sets : ndarray of shape (n, S)
        The same with its votes.
    groups : ndarray of shape (n, G)
        The same for groups of sets that are taken for one cluster.
    labels : ndarray of int of shape (n,)
        The likeliest group of every item; the group of its set for one that is in a set.
    said_of_free : dict of int to dict of int to float
        For free items the log odds of the votes on them, by set.
    mass : ndarray of shape (S,)
        Items that each set would hold.
    standing : ndarray of int of shape (S,)
        The group that each set is taken to be in.
    chances : ndarray of shape (S, S)
        Chance that two sets are one cluster.
    differ : ndarray of bool of shape (S, S)
        Sets that votes keep apart.
    weights : ndarray of shape (3,)
        Weights of the views.
    """

    def __init__(
        self, problem: Problem, diffusion: Diffusion, seeds: list[int], settings: Settings
    ) -> None:
        self.problem, self.diffusion, self.settings = problem, diffusion, settings
        self.K = problem.n_clusters
        self.seeds = np.sort(np.array(seeds, dtype=np.intp))
        subspaces = NestedSubspaces(problem.X, self._dims(), settings.residual_spread)
        self._views = subspaces, KernelVote(problem)
        self._columns: dict[int, FloatArray] = {}
        self._claims: dict[bytes, FloatArray] = {}
        self._assumed: list[tuple[int, int]] | None = None
        self.follow({}, 0.0)
        # of the pieces before any answer: what a merge of them is doubted by later
        self.first_chances, self.first_mass = self.chances, self.mass

    def _dims(self) -> list[int]:
        """Dimensions of the subspaces: multiples of the problem's that a cluster has points for."""
        dim = int(np.max(self.problem.dim))
        ambient = max(1, self.problem.X.shape[1] - 1)
        most = int(self.problem.n / (self.K * self.settings.points_per_dimension))
        return sorted(min(ambient, max(dim, min(k * dim, most))) for k in self.settings.dimensions)

    def follow(self, odds: Mapping[Pair, float], rate: float) -> None:
        """Believe what follows from the log odds of the votes on pairs, and the share of errors."""
        self.odds, self.rate = odds, rate
        head = held_together(self.problem.n, odds)
        inside = np.bincount(head, minlength=head.size)[head] > 1
        inside |= np.isin(head, head[self.seeds])
        self._read(head, inside)
        self._believe({})
        opened = self._opened()
        if opened:
            inside[opened] = True
            self._read(head, inside)
            self._believe({})
        leaning = self._leaning()
        if leaning:
            self._believe(leaning)
        self._label()

    # what the votes settle

    def _read(self, head: IntArray, inside: BoolArray) -> None:
        """Take over the sets, what keeps them apart, and which are taken for one cluster."""
        heads = np.unique(head[inside])
        number = np.full(head.size, -1, dtype=np.intp)
        number[heads] = np.arange(heads.size)
        self.place = np.where(inside, number[head], -1)
        self.certain = inside.copy()
        self.members = [np.flatnonzero(self.place == k) for k in range(heads.size)]
        self.size = np.array([part.size for part in self.members])
        self.seeded = np.zeros(heads.size, dtype=np.bool_)
        self.seeded[self.place[self.seeds]] = True
        self.between, self.said_of_free = odds_between(self.odds, self.place)
        self.differ = np.zeros((heads.size, heads.size), dtype=np.bool_)
        for (a, b), value in self.between.items():
            self.differ[a, b] = self.differ[b, a] = value < 0
        self.standing = np.arange(heads.size)
        if self._assumed is not None:
            counted = self.seeded | (self.size > 1)
            left = links_left(self._assumed, self.place, self.differ, counted, self.K)
            self.standing = standing_groups(left, self.place, self.differ)

    def _opened(self) -> list[int]:
        """Free items that differ from their likeliest sets: more likely in none that is known."""
        count = len(self.members)
        new = 0.5 * max(self.settings.new_chance, 1.0 - count / self.K)
        found = []
        for t, said in self.said_of_free.items():
            against = [k for k, value in said.items() if value < 0]
            if len(against) < min(COMMON.give_up_after, count):
                continue
            belief = np.sqrt(self.prior[t])  # an item that is hard is harder than the model thinks
            belief = (1 - COMMON.belief_even) * belief / belief.sum() + COMMON.belief_even / count
            belief[against] *= np.exp([said[k] for k in against])
            if belief.max() < self.settings.open_below * (belief.sum() + new):
                found.append(t)
        return sorted(found)

    def _leaning(self) -> dict[int, tuple[int, float]]:
        """Free items that votes were given on: their likeliest set, where there is a clear one."""
        found = {}
        for t in sorted(self.said_of_free):
            k = int(self.sets[t].argmax())
            chance = float(self.sets[t, k])
            if chance >= self.settings.lean:
                found[t] = k, chance
        return found

    # what is believed of items

    def _believe(self, leaning: Mapping[int, tuple[int, float]]) -> None:
        """Prior and posterior of every item; items that lean to a set speak for it, too."""
        shares = self._shares(leaning)
        votes = self._votes()
        guess = (shares + votes).argmax(axis=1)
        # where no walk goes from any set, an item is not taken to be in the first of them
        guess[np.ptp(shares, axis=1) < 1e-9] = -1
        scores = self._scores(shares, guess)
        weights = self._fit(scores)
        if weights[1] > weights[0]:
            # as K-subspaces does, where answers show that subspaces tell more than the graph
            guess = (np.tensordot(weights, scores, axes=1) + votes).argmax(axis=1)
            scores = self._scores(shares, guess)
            weights = self._fit(scores)
        self.weights = weights
        logits = np.tensordot(weights, scores, axes=1)
        self.prior, self.sets = softmax(logits), softmax(logits + votes)

    def _shares(self, leaning: Mapping[int, tuple[int, float]]) -> FloatArray:
        """Logarithms of the sets' shares in every item by diffusion, the item left out."""
        n, count = self.problem.n, len(self.members)
        self._solve(np.r_[np.flatnonzero(self.certain), list(leaning)].astype(np.intp))
        raw = np.column_stack([self._claim(part) for part in self.members])
        own = np.zeros((n, count))
        for t in np.flatnonzero(self.certain).tolist():
            own[t, self.place[t]] = self._columns[t][t]
        free = ~self.certain
        for t, (k, chance) in leaning.items():
            raw[:, k] += chance * self._columns[t]
            own[t, k] = chance * self._columns[t][t]
            free[t] = False
        total = np.maximum(raw[free].sum(axis=0) if free.any() else raw.sum(axis=0), 1e-12)
        first = first_masses(self.size, self.seeded, self.K, COMMON)
        self.claims = raw / total * first
        share = (raw - own) / total
        masses = shared_masses(share, free, self.size, first, COMMON)
        return log_shares(share * masses, COMMON.diffusion_floor)

    def _solve(self, items: IntArray) -> None:
        """Have the diffusion columns of some items."""
        missing = [t for t in items.tolist() if t not in self._columns]
        if missing:
            solved = self.diffusion.columns(missing)
            self._columns.update({t: solved[:, c].copy() for c, t in enumerate(missing)})

    def _claim(self, members: IntArray) -> FloatArray:
        """Sum of the members' columns, added up in their order."""
        key = members.tobytes()
        if key not in self._claims:
            if len(self._claims) > 20 * len(self.members):
                self._claims.clear()
            total = np.zeros(self.problem.n)
            for t in members.tolist():
                total += self._columns[t]
            self._claims[key] = total
        return self._claims[key]

    def _votes(self) -> FloatArray:
        """Log likelihood of the votes on free items, for every set of the group voted on."""
        found = np.zeros((self.problem.n, len(self.members)))
        for t, said in self.said_of_free.items():
            for k, value in said.items():
                found[t, self.standing == self.standing[k]] += value
        return found

    def _scores(self, shares: FloatArray, guess: IntArray) -> FloatArray:
        """Scores of all views, shape (3, n, S), where free items are taken to be as guessed.

        Those with votes on them are taken to be nowhere: they were hard, and an item that is unlike
        its set bends a subspace towards itself.
        """
        guess[self.certain] = self.place[self.certain]
        guess[list(self.said_of_free)] = -1
        members = [np.flatnonzero(guess == k) for k in range(len(self.members))]
        return np.stack([shares, *(view.scores(members) for view in self._views)])

    def _fit(self, scores: FloatArray) -> FloatArray:
        """Weights that make the sets of placed items likely, each scored without itself."""
        prior = np.array(self.settings.weights)
        placed = self.certain & (self.size[self.place] > 1)
        placed[self.seeds] = False
        if len(self.members) < 2 or not placed.any():
            return prior
        known = [(scores[:, t].T, int(self.place[t])) for t in np.flatnonzero(placed)]
        strength = self.settings.weights_strength
        return fit_weights(known, prior, replace(COMMON, weights_strength=strength))

    # what is believed of sets, and labels

    def _label(self) -> None:
        """Relations of sets, groups' posterior, and labels."""
        held = self.sets[~self.certain].sum(axis=0)
        self.mass = held + self.size
        members = [part.tolist() for part in self.members]
        graph, floor = COMMON.mutual_diffusion, COMMON.mutual_floor
        mutual = graph * mutual_claims(self.claims, members)
        mutual += (1 - graph) * mutual_claims(self.prior + floor, members)
        if self._assumed is None:
            links = assumed_links(mutual, held, self.K)
            self._assumed = [(members[a][0], members[b][0]) for a, b in links]
            self.standing = standing_groups(self._assumed, self.place, self.differ)
        self.small = self.mass < COMMON.small_set * self.problem.n / self.K
        open_still = mutual.copy()
        for (a, b), value in self.between.items():  # a "different" may be wrong
            open_still[a, b] = open_still[b, a] = mutual[a, b] * np.exp(min(value, 0.0))
        none = np.zeros_like(self.differ)
        self.chances = merge_chances(
            open_still, none, None, self.small, self.mass, self.K, self.rate
        )
        belief = np.stack([self.prior[part].mean(axis=0) for part in self.members])
        for t, said in self.said_of_free.items():
            for k, value in said.items():
                if value < 0:  # what the item most likely is, the set most likely is not
                    belief[k] *= 1.0 - self.prior[t]
        group = hosted(self.standing, belief, self.mass, self.differ, self.K, COMMON)
        heads, where = np.unique(group, return_inverse=True)
        self.groups = pooled(self.sets, where, heads.size)
        labels = self.groups.argmax(axis=1)
        labels[self.certain] = where[self.place[self.certain]]
        self.labels = labels.astype(np.intp)

    def speakers(self, k: int, shut: set[int] | frozenset[int]) -> list[int]:
        """Few members that a set claims most: the clearest to compare with."""
        return self.clearest([t for t in self.members[k].tolist() if t not in shut], k)

    def clearest(self, items: list[int], k: int) -> list[int]:
        """The same among some members."""
        points = np.array(items, dtype=np.intp)
        order = np.argsort(-self.claims[points, k], kind="stable")
        return [int(t) for t in points[order][: COMMON.speakers]]
