"""Fault 1: a process that answers is killed at random; no acknowledged answer is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from superpac.store import open_store

WORKER = """
import sys
from superpac.data import Dataset
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.data.synthetic import make_subspaces

X, y = make_subspaces(30, 3, 2, 10, noise=0.2, seed=0)
items = Dataset(X, name="planes")
with open_store(sys.argv[1]) as store:
    if store.sessions():
        session = Session.open(items, store.open("planes"))
    else:
        session = Session.create(items, Spec(3, affinity="tsc:q=4", dim=2), store=store)
    print("ready", flush=True)
    while True:
        question = session.ask()
        if question is None:
            session.undo()
            continue
        answer = "same" if y[question.i] == y[question.j] else "different"
        receipt = session.tell(answer, expected_seq=question.seq)
        print(receipt.seq, receipt.hash, flush=True)
"""


def run_until_killed(path: Path, how: int, answers: int, delay: float) -> list[tuple[int, str]]:
    """End it `delay` seconds after so many answers; gives the acknowledged (seq, hash)."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        seen = [process.stdout.readline() for _ in range(answers)]
        time.sleep(delay)
        process.send_signal(how)
        said = "".join(seen) + process.stdout.read()
    whole = said[: said.rfind("\n") + 1]
    return [(int(line.split()[0]), line.split()[1]) for line in whole.splitlines()]


@pytest.mark.slow
def test_no_acknowledged_answer_is_lost_to_kill_9(tmp_path, fault_count):
    path = tmp_path / "answers.sqlite3"
    rng = random.Random(1)
    acknowledged: dict[int, str] = {}
    for _ in range(fault_count(6, 500)):
        answers, delay = rng.randrange(1, 12), rng.uniform(0, 0.03)
        for seq, digest in run_until_killed(path, signal.SIGKILL, answers, delay):
            assert seq not in acknowledged
            acknowledged[seq] = digest
    with open_store(path) as store:
        count, _ = store.verify("planes")
        events = store.open("planes").events()
    stored = {event.seq: event.hash for event in events}
    assert [event.seq for event in events] == list(range(1, count + 1))
    assert {seq: stored.get(seq) for seq in acknowledged} == acknowledged


def test_sigterm_loses_nothing(tmp_path):
    path = tmp_path / "answers.sqlite3"
    acknowledged = run_until_killed(path, signal.SIGTERM, 5, 0.01)
    with open_store(path) as store:
        stored = {event.seq: event.hash for event in store.open("planes").events()}
    assert len(acknowledged) >= 5
    assert all(stored[seq] == digest for seq, digest in acknowledged)
