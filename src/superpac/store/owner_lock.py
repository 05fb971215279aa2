"""One writer owns a SQLite file: a lock beside it that the system drops when the process dies."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path

from superpac.store import failures
from superpac.store.failures import StoreFailure

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock; SQLite's own locks remain
    fcntl = None  # type: ignore[assignment]

# A link is not followed, and a pipe or a terminal in its place is not waited for. Windows has none.
_OPEN = (
    os.O_RDWR
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_OURS = re.compile(rb"[0-9]{0,20}")  # all that is ever in a lock: the number of a process


class OwnerLock:
    """Holds ``<file>.lock``; a second holder is refused with the first one's process number."""

    def __init__(self, path: Path) -> None:
        # a file of its own, because closing any handle of the database itself would drop the locks
        # that SQLite holds on it in this process
        self._path = path.with_name(path.name + ".lock")
        self._where = str(path)
        self._handle: int | None = None
        while self._handle is None:
            self._handle = self._take(path)

    def _take(self, path: Path) -> int | None:
        """Take the lock and give its handle; None where its file was removed meanwhile."""
        try:
            handle, made = _open_or_make(self._path)
        except OSError as error:
            if self._path.is_symlink() or self._path.is_dir():
                raise self._strange() from error
            raise failures.from_system(
                error,
                f"{path} cannot be opened for writing ({error.strerror}: {self._path}); "
                "make its folder writable, or name another file.",
            ) from error
        try:
            if not made and not self._ours(handle, path):
                raise self._strange()
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last owner removes the file on closing; then this lock is on a lost one.
            if not _same(handle, self._path):
                os.close(handle)
                return None
            number = str(os.getpid()).encode()
            os.pwrite(handle, number, 0)
            os.truncate(handle, len(number))
        except StoreFailure:
            os.close(handle)
            raise
        except BlockingIOError as error:
            owner = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise StoreFailure(
                f"{path} is already open for writing (process {owner}); stop that one, "
                "or keep these sessions in a file of their own: --store other.sqlite3.",
                status=503,
            ) from error
        except OSError as error:
            os.close(handle)
            raise failures.from_system(
                error,
                f"{path} cannot be locked for writing ({error.strerror}: {self._path}); "
                "use a folder on a local disk with some space left.",
            ) from error
        return handle

    def _ours(self, handle: int, path: Path) -> bool:
        """Whether what was opened can only be a lock: writing to anything else would destroy it."""
        found = os.fstat(handle)
        # a second name of a file (a hard link) leads to somebody's file just as a link does;
        # a removed one has none, and is seen to after it is locked
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            return False
        if hasattr(os, "geteuid"):
            # root may go on with another's store, and some disks give all files to one owner
            owners = {os.geteuid(), path.parent.stat().st_uid}
            with contextlib.suppress(FileNotFoundError):
                owners.add(path.stat().st_uid)
            if found.st_uid not in owners:
                return False
        return _OURS.fullmatch(os.pread(handle, 32, 0)) is not None

    def _strange(self) -> StoreFailure:
        """Refuse what lies in the lock's place and is none."""
        return StoreFailure(
            f"{self._path} is not a lock that superpac made, so it was left as it is and "
            f"{self._where} was not opened; move it away, or name another file.",
            status=503,
        )

    def check(self) -> None:
        """Raise once the lock's file is gone or another's: somebody else may be writing by now."""
        try:
            lost = self._handle is not None and not _same(self._handle, self._path)
        except OSError:  # a failing disk: whoever reads or writes says so
            return
        if lost:
            raise failures.taken_over(self._where, str(self._path))

    def release(self) -> None:
        """Give the file up; harmless when done twice."""
        if self._handle is not None:
            # In a folder that has become read-only it stays, and locks nobody out.
            with contextlib.suppress(OSError):
                if _same(self._handle, self._path):
                    self._path.unlink()
            os.close(self._handle)
            self._handle = None


def _open_or_make(path: Path) -> tuple[int, bool]:
    """Open a file, which is made if it is not there; and whether it was made."""
    while True:
        try:
            return os.open(path, _OPEN | os.O_CREAT | os.O_EXCL, 0o600), True
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):  # unless it was removed since
                return os.open(path, _OPEN), False


def _same(handle: int, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
