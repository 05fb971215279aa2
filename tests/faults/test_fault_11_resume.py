"""Faults 11, 13, 14 and 18: resuming, taking back, contradictions, changed data."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.answers.constraints import Constraints
from superpac.answers.events import SessionInfo
from superpac.answers.history import History
from superpac.answers.log import MemoryLog
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.errors import ContradictionError, InputError
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle


@pytest.fixture(scope="module")
def planes():
    X, y = make_subspaces(40, 5, 2, 12, noise=0.25, seed=4)
    return Dataset(X, y=y, name="planes")


SPEC = Spec(5, affinity="tsc:q=4", dim=2, seed=2)


def sets_of(session: Session) -> list[list[int]]:
    return sorted(sorted(map(int, group)) for group in session.state.constraints.sets())


@pytest.mark.slow
def test_11_every_prefix_resumes_to_the_same_sets_and_question(planes, fault_count):
    whole = Session.create(planes, SPEC)
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
    step = max(1, len(path) // fault_count(30, len(path)))
    for cut in range(0, len(path), step):
        log = MemoryLog(whole.log.info)
        for event in events[:cut]:
            log.append(event.kind, event.body, key=event.key)
        resumed = Session.open(planes, log, affinity=whole.problem.affinity)
        i, j, sets = path[cut]
        question = resumed.ask()
        assert (question.i, question.j) == (i, j)
        assert sets_of(resumed) == sets


def test_13_taking_back_any_answers_equals_a_log_without_them(fault_count):
    rng = np.random.default_rng(0)
    for case in range(fault_count(60, 1000)):
        y = rng.integers(0, 4, 30)
        log = MemoryLog(SessionInfo(f"s{case}", "x", "", "f00d", 30))
        for _ in range(100):
            i, j = (int(p) for p in rng.choice(30, 2, replace=False))
            said = "same" if y[i] == y[j] else "different"
            log.append("answer", {"i": i, "j": j, "answer": said})
        gone = {int(s) for s in rng.choice(np.arange(1, 101), rng.integers(1, 40), replace=False)}
        for seq in gone:
            log.append("retract", {"seq": seq})
        one_by_one, at_once = History(30), History(30)
        for event in log.events():
            one_by_one.take(event)
        at_once.take_all(log.events())
        kept = Constraints(30)
        for event in log.events()[:100]:
            if event.seq not in gone:
                body = event.body
                kept.add(body["i"], body["j"], body["answer"], event.seq)
        for known in (one_by_one.state.constraints, at_once.state.constraints):
            assert [g.tolist() for g in known.sets(known.touched)] == [
                g.tolist() for g in kept.sets(kept.touched)
            ]
            np.testing.assert_array_equal(
                known.sets_apart(known.touched), kept.sets_apart(kept.touched)
            )


@pytest.mark.parametrize("wrong", [0.012, 0.05])
def test_14_contradictions_are_reported_with_a_true_chain_and_can_be_resolved(planes, wrong):
    session = Session.create(planes, SPEC)
    rng = np.random.default_rng(3)
    y, n = planes.y, len(planes)
    given: dict[int, tuple[int, int, str]] = {}
    refused = 0
    for _ in range(600):
        i, j = (int(p) for p in rng.choice(n, 2, replace=False))
        right = y[i] == y[j]
        said = "same" if right != (rng.random() < wrong) else "different"
        before = session.seq
        try:
            receipt = session.tell(said, (i, j))
        except ContradictionError as error:
            refused += 1
            assert session.seq == before
            links = [given[seq] for seq in error.chain]
            assert chain_shows(links, i, j, "different" if said == "same" else "same")
            session.undo(error.chain[-1])  # the session goes on after taking one back
            given.pop(error.chain[-1])
        else:
            if receipt.recorded:
                given[receipt.seq] = (i, j, said)
    assert refused > 0
    assert session.ask() is not None


def chain_shows(links, i, j, verdict) -> bool:
    """Whether the answers alone imply the verdict about i and j."""
    known = Constraints(10_000)
    for seq, (a, b, said) in enumerate(links, 1):
        known.add(a, b, said, seq)
    return known.implied(i, j) == verdict


def test_18_changed_data_are_refused_by_fingerprint(planes):
    session = Session.create(planes, SPEC)
    session.tell("different")
    X = planes.points()
    nudged = X.copy()
    nudged[7, 3] = np.nextafter(nudged[7, 3], 2)
    swapped = X[[1, 0, *range(2, len(X))]]
    for changed in (nudged, swapped):
        with pytest.raises(InputError, match=planes.fingerprint[:12]):
            Session.open(Dataset(changed, name="planes"), session.log)
    assert Session.open(planes, session.log).progress()["questions"] == 1
