"""Fault 53: what lies in the place of a lock and is none is neither followed nor written to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from superpac.store import StoreFailure, new_info, open_store

WORDS = b"a thesis, in its only copy"


@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "file", "link to nothing"])
def test_nothing_in_the_place_of_a_lock_is_written_to(tmp_path: Path, kind: str) -> None:
    store, lock, precious = (tmp_path / n for n in ("a.sqlite3", "a.sqlite3.lock", "thesis"))
    if kind != "link to nothing":
        precious.write_bytes(WORDS)
    if kind == "hard link":
        lock.hardlink_to(precious)
    elif kind == "file":
        precious.rename(lock)
    else:
        lock.symlink_to(precious)
    with pytest.raises(StoreFailure, match="move it away") as caught:
        open_store(store)
    assert str(lock) in str(caught.value)
    assert "\n" not in str(caught.value)
    if kind == "link to nothing":
        assert not precious.exists()
    else:
        assert (lock if kind == "file" else precious).read_bytes() == WORDS
    assert lock.is_symlink() == ("link" in kind and kind != "hard link")
    assert not store.exists()
    lock.unlink()
    open_store(store).close()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    lock = tmp_path / "a.sqlite3.lock"
    if kind == "folder":
        lock.mkdir()
    else:
        os.mkfifo(lock)
    with pytest.raises(StoreFailure, match="move it away"):
        open_store(tmp_path / "a.sqlite3")
    assert lock.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
def test_a_lock_of_a_stranger_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "a.sqlite3.lock"
    lock.write_bytes(b"12")
    os.chown(lock, 65534, 65534)
    with pytest.raises(StoreFailure, match="move it away"):
        open_store(tmp_path / "a.sqlite3")
    assert lock.read_bytes() == b"12"


@pytest.mark.parametrize("left", [b"", b"7", b"4194303", b"12345678901234567890"])
def test_a_lock_that_a_killed_process_left_is_taken_over(tmp_path: Path, left: bytes) -> None:
    lock = tmp_path / "a.sqlite3.lock"
    lock.write_bytes(left)
    with open_store(tmp_path / "a.sqlite3") as store:
        store.create(new_info("x", fingerprint="f", n_items=10))
        assert lock.read_text() == str(os.getpid())
    assert not lock.exists()


def test_a_link_put_in_the_place_of_a_lock_is_not_removed_for_it(tmp_path: Path) -> None:
    lock, aside = tmp_path / "a.sqlite3.lock", tmp_path / "aside"
    with open_store(tmp_path / "a.sqlite3"):
        lock.rename(aside)
        lock.symlink_to(aside)  # leads to the very file that is locked
    assert lock.is_symlink()
    assert aside.exists()
