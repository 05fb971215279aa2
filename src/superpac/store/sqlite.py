"""SQLite file as a store: one writer, every commit synced, no file ever made by accident.

``journal_mode=DELETE`` with ``synchronous=EXTRA`` syncs the journal, the file and, after the
journal is unlinked, the folder before a commit returns [1]_. WAL with ``synchronous=NORMAL``
would be faster and would acknowledge answers that are not on disk.

References
----------
.. [1] https://www.sqlite.org/pragma.html#pragma_synchronous
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from superpac.errors import InputError, NotFoundError
from superpac.store import failures, migrate
from superpac.store.failures import StoreFailure
from superpac.store.owner_lock import OwnerLock
from superpac.store.schema import APPLICATION_ID, Heads, read_heads
from superpac.system.atomic_files import sync_folder

T = TypeVar("T")

# Errors that copying can only have met in the file that it writes.
_OF_THE_COPY = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
)


class SqliteBackend:
    """Runs transactions on one file, of which a writer takes ownership; see `open_store`."""

    def __init__(
        self, path: Path, *, read_only: bool, create: bool, busy_timeout: float, check: bool = True
    ) -> None:
        self.path = path.absolute()
        self.where = str(self.path)
        self._timeout = busy_timeout
        self._read_only = read_only
        self._lock = threading.RLock()
        self._owner: OwnerLock | None = None
        if not self.path.exists() and (read_only or not create):
            raise NotFoundError(f"There is no store at {self.path}; check the name of the file.")
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder; name a file in it.")
        if not self.path.parent.is_dir():
            raise NotFoundError(f"There is no folder {self.path.parent}; make it first.")
        if not read_only:
            _check_writable(self.path)
            self._owner = OwnerLock(self.path)
        try:
            if not self.path.exists():
                _check_alone(self.path)
                _make(self.path, busy_timeout)
            self._open(check)
        except BaseException:
            self.close()
            raise

    def _open(self, check: bool) -> None:
        """Open the file that is there and look at its pages and schema, unless told not to."""
        status = self.path.stat()
        if status.st_size == 0:
            raise StoreFailure(
                f"{self.where} is empty, so it is not a superpac store; "
                "restore it from a backup, or remove it to begin a new one."
            )
        self._identity = (status.st_dev, status.st_ino)
        self._engine = create_engine(
            "sqlite+pysqlite://", creator=self._connect, poolclass=QueuePool, pool_size=1
        )
        event.listen(self._engine, "begin", _begin)
        if check:
            self.run(self._check)

    def _check(self, connection: Connection) -> None:
        """Raise unless the file is whole and of this schema."""
        # 0.15 s for 100,000 events: a damaged index would take a repeated key for a new one.
        wrong = self.integrity(connection)
        if wrong is not None:
            raise failures.broken(self.where, wrong)
        migrate.check(connection, self.where)

    def _connect(self) -> sqlite3.Connection:
        """Make a plain connection, as the engine's pool does."""
        return _connect(self.path, self._timeout, self._read_only)

    def run(
        self, work: Callable[[Connection], T], write: bool = False, limit: float | None = None
    ) -> T:
        """Run `work` in one transaction and return its result once it is committed and synced."""
        if write and self._read_only:
            raise StoreFailure(f"{self.where} was opened for reading only; open it for writing.")
        if not self._lock.acquire(timeout=self._timeout):
            raise failures.busy(self.where)
        try:
            self._check_there()
            with self._engine.connect().execution_options(superpac_write=write) as connection:
                try:
                    with connection.begin():
                        if write:  # under SQLite's own lock, so that nobody comes in between
                            self.check_owned()
                        result = work(connection)
                except DBAPIError as error:
                    # Looked at before the next line frees a handle that may have been missing.
                    failure = failures.from_sqlite(error.orig, self.where)
                    # A fresh connection starts from what is on disk, not from what failed.
                    connection.invalidate()
                    raise failure from error
            # SQLite goes on writing to a file that was unlinked; such an answer is not kept.
            self._check_there()
            return result
        except DBAPIError as error:
            raise failures.from_sqlite(error.orig, self.where) from error
        except sqlite3.Error as error:
            raise failures.from_sqlite(error, self.where) from error
        finally:
            self._lock.release()

    def _check_there(self) -> None:
        """Raise if the file was removed or replaced since it was opened."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise failures.vanished(self.where) from error
        if (status.st_dev, status.st_ino) != self._identity:
            raise failures.vanished(self.where)

    def check_owned(self) -> None:
        """Raise if the file was opened for writing and another program has taken it over."""
        if self._owner is None:
            return
        try:
            self._check_there()
        except StoreFailure:  # the lock went with the file, to come back with it perhaps
            return
        self._owner.check()

    def now(self, connection: Connection) -> float:
        """Seconds since 1970; one process owns the file, so its clock will do."""
        return time.time()

    def integrity(self, connection: Connection) -> str | None:
        """Return what SQLite finds wrong with the file, or None."""
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        return None if found == "ok" else " ".join(str(found).split())

    def upgrade(self) -> Path | None:
        """Bring the schema up to date; returns the copy made before, None if nothing was due."""
        found = self.run(migrate.current)
        if found is None:
            raise StoreFailure(f"{self.where} is not a superpac store; name another file.")
        if found == migrate.SCHEMA:
            return None
        if found > migrate.SCHEMA:
            self.run(lambda connection: migrate.check(connection, self.where))
        copy = self.path.with_name(f"{self.path.name}.schema-{found}-{secrets.token_hex(3)}")
        self.copy_to(copy)
        sync_folder(self.path.parent)
        self.run(migrate.upgrade, write=True)
        return copy

    def copy_to(self, path: Path) -> Heads:
        """Copy the file, as it is at one moment, to a new one; returns where its logs end.

        Others may go on writing: they wait while pages are copied, not while the copy is synced.
        """
        handle = _new_file(path)
        try:
            heads = self.run(lambda connection: _copy_pages(connection, path))
            os.fsync(handle)
        except BaseException as error:
            path.unlink()
            if isinstance(error, OSError):
                raise failures.unwritable(str(path.parent), error) from error
            raise
        finally:
            os.close(handle)
        return heads

    def close(self) -> None:
        """Close the file and give up its ownership."""
        if hasattr(self, "_engine"):
            self._engine.dispose()
        if self._owner is not None:
            self._owner.release()


def _check_writable(path: Path) -> None:
    """Say before the first answer that none could be kept."""
    # SQLite opens what may not be written for reading only, and says so at the first write.
    how = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
    for what, name, mode in (
        (path, "the file", os.W_OK),
        (path.parent, "its folder", os.W_OK | os.X_OK),
    ):
        if what.exists() and not os.access(what, mode, **how):
            raise StoreFailure(
                f"{path} cannot be opened for writing: {name} is read-only; "
                "make it writable, or name another file.",
                status=503,
            )


def _connect(path: Path, timeout: float, read_only: bool) -> sqlite3.Connection:
    """Connect with the settings that make a commit durable."""
    # mode=rw never makes a file. A reader also needs it, to roll back what a crash left.
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        if (
            connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID
            and (connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        ):
            raise StoreFailure(f"{path} belongs to another program; name another file.")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
            connection.execute("PRAGMA synchronous = EXTRA")
            if mode != "delete":
                raise failures.busy(str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _new_file(path: Path) -> int:
    """Make an empty file that only its owner can read, and keep it open."""
    try:
        return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except OSError as error:
        raise failures.unwritable(str(path.parent), error) from error


def _copy_pages(connection: Connection, path: Path) -> Heads:
    """Copy every page within one read transaction, which also reads where the logs end."""
    heads = read_heads(connection)
    plain: Any = connection.connection.driver_connection
    target = sqlite3.connect(path, isolation_level=None)
    try:
        # whole or thrown away: a journal would only be more to write, and one sync at the end is
        # enough
        target.execute("PRAGMA journal_mode = OFF")
        target.execute("PRAGMA synchronous = OFF")
        # All at once: in steps, it would begin anew each time that somebody answers in between.
        plain.backup(target)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_COPY:
            raise failures.unwritable(str(path.parent), error) from error
        raise
    finally:
        target.close()
    return heads


def _begin(connection: Connection) -> None:
    """Begin a transaction, for writing with the lock that it needs."""
    write = connection.get_execution_options().get("superpac_write")
    # Taking the write lock first means that a transaction never fails half-way for a lock.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def companions(path: Path) -> list[Path]:
    """Return what SQLite has left beside a file, after a crash or in another journal mode."""
    names = (path.with_name(path.name + end) for end in ("-journal", "-wal", "-shm"))
    return [name for name in names if os.path.lexists(name)]


def _check_alone(path: Path) -> None:
    """Refuse to make a file beside what a crash left of another: SQLite would put that into it."""
    for left in companions(path):
        raise StoreFailure(
            f"{left} belongs to a store that is gone; put that back as {path}, or move "
            f"{left.name} away to begin a new one."
        )


def _make(path: Path, timeout: float) -> None:
    """Make a store under another name and link it into place, so that no half-made one is seen."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        engine = create_engine(
            "sqlite+pysqlite://", creator=lambda: _connect(draft, timeout, False)
        )
        event.listen(engine, "begin", _begin)
        try:
            options = {"superpac_write": True}
            with engine.execution_options(**options).begin() as connection:
                migrate.upgrade(connection)
        finally:
            engine.dispose()
        os.link(draft, path)
        sync_folder(path.parent)
    except DBAPIError as error:
        raise failures.from_sqlite(error.orig, str(path)) from error
    except OSError as error:
        raise failures.from_system(
            error,
            f"{path} cannot be made ({error.strerror}); make its folder writable, "
            "or name another file.",
        ) from error
    finally:
        for leftover in (draft, draft.with_name(draft.name + "-journal")):
            leftover.unlink(missing_ok=True)
