"""Fault 4: a full disk refuses answers with 507, loses none, and works again with space."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import event

from superpac.answers.log import Event, Log
from superpac.store import Store, StoreFailure, new_info, open_store

WHY = "x" * 2000


def fill(log: Log, start: int = 0) -> tuple[list[Event], StoreFailure]:
    """Answer until the store refuses."""
    acked: list[Event] = []
    for n in range(start, start + 5000):
        try:
            acked.append(log.append("answer", answer(n), key=f"k{n}"))
        except StoreFailure as failure:
            return acked, failure
    raise AssertionError("the disk never filled up")


def answer(n: int) -> dict:
    return {"i": n, "j": n + 1, "answer": "same", "why": WHY}


def check_refused(log: Log, acked: list[Event], failure: StoreFailure) -> None:
    assert (failure.status, failure.retryable) == (507, True)
    assert "full" in str(failure)
    assert "\n" not in str(failure)
    assert len(acked) > 10
    for _ in range(3):
        with pytest.raises(StoreFailure) as caught:
            log.append("answer", answer(len(acked)), key=f"k{len(acked)}")
        assert caught.value.status == 507
    assert log.events() == acked


def check_works(store: Store, log: Log, acked: list[Event]) -> None:
    again = log.append("answer", answer(len(acked)), key=f"k{len(acked)}")
    assert again.seq == len(acked) + 1
    assert log.events() == [*acked, again]
    assert store.verify("x") == (again.seq, again.hash)


def test_a_full_database_refuses_and_goes_on(memory_folder: Path) -> None:
    pages = 60
    with open_store(memory_folder / "a.sqlite3") as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10_000))
        engine = store._backend._engine  # type: ignore[attr-defined]
        engine.dispose()
        event.listen(engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count = {pages}"))
        acked, failure = fill(log)
        check_refused(log, acked, failure)
        pages = 10_000
        engine.dispose()
        check_works(store, log, acked)


def test_a_full_disk_refuses_and_goes_on(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    with open_store(small_disk / "a.sqlite3") as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10_000))
        acked, failure = fill(log)
        check_refused(log, acked, failure)
        ballast.unlink()
        check_works(store, log, acked)
        with pytest.raises(StoreFailure) as caught:
            store.export_archive("x", small_disk / "none" / "x.zip")
        assert caught.value.status == 503
    with open_store(small_disk / "a.sqlite3") as store:
        assert len(store.open("x").events()) == len(acked) + 1


def test_a_new_store_on_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * (2 * 1024 * 1024 - 16_384))
    with pytest.raises(StoreFailure, match="full|space"):
        open_store(small_disk / "a.sqlite3")
    assert [p.name for p in small_disk.iterdir()] == ["ballast"]
    (small_disk / "ballast").unlink()
    open_store(small_disk / "a.sqlite3").close()


def test_an_archive_that_does_not_fit_is_not_left_half_written(small_disk: Path) -> None:
    with open_store(small_disk / "a.sqlite3") as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10_000))
        for n in range(20):
            log.append("answer", {**answer(n), "why": os.urandom(8000).hex()})
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
        (small_disk / "ballast").write_bytes(b"x" * (free - 40_000))
        with pytest.raises(StoreFailure) as caught:
            store.export_archive("x", small_disk / "x.zip")
        assert caught.value.status == 507
        assert not list(small_disk.glob("*x.zip*"))
        (small_disk / "ballast").unlink()
        store.export_archive("x", small_disk / "x.zip")
