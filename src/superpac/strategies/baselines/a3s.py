"""A3S: adaptive active aggregation and splitting of probable clusters.

"A3S: a general active clustering method with pairwise constraints", ICML 2024. Clusters that a
likelihood finds are merged by asking where that settles most, after a short test of their purity.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.isotonic import IsotonicRegression
from sklearn.neighbors import NearestNeighbors

from superpac.array_types import FloatArray, IntArray
from superpac.graph.spectral import spectral_clustering
from superpac.strategies.base import Problem
from superpac.strategies.baselines.procedure import Asking, AskingOne, Pair, Replay, same_group
from superpac.system.threads import one_thread

NEIGHBOURS = 20
TOP = 4  # cross probabilities behind the chance that two clusters are one
SPLITS = 20  # clusters split after a failed test
TESTS = 2  # questions of one test
FLOOR = 1e-3  # no pair is surer than this


def neighbour_probabilities(
    X: FloatArray, pseudo: IntArray, n_neighbors: int
) -> tuple[sparse.csr_array, float]:
    """Chance that neighbours are in one cluster, from their distance.

    An isotonic regression of "same pseudo-label" on the distance over all pairs of neighbours.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    pseudo : ndarray of shape (n,)
        Labels of a clustering without answers.
    n_neighbors : int
        Neighbours of each point.

    Returns
    -------
    P : scipy.sparse.csr_array of shape (n, n)
        Symmetric; entries only between neighbours.
    far : float
        Share of the other pairs with one pseudo-label.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> P, far = neighbour_probabilities(X, np.array([0, 0, 1, 1]), 2)
    >>> bool(P[0, 1] > P[0, 2]), far
    (True, 0.001)
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    distances, found = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    rows = np.repeat(np.arange(n), k)
    columns, gaps = found.ravel(), distances.ravel()
    model = IsotonicRegression(
        increasing=False, y_min=FLOOR, y_max=1.0 - FLOOR, out_of_bounds="clip"
    )
    chance = model.fit_transform(gaps, (pseudo[rows] == pseudo[columns]).astype(float))
    P = sparse.csr_array((chance, (rows, columns)), shape=(n, n))
    P = sparse.csr_array(P.maximum(P.T))
    sizes = np.bincount(pseudo).astype(float)
    upper = sparse.coo_array(sparse.triu(P, 1))
    inside = float((sizes * (sizes - 1) / 2).sum())
    inside -= float((pseudo[upper.row] == pseudo[upper.col]).sum())
    others = n * (n - 1) / 2 - upper.nnz
    far = float(np.clip(inside / others if others else FLOOR, FLOOR, 0.5 - FLOOR))
    return P, far


def likeliest_clusters(P: sparse.csr_array, far: float) -> IntArray:
    """Greedy clustering of highest likelihood; the number of clusters follows.

    Starting from single points the two clusters are merged whose log-odds, summed over their pairs,
    are largest, while they are positive; pairs that are no neighbours count with `far`.

    Parameters
    ----------
    P : scipy.sparse.csr_array of shape (n, n)
        Chance of neighbours to be in one cluster.
    far : float
        The same for every other pair.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0, 1, ...

    Examples
    --------
    >>> P = sparse.csr_array(np.array([[0, 0.9, 0.2], [0.9, 0, 0.1], [0.2, 0.1, 0]]))
    >>> likeliest_clusters(P, 0.01).tolist()
    [0, 0, 1]
    """
    n = P.shape[0]
    base = float(np.log(far / (1.0 - far)))
    links: list[dict[int, float]] = [{} for _ in range(n)]  # log-odds above `far`, by cluster
    upper = sparse.coo_array(sparse.triu(P, 1))
    for i, j, p in zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True):
        links[i][j] = links[j][i] = float(np.log(p / (1.0 - p))) - base
    size = [1] * n
    alive = [True] * n
    group = np.arange(n)
    heap = [(-(w + base), i, j) for i in range(n) for j, w in links[i].items() if i < j]
    heapq.heapify(heap)
    while heap:
        score, a, b = heapq.heappop(heap)
        if not (alive[a] and alive[b]):
            continue
        now = links[a][b] + base * size[a] * size[b]
        if -score != now:
            continue  # an older score of this pair; the present one is in the heap too
        if now <= 0:
            break
        if len(links[a]) < len(links[b]):
            a, b = b, a
        alive[b] = False
        size[a] += size[b]
        group[group == b] = a
        links[a].pop(b)
        for c, w in links[b].items():
            if c != a:
                links[c].pop(b)
                links[a][c] = links[c][a] = links[a].get(c, 0.0) + w
        for c, w in links[a].items():
            total = w + base * size[a] * size[c]
            if total > 0:
                heapq.heappush(heap, (-total, min(a, c), max(a, c)))
    return np.unique(group, return_inverse=True)[1].astype(np.intp)


