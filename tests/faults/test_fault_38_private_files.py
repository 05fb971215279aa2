"""Fault 38: what holds answers is readable by its owner only, and appears by renaming."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from labelling import LabelServer
from superpac.store import new_info, open_store
from superpac.system.atomic_files import atomic_write


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_store_its_journal_and_its_lock_are_private(memory_folder: Path) -> None:
    path = memory_folder / "a.sqlite3"
    seen: dict[str, int] = {}

    def look(_: object) -> None:
        seen.update({p.name: mode(p) for p in memory_folder.iterdir()})

    with open_store(path) as store:
        event.listen(store._backend._engine, "commit", look)  # type: ignore[attr-defined]
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        log.append("answer", {"i": 1, "j": 2, "answer": "same"})
        archive = store.export_archive("x", memory_folder / "x.zip")
        assert mode(archive) == 0o600
    assert seen == dict.fromkeys(["a.sqlite3", "a.sqlite3-journal", "a.sqlite3.lock"], 0o600)


def test_a_file_is_replaced_whole_or_not_at_all(memory_folder: Path) -> None:
    path = memory_folder / "x.zip"
    path.write_bytes(b"old")

    def fail_half_way() -> None:
        with atomic_write(path) as file:
            file.write(b"half")
            file.flush()
            assert path.read_bytes() == b"old"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert [p.name for p in memory_folder.iterdir()] == ["x.zip"]
    with atomic_write(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600


def test_what_the_page_keeps_is_for_its_owner_only(label_server: LabelServer):
    for name in ("answers.sqlite3", "token"):
        mode = (label_server.folder / name).stat().st_mode & 0o777
        assert mode == 0o600, f"{name} has mode {mode:o}"
