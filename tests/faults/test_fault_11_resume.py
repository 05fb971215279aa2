"""Fault 11: after every answer a session resumes to the same sets and the same question."""

from __future__ import annotations

import pytest

from superpac.answers.log import MemoryLog
from superpac.session.session import Session
from superpac.simulation.oracles import TruthOracle


def sets_of(session: Session) -> list[list[int]]:
    return sorted(sorted(map(int, group)) for group in session.state.constraints.sets())


@pytest.mark.slow
def test_every_prefix_resumes_to_the_same_sets_and_question(planes, planes_spec, fault_count):
    whole = Session.create(planes, planes_spec)
    oracle = TruthOracle(planes.y)
    path = []
    for _ in range(300):
        question = whole.ask()
        if question is None:
            break
        path.append((question.i, question.j, sets_of(whole)))
        whole.tell(oracle(question))
    events = whole.log.events()
    assert len(path) > 100
    step = max(1, len(path) // fault_count(30, 300))
    for cut in range(0, len(path), step):
        log = MemoryLog(whole.log.info)
        for event in events[:cut]:
            log.append(event.kind, event.body, key=event.key)
        resumed = Session.open(planes, log, affinity=whole.problem.affinity)
        i, j, sets = path[cut]
        question = resumed.ask()
        assert (question.i, question.j) == (i, j)
        assert sets_of(resumed) == sets
