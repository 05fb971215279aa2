"""Fault 20: on any number of threads the same questions are asked and the same clusters found."""

from __future__ import annotations

import numba
import pytest
from threadpoolctl import threadpool_limits

from superpac.data import load
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle

QUESTIONS = 25


def run(threads: int, affinity: str, strategy: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Give the pairs asked and the clusters at the end."""
    items = load("digits").sample_classes(5, 40, seed=2)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        with threadpool_limits(threads):
            session = Session.create(items, Spec(5, affinity, strategy, dim=3))
            oracle, asked = TruthOracle(items.y), []
            for _ in range(QUESTIONS):
                question = session.ask()
                session.tell(oracle(question))
                asked.append((question.i, question.j))
            return asked, session.labels().tolist()
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("strategy", ["superpac-d", "superpac"])
@pytest.mark.parametrize("affinity", ["tsc:q=5", "ensc:gamma=5"])
def test_one_thread_and_many_give_the_same_session(affinity, strategy, fault_count):
    expected = run(1, affinity, strategy)
    for _ in range(fault_count(1, 20)):
        for threads in (2, 4):
            assert run(threads, affinity, strategy) == expected
