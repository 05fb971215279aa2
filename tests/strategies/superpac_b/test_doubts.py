"""Doubts: what would be misplaced, were an answer wrong."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.affinity.tsc import TSC
from superpac.answers.links import Link
from superpac.answers.state import State
from superpac.data.synthetic import make_subspaces
from superpac.strategies.base import Problem
from superpac.strategies.superpac_b.doubts import doubtful_items, doubtful_merges
from superpac.strategies.superpac_b.strategy import SuperpacB

X, Y = make_subspaces(30, 3, 2, 15, noise=0.05, seed=2)
PROBLEM = Problem(X, TSC(3, q=4).affinity(X), 3, dim=2)


@pytest.fixture
def strategy() -> SuperpacB:
    return SuperpacB(PROBLEM)


def follow(strategy: SuperpacB, pairs: list[tuple[int, int]]) -> None:
    said = [Link(seq, i, j, "same") for seq, (i, j) in enumerate(pairs)]
    strategy.labels(State.of(len(Y), said))


def test_a_clear_item_put_into_another_set_is_in_doubt_until_more_votes_agree(strategy):
    model = strategy.model
    right = [
        (int(t), int(seed))
        for seed in model.seeds
        for t in np.setdiff1d(np.flatnonzero(Y[seed] == Y), model.seeds)[:6]
    ]
    seed = int(model.seeds[0])
    free = np.setdiff1d(np.flatnonzero(Y[seed] != Y), [*model.seeds, *(t for t, _ in right)])
    t = int(free[0])
    follow(strategy, [*right, (t, seed)])
    doubts = {doubt.part[0]: doubt.worth for doubt in doubtful_items(model)}
    assert set(doubts) == {t}
    follow(strategy, right + [(t, seed)] * 4)
    assert doubtful_items(model) == []


def test_a_merge_that_one_pair_stands_for_is_doubted_the_more_the_less_likely_it_was(strategy):
    seeds = strategy.model.seeds.tolist()
    unlikely = [(i, j) for i in seeds for j in seeds if i < j and Y[i] != Y[j]][0]
    follow(strategy, [unlikely])
    (doubt,) = doubtful_merges(strategy.model)
    assert {*doubt.part, *doubt.rest} == set(unlikely)
    follow(strategy, [unlikely] * 3)
    assert doubtful_merges(strategy.model) == []
