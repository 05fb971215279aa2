"""A session reopened from what was kept on disk goes on as if it had never been closed."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.cache import DiskCache
from superpac.data import load
from superpac.errors import InputError
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import NoisyOracle, TruthOracle


@pytest.fixture(scope="module")
def digits():
    return load("digits").sample_classes(5, 60, seed=3)


def answer(session, oracle, count):
    asked = []
    for _ in range(count):
        question = session.ask()
        asked.append((question.i, question.j, oracle(question)))
        session.tell(asked[-1][2])
    return asked


@pytest.mark.parametrize("wrong", [0.0, 0.05])
@pytest.mark.parametrize("clusters", [5, "auto"])
def test_it_asks_what_it_would_have_asked(digits, tmp_path, wrong, clusters):
    spec = Spec(clusters, "tsc:q=4", dim=3)
    oracle = NoisyOracle(digits.y, wrong, 1) if wrong else TruthOracle(digits.y)
    session = Session.create(digits, spec)
    answer(session, oracle, 70)
    cache = DiskCache(tmp_path)
    first = Session.open(digits, session.log, cache=cache)
    first.ask()
    again = Session.open(digits, session.log, cache=cache)
    assert again.strategy._recall(again.state.answers), "nothing was kept"
    np.testing.assert_array_equal(again.labels(), session.labels())
    assert again.progress() == session.progress()
    for _ in range(25):
        question = session.ask()
        found = again.ask()
        assert (found.i, found.j, found.confirm) == (question.i, question.j, question.confirm)
        session.tell(oracle(question))
        again.refresh()
    np.testing.assert_array_equal(again.labels(), session.labels())


def test_answers_taken_back_make_what_was_kept_useless_and_nothing_worse(digits, tmp_path):
    spec, oracle = Spec(5, "tsc:q=4", dim=3), TruthOracle(digits.y)
    session = Session.create(digits, spec, cache=DiskCache(tmp_path))
    answer(session, oracle, 50)
    session.undo(3)
    again = Session.open(digits, session.log, cache=DiskCache(tmp_path))
    plain = Session.open(digits, session.log)
    assert (again.ask().i, again.ask().j) == (plain.ask().i, plain.ask().j)
    np.testing.assert_array_equal(again.labels(), plain.labels())


def test_the_log_opens_without_data_and_data_without_an_affinity(digits):
    session = Session.create(digits, Spec(5, "tsc:q=4", dim=3))
    answer(session, TruthOracle(digits.y), 4)

    def missing():
        raise InputError("The data have gone.")

    log_only = Session.open(missing, session.log)
    assert log_only.progress(model=False)["questions"] == 4
    assert log_only.undo() == [4]
    assert log_only.redo() == [4]
    with pytest.raises(InputError, match="have gone"):
        log_only.ask()
    lazy = Session.open(lambda: digits, session.log)
    assert lazy.state.names[3] == str(digits.ids[3])
    assert "problem" not in vars(lazy)


def test_other_data_are_refused_when_they_are_loaded(digits):
    session = Session.create(digits, Spec(5, "tsc:q=4", dim=3))
    lazy = Session.open(lambda: digits.shuffled(1), session.log)
    with pytest.raises(InputError, match="fingerprint"):
        lazy.ask()
