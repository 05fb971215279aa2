"""Fault 61: a store that cannot be written is told in one sentence, before the first question."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from labelling import digits_file
from superpac.store import StoreFailure, new_info, open_store

SAME = {"i": 1, "j": 2, "answer": "same"}
NOBODY = 65534


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """Be somebody whom file modes bind; root they do not."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def store(memory_folder: Path) -> Iterator[Path]:
    """A store with one answer in a folder that the ordinary user owns."""
    open_store(memory_folder / "first.sqlite3").close()  # imports what only root may read
    memory_folder.chmod(0o755)
    place = memory_folder / "place"
    place.mkdir()
    if os.getuid() == 0:
        os.chown(place, NOBODY, NOBODY)
    path = place / "a.sqlite3"
    with ordinary_user(), open_store(path) as made:
        made.create(new_info("x", fingerprint="f", n_items=10)).append("answer", SAME)
    yield path
    place.chmod(0o700)


def refused(path: Path) -> str:
    with pytest.raises(StoreFailure, match="make it writable") as caught:
        open_store(path)
    assert "\n" not in str(caught.value)
    with open_store(path, read_only=True) as reading:
        assert len(reading.open("x").events()) == 1
    return str(caught.value)


@pytest.mark.parametrize("leftover", [False, True])
def test_a_read_only_folder_is_told_when_it_is_opened(store: Path, leftover: bool) -> None:
    lock = store.with_name("a.sqlite3.lock")
    with ordinary_user():
        if leftover:
            lock.write_text("7")
        store.parent.chmod(0o500)
        assert "its folder is read-only" in refused(store)
        assert lock.exists() == leftover


def test_a_read_only_file_is_told_when_it_is_opened(store: Path) -> None:
    with ordinary_user():
        store.chmod(0o400)
        assert "the file is read-only" in refused(store)
        store.chmod(0o600)
        with open_store(store) as again:
            assert again.open("x").append("answer", SAME).seq == 2


def test_a_folder_that_becomes_read_only_is_left_without_a_traceback(store: Path) -> None:
    with ordinary_user():
        kept = open_store(store)
        store.parent.chmod(0o500)
        kept.close()
        store.parent.chmod(0o700)
        open_store(store).close()


@pytest.mark.parametrize("what", ["file", "folder", "folder with a leftover lock"])
def test_the_command_says_so_in_one_sentence_and_ends(store: Path, what: str) -> None:
    """The whole command, by a user whom modes bind; the page's port is never opened."""
    data = digits_file(store.parent.parent)
    data.chmod(0o644)
    if what.endswith("lock"):
        lock = store.with_name("a.sqlite3.lock")
        lock.write_text("7")
        os.chown(lock, store.stat().st_uid, -1)
    (store if what == "file" else store.parent).chmod(0o500)
    # what only root may be able to read is imported before root is left
    code = (
        "import os, sys, superpac.web.server, superpac.cli.label, superpac.store\n"
        "from superpac import cli, load\n"
        "load(sys.argv[2])\n"
        f"if os.getuid() == 0: os.seteuid({NOBODY})\n"
        "cli.main()"
    )
    words = ["label", str(data), "-k", "5", "--no-browser", "--affinity", "tsc:q=4", "--dim", "3"]
    ran = subprocess.run(
        [sys.executable, "-c", code, *words, "--port", "0", "--store", str(store)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "SUPERPAC_CACHE": "off"},
    )
    assert ran.returncode == 2, ran.stderr
    assert "make it writable" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stdout == ""
