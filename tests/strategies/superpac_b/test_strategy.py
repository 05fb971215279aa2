"""SUPERPAC-B: the votes decide, not their order; wrong ones are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac import Dataset, NoisyOracle, Session, Spec, TruthOracle, simulate
from superpac.affinity.tsc import TSC
from superpac.answers.links import Link
from superpac.answers.state import State
from superpac.data.synthetic import make_subspaces
from superpac.strategies.base import Problem
from superpac.strategies.superpac_b.strategy import SuperpacB

X, Y = make_subspaces(20, 4, 2, 12, noise=0.35, seed=3)
PROBLEM = Problem(X, TSC(4, q=4).affinity(X), 4, dim=2)


def asked(strategy: SuperpacB, count: int, wrong: float = 0.0) -> list[Link]:
    """So many questions of the strategy itself, some answered wrongly by one of two people."""
    rng, answers = np.random.default_rng(7), []
    for seq in range(count):
        question = strategy.propose(State.of(len(Y), answers))[0]
        same = (Y[question.i] == Y[question.j]) != (rng.random() < wrong)
        who = ("Ada", "Bob")[int(rng.integers(2))]
        answers.append(Link(seq, question.i, question.j, "same" if same else "different", who))
    return answers


@pytest.fixture(scope="module")
def truthful() -> list[Link]:
    return asked(SuperpacB(PROBLEM), 35)


@pytest.fixture(scope="module")
def erring() -> list[Link]:
    return asked(SuperpacB(PROBLEM), 35, wrong=0.15)


@pytest.mark.parametrize("kind", ["truthful", "erring"])
@settings(max_examples=6)
@given(random=st.randoms(use_true_random=False), left_out=st.integers(0, 12))
def test_any_order_of_the_votes_gives_the_same_labels_and_next_question(
    kind, random, left_out, request
):
    answers = request.getfixturevalue(kind)[: 35 - left_out]
    mixed = list(answers)
    random.shuffle(mixed)
    mixed = [link._replace(seq=seq) for seq, link in enumerate(mixed)]
    one, other = SuperpacB(PROBLEM), SuperpacB(PROBLEM)
    other.labels(State.of(len(Y), mixed[: len(mixed) // 2]))  # what was seen before leaves no trace
    states = State.of(len(Y), answers), State.of(len(Y), mixed)
    np.testing.assert_array_equal(one.labels(states[0]), other.labels(states[1]))
    np.testing.assert_array_equal(one.model.groups, other.model.groups)
    first, second = (
        [(p.i, p.j) for p in strategy.propose(state, 3)]
        for strategy, state in zip((one, other), states, strict=True)
    )
    assert first == second


def test_an_item_that_is_not_in_its_likeliest_set_counts_for_the_next_at_once():
    strategy = SuperpacB(PROBLEM)
    state = State(len(Y))
    strategy.labels(state)
    model = strategy.model
    free = np.flatnonzero(~model.certain)
    t = int(free[np.argmax(np.partition(model.groups[free], -2, axis=1)[:, -2])])
    likeliest = int(model.groups[t].argmax())
    member = next(int(s) for s in model.seeds if model.labels[s] == likeliest)
    before = model.groups[t].copy()
    labels = strategy.labels(State.of(len(Y), [Link(1, t, member, "different")]))
    assert labels[t] != labels[member]
    assert model.groups[t].max() > np.sort(before)[-2]


def session_on(strategy: str) -> Session:
    return Session.create(Dataset(X, y=Y), Spec(4, "tsc:q=4", strategy, dim=2))


@pytest.mark.parametrize("seed", [1, 2])
def test_wrong_answers_are_asked_again_and_overcome(seed):
    run = simulate(session_on("superpac-b"), NoisyOracle(Y, 0.05, seed), Y, 250)
    assert run.error[-1] <= 0.03


def test_truth_leads_to_no_error():
    run = simulate(session_on("superpac-b"), TruthOracle(Y), Y, 300)
    assert run.error[-1] == 0


def test_people_who_err_more_are_known(erring):
    strategy = SuperpacB(PROBLEM)
    found = strategy.reliability(State.of(len(Y), erring))
    assert found.rate > 0.01
    assert set(found.by) == {"Ada", "Bob"}
