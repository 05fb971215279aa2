from __future__ import annotations

import contextlib

import numpy as np
import pytest
from scipy import sparse

import driving
from driving import drive, prefix, tell
from superpac.answers.constraints import Constraints
from superpac.answers.state import State
from superpac.metrics import clustering_error
from superpac.strategies import Cobras, Problem
from superpac.strategies.baselines.cobras import SuperInstance


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = rng.normal(size=(4, 3))[y] * 2.5 + rng.normal(size=(120, 3))
    return Problem(X, sparse.csr_array((120, 120)), 4, dim=1, seed=1), y


class Spent(Exception):
    """The budget is used up."""


def naive_cobras(problem, y, questions):
    """The paper's loop with a callable oracle and its own closure; gives labels by questions."""
    splitter = Cobras(problem)
    known = Constraints(problem.n)
    asked, published = [], [(0, np.zeros(problem.n, dtype=int))]

    def same(a, b):
        i, j = a.speakers[0], b.speakers[0]
        if known.implied(i, j) is None:
            if len(asked) >= questions:
                raise Spent
            asked.append((i, j))
            known.add(i, j, "same" if y[i] == y[j] else "different", len(asked))
        return known.implied(i, j) == "same"

    def closest(c1, c2):
        return min(
            (
                (np.linalg.norm(a.centre - b.centre), m, n)
                for m, a in enumerate(c1)
                for n, b in enumerate(c2)
            ),
        )

    def level(part):
        depth = 0
        while True:
            a, b = splitter._split(part, 2)
            if same(a, b):
                return depth
            depth += 1
            halves = sorted([s for s in (a, b) if s.points.size > 1], key=lambda s: s.points.size)
            if not halves:
                return depth
            part = halves[0]

    clusters = [[SuperInstance(problem.X, np.arange(problem.n))]]
    with contextlib.suppress(Spent):
        while True:
            part = max(
                (s for c in clusters for s in c), key=lambda s: (s.points.size, -s.points[0])
            )
            if part.points.size == 1:
                break
            k = min(part.points.size, 2 ** max(1, level(part)))
            for c in clusters:
                if part in c:
                    c.remove(part)
            clusters = [c for c in clusters if c] + [[s] for s in splitter._split(part, k)]
            again = True
            while again:
                again = False
                pairs = [(a, b) for a in range(len(clusters)) for b in range(a + 1, len(clusters))]
                pairs.sort(key=lambda p: closest(clusters[p[0]], clusters[p[1]])[0])
                for a, b in pairs:
                    _, m, n = closest(clusters[a], clusters[b])
                    if same(clusters[a][m], clusters[b][n]):
                        clusters[a] += clusters.pop(b)
                        again = True
                        break
            labels = np.zeros(problem.n, dtype=int)
            for k, c in enumerate(clusters):
                for s in c:
                    labels[s.points] = k
            published.append((len(asked), labels))
    return asked, published


def test_asks_and_publishes_what_the_paper_says(problem):
    instance, y = problem
    asked, published = naive_cobras(instance, y, 150)
    strategy = Cobras(instance)
    state, ours = drive(strategy, y, 150)
    assert len(asked) == 150
    assert ours == asked
    for count, labels in dict(published).items():  # the last of those without a question between
        got = Cobras(instance).labels(prefix(state, count))
        assert clustering_error(labels, got) == 0.0


def test_splits_by_hand():
    """Two tight groups: halves differ, then a half is one: two pieces, already compared."""
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.3]])
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    strategy = Cobras(Problem(X, sparse.csr_array((7, 7)), 2, dim=1))
    state, asked = drive(strategy, y, 2)
    assert set(asked[0]) in ({1, 4}, {1, 5})
    assert set(asked[1]) <= {0, 1, 2}  # the smaller half is looked into
    assert clustering_error(y, strategy.labels(state)) == 0.0


def test_labels_change_only_after_a_full_round(problem):
    instance, y = problem
    strategy = Cobras(instance)
    state = State(len(y))
    changes, last = 0, strategy.labels(state)
    for _ in range(100):
        drive(strategy, y, 1, state)
        now = strategy.labels(state)
        changes += clustering_error(last, now) > 0
        last = now
    assert 3 < changes < 60


def test_identical_points_are_split_all_the_same():
    X = np.zeros((6, 2))
    y = np.array([0, 1, 0, 1, 0, 1])
    strategy = Cobras(Problem(X, sparse.csr_array((6, 6)), 2, dim=1))
    state, _ = drive(strategy, y, 100)
    assert clustering_error(y, strategy.labels(state)) == 0.0


def test_what_was_unsure_and_is_decided_later_counts(problem):
    instance, y = problem
    strategy = Cobras(instance)
    state = State(len(y))
    first = driving.first(strategy, state)
    tell(state, first.i, first.j, "unsure")
    second = driving.first(strategy, state)
    assert {second.i, second.j} != {first.i, first.j}
    answer = "same" if y[first.i] == y[first.j] else "different"
    tell(state, first.i, first.j, answer)
    fresh = driving.first(Cobras(instance), state)
    now = driving.first(strategy, state)
    assert (now.i, now.j) == (fresh.i, fresh.j)
