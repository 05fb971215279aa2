"""Fault 16: what an earlier release wrote opens in this one, after the command that it names."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa

from superpac.answers.log import verify_chain
from superpac.errors import StoreError
from superpac.store import open_store, upgrade_store
from superpac.store.schema import SCHEMA

ASSETS = Path(__file__).with_name("assets")
HEAD = (38, "dacaef9f8de361f1cbeac2626802f9bcb762331c0ca78e3a9facda78a431a173")
OLD = sorted(p for p in ASSETS.glob("schema-*.sqlite3") if SCHEMA not in p.name)


def stamp(path: Path, version: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE superpac_schema SET version_num = ?", (version,))
    connection.close()


def test_there_is_a_frozen_store_of_every_schema() -> None:
    found = sorted(p.name for p in ASSETS.glob("schema-*.sqlite3"))
    assert found == [f"schema-{n:04d}.sqlite3" for n in range(1, int(SCHEMA) + 1)]


@pytest.mark.parametrize("frozen", sorted(ASSETS.glob("schema-*.sqlite3")), ids=lambda p: p.name)
def test_a_frozen_store_opens_after_the_command_it_names(frozen: Path, memory_folder: Path) -> None:
    path = memory_folder / "old.sqlite3"
    shutil.copyfile(frozen, path)
    if frozen in OLD:
        for options in ({}, {"read_only": True}):
            with pytest.raises(StoreError, match=f"superpac store upgrade --store {path}"):
                open_store(path, **options)  # type: ignore[arg-type]
        assert path.read_bytes() == frozen.read_bytes()
        copy = upgrade_store(path)
        assert copy is not None
        assert copy.stat().st_mode & 0o777 == 0o600
        with sqlite3.connect(copy) as old:
            assert old.execute("SELECT count(*) FROM superpac_events").fetchone() == (38,)
        old.close()
    assert upgrade_store(path) is None
    with open_store(path) as store:
        log = store.open("frozen")
        assert store.verify("frozen") == HEAD
        verify_chain(log.events(), log.info)
        assert log.events()[3].body == {"i": 3, "j": 24, "answer": "same"}
        assert log.info.spec == {"k": 3, "affinity": "tsc:q=5", "seed": 0}
        assert log.append("answer", {"i": 1, "j": 2, "answer": "same"}).seq == 39
        assert log.lease((1, 2), "ann", 60)


@pytest.mark.parametrize("frozen", sorted(ASSETS.glob("archive-*.zip")), ids=lambda p: p.name)
def test_a_frozen_archive_is_imported(frozen: Path, memory_folder: Path) -> None:
    with open_store(memory_folder / "new.sqlite3") as store:
        assert store.import_archive(frozen).head() == HEAD
        assert store.verify("frozen") == HEAD


def test_a_newer_store_names_the_command(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    open_store(path).close()
    stamp(path, "9999")
    before = path.read_bytes()
    for look in (open_store, upgrade_store):
        with pytest.raises(StoreError, match="schema 9999.*pip install -U superpac"):
            look(path)
    assert path.read_bytes() == before


def test_postgres_is_upgraded_by_the_same_command(postgres_server) -> None:
    from superpac.store import migrate

    url = postgres_server.database()
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        migrate.upgrade(connection, "0001")
    engine.dispose()
    with pytest.raises(StoreError, match="superpac store upgrade --store postgresql://"):
        open_store(url)
    upgrade_store(url)
    with open_store(url) as store:
        assert store.import_archive(ASSETS / "archive-1.zip").head() == HEAD
        assert store.open("frozen").lease((1, 2), "ann", 60)
    postgres_server.sql("UPDATE superpac_schema SET version_num = '9999'", url)
    with pytest.raises(StoreError, match="pip install -U superpac"):
        open_store(url)
