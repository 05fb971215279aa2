"""SUPERPAC-D: diffusion from certain sets, two further views, provisional sets.

Where SUPERPAC clusters again after every placed point, SUPERPAC-D asks of every point which certain
set claims it: by diffusion over the affinity, by the sets' subspaces, and by a kernel vote. The
balance of the three is learned from the answers. It starts from the centres of twice as many
pieces as there are clusters, without a question; questions then settle which of these sets belong
together, find clusters that have none, and place the points between sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from superpac.diffusion import Claims, Diffusion
from superpac.spectral import spectral_clustering
from superpac.strategies.balance import fit_weights
from superpac.strategies.base import POSTPONED, Problem, Proposal, State, Strategy
from superpac.strategies.provisional import ProvisionalSets, assumed_groups, mutual_claims
from superpac.strategies.views import KernelView, SubspaceView
from superpac.threads import one_blas_thread

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

PIECES = 2.0  # starting sets a cluster
FLOOR = 1e-4  # least share a set has of a point by diffusion
VOTE = 0.02  # least share by the kernel vote
PRIOR = np.array([1.0, 1.0, 0.5])
MERGE = 0.07  # two sets this likely to be one are asked about
DUPLICATE = 0.3  # share of sets taken for duplicates before any answer
NEW = 0.05  # a point is in no known set
STOP = 0.15  # a set less likely than this is not worth asking about a point
RECENT = 300  # placed points the balance is fitted to
REFRESH = 20_000  # points times refreshed columns an answer


class SuperpacD(Strategy):
    """SUPERPAC-D.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters, dimension, seed.
    pieces : float, default=2.0
        Starting sets a cluster.
    views : bool, default=True
        Whether subspaces and the kernel vote are used beside diffusion.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.constraints import Constraints
    >>> from superpac.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = SuperpacD(problem).propose(State(Constraints(60)))
    >>> question.i != question.j
    True
    """

    name = "superpac-d"
    evidence = True

    def __init__(
        self, problem: Problem, *, pieces: float = PIECES, views: bool = True, mix: float = 0.9
    ) -> None:
        super().__init__(problem)
        self.pieces, self.views = pieces, views
        self.mix = mix
        n, K = problem.n, problem.n_clusters
        with one_blas_thread():
            self.diffusion = Diffusion(problem.affinity)
            count = max(1, min(n, round(pieces * K)))
            first = spectral_clustering(self.diffusion.graph, count, random_state=problem.seed)
            self.sets = ProvisionalSets(n, seeds=self._centres(first))
            self.claims = Claims(self.diffusion)
            if views:
                dim = problem.dim if isinstance(problem.dim, int) else max(problem.dim)
                self.subspaces = SubspaceView(problem.X, dim)
                self.kernel = KernelView(problem.X, seed=problem.seed)
        self._limit = max(2, REFRESH // n)
        self._key: tuple[int, int] | None = None
        self._weights = PRIOR.copy()
        self._fitted = -1
        self._unreached: FloatArray | None = None

    def labels(self, state: State) -> IntArray:
        """Likeliest group of every point; certain sets are kept, no "different" is broken."""
        self._follow(state)
        return self._labels

    def propose(self, state: State, avoid: frozenset[int] = frozenset()) -> Proposal | None:
        """Go on with a point half-way, settle two sets, look for a new one, or place a point."""
        self._follow(state)
        sets, shut = self.sets, state.bad | avoid
        pending = sets.pending
        if pending is not None and pending not in shut and sets.set_of[pending] == -1:
            question = self._compare(state, pending, shut, "goes on")
            if question is not None:
                return question
        question = self._settle(state, shut)
        if question is not None:
            return question
        free = sets.set_of == -1
        free[list(shut)] = False
        among = np.flatnonzero(free)
        if among.size:
            for test, why in self._candidates(among):
                question = self._compare(state, test, shut, why)
                if question is not None:
                    return question
        return self._settle(state, shut, last=True)

    def _centres(self, pieces: IntArray) -> list[int]:
        """Point of each piece that a walk within the piece visits most."""
        n = self.problem.n
        right = np.zeros((n, int(pieces.max()) + 1))
        right[np.arange(n), pieces] = 1.0
        visits = self.diffusion.solve(right)
        mine = visits[np.arange(n), pieces]
        centres = []
        for k in range(right.shape[1]):
            inside = np.flatnonzero(pieces == k)
            if inside.size:
                centres.append(int(inside[np.argmax(mine[inside])]))
        return centres

    def _follow(self, state: State) -> None:
        key = (state.revision, state.n_answers)
        if key == self._key:
            return
        with one_blas_thread():
            self.sets.follow(state)
            self.claims.follow(self.sets.members)
            self._score()
        self._key = key

    def _score(self) -> None:
        """Posterior over sets, groups of sets, labels: all from the sets as they are now."""
        sets = self.sets
        self.keys = keys = list(sets.members)
        self.members = [sets.members[key] for key in keys]
        certain = sets.set_of >= 0
        number = np.full(max(keys) + 2, -1, dtype=np.intp)
        number[keys] = np.arange(len(keys))
        self.certain, self.place = certain, number[sets.set_of]
        raw = self.claims.matrix(keys)
        column = raw[~certain].sum(axis=0) if not certain.all() else raw.sum(axis=0)
        column = np.maximum(column, 1e-12)
        self.scaled = raw / column
        share = self.scaled.copy()
        rows = np.flatnonzero(certain)
        # a certain point is judged by the others of its set
        own = np.array([self.diffusion.diagonal[int(t)] for t in rows])
        share[rows, self.place[rows]] -= own / column[self.place[rows]]
        share = _shares(share, FLOOR)
        scores = [np.log(share)]
        if self.views:
            guess = share.argmax(axis=1)
            guess[certain] = self.place[certain]
            guess = np.asarray(keys, dtype=np.intp)[guess]
            self.subspaces.update(guess, keys, self._limit)
            self.kernel.update(guess, keys, self._limit)
            residual = self.subspaces.matrix(keys)
            typical = max(float(np.median(residual.min(axis=1))), 1e-3)
            scores += [-residual / typical, np.log(_shares(self.kernel.matrix(keys), VOTE))]
            self._learn(scores)
        logits = sum(w * s for w, s in zip(self._weights, scores, strict=False))
        P = np.exp(logits - np.max(logits, axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        self.first = P  # before what is known of single points
        self.differ = sets.differ(keys)
        self.mutual = self.mix * mutual_claims(self.scaled, self.members)
        self.mutual += (1 - self.mix) * mutual_claims(P + 1e-6, self.members)
        self.group = assumed_groups(
            self.mutual, self.differ, P[~certain].sum(axis=0) + 1e-9, self.problem.n_clusters
        )
        self._label(P, certain)

    def _learn(self, scores: list[FloatArray]) -> None:
        placed = self.sets.placed
        if len(placed) // 5 == self._fitted:
            return
        self._fitted = len(placed) // 5
        size = np.array([len(points) for points in self.members])
        recent = np.array([t for t in placed[-RECENT:] if size[self.place[t]] > 1], dtype=np.intp)
        stack = np.stack([score[recent] for score in scores], axis=2)
        self._weights = fit_weights(stack, self.place[recent], PRIOR)

    def _label(self, P: FloatArray, certain: NDArray[np.bool_]) -> None:
        """Groups' posterior and labels, with what each free point is known not to be."""
        sets, group = self.sets, self.group
        number = {key: k for k, key in enumerate(self.keys)}
        heads = np.unique(group)
        G = np.zeros((P.shape[0], heads.size))
        place = np.searchsorted(heads, group)
        for k in range(P.shape[1]):
            G[:, place[k]] += P[:, k]
        for t, apart in sets._apart.items():
            for key in apart:
                G[t, place[number[key]]] = 0.0
        labels = G.argmax(axis=1)
        lost = np.flatnonzero((G.max(axis=1) <= 0) & ~certain)
        labels[certain] = place[self.place[certain]]
        for extra, lone in enumerate(lost):
            labels[lone] = heads.size + extra
        for t, others in sets.free_pairs.items():
            taken = {int(labels[o]) for o in others}
            if int(labels[t]) in taken:
                order = [int(k) for k in np.argsort(-G[t]) if G[t, k] > 0 and int(k) not in taken]
                labels[t] = order[0] if order else int(labels.max()) + 1
        total = G.sum(axis=1, keepdims=True)
        self.groups = np.divide(G, total, out=np.zeros_like(G), where=total > 0)
        self._labels = labels.astype(np.intp)

    def _candidates(self, among: IntArray) -> list[tuple[int, str]]:
        """Free points worth asking about, best first."""
        G = self.groups[among]
        if G.shape[1] > 1:
            top = np.partition(G, G.shape[1] - 2, axis=1)[:, -2:]
            margin = top[:, 1] - top[:, 0]
        else:
            margin = G[:, 0].copy()
        order = among[np.argsort(margin, kind="stable")[:20]]
        found = [(int(t), "between") for t in order]
        if len(self.keys) < self.problem.n_clusters and len(self.sets.placed) % 2 == 0:
            self._unreached = self.diffusion.unreached(self.certain, self._unreached)
            far = int(among[np.argmax(self._unreached[among])])
            found.insert(0, (far, "far"))
        return found

    def _compare(self, state: State, test: int, shut: set[int], why: str) -> Proposal | None:
        """Compare a free point with its likeliest set not yet ruled out; None to leave it."""
        number = {key: k for k, key in enumerate(self.keys)}
        apart = {number[key] for key in self.sets.apart(test)}
        belief = self.first[test].copy()
        belief[list(apart)] = 0.0
        room = self.problem.n_clusters - len(self.keys)
        new = max(NEW, room / self.problem.n_clusters) * 0.5
        if len(apart) >= 2 and belief.max() / (belief.sum() + new) < STOP:
            return None
        for k in np.argsort(-belief, kind="stable"):
            if int(k) in apart:
                continue
            for other in self._speakers(int(k), shut):
                if self._askable(state, test, other):
                    return self._place_question(test, other, int(k), why, len(apart))
        return None

    def _speakers(self, k: int, shut: set[int]) -> list[int]:
        """Up to three members that a set claims most: the clearest to compare with."""
        points = np.array([t for t in self.members[k] if t not in shut], dtype=np.intp)
        return [int(t) for t in points[np.argsort(-self.scaled[points, k], kind="stable")][:3]]

    def _settle(self, state: State, shut: set[int], last: bool = False) -> Proposal | None:
        """Ask whether two sets are one, when that is likely or there are too many sets."""
        count, K = len(self.keys), self.problem.n_clusters
        if count < 2:
            return None
        open_ = np.where(self.differ, 0.0, self.mutual)
        left = open_.sum(axis=1)
        share = max(DUPLICATE, min(0.9, 1.5 * (count - K) / count))
        chance = share * open_ / (share * np.maximum(left, left[:, None]) + (1 - share))
        upper = np.triu(chance, 1)
        forced = count > K and not self.sets.between_sets
        for flat in np.argsort(-upper, axis=None, kind="stable")[:10]:
            a, b = divmod(int(flat), count)
            p = float(upper[a, b])
            if p <= 0 or (p < MERGE and not forced and not last):
                return None
            for i in self._speakers(a, shut):
                for j in self._speakers(b, shut):
                    if self._askable(state, i, j):
                        return Proposal(
                            i,
                            j,
                            "Two groups of items claim each other; are they one?",
                            {"chance": p, "sets": float(count)},
                        )
        return None

    def _place_question(self, test: int, other: int, k: int, why: str, asked: int) -> Proposal:
        words = {
            "goes on": "This item is not in the group asked about before",
            "between": "This item lies between groups",
            "far": "This item is far from every group met so far",
        }[why]
        chance = float(self.first[test, k])
        return Proposal(
            test,
            other,
            f"{words}; the other is a clear member of the {'next ' if asked else ''}likeliest.",
            {"chance": chance, "sets": float(len(self.keys)), "asked": float(asked)},
        )

    def _askable(self, state: State, i: int, j: int) -> bool:
        pair = (min(i, j), max(i, j))
        if i == j or state.constraints.is_unsure(i, j):
            return False
        at = state.skipped.get(pair)
        return at is None or state.n_answers - at >= POSTPONED


def _shares(values: FloatArray, floor: float) -> FloatArray:
    """Rows that sum to one, no entry below about `floor`."""
    rows = np.maximum(values, 0.0)
    total = rows.sum(axis=1, keepdims=True)
    rows = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    rows = np.maximum(rows, floor)
    return rows / rows.sum(axis=1, keepdims=True)
