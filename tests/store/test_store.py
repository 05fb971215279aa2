"""A store: finding sessions, one writer per file, history that cannot be rewritten."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from superpac.answers.log import SessionInfo
from superpac.errors import ConflictError, InputError, NotFoundError, StoreError
from superpac.store import Store, StoredLog, new_info, open_store
from superpac.store.schema import metadata

SAME = {"i": 3, "j": 8, "answer": "same"}


def info(name: str = "digits", **facts: object) -> SessionInfo:
    return replace(new_info(name, fingerprint="f00d", n_items=100), **facts)  # type: ignore[arg-type]


def other_engine(url: str) -> sa.Engine:
    """A connection that does not go through the store."""
    if url.startswith("postgresql"):
        return sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    return sa.create_engine(f"sqlite:///{url}")


def test_a_session_is_found_by_id_name_or_beginning(store: Store) -> None:
    birds = info("birds", id="aaaa1111", source={"path": "b"}, spec={"k": 3, "é": [1, None]})
    store.create(birds)
    store.create(info("bicycles", id="aabb2222"))
    store.create(info("aaaa", id="cccc3333"))
    for wanted in ("aaaa1111", "birds", "bir", "aaaa1"):
        assert store.open(wanted).info == birds
    assert store.open("aaaa").session_id == "cccc3333"
    for wanted, words in (
        ("aa", "could be any of"),
        ("bi", "write more"),
        ("fish", "it has: aaaa, bicycles, birds"),
        ("", "no session"),
        ("%", "no session"),
    ):
        with pytest.raises(NotFoundError, match=words):
            store.open(wanted)


def test_a_name_or_id_in_use_is_a_conflict(store: Store) -> None:
    first = info("birds")
    store.create(first)
    for clash in (first, info("birds"), replace(first, name="fish")):
        with pytest.raises(ConflictError, match="already in"):
            store.create(clash)
    with pytest.raises(InputError):
        store.create(info(""))


def test_the_list_of_sessions_counts_events(store: Store, clock) -> None:
    assert store.sessions() == []
    log = store.create(info("one", created_at="2024-01-01T00:00:00.000Z"))
    store.create(info("two", created_at="2024-01-02T00:00:00.000Z"))
    log.append("answer", SAME)
    log.append("answer", SAME)
    clock.move(minutes=5)
    log.append("retract", {"seq": 1})
    one, two = store.sessions()
    assert (one.info.name, one.events, one.answers) == ("one", 3, 2)
    assert one.counts == {"answer": 2, "retract": 1}
    assert one.last_at == "2024-03-31T01:04:00.000Z"
    assert (two.info.name, two.events, two.answers, two.last_at) == ("two", 0, 0, "")


def test_a_log_survives_closing(store_url: str) -> None:
    with open_store(store_url) as store:
        log = store.create(info())
        made = [log.append("answer", SAME, key=f"k{n}") for n in range(5)]
    with open_store(store_url) as store:
        assert store.open("digits").events() == made
        assert store.open("digits").append("answer", SAME, key="k3") == made[3]
        assert store.verify("digits") == (5, made[-1].hash)


def test_reading_only_reads(store_url: str) -> None:
    with open_store(store_url) as writer:
        made = writer.create(info()).append("answer", SAME)
        with open_store(store_url, read_only=True) as reader:
            log = reader.open("digits")
            assert log.events() == [made]
            with pytest.raises(StoreError, match="reading only"):
                log.append("answer", SAME)
            with pytest.raises(StoreError, match="reading only"):
                reader.create(info("other"))
        assert writer.open("digits").append("answer", SAME).seq == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE superpac_events SET body = '{}'",
        "UPDATE superpac_events SET annotator = 'x' WHERE seq = 1",
        "DELETE FROM superpac_events",
        "DELETE FROM superpac_events WHERE seq = 2",
        "DELETE FROM superpac_sessions",
        "UPDATE superpac_sessions SET fingerprint = 'x'",
        "UPDATE superpac_sessions SET n_items = 7",
        "UPDATE superpac_sessions SET last_seq = 1",
        "INSERT INTO superpac_events SELECT session_id, 5, kind, body, annotator, 'new', at, "
        "elapsed_ms, hash FROM superpac_events WHERE seq = 1",
        "INSERT INTO superpac_events SELECT session_id, 2, kind, body, annotator, 'new', at, "
        "elapsed_ms, hash FROM superpac_events WHERE seq = 1",
    ],
)
def test_history_cannot_be_rewritten(store: Store, store_url: str, statement: str) -> None:
    log = store.create(info())
    made = [log.append("answer", SAME, key=f"k{n}") for n in range(2)]
    engine = other_engine(store_url)
    with pytest.raises(sa.exc.DBAPIError, match="superpac"), engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()
    assert log.events() == made


def test_replacing_and_truncating_are_refused_too(store: Store, store_url: str) -> None:
    log = store.create(info())
    made = [log.append("answer", SAME, key=f"k{n}") for n in range(2)]
    engine = other_engine(store_url)
    if engine.dialect.name == "sqlite":
        row = "session_id, seq, 'skip', body, annotator, client_key, at, elapsed_ms, hash"
        statement = f"INSERT OR REPLACE INTO superpac_events SELECT {row} FROM superpac_events"
    else:
        statement = "TRUNCATE superpac_events"
    with pytest.raises(sa.exc.DBAPIError, match="superpac"), engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()
    assert log.events() == made


def test_the_migrations_make_the_schema_that_the_code_uses(store: Store, store_url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from superpac.store import migrate
    from superpac.store.schema import SCHEMA, VERSION_TABLE

    engine = other_engine(store_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == SCHEMA
    engine.dispose()
    folder = Path(migrate.__file__).with_name("migrations")
    assert ScriptDirectory(str(folder)).get_current_head() == SCHEMA


def tampered_log(store: Store, store_url: str, verb: str, statement: str) -> StoredLog:
    """A log of three events, changed behind the triggers' back."""
    log = store.create(info())
    for n in range(3):
        log.append("answer", SAME, key=f"k{n}")
    engine = other_engine(store_url)
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.execute(sa.text(f"DROP TRIGGER superpac_events_{verb}"))
        else:
            connection.execute(sa.text("ALTER TABLE superpac_events DISABLE TRIGGER ALL"))
        connection.execute(sa.text(statement))
    engine.dispose()
    return log


