"""Fault 25: a clock set back an hour, or by daylight saving, changes no order."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from superpac.answers.log import Log, MemoryLog
from superpac.store import new_info, open_store

BERLIN = ZoneInfo("Europe/Berlin")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, memory_folder: Path) -> str:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_server").database()
    return request.param if request.param == "memory" else str(memory_folder / "a.sqlite3")


def answer_through_an_hour_back(log: Log, clock: Clock) -> None:
    log.append("answer", {"i": 1, "j": 2, "answer": "same"}, elapsed_ms=10)
    clock.now = clock.now.replace(fold=1)  # 02:30 again, in winter time: an hour later in fact
    log.append("answer", {"i": 2, "j": 3, "answer": "different"}, elapsed_ms=10)
    clock.now -= timedelta(hours=3)  # set back by hand
    log.append("retract", {"seq": 1})
    log.append("answer", {"i": 4, "j": 5, "answer": "same"}, elapsed_ms=10, expected_seq=3)
    events = log.events()
    assert [e.seq for e in events] == [1, 2, 3, 4]
    assert [e.kind for e in events] == ["answer", "answer", "retract", "answer"]
    assert events[0].at == "2024-10-27T00:30:00.000Z"
    assert events[1].at == "2024-10-27T01:30:00.000Z"
    assert events[3].at < events[0].at
    assert log.events(after=2) == events[2:]


def test_order_is_by_seq(place: str) -> None:
    clock = Clock()
    info = new_info("x", fingerprint="f", n_items=10, clock=clock)
    if place == "memory":
        answer_through_an_hour_back(MemoryLog(info, clock), clock)
        return
    with open_store(place, clock=clock) as store:
        answer_through_an_hour_back(store.create(info), clock)
        store.verify("x")
    with open_store(place) as store:
        assert [e.seq for e in store.open("x").events()] == [1, 2, 3, 4]
        assert store.sessions()[0].last_at == store.open("x").events()[-1].at


def test_a_lease_outlives_a_clock_set_back_by_its_own_length_only(
    memory_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import superpac.store.sqlite as module

    now = 1_700_000_000.0
    monkeypatch.setattr(module.time, "time", lambda: now)
    with open_store(memory_folder / "a.sqlite3") as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        assert log.lease((1, 2), "ann", 60)
        now -= 3600
        assert not log.lease((1, 2), "bob", 60)
        now += 61
        assert log.leases() == []
        assert log.lease((1, 2), "bob", 60)
