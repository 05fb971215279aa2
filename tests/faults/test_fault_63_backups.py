"""Fault 63: a store is copied while it is written to, or is lost; a backup brings it back."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from command_line import superpac
from disks import fill_disk, ordinary_user
from labelling import LabelServer, digits_file
from long_log import write_long_log
from people_at_work import PeopleAtWork, check_log
from superpac.answers.log import Event
from superpac.errors import ConflictError, InputError, NotFoundError, StoreError
from superpac.store import (
    KeptSession,
    StoreFailure,
    backup_store,
    new_info,
    open_store,
    restore_store,
    verify_store,
)

SAME = {"i": 1, "j": 2, "answer": "same"}

# Answers with no pause, each over several pages of the file.
WRITER = """
import sys
from superpac.store import open_store
with open_store(sys.argv[1]) as store:
    log = store.open("x")
    print("ready", flush=True)
    n = log.head()[0]
    while True:
        body = {"i": n % 999, "j": 1000, "answer": "same", "why": "w" * (n % 7 * 900)}
        log.append("answer", body, key=f"live-{n}")
        n += 1
"""

# Makes one backup after the other.
KEEPER = """
import sys
from superpac.store import backup_store
print("ready", flush=True)
while True:
    backup_store(sys.argv[1], sys.argv[2], keep=2)
"""


@contextmanager
def running(code: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the block ends, and kill -9 it there."""
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "ready"
        try:
            yield process
            assert process.poll() is None, "it ended by itself"
        finally:
            process.kill()
            process.communicate()


def events_of(path: Path | str, session: str = "x") -> list[Event]:
    with open_store(path, read_only=True) as store:
        return store.open(session).events()


def small_store(path: Path | str, answers: int = 5, name: str = "x") -> Path | str:
    with open_store(path) as store:
        log = store.create(new_info(name, fingerprint="f", n_items=10**6))
        add(log, answers)
    return path


def add(log, answers: int) -> None:
    start = log.head()[0]
    for n in range(start, start + answers):
        log.append("answer", {"i": n, "j": n + 1, "answer": "same"})


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def looked_at(path: Path) -> tuple[tuple[KeptSession, ...] | None, str]:
    """What a file holds, or the sentence that refuses it."""
    try:
        return verify_store(path), ""
    except StoreError as error:
        return None, str(error)


