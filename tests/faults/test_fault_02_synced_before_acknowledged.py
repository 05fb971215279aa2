"""Fault 2: an answer is acknowledged only after a sync, counted in system calls."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from postgres import PostgresServer, unavailable
from superpac.store import new_info, open_store

STORE = """
import os, sys
from superpac.store import new_info, open_store
with open_store(sys.argv[1]) as store:
    log = store.create(new_info("x", fingerprint="f", n_items=10))
    os.write(1, b"READY\\n")
    for n in range(int(sys.argv[2])):
        log.append("answer", {"i": 1, "j": 2, "answer": "same"}, key=str(n))
        os.write(1, b"ACK\\n")
"""

# What the check must catch: the fast setting, which syncs only at checkpoints.
UNSAFE = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = NORMAL")
db.execute("CREATE TABLE t (x)")
os.write(1, b"READY\\n")
for n in range(int(sys.argv[2])):
    db.execute("INSERT INTO t VALUES (1)")
    os.write(1, b"ACK\\n")
"""

CALL = re.compile(r"(\w+)\((?:\d+<([^>]*)>|\"([^\"]*)\"|AT_FDCWD<[^>]*>, \"([^\"]*)\")?")


def traced(code: str, path: Path, count: int) -> list[list[tuple[str, str]]]:
    """Run `code` under strace; return the (call, file) list that led to each acknowledgement."""
    strace = shutil.which("strace")
    if strace is None:
        unavailable("strace is not installed")
    trace = path.with_name("trace")
    calls = "trace=write,pwrite64,fsync,fdatasync,unlink,unlinkat"
    ran = subprocess.run(
        [strace, "-f", "-y", "-qq", "-e", calls, "-e", "signal=none", "-o", str(trace)]
        + [sys.executable, "-c", code, str(path), str(count)],
        capture_output=True,
        text=True,
    )
    if "ptrace" in ran.stderr and ran.returncode:
        unavailable(f"strace may not trace here: {ran.stderr[-200:]}")
    assert ran.returncode == 0, ran.stderr
    rounds: list[list[tuple[str, str]]] = []
    started = False
    for line in trace.read_text().splitlines():
        if "READY\\n" in line:
            started = True
            rounds.append([])
        elif started and "ACK\\n" in line:
            rounds.append([])
        elif started and (found := CALL.search(line)):
            rounds[-1].append((found[1], next((f for f in found.groups()[1:] if f), "")))
    return rounds[:-1]


def is_synced(calls: list[tuple[str, str]], path: Path) -> bool:
    """Journal synced before the file is touched, file synced after, then the unlink synced."""
    file, journal = str(path), f"{path}-journal"

    def last(*wanted: tuple[str, str]) -> int:
        return max((n for n, call in enumerate(calls) if call in wanted), default=-1)

    writes = [n for n, call in enumerate(calls) if call == ("pwrite64", file)]
    syncs = ("fsync", "fdatasync")
    journal_sync = [n for n, (call, name) in enumerate(calls) if call in syncs and name == journal]
    return (
        bool(writes)
        and bool(journal_sync)
        and journal_sync[0] < writes[0]
        and last(*((call, file) for call in syncs)) > writes[-1]
        and last(*((call, str(path.parent)) for call in syncs))
        > last(("unlink", journal), ("unlinkat", journal))
        > writes[-1]
    )


def test_every_answer_is_synced_before_it_is_acknowledged(
    tmp_path: Path, fault_count: Callable[[int, int], int]
) -> None:
    count = fault_count(60, 1000)
    path = tmp_path / "a.sqlite3"
    rounds = traced(STORE, path, count)
    assert len(rounds) == count
    assert sum(is_synced(calls, path) for calls in rounds) == count


def test_the_count_catches_a_setting_that_does_not_sync(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    rounds = traced(UNSAFE, path, 20)
    assert len(rounds) == 20
    assert not any(call in ("fsync", "fdatasync") for calls in rounds for call, _ in calls)
    assert not any(is_synced(calls, path) for calls in rounds)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    durable = PostgresServer(fsync=True)
    yield durable
    durable.stop()


def test_postgres_has_flushed_its_log_before_an_answer_is_acknowledged(
    server: PostgresServer, fault_count: Callable[[int, int], int]
) -> None:
    url = server.database()
    server.sql(f"ALTER DATABASE {url.rpartition('/')[2]} SET synchronous_commit = off")
    unflushed = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn())"
    count = fault_count(60, 1000)
    with (
        open_store(url) as store,
        psycopg.connect(url, autocommit=True) as look,
        psycopg.connect(url, autocommit=True) as careless,
    ):
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        body = {"i": 1, "j": 2, "answer": "same", "why": "x" * 1000}
        for n in range(count):
            log.append("answer", body, key=str(n))
            # The server's own small records may be waiting; an answer takes more than 1000 bytes.
            assert look.execute(unflushed).fetchone()[0] < 500
        # The same look catches a writer that the careless default applies to.
        careless.execute("CREATE TABLE t (x text)")
        waiting = []
        for _ in range(20):
            careless.execute("INSERT INTO t VALUES (repeat('x', 1000))")
            waiting.append(look.execute(unflushed).fetchone()[0] >= 500)
        assert any(waiting)
