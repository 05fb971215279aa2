"""Fault 13: taking back any answers equals a log without them."""

from __future__ import annotations

import numpy as np

from superpac.answers.constraints import Constraints
from superpac.answers.events import SessionInfo
from superpac.answers.history import History
from superpac.answers.log import MemoryLog


def test_taking_back_any_answers_equals_a_log_without_them(fault_count):
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
