"""Fault 46: a server whose lock was removed, and whose store another has, says so and stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelling import LabelServer, Robot, digits_file
from postgres import PostgresServer
from superpac.store import StoreFailure, new_info, open_store

SAME = {"i": 1, "j": 2, "answer": "same"}


def answers(robot: Robot, count: int) -> list[int]:
    """Give answers that are acknowledged, and their numbers."""
    found = []
    for _ in range(count):
        reply = robot.answer()
        assert reply.status_code == 200, reply.text
        found.append(reply.json()["receipts"][0]["seq"])
    return found


def test_the_first_server_says_so_and_stops(tmp_path: Path) -> None:
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
        data = digits_file(folder)
    first = LabelServer(folders[0], data).wait_ready()
    lock = Path(first.store + ".lock")
    second = None
    try:
        with first.client() as client:
            robot = Robot(client, first.truth, "first")
            acked = answers(robot, 4)
            lock.unlink()
            with open_store(first.store) as other:  # what a second server does first
                log = other.open(other.sessions()[0].info.id)
                acked.append(log.append("answer", SAME, annotator="other").seq)
                reply = robot.answer()
        assert reply.status_code == 503
        assert "another superpac may be writing" in reply.json()["detail"]
        assert reply.json()["retryable"] is False
        second = LabelServer(folders[1], data, store=first.store).wait_ready()
        assert first.process is not None
        assert first.process.wait(timeout=120) == 2
        told = (folders[0] / "stderr.txt").read_text()
        assert told.count("another superpac may be writing") == 1
        assert "Traceback" not in told
        # the second one goes on, with its lock in place and all that was acknowledged
        assert lock.read_text() == str(second.pid)
        with second.client() as client:
            acked += answers(Robot(client, second.truth, "again"), 2)
        kept = second.events()
        assert acked == [e.seq for e in kept if e.kind == "answer"]
        assert [e.seq for e in kept] == list(range(1, len(kept) + 1))
        with open_store(first.store, read_only=True) as store:
            store.verify(store.sessions()[0].info.id)
    finally:
        first.stop()
        if second is not None:
            second.stop()


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_nothing_is_written_without_the_lock(memory_folder: Path, how: str) -> None:
    path = memory_folder / "a.sqlite3"
    lock = memory_folder / "a.sqlite3.lock"
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        made = log.append("answer", SAME)
        store.check_owned()
        lock.unlink()
        if how == "replaced":
            lock.write_text("1")
        for act in (lambda: log.append("answer", SAME), store.check_owned):
            with pytest.raises(StoreFailure, match="another superpac may be writing") as caught:
                act()
            assert "\n" not in str(caught.value)
            assert not caught.value.retryable
        assert log.events() == [made]
    assert lock.exists() == (how == "replaced")  # what is not ours is left


def test_a_folder_that_is_away_for_a_while_is_not_taken_over(memory_folder: Path) -> None:
    here, away = memory_folder / "here", memory_folder / "away"
    here.mkdir()
    with open_store(here / "a.sqlite3") as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        here.rename(away)
        store.check_owned()
        with pytest.raises(StoreFailure, match="moved or removed"):
            log.append("answer", SAME)
        away.rename(here)
        assert log.append("answer", SAME).seq == 1


def test_a_store_in_postgres_may_have_many_writers(postgres_server: PostgresServer) -> None:
    address = postgres_server.database()
    with open_store(address) as first, open_store(address) as second:
        for store in (first, second):
            store.check_owned()
            store.create(new_info(f"x{id(store)}", fingerprint="f", n_items=10))
