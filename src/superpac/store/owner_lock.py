"""One writer owns a SQLite file: a lock beside it that the system drops when the process dies."""

from __future__ import annotations

import os
from pathlib import Path

from superpac.store.failures import StoreFailure

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock; SQLite's own locks remain
    fcntl = None  # type: ignore[assignment]


class OwnerLock:
    """Holds ``<file>.lock``; a second holder is refused with the first one's process number."""

    def __init__(self, path: Path) -> None:
        # a file of its own, because closing any handle of the database itself would drop the locks
        # that SQLite holds on it in this process
        self._path = path.with_name(path.name + ".lock")
        self._handle: int | None = None
        while self._handle is None:
            self._handle = self._take(path)

    def _take(self, path: Path) -> int | None:
        """Take the lock and give its handle; None where its file was removed meanwhile."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreFailure(
                f"{path} cannot be opened for writing ({error.strerror}: {self._path}); "
                "make its folder writable, or name another file.",
                status=503,
            ) from error
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last owner removes the file on closing; then this lock is on a lost one.
            if not _same(handle, self._path):
                os.close(handle)
                return None
            os.truncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
        except BlockingIOError as error:
            owner = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise StoreFailure(
                f"{path} is already open for writing (process {owner}); stop that one, "
                "or use PostgreSQL (--store postgresql://...) for several writers.",
                status=503,
            ) from error
        except OSError as error:
            os.close(handle)
            raise StoreFailure(
                f"{path} cannot be locked for writing ({error.strerror}: {self._path}); "
                "use a folder on a local disk with some space left.",
                status=503,
            ) from error
        return handle

    def release(self) -> None:
        """Give the file up; harmless when done twice."""
        if self._handle is not None:
            if _same(self._handle, self._path):
                self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None


def _same(handle: int, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