def entropy_change(p: FloatArray, q: FloatArray, n: int) -> FloatArray:
    """How much the entropy of a clustering falls when clusters of sizes `p` and `q` merge.

    Examples
    --------
    >>> round(float(entropy_change(np.array(2.0), np.array(2.0), 4)), 6)  # log 2
    0.693147
    """
    both = p + q
    return (both * np.log(both) - p * np.log(p) - q * np.log(q)) / n


class A3S(Replay):
    """A3S.

    Pairs of clusters are taken up by the chance that they are one times the entropy that merging
    them saves; pairs with a single point come last. A cluster met for the first time is tested with
    at most two questions, its leader against the members least likely to belong; where one differs
    the cluster is split (at most 20 in all), and each member goes to the nearer of leader and
    exposed member. Then leader is asked against leader. The number of clusters follows from the
    answers. Probabilities are fitted to a spectral clustering of the affinity, never to the truth.

    Parameters
    ----------
    problem : Problem
        Points, affinity, number of clusters (of the pseudo-labels), seed.
    n_neighbors : int, default=20
        Neighbours of each point.

    References
    ----------
    "A3S: a general active clustering method with pairwise constraints", ICML 2024.

    Examples
    --------
    >>> from superpac.affinity.tsc import TSC
    >>> from superpac.answers.state import State
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> problem = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)
    >>> question = A3S(problem).propose(State(60))[0]
    >>> question.i != question.j
    True
    """

    name = "a3s"

    def __init__(self, problem: Problem, *, n_neighbors: int = NEIGHBOURS) -> None:
        super().__init__(problem)
        with one_thread():
            pseudo = spectral_clustering(
                problem.affinity, problem.n_clusters, random_state=problem.seed
            )
            self.P, self.far = neighbour_probabilities(problem.X, pseudo, n_neighbors)
        self.start = likeliest_clusters(self.P, self.far)

    def procedure(self) -> Asking:
        """Take up the most promising pair of clusters, test both, ask their leaders."""
        self.members = [np.flatnonzero(self.start == k) for k in range(int(self.start.max()) + 1)]
        self.leaders = [self._leader(points) for points in self.members]
        self.tested = [points.size < 2 for points in self.members]
        self.splits = 0
        self._publish()
        closed: set[frozenset[int]] = set()  # leaders that differ or that nobody can tell
        order = self._ranked()
        while True:
            pair = next((p for p in order if self._names(p) not in closed), None)
            if pair is None:
                return
            again = False
            for c in pair:
                again = (yield from self._test(c)) or again
            if again:
                order = self._ranked()
                continue
            self.why = "These two stand for groups that may well be one."
            a, b = pair
            if (yield from same_group(self._speakers(a, b))):
                self._join(a, b)
                order = self._ranked()
            else:
                closed.add(self._names(pair))
            self._publish()

    def _names(self, pair: Pair) -> frozenset[int]:
        return frozenset(self.leaders[c] for c in pair)

    def _belonging(self, points: IntArray) -> FloatArray:
        """Sum of each member's probabilities within its cluster."""
        return np.asarray(self.P[points][:, points].sum(axis=1)).ravel()

    def _leader(self, points: IntArray) -> int:
        return int(points[np.argmax(self._belonging(points))])

    def _doubtful(self, c: int) -> IntArray:
        """Members other than the leader, the least likely to belong first."""
        points = self.members[c]
        order = points[np.argsort(self._belonging(points), kind="stable")]
        return order[order != self.leaders[c]]

    def _test(self, c: int) -> AskingOne:
        """Test a cluster once; True when it was split."""
        if self.tested[c] or self.splits >= SPLITS:
            return False
        self.tested[c] = True
        for member in self._doubtful(c)[:TESTS]:
            self.why = "Do the clearest and the most doubtful member of this group belong together?"
            answer = yield self.leaders[c], int(member)
            if answer == "different":
                self._divide(c, int(member))
                return True
        return False

    def _divide(self, c: int, exposed: int) -> None:
        """Split a cluster between its leader and the member that differs from it."""
        X, points = self.problem.X, self.members[c]
        gaps = [((X[points] - X[p]) ** 2).sum(axis=1) for p in (self.leaders[c], exposed)]
        away = gaps[1] < gaps[0]
        away[points == exposed] = True
        away[points == self.leaders[c]] = False
        self.members[c] = points[~away]
        self.members.append(points[away])
        self.leaders.append(exposed)
        self.tested[c] = self.members[c].size < 2
        self.tested.append(int(away.sum()) < 2)
        self.splits += 1
        self._publish()

    def _join(self, a: int, b: int) -> None:
        if self.members[a].size < self.members[b].size:
            a, b = b, a
        self.members[a] = np.sort(np.concatenate([self.members[a], self.members[b]]))
        self.tested[a] = self.tested[a] and self.tested[b]
        for part in (self.members, self.leaders, self.tested):
            part.pop(b)

    def _speakers(self, a: int, b: int) -> Iterator[Pair]:
        """Leaders first; the clearest other members for a pair that nobody can tell."""
        yield self.leaders[a], self.leaders[b]
        for one, other in ((a, b), (b, a)):
            rest = self._doubtful(other)
            if rest.size:
                yield self.leaders[one], int(rest[-1])

    def _ranked(self) -> list[Pair]:
        """All pairs of clusters, the most promising first, those with a single point last."""
        chance = cross_chances(self.P, self.members, self.far)
        size = np.array([points.size for points in self.members], dtype=float)
        a, b = np.triu_indices(size.size, 1)
        worth = chance[a, b] * entropy_change(size[a], size[b], self.problem.n)
        single = np.minimum(size[a], size[b]) < 2
        order = np.lexsort((-worth, single))
        return [(int(a[k]), int(b[k])) for k in order]

    def _publish(self) -> None:
        self.published = _owners(self.members, self.problem.n)


