"""Fault 6: another program holds the file's lock: the answer waits, then 503 and a retry."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from superpac.store import StoreFailure, new_info, open_store

SAME = {"i": 1, "j": 2, "answer": "same"}

HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN " + sys.argv[2])
if sys.argv[2] == "DEFERRED":
    db.execute("SELECT count(*) FROM superpac_events").fetchall()
print("held", flush=True)
sys.stdin.readline()
db.execute("COMMIT")
"""


@pytest.fixture
def hold(memory_folder: Path) -> Iterator[Callable[[str], subprocess.Popen]]:
    held: list[subprocess.Popen] = []

    def take(kind: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(memory_folder / "a.sqlite3"), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        held.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield take
    for process in held:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", ["EXCLUSIVE", "IMMEDIATE", "DEFERRED"])
def test_a_held_lock_is_waited_for_then_told_as_retryable(
    memory_folder: Path, hold: Callable, fault_count: Callable[[int, int], int], kind: str
) -> None:
    seconds = fault_count(2, 30)
    with open_store(memory_folder / "a.sqlite3", busy_timeout=0.5) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        log.append("answer", SAME, key="before")
        holder = hold(kind)
        begun, refusals = time.monotonic(), 0
        while time.monotonic() < begun + seconds:
            started = time.monotonic()
            with pytest.raises(StoreFailure, match="locked by another program") as caught:
                log.append("answer", SAME, key="held")
            assert time.monotonic() - started > 0.4
            assert (caught.value.status, caught.value.retryable) == (503, True)
            refusals += 1
        assert refusals
        holder.communicate("\n")
        assert log.append("answer", SAME, key="held").seq == 2
        assert [e.key for e in log.events()] == ["before", "held"]


def test_a_lock_released_in_time_only_delays(memory_folder: Path, hold: Callable) -> None:
    with open_store(memory_folder / "a.sqlite3", busy_timeout=20) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        holder = hold("EXCLUSIVE")
        threading.Timer(1.0, holder.communicate, ("\n",)).start()
        started = time.monotonic()
        assert log.append("answer", SAME).seq == 1
        assert time.monotonic() - started > 0.8


def test_answers_queued_behind_a_lock_do_not_wait_for_each_other(
    memory_folder: Path, hold: Callable
) -> None:
    patience, people = 2.0, 10
    with open_store(memory_folder / "a.sqlite3", busy_timeout=patience) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        holder = hold("EXCLUSIVE")
        refused: list[int] = []

        def answer(n: int) -> None:
            try:
                log.append("answer", SAME, key=str(n))
            except StoreFailure as failure:
                refused.append(failure.status)

        threads = [threading.Thread(target=answer, args=(n,)) for n in range(people)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused == [503] * people
        # One after the other they would need people * patience.
        assert time.monotonic() - started < people * patience - 4
        holder.communicate("\n")
        assert log.events() == []


def test_a_file_in_another_journal_mode_is_brought_back(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    open_store(path).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.close()
    with open_store(path) as store:
        mode = store._backend.run(lambda c: c.exec_driver_sql("PRAGMA journal_mode").scalar())
    assert mode == "delete"
