"""A hidden folder to build a file in, beside the place that it is renamed to when it is whole.

A process that is killed leaves its folder behind. It is locked while its owner lives, so the next
one to build something here knows whose owner is gone, and removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from superpac.errors import ConflictError
from superpac.store import failures
from superpac.system.atomic_files import sync_folder

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock; what is left behind stays there
    fcntl = None  # type: ignore[assignment]

_PREFIX = ".superpac-draft-"


@contextlib.contextmanager
def draft_folder(place: Path) -> Iterator[Path]:
    """Make a folder in `place` for the length of a block, for its owner only.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with draft_folder(Path(place)) as draft:
    ...         _ = (draft / "half").write_text("not yet whole")
    ...     os.listdir(place)
    []
    """
    try:
        _remove_leftovers(place)
        draft, handle = _make(place)
    except OSError as error:
        raise failures.unwritable(str(place), error) from error
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


def put(draft: Path, path: Path) -> None:
    """Give a whole and synced file its name."""
    if os.path.lexists(path):
        raise ConflictError(f"{path} is already there; move it away and try again.")
    try:
        os.rename(draft, path)
    except OSError as error:
        raise failures.unwritable(str(path.parent), error) from error
    sync_folder(path.parent)


def _make(place: Path) -> tuple[Path, int]:
    """Make a folder and lock it."""
    while True:
        draft = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        handle = _lock(draft)
        # Another process may have taken it for a leftover before it was locked.
        if handle is not None and draft.is_dir():
            return draft, handle
        if handle is not None:
            os.close(handle)


def _lock(draft: Path) -> int | None:
    """Lock a folder and give its handle; None where it is gone or another holds it."""
    try:
        handle = os.open(draft, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _remove_leftovers(place: Path) -> None:
    """Remove the folders of processes that are gone."""
    if fcntl is None:  # pragma: no cover - nobody knows whether their owners live
        return
    for draft in place.glob(f"{_PREFIX}*"):
        if draft.is_symlink() or not draft.is_dir():
            continue
        handle = _lock(draft)
        if handle is not None:
            shutil.rmtree(draft, ignore_errors=True)
            os.close(handle)