def _owners(members: list[IntArray], n: int) -> IntArray:
    """Cluster of every point."""
    owner = np.zeros(n, dtype=np.intp)
    for c, points in enumerate(members):
        owner[points] = c
    return owner


def cross_chances(P: sparse.csr_array, members: list[IntArray], far: float) -> FloatArray:
    """Chance that two clusters are one: smoothed mean of their four largest cross probabilities.

    Examples
    --------
    >>> P = sparse.csr_array(np.array([[0, 0.8, 0.4], [0.8, 0, 0.0], [0.4, 0, 0]]))
    >>> cross_chances(P, [np.array([0]), np.array([1, 2])], 0.0)[0, 1].round(3)
    np.float64(0.24)
    """
    count = len(members)
    owner = _owners(members, P.shape[0])
    upper = sparse.coo_array(sparse.triu(P, 1))
    a, b = owner[upper.row], owner[upper.col]
    cross = a != b
    a, b, p = np.minimum(a, b)[cross], np.maximum(a, b)[cross], upper.data[cross]
    pair = a * count + b
    order = np.lexsort((-p, pair))
    pair, p = pair[order], p[order]
    first = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]]) if pair.size else np.zeros(0, int)
    rank = np.arange(pair.size) - np.repeat(first, np.diff(np.r_[first, pair.size]))
    kept = rank < TOP
    total = np.bincount(pair[kept], weights=p[kept], minlength=count * count)
    # smoothed by one far pair: clusters that share a single near pair are no sure merge
    table = (total.reshape(count, count) + far) / (TOP + 1)
    return np.maximum(table, table.T)