class Days:
    """A clock that is a day later at every look."""

    def __init__(self) -> None:
        self.now = datetime(2024, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(days=1)
        return self.now


@pytest.fixture(params=["sqlite", "postgres"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LabelServer]:
    """A real server on each kind of store."""
    url = (
        None if request.param == "sqlite" else request.getfixturevalue("postgres_server").database()
    )
    server = LabelServer(tmp_path, digits_file(tmp_path), "--overlap", "0.1", store=url)
    yield server.wait_ready()
    server.stop()


def test_a_backup_of_a_working_server_is_a_beginning_of_its_log(served, tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    made = []
    with PeopleAtWork([served], 3, seed=63) as people:
        for _ in range(4):
            assert people.wait_for(8)
            told = {receipt for act in list(people.work.acts) for receipt in act.receipts}
            superpac("store", "backup", served.store, "--to", folder)
            made.append((max(folder.glob("*.sqlite3")), told))
    assert people.work.faults == []
    assert not people.work.codes.keys() & {503, 507}, "somebody was refused meanwhile"
    log = served.events()
    assert check_log(log, people.work) == []
    for path, told in made:
        name = verify_store(path)[0].name
        events = events_of(path, name)
        assert events == log[: len(events)]
        assert told <= {(event.seq, event.hash) for event in events}
        assert path.stat().st_mode & 0o777 == 0o600
    restored = tmp_path / "again.sqlite3"
    superpac("store", "restore", made[-1][0], "--to", restored)
    assert verify_store(restored) == verify_store(made[-1][0])


@pytest.mark.slow
def test_a_plain_copy_under_load_is_whole_or_refused_by_name(memory_folder, fault_count):
    path, draw = memory_folder / "live.sqlite3", random.Random(63)
    write_long_log(path, 2000, at_a_time=500)
    copies = []
    with running(WRITER, path):
        for n in range(fault_count(20, 150)):
            copy = memory_folder / f"copy-{n}.sqlite3"
            if n % 2:
                shutil.copyfile(path, copy)
            else:  # as a slow disk or a network would
                with path.open("rb") as source, copy.open("wb") as target:
                    while part := source.read(draw.choice((16, 64, 256)) << 10):
                        target.write(part)
                        time.sleep(draw.uniform(0, 0.003))
            copies.append(copy)
    log = events_of(path)
    for copy in copies:
        held, refused = looked_at(copy)
        if held is not None:
            # the last may have been written when the copy was made, but not yet acknowledged
            assert events_of(copy) == log[: held[0].events]
            continue
        assert str(copy) in refused
        assert "\n" not in refused
        with pytest.raises(StoreError, match=copy.name):
            restore_store(copy, memory_folder / "never.sqlite3")
        assert not (memory_folder / "never.sqlite3").exists()


@pytest.mark.slow
def test_a_backup_killed_at_any_moment_leaves_nothing_that_looks_like_one(tmp_path, fault_count):
    path, folder, draw = tmp_path / "live.sqlite3", tmp_path / "kept", random.Random(64)
    write_long_log(path, 4000, at_a_time=1000)
    folder.mkdir()
    half = 0
    with running(WRITER, path):
        for _ in range(fault_count(8, 100)):
            with running(KEEPER, path, folder):
                time.sleep(draw.uniform(0.0, 0.5))
            half += any(name.startswith(".") for name in os.listdir(folder))
            for name in visible(folder):
                verify_store(folder / name)
    backup_store(path, folder)
    assert [name for name in os.listdir(folder) if name.startswith(".")] == []
    log = events_of(path)
    for name in visible(folder):
        events = events_of(folder / name)
        assert events == log[: len(events)]
    assert half, "no backup was met half-way"


def test_a_full_disk_leaves_the_backups_that_are_there(small_disk, tmp_path):
    path = tmp_path / "live.sqlite3"
    write_long_log(path, 1000, at_a_time=1000)
    first = backup_store(path, small_disk).path
    before = first.read_bytes()
    fill_disk(small_disk, leave=64_000)
    with pytest.raises(StoreFailure, match="full|space") as caught:
        backup_store(path, small_disk, keep=1)
    assert caught.value.status == 507
    assert str(small_disk) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(small_disk)) == sorted(["ballast", first.name])
    assert first.read_bytes() == before
    (small_disk / "ballast").unlink()
    backup_store(path, small_disk, keep=1)
    assert len(os.listdir(small_disk)) == 1


def test_a_database_that_does_not_fit_leaves_nothing(small_disk, postgres_server):
    url = postgres_server.database()
    with open_store(url) as store:
        add(store.create(new_info("x", fingerprint="f", n_items=10**6)), 300)
    fill_disk(small_disk, leave=100_000)
    with pytest.raises(StoreFailure, match="full|space"):
        backup_store(url, small_disk)
    assert os.listdir(small_disk) == ["ballast"]


def test_a_folder_that_cannot_be_written_is_told(memory_folder):
    path = small_store(memory_folder / "a.sqlite3")
    folder = memory_folder / "kept"
    folder.mkdir(mode=0o555)
    memory_folder.chmod(0o755)
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
    with ordinary_user(), pytest.raises(StoreFailure, match="cannot be written") as caught:
        backup_store(path, folder)
    assert str(folder) in str(caught.value)
    assert not os.listdir(folder)
    with pytest.raises(NotFoundError, match="no folder"):
        backup_store(path, memory_folder / "none")
    assert not (memory_folder / "none").exists()


def test_old_backups_go_only_when_the_new_one_holds_all_of_them(memory_folder):
    path, folder, clock = memory_folder / "a.sqlite3", memory_folder / "backups", Days()
    small_store(path)
    made = []
    for _ in range(4):
        made.append(backup_store(path, keep=3, clock=clock))
        with open_store(path) as store:
            add(store.open("x"), 2)
    assert [m.removed for m in made] == [(), (), (), (made[0].path,)]
    # neither what has another name, nor what only has the right one
    stranger = folder / "a-backup-2000-01-01T00-00-00-000Z.sqlite3"
    stranger.write_bytes(b"not a store")
    (folder / "notes.sqlite3").write_text("mine")
    last = backup_store(path, keep=3, clock=clock)
    assert (last.removed, last.spared) == ((made[1].path,), (stranger,))
    # the store is lost and begun anew: what the new one does not hold is not removed for it
    path.unlink()
    small_store(path)
    lost = backup_store(path, keep=1, clock=clock)
    assert lost.removed == ()
    assert set(lost.spared) == {stranger, made[2].path, made[3].path, last.path}
    assert (folder / "notes.sqlite3").exists()
    with pytest.raises(InputError, match="1 or more; got 0"):
        backup_store(path, keep=0)


def test_a_backup_that_does_not_hold_what_was_read_is_not_kept(memory_folder, monkeypatch):
    """Whatever damages it on the way: nothing is removed for it."""
    path, clock = small_store(memory_folder / "a.sqlite3"), Days()
    first = backup_store(path, clock=clock).path
    from superpac.store.sqlite import SqliteBackend

    whole = SqliteBackend.copy_to

    def damaging(self, target):
        heads = whole(self, target)
        data = target.read_bytes()
        target.write_bytes(data.replace(b'"answer":"same","i":2', b'"answer":"same","i":7'))
        return heads

    monkeypatch.setattr(SqliteBackend, "copy_to", damaging)
    with pytest.raises(StoreError, match="event 3"):
        backup_store(path, keep=1, clock=clock)
    assert os.listdir(memory_folder / "backups") == [first.name]


def test_restoring_never_replaces_a_store_in_silence(memory_folder):
    path = small_store(memory_folder / "a.sqlite3")
    backup = backup_store(path).path
    with open_store(path) as store:
        add(store.open("x"), 3)
        with pytest.raises(StoreFailure, match=f"process {os.getpid()}"):
            restore_store(backup, path, replace=True)
    before = path.read_bytes()
    refused = superpac("store", "restore", backup, "--to", path, check=False)
    assert refused.returncode == 2
    assert "already there" in refused.stderr
    assert "--replace" in refused.stderr
    assert path.read_bytes() == before
    said = superpac("store", "restore", backup, "--to", path, "--replace").stdout
    aside = next(memory_folder.glob("a.sqlite3.before-restore-*"))
    assert str(aside) in said
    assert aside.read_bytes() == before
    assert (len(events_of(path)), len(events_of(aside))) == (5, 8)
    assert path.stat().st_mode & 0o777 == 0o600
    assert visible(memory_folder) == ["a.sqlite3", aside.name, "backups"]
    with pytest.raises(InputError, match="backup itself"):
        restore_store(backup, backup, replace=True)


@pytest.mark.parametrize("old", ["there", "cut", "gone"])
def test_what_a_crash_left_beside_the_old_file_does_not_reach_the_new_one(memory_folder, old):
    """SQLite would roll another file's journal back into what was restored."""
    path = memory_folder / "a.sqlite3"
    write_long_log(path, 500, at_a_time=500)
    backup = backup_store(path).path
    with open_store(path) as store:
        add(store.open("x"), 1)
    code = f"""
import os, sqlite3
found = sqlite3.connect({str(path)!r}, isolation_level=None)
found.execute("PRAGMA cache_size = 2")
found.execute("DROP TRIGGER superpac_events_update")
found.execute("BEGIN IMMEDIATE")
found.execute("UPDATE superpac_events SET annotator = 'x' || seq")
os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    journal = path.with_name("a.sqlite3-journal")
    assert journal.stat().st_size > 4096
    if old == "cut":
        path.write_bytes(path.read_bytes()[:-5000])
    if old == "gone":
        path.unlink()
        # nor does it reach one that is begun anew
        with pytest.raises(StoreFailure, match=f"{journal.name} belongs to a store that is gone"):
            open_store(path)
        assert not path.exists()
    _, aside = restore_store(backup, path, replace=old != "gone")
    assert not journal.exists()
    assert verify_store(path) == verify_store(backup)
    assert (aside is not None) == (old != "gone")
    left = {"there": 1, "cut": 1, "gone": 0}
    assert len(list(memory_folder.glob("*.before-restore-*Z"))) == left[old]


def test_a_database_gets_what_it_lacks_and_keeps_what_came_since(memory_folder, postgres_server):
    path = small_store(memory_folder / "a.sqlite3")
    small_store(path, 2, name="y")
    early = backup_store(path).path
    url = postgres_server.database()
    superpac("store", "restore", early, "--to", url)
    assert [events_of(url, name) for name in "xy"] == [events_of(early, name) for name in "xy"]
    # the log went on there: the backup is its beginning and adds nothing
    with open_store(url) as store:
        add(store.open("x"), 3)
    since = events_of(url)
    said = superpac("store", "restore", early, "--to", url).stdout
    assert "x: 0 events brought back, 3 more are there since." in said
    assert events_of(url) == since
    # another database stayed behind: its end is brought back
    late = backup_store(url, memory_folder).path
    behind = postgres_server.database()
    restore_store(early, behind)
    assert [r.added for r in restore_store(late, behind)[0] if r.name == "x"] == [3]
    assert events_of(behind) == since
    with open_store(behind) as store:
        store.verify("x")
        add(store.open("x"), 1)
    # and a database comes back as a file
    restore_store(late, memory_folder / "file.sqlite3")
    assert events_of(memory_folder / "file.sqlite3") == since


def test_a_database_whose_logs_disagree_is_left_as_it_is(memory_folder, postgres_server):
    path, url = small_store(memory_folder / "a.sqlite3"), postgres_server.database()
    restore_store(backup_store(path).path, url)
    small_store(path, 4, name="new")
    with open_store(path) as store:
        add(store.open("x"), 2)
    with open_store(url) as store:
        store.open("x").append("answer", SAME)
        before = store.open("x").events()
    fork = backup_store(path, memory_folder).path
    with pytest.raises(ConflictError, match="'x' in .* went another way"):
        restore_store(fork, url)
    assert events_of(url) == before
    with open_store(url) as store:
        assert [found.info.name for found in store.sessions()] == ["x"], "half of it was restored"
    other = small_store(memory_folder / "b.sqlite3")  # another session of the same name
    with pytest.raises(ConflictError, match="'x'"):
        restore_store(backup_store(other, memory_folder).path, url)
    assert events_of(url) == before
