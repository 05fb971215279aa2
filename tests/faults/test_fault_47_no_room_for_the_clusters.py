"""Answers that leave no room for K clusters: the number gives way, and no answer does."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from superpac.answers.consistent_labels import respect_answers
from superpac.answers.constraints import Constraints
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.estimator import ActiveSubspaceClustering
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.strategies import STRATEGIES

ITEMS, CLUSTERS, ANSWERS = 30, 3, 184
OPTIONS = {"npu": {"n_trees": 10}}
PROMISE = ("biswas", "superpac-d", "superpac-pinned")  # their own labels break no answer either

pytestmark = pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")


def points() -> np.ndarray:
    return make_subspaces(ITEMS // CLUSTERS, CLUSTERS, 2, 8, noise=0.2, seed=0)[0]


def begin(strategy: str) -> Session:
    spec = Spec(CLUSTERS, "tsc:q=4", strategy, OPTIONS.get(strategy, {}), dim=2)
    return Session.create(Dataset(points()), spec)


def drawn_pairs(seed: int) -> list[tuple[int, int]]:
    pairs = list(combinations(range(ITEMS), 2))
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [pairs[k] for k in order[:ANSWERS]]


def broken(labels: np.ndarray, known: Constraints) -> int:
    said = [(i, j, known.implied(i, j)) for i, j in combinations(range(len(labels)), 2)]
    return sum((labels[i] == labels[j]) != (told == "same") for i, j, told in said if told)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_only_different_leaves_no_answer_broken(strategy):
    session = begin(strategy)
    for pair in drawn_pairs(seed=1):
        session.tell("different", pair)
    assert len(session.state.links) == ANSWERS
    assert broken(session.labels(), session.state.constraints) == 0
    if strategy in PROMISE:
        assert broken(session.labels("model"), session.state.constraints) == 0
    session.ask()  # and the questions go on


def test_the_estimator_says_what_the_session_says():
    model = ActiveSubspaceClustering(
        CLUSTERS,
        affinity="tsc:q=4",
        strategy="superpac-pinned",
        dim=2,
        oracle=lambda i, j: "different",
        questions=60,
    ).fit(points())
    assert broken(model.labels_, model.session_.state.constraints) == 0
    assert len(set(model.labels_.tolist())) > CLUSTERS


@pytest.mark.parametrize("seed", range(20))
def test_answers_that_leave_room_for_the_clusters_are_kept_within_them(seed):
    """Truth has three classes, so three clusters do, however bad the clustering to begin with."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLUSTERS, size=ITEMS)
    known = Constraints(ITEMS)
    asked = [(i, j) for i, j in drawn_pairs(seed) if truth[i] != truth[j]]
    for seq, (i, j) in enumerate(asked, 1):
        known.add(i, j, "different", seq)
    labels = respect_answers(rng.integers(CLUSTERS, size=ITEMS), known, CLUSTERS)
    assert broken(labels, known) == 0
    assert set(labels.tolist()) <= set(range(CLUSTERS))


def test_no_more_clusters_are_opened_than_items_that_all_differ_need():
    known = Constraints(ITEMS)
    for seq, (i, j) in enumerate(combinations(range(7), 2), 1):
        known.add(i, j, "different", seq)
    labels = respect_answers(np.zeros(ITEMS, dtype=int), known, CLUSTERS)
    assert len(set(labels.tolist())) == 7