def test_a_changed_payload_is_found_by_reading(store: Store, store_url: str) -> None:
    change = "UPDATE superpac_events SET body = replace(body, 'same', 'unsure') WHERE seq = 2"
    log = tampered_log(store, store_url, "update", change)
    for look in (log.events, lambda: store.verify("digits"), lambda: log.events(after=1)):
        with pytest.raises(StoreError, match="event 2"):
            look()
    assert [e.seq for e in log.events(after=2)] == [3]


def test_a_missing_tail_is_found(store: Store, store_url: str) -> None:
    remove = "DELETE FROM superpac_events WHERE seq = 3"
    log = tampered_log(store, store_url, "delete", remove)
    with pytest.raises(StoreError, match="event 3"):
        log.events()


def test_changed_facts_are_found(store: Store, store_url: str) -> None:
    store.create(info())
    engine = other_engine(store_url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE superpac_sessions SET source = '\"elsewhere\"'"))
    engine.dispose()
    with pytest.raises(StoreError, match="do not fit"):
        store.open("digits")


def test_one_writer_owns_a_file(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    with open_store(path), pytest.raises(StoreError, match=f"process {os.getpid()}"):
        open_store(path)
    with open_store(path):
        code = f"from superpac.store import open_store; open_store({str(path)!r})"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ran.returncode
        assert f"already open for writing (process {os.getpid()})" in ran.stderr
        assert "in a file of their own: --store other.sqlite3" in ran.stderr
        assert "PostgreSQL" not in ran.stderr
    with open_store(path):
        pass
    assert sorted(p.name for p in memory_folder.iterdir()) == ["a.sqlite3"]


def test_a_dead_owner_leaves_no_lock(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    code = (
        f"import os; from superpac.store import open_store; s = open_store({str(path)!r}); "
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert path.with_name("a.sqlite3.lock").exists()
    open_store(path).close()


def test_sqlite_runs_with_the_settings_that_sync(memory_folder: Path) -> None:
    with open_store(memory_folder / "a.sqlite3") as store:
        found = {
            name: store._backend.run(
                lambda connection, name=name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            )
            for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        }
    assert found == {
        "journal_mode": "delete",
        "synchronous": 3,
        "busy_timeout": 5000,
        "foreign_keys": 1,
    }


@pytest.mark.parametrize(
    ("place", "error", "words"),
    [
        ("", InputError, "file name"),
        ("mysql://x/y", InputError, "mysql"),
        ("sqlite://", InputError, "sqlite"),
        ("postgresql://host:port/x", InputError, "cannot be read"),
        ("{folder}/none/a.sqlite3", NotFoundError, "no folder"),
        ("{folder}", InputError, "is a folder"),
        ("postgresql://u:secret@127.0.0.1:1/x", StoreError, "does not answer"),
    ],
)
def test_a_wrong_place_is_refused_without_trying_again(
    memory_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    error: type[Exception],
    words: str,
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waited to try again"))
    with pytest.raises(error, match=words) as caught:
        open_store(place.format(folder=memory_folder))
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(memory_folder.iterdir())


def test_a_missing_file_is_made_only_when_asked(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(NotFoundError, match="no store at"):
            open_store(path, **options)  # type: ignore[arg-type]
    assert not list(memory_folder.iterdir())
    open_store(f"sqlite:///{path}").close()
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"hello, I am a text file" * 100, b"\0" * 8192])
def test_a_file_that_is_no_store_is_left_alone(memory_folder: Path, content: bytes) -> None:
    path = memory_folder / "a.sqlite3"
    path.write_bytes(content)
    for options in ({}, {"read_only": True}):
        with pytest.raises(StoreError, match="not a superpac store"):
            open_store(path, **options)  # type: ignore[arg-type]
    assert path.read_bytes() == content


def test_another_programs_database_is_left_alone(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_store(path)
    assert path.read_bytes() == before


def test_postgres_refusals_are_told_apart(postgres_server) -> None:
    with pytest.raises(StoreError, match="refused the connection") as caught:
        open_store(postgres_server.url("nowhere"))
    assert not caught.value.retryable
    url = postgres_server.database()
    with pytest.raises(StoreError, match="superpac store upgrade"):
        open_store(url, read_only=True)
    open_store(url).close()
    open_store(url, read_only=True).close()


def test_importing_the_store_is_light() -> None:
    code = (
        "import sys, superpac.store; "
        "print([m for m in ('numpy', 'pandas', 'alembic', 'psycopg') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
