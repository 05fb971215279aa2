"""COBRAS: super-instances that are split where they are large and merged by asking.

Van Craenendonck, Dumancic, Van Wolputte & Blockeel, "COBRAS: interactive clustering with pairwise
queries", IDA 2018.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from superpac.array_types import FloatArray, IntArray
from superpac.graph.kmeans import kmeans
from superpac.strategies.base import Problem
from superpac.strategies.baselines.procedure import (
    Asking,
    AskingCount,
    AskingOne,
    Pair,
    Replay,
    same_group,
)
from superpac.system.threads import one_thread


class SuperInstance:
    """Points taken for one, with the points nearest to their mean to speak for them."""

    def __init__(self, X: FloatArray, points: IntArray) -> None:
        self.points = points
        self.centre = X[points].mean(axis=0)
        gaps = ((X[points] - self.centre) ** 2).sum(axis=1)
        self.speakers: list[int] = [int(p) for p in points[np.argsort(gaps, kind="stable")[:3]]]


class Cobras(Replay):
    """COBRAS.

    Over and over the largest super-instance is split: 2-means, and the two halves' representatives
    are asked; on "different" the same with the smaller half; k = 2^(number of "different"), at
    least 2. The k-means pieces start as clusters of their own; clusters are merged by asking,
    closest pair first, where nothing is known. A labelling is published after a full merge round.
    Unlike in the original nothing is asked that follows from answers: the same clusters with fewer
    questions. A pair that nobody can tell counts as different for the time being.

    Parameters
    ----------
    problem : Problem
        Points, seed; neither affinity nor number of clusters is used.
    n_init : int, default=10
        k-means restarts of a split.

    References
    ----------
    Van Craenendonck, Dumancic, Van Wolputte & Blockeel, IDA 2018.

    Examples
    --------
    >>> from scipy import sparse
    >>> from superpac.answers.state import State
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> strategy = Cobras(Problem(X, sparse.csr_array((6, 6)), 2, dim=1))
    >>> question = strategy.propose(State(6))[0]
    >>> sorted([question.i, question.j])
    [1, 4]
    """

    name = "cobras"

    def __init__(self, problem: Problem, *, n_init: int = 10) -> None:
        super().__init__(problem)
        self.n_init = n_init
        self._splits: dict[tuple[bytes, int], list[SuperInstance]] = {}

    def procedure(self) -> Asking:
        """Split the largest super-instance, merge clusters, publish; until nothing is to split."""
        everyone = SuperInstance(self.problem.X, np.arange(self.problem.n))
        clusters: list[list[SuperInstance]] = [[everyone]]
        self._publish(clusters)
        while True:
            c, largest = max(
                ((c, s) for c, members in enumerate(clusters) for s in members),
                key=lambda found: (found[1].points.size, -int(found[1].points[0])),
            )
            if largest.points.size < 2:
                return
            count = yield from self._level(largest)
            clusters[c].remove(largest)
            clusters = [members for members in clusters if members]
            clusters += [[piece] for piece in self._split(largest, count)]
            yield from self._merge(clusters)
            self._publish(clusters)

    def _level(self, whole: SuperInstance) -> AskingCount:
        """How many pieces a super-instance is split into."""
        level, part = 0, whole
        while True:
            self.why = "These two stand for the halves of a group; are they one?"
            first, second = self._split(part, 2)
            if (yield from same_group(_pairs(first, second))):
                break
            level += 1
            larger = [half for half in (first, second) if half.points.size >= 2]
            if not larger:
                break
            part = min(larger, key=lambda half: half.points.size)
        return min(int(whole.points.size), 2 ** max(level, 1))

    def _merge(self, clusters: list[list[SuperInstance]]) -> Asking:
        """Merge clusters, closest first, until every two are known to differ."""
        settled: set[frozenset[int]] = set()  # pairs of clusters, by their Python ids
        merged = True
        while merged:
            merged = False
            for a, b in self._by_distance(clusters):
                name = frozenset((id(clusters[a]), id(clusters[b])))
                if name in settled:
                    continue
                self.why = "These two stand for the closest groups not compared yet."
                if (yield from self._compare(clusters[a], clusters[b])):
                    clusters[a] += clusters.pop(b)
                    settled = {s for s in settled if id(clusters[a]) not in s}
                    merged = True
                    break
                settled.add(name)

    def _compare(self, one: list[SuperInstance], other: list[SuperInstance]) -> AskingOne:
        """Ask whether two clusters are one, by their closest super-instances."""
        a, b = divmod(int(np.argmin(_gaps(_centres(one), _centres(other)))), len(other))
        return (yield from same_group(_pairs(one[a], other[b])))

    def _by_distance(self, clusters: list[list[SuperInstance]]) -> list[Pair]:
        """Pairs of clusters by the distance of their closest super-instances."""
        count = len(clusters)
        owner = np.repeat(np.arange(count), [len(members) for members in clusters])
        centres = np.concatenate([_centres(members) for members in clusters])
        starts = np.searchsorted(owner, np.arange(count))
        gaps = np.minimum.reduceat(_gaps(centres, centres), starts, axis=0)
        gaps = np.minimum.reduceat(gaps, starts, axis=1)
        first, second = np.triu_indices(count, 1)
        order = np.argsort(gaps[first, second], kind="stable")
        return [(int(first[k]), int(second[k])) for k in order]

    def _split(self, part: SuperInstance, count: int) -> list[SuperInstance]:
        """Pieces by k-means; at least two."""
        key = (part.points.tobytes(), count)
        if key not in self._splits:
            points, X = part.points, self.problem.X
            if points.size <= count:
                groups = [points[k : k + 1] for k in range(points.size)]
            else:
                seed = (self.problem.seed, int(points[0]), points.size, count)
                state = np.random.SeedSequence(seed).generate_state(1)
                with one_thread():
                    labels = kmeans(
                        X[points], count, n_init=self.n_init, rng=np.random.RandomState(state)
                    )
                groups = [points[labels == k] for k in np.unique(labels)]
                if len(groups) == 1:  # equal points, which k-means cannot tell apart
                    groups = [points[: points.size // 2], points[points.size // 2 :]]
            self._splits[key] = [SuperInstance(X, group) for group in groups]
        return self._splits[key]

    def _publish(self, clusters: list[list[SuperInstance]]) -> None:
        labels = np.zeros(self.problem.n, dtype=np.intp)
        for c, members in enumerate(clusters):
            for part in members:
                labels[part.points] = c
        self.published = labels


def _pairs(one: SuperInstance, other: SuperInstance) -> Iterator[Pair]:
    """Representatives first; further members for a pair that nobody can tell."""
    a, b = one.speakers, other.speakers
    for k in range(max(len(a), len(b))):
        yield a[min(k, len(a) - 1)], b[min(k, len(b) - 1)]


def _centres(members: list[SuperInstance]) -> FloatArray:
    return np.array([part.centre for part in members])


def _gaps(one: FloatArray, other: FloatArray) -> FloatArray:
    """Squared distances between two lists of centres."""
    return np.asarray(euclidean_distances(one, other, squared=True))
