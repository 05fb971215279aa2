from __future__ import annotations

import numpy as np
import pytest

from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.estimator import ActiveSubspaceClustering
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.session.stopping import error_left, in_words, parse_share, reached
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle
from superpac.strategies import Beliefs


def some(right=0.98, record=((0.9, 1.0),) * 30, **more):
    return Beliefs(np.full(500, right), np.array(record).reshape(-1, 2), **more)


def test_answers_that_disagree_raise_the_estimate_and_the_interval():
    good = error_left(some(), 5)
    bad = error_left(some(record=((0.9, 0.0),) * 30), 5)
    assert bad.estimate > good.estimate
    assert bad.high > 2 * good.high


def test_mistakes_that_come_together_widen_the_interval():
    plain = error_left(some(), 5)
    surplus = error_left(some(surplus=40.0), 5)
    assumed = error_left(some(assumed=150.0), 5)
    regrouped = error_left(some(regrouped=20.0, regrouped_spread=10.0), 5)
    assert regrouped.estimate == pytest.approx(plain.estimate + 20 / 500)
    assert regrouped.high == pytest.approx(plain.high + 40 / 500)
    assert surplus.high >= plain.high + 40 / 500 - 1e-12
    assert assumed.high > plain.high + 0.1
    missing = error_left(some(missing=40.0), 5)
    assert missing.estimate == pytest.approx(plain.estimate + 20 / 500)
    assert missing.high == pytest.approx(plain.high + 40 / 500)
    assert plain.low == surplus.low == assumed.low == regrouped.low == missing.low


def test_labels_put_to_the_test_and_certain_points_narrow_it():
    tested = [error_left(some(record=((0.6, 0.6),) * m), 5) for m in (0, 5, 20, 80)]
    highs = [found.high for found in tested]
    assert highs == sorted(highs, reverse=True)
    done = error_left(some(right=1.0), 5)
    assert (done.estimate, done.low, done.high) == (0, 0, 0)


def test_before_any_answer_it_is_wide_and_never_beyond_all_items():
    start = error_left(some(right=0.5, record=(), assumed=400.0), 5)
    assert 0 <= start.low <= start.estimate <= start.high == 1


def sets(seed):
    """Sets and seeds that no constant was chosen on."""
    X, y = make_subspaces(40, 4, 3, 10, noise=0.6, seed=seed)
    yield Dataset(X, y=y), Spec(4, "tsc:q=4", "superpac-d", dim=3, seed=seed), 160
    items = load("digits").sample_classes(4, 60, seed)
    yield items, Spec(4, "tsc:q=5", "superpac-d", dim=3, seed=seed), 80


def test_the_interval_covers_the_error_in_93_of_100_places():
    inside, widths, naive = [], [], []
    for seed in range(500, 508):
        for items, spec, budget in sets(seed):
            session = Session.create(items, spec)
            oracle = TruthOracle(items.y)
            for asked in range(budget):
                if asked % 10 == 0:
                    error = clustering_error(items.y, session.labels())
                    left = session.progress()["error_left"]
                    inside.append(left["low"] <= error <= left["high"])
                    if asked >= 10 * spec.n_clusters:
                        widths.append(left["high"] - left["low"])
                    sure = 1 - session.strategy.beliefs(session.state).right
                    naive.append(abs(error - sure.mean()) <= 2 * np.sqrt(sure.mean() / sure.size))
                if session.ask() is None:
                    break
                session.tell(oracle(session.ask()))
    assert len(inside) > 150
    assert np.mean(inside) >= 0.93
    assert np.mean(widths) < 0.2
    assert np.mean(naive) < np.mean(inside) - 0.05  # taking the posterior at its word would not do


def test_until_stops_there_and_the_error_is_below():
    errors, asked = [], []
    for seed in range(600, 606):
        items = load("digits").sample_classes(4, 60, seed)
        spec = Spec(4, "tsc:q=5", "superpac-d", dim=3, seed=seed)
        session = Session.create(items, spec)
        run = simulate(session, TruthOracle(items.y), items.y, 200, until=0.02)
        assert run.facts["stopped"]
        assert session.progress()["error_left"]["high"] <= 0.02
        errors.append(run.error[-1])
        asked.append(run.error.size - 1)
    assert np.mean(np.array(errors) <= 0.02) >= 0.8
    assert max(asked) < 200


def test_the_estimator_stops_too():
    items = load("digits").sample_classes(3, 40, 1)
    right = TruthOracle(items.y)

    def person(i, j):
        return "same" if right.y[i] == right.y[j] else "different"

    given = {"affinity": "tsc:q=5", "strategy": "superpac-d", "dim": 3, "oracle": person}
    model = ActiveSubspaceClustering(3, **given, questions=300, until=0.05).fit(items.points())
    assert 0 < model.n_questions_ < 100


def test_a_strategy_without_an_estimate_says_so():
    X, y = make_subspaces(20, 3, 2, 10, seed=0)
    session = Session.create(Dataset(X), Spec(3, "tsc:q=4", "random", dim=2))
    assert session.progress()["error_left"] is None
    assert "superpac audit" in in_words(None)
    with pytest.raises(InputError, match="gives no estimate"):
        simulate(session, TruthOracle(y), y, 10, until=0.01)


@pytest.mark.parametrize("text", ["", "one", "-1%", "0", "100%", "2", "nan"])
def test_a_share_is_checked(text):
    with pytest.raises(InputError, match="1% or 0.01"):
        parse_share(text)


def test_the_upper_end_decides():
    left = {"estimate": 0.001, "low": 0.0, "high": 0.02}
    assert not reached(left, 0.01, "superpac-d")
    assert reached(left, 0.02, "superpac-d")
