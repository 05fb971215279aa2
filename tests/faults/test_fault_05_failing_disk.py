"""Fault 5: a read-only folder, a failing disk, a file removed while open: told in one sentence."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import ordinary_user
from postgres import unavailable
from superpac.answers.log import Event
from superpac.errors import StoreError
from superpac.store import StoreFailure, new_info, open_store

SAME = {"i": 1, "j": 2, "answer": "same"}


# Whoever waited for a lock here would wait this long; what is told without waiting is far below.
PATIENCE = 120.0


@contextlib.contextmanager
def without_waiting() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < PATIENCE / 2


@pytest.fixture
def folder(memory_folder: Path) -> Iterator[Path]:
    """A folder that the ordinary user owns."""
    place = memory_folder / "place"
    open_store(
        memory_folder / "first.sqlite3"
    ).close()  # imports what only root may be able to read
    memory_folder.chmod(0o755)
    place.mkdir()
    if os.getuid() == 0:
        os.chown(place, 65534, 65534)
    yield place
    place.chmod(0o700)


def test_a_read_only_folder_is_told_without_waiting(folder: Path) -> None:
    with ordinary_user():
        with open_store(folder / "a.sqlite3") as store:
            made = store.create(new_info("x", fingerprint="f", n_items=10)).append("answer", SAME)
        folder.chmod(0o500)
        for name in ("a.sqlite3", "new.sqlite3"):
            with without_waiting(), pytest.raises(StoreFailure, match="writable") as caught:
                open_store(folder / name, busy_timeout=PATIENCE)
            assert "\n" not in str(caught.value)
        assert [p.name for p in folder.iterdir()] == ["a.sqlite3"]
        with open_store(folder / "a.sqlite3", read_only=True) as store:
            assert store.open("x").events() == [made]


def test_a_folder_that_becomes_read_only_is_told_without_waiting(folder: Path) -> None:
    with ordinary_user(), open_store(folder / "a.sqlite3", busy_timeout=PATIENCE) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        made = log.append("answer", SAME, key="a")
        folder.chmod(0o500)
        with without_waiting(), pytest.raises(StoreFailure, match="cannot be written") as caught:
            log.append("answer", SAME, key="b")
        assert caught.value.status == 503
        assert log.events() == [made]
        folder.chmod(0o700)
        assert log.append("answer", SAME, key="b").seq == 2


@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_a_file_that_vanishes_is_told_without_waiting(memory_folder: Path, how: str) -> None:
    path = memory_folder / "a.sqlite3"
    away = memory_folder / "away"
    with open_store(path, busy_timeout=PATIENCE) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        log.append("answer", SAME, key="a")
        shutil.copyfile(path, memory_folder / "copy")
        if how == "removed":
            path.unlink()
        elif how == "moved":
            path.rename(away)
        else:
            os.replace(memory_folder / "copy", path)
        for look in (lambda: log.append("answer", SAME, key="b"), log.events, store.sessions):
            with without_waiting(), pytest.raises(StoreFailure, match="moved or removed") as caught:
                look()
            assert caught.value.status == 503
        assert path.exists() == (how == "replaced")
        if how == "moved":
            away.rename(path)
            assert log.append("answer", SAME, key="b").seq == 2
    assert path.exists() == (how != "removed")


def test_a_file_that_vanishes_while_an_answer_is_written_is_not_acknowledged(
    memory_folder: Path,
) -> None:
    from sqlalchemy import event

    path = memory_folder / "a.sqlite3"
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        event.listen(store._backend._engine, "commit", lambda _: path.unlink())  # type: ignore[attr-defined]
        with pytest.raises(StoreError):
            log.append("answer", SAME)
    assert not path.exists()


ANSWERING = """
import json, sys
from superpac.store import StoreFailure, open_store
from superpac.errors import StoreError
acked, failures = [], []
try:
    store = open_store(sys.argv[1])
    log = store.open("x")
    for n in range(6):
        try:
            acked.append(log.append("answer", {"i": 1, "j": 2, "answer": "same"}, key=f"k{n}").hash)
        except StoreFailure as error:
            failures.append([error.status, error.retryable, str(error)])
except StoreError as error:
    failures.append([error.status, error.retryable, str(error)])
print(json.dumps([acked, failures]))
"""


@pytest.mark.parametrize("call", ["fdatasync", "pwrite64", "pread64"])
def test_a_failing_disk_is_told_and_nothing_acknowledged_is_lost(
    memory_folder: Path, call: str
) -> None:
    strace = shutil.which("strace")
    if strace is None:
        unavailable("strace, which makes the disk fail, is not installed")
    path = memory_folder / "a.sqlite3"
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        before = [log.append("answer", SAME, key="first")]
    first = {"fdatasync": 3, "pwrite64": 7, "pread64": 1}[call]
    ran = subprocess.run(
        [strace, "-f", "-qq", "-o", str(memory_folder / "trace"), "-P", str(path)]
        + ["-e", f"trace={call}", "-e", f"inject={call}:error=EIO:when={first}+"]
        + [sys.executable, "-c", ANSWERING, str(path)],
        capture_output=True,
        text=True,
    )
    if "ptrace" in ran.stderr and ran.returncode:
        unavailable(f"strace may not trace here: {ran.stderr[-200:]}")
    assert ran.returncode == 0, ran.stderr
    acked, failures = json.loads(ran.stdout)
    assert acked or call == "pread64"
    assert failures
    for status, retryable, message in failures:
        assert (status, retryable) == (503, True)
        assert "disk" in message
        assert "\n" not in message
    with open_store(path) as store:
        log = store.open("x")
        events: list[Event] = log.events()
        assert events[0] == before[0]
        assert [e.hash for e in events[1 : 1 + len(acked)]] == acked
        for n in range(6):
            log.append("answer", SAME, key=f"k{n}")
        assert [e.key for e in log.events()] == ["first", *(f"k{n}" for n in range(6))]
        store.verify("x")
