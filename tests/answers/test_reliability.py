"""Reliability of people: rates against a dense reference and against runs with known mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.answers.reliability import (
    NEW,
    PRIOR_ANSWERS,
    PRIOR_WRONG,
    SHRINK,
    TEMPER,
    WORST,
    learn_reliability,
)
from superpac.data import load
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import NoisyOracle, TruthOracle

WORDS = {True: "same", False: "different"}


def dense(
    answers: list[Link], beliefs: np.ndarray, place: np.ndarray
) -> tuple[float, dict[str, float]]:
    """Every set of every point spelled out; for answers whose j is in a set."""
    people = sorted({a.annotator for a in answers})
    tests = sorted({a.i for a in answers})
    soft = beliefs[tests] ** TEMPER
    prior = np.c_[(1 - NEW) * soft / soft.sum(axis=1, keepdims=True), np.full(len(tests), NEW)]
    errors = np.zeros((len(tests), prior.shape[1], len(people)))
    for a in answers:
        at, who, k = tests.index(a.i), people.index(a.annotator), place[a.j]
        disagrees = np.arange(prior.shape[1]) != k
        errors[at, disagrees if a.answer == "same" else ~disagrees, who] += 1
    count = np.array([sum(a.annotator == name for a in answers) for name in people])
    by, rate = np.full(len(people), PRIOR_WRONG / PRIOR_ANSWERS), 0.0
    for _ in range(60):
        before = rate
        given_ = prior * np.exp(errors @ np.log(by / (1 - by)))
        given_ /= given_.sum(axis=1, keepdims=True)
        wrong = np.einsum("ts,tsp->p", given_, errors)
        rate = (PRIOR_WRONG + wrong.sum()) / (PRIOR_ANSWERS + count.sum())
        by = np.minimum((SHRINK * rate + wrong) / (SHRINK + count), WORST)
        by = by if len(people) > 1 else np.array([min(rate, WORST)])
        if abs(rate - before) < 1e-5:
            break
    return min(rate, WORST), dict(zip(people, by, strict=True))


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 60))
def test_rates_are_those_of_the_dense_reference(seed, people, count):
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.full(4, 0.2), size=40) + 1e-6
    place = rng.integers(0, 4, 40)
    answers = []
    for seq in range(count):
        i, j = rng.choice(40, 2, replace=False)
        word = WORDS[bool(rng.random() < 0.5)]
        answers.append(Link(seq, int(i), int(j), word, f"p{rng.integers(people)}"))
    found = learn_reliability(answers, beliefs, place)
    rate, by = dense(answers, beliefs, place)
    assert found.rate == pytest.approx(rate, abs=1e-6)
    assert found.by == pytest.approx(by, abs=1e-5)  # where EM stops
    assert all(0 <= chance <= 1 for chance in found.wrong.values())


@pytest.mark.parametrize("wrong", [0.0, 0.012, 0.05])
def test_the_rate_is_right_within_a_factor_of_two_at_300_answers(wrong):
    rates, truth, suspects, hits = [], [], 0, 0
    for seed in range(4):
        items = load("digits").sample_classes(10, 60, seed)
        session = Session.create(items, Spec(10, "tsc:q=5", "superpac-d", dim=3, seed=seed))
        oracle = NoisyOracle(items.y, wrong, seed) if wrong else TruthOracle(items.y)
        lies = set()
        for seq in range(1, 301):
            question = session.ask()
            if question is None:
                break
            said = oracle(question)
            lies |= {seq} if said != TruthOracle(items.y)(question) else set()
            session.tell(said, (question.i, question.j))
        found = session.strategy.reliability(session.state)
        rates.append(found.rate)
        truth.append(len(lies) / session.progress()["questions"])
        doubted = {seq for seq, chance in found.wrong.items() if chance > 0.5}
        suspects += len(doubted)
        hits += len(doubted & lies)
    if wrong == 0:
        assert np.mean(rates) < 0.003
        assert suspects == 0
    else:
        assert 0.5 <= np.mean(rates) / np.mean(truth) <= 2
        assert hits >= 0.8 * suspects > 0


def test_a_careless_person_is_told_from_a_careful_one():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    beliefs = np.full((400, 3), 0.05)
    beliefs[np.arange(400), y] = 0.9
    answers = []
    for seq in range(600):
        i, j = (int(p) for p in rng.choice(400, 2, replace=False))
        who, rate = (("Ada", 0.01), ("Bob", 0.2))[seq % 2]
        same = bool(y[i] == y[j]) != bool(rng.random() < rate)
        answers.append(Link(seq, i, j, WORDS[same], who))
    found = learn_reliability(answers, beliefs, y.astype(np.intp))
    assert found.by["Ada"] < 0.04
    assert 0.1 < found.by["Bob"] < 0.3
    assert found.by["Ada"] < found.rate < found.by["Bob"]
