"""PostgreSQL as a store: for several annotators and several servers at once.

A lost connection is made again and the transaction run again. That is safe because every
append carries a key: if the lost commit did happen, the second run finds its event [1]_.

References
----------
.. [1] P. Helland, "Idempotence is not a medical condition", ACM Queue 10(4), 2012.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, RowMapping, create_engine, event, insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from superpac.store import failures, migrate
from superpac.store.failures import StoreFailure
from superpac.store.schema import Heads, events, read_heads, sessions
from superpac.store.sqlite import SqliteBackend
from superpac.system.optional import require

T = TypeVar("T")

_SETTINGS = {
    # A role or database may default to off, which acknowledges before the log is on disk.
    "synchronous_commit": "on",
    # In this order: what a cut network leaves behind lets go of the row before a waiter gives up,
    # and the server tells a waiter so before the client cuts the line (`limit` below).
    "idle_in_transaction_session_timeout": "4s",
    "lock_timeout": "5s",
    "default_transaction_isolation": "read committed",
}

_UPGRADE_LOCK = 0x53504143


class PostgresBackend:
    """Runs transactions on a server; a lost connection is made again for `retry_for` seconds."""

    def __init__(
        self, url: URL, *, read_only: bool, retry_for: float = 10.0, check: bool = True
    ) -> None:
        self.where = url.render_as_string(hide_password=True)
        self._read_only = read_only
        self._retry_for = 0.0
        require("postgres", "A PostgreSQL store")
        self._engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            # No overflow: a burst of annotators must not pay for new connections each time.
            pool_size=32,
            max_overflow=0,
            pool_timeout=5,
            connect_args={
                "connect_timeout": 3,
                "tcp_user_timeout": 5000,
                "keepalives_idle": 5,
                "keepalives_interval": 2,
                "keepalives_count": 2,
                "application_name": "superpac",
            },
        )
        event.listen(self._engine, "connect", _set_up)
        try:
            if check:
                if not read_only and self.run(migrate.current) is None:
                    self.run(_make, write=True, limit=60.0)
                self.run(lambda connection: migrate.check(connection, self.where))
        except BaseException:
            self.close()
            raise
        # Only a server that has once answered is waited for: a wrong address fails at once.
        self._retry_for = retry_for

    def run(
        self, work: Callable[[Connection], T], write: bool = False, limit: float | None = 6.5
    ) -> T:
        """Run `work` in one transaction, again if the connection is lost, and return its result.

        `work` may run several times. An attempt that takes longer than `limit` seconds is cut.
        """
        if write and self._read_only:
            raise StoreFailure(f"{self.where} was opened for reading only; open it for writing.")
        deadline, pause = time.monotonic() + self._retry_for, 0.05
        while True:
            try:
                return self._once(work, write, limit)
            except PoolTimeout as error:
                raise failures.busy(self.where) from error
            except DBAPIError as error:
                lost = failures.disconnected(error.orig) or error.connection_invalidated
                if not lost or time.monotonic() + pause > deadline:
                    raise failures.from_postgres(error.orig, self.where) from error
            time.sleep(pause)
            pause = min(2 * pause, 0.5)

    def _once(self, work: Callable[[Connection], T], write: bool, limit: float | None) -> T:
        """Run `work` in one transaction, one time."""
        with self._engine.connect() as connection:
            if not write:
                connection = connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with _deadline(connection, limit), connection.begin():
                return work(connection)

    def check_owned(self) -> None:
        """Nothing to check: a database server may have many writers."""

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 by the server's clock, the one that all clients share."""
        return float(
            connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
        )

    def integrity(self, connection: Connection) -> str | None:
        """Return None: the server checks its own pages."""
        return None

    def upgrade(self) -> None:
        """Bring the schema up to date."""
        found = self.run(migrate.current)
        if found is not None and found > migrate.SCHEMA:
            self.run(lambda connection: migrate.check(connection, self.where))
        self.run(_make, write=True, limit=None)

    def copy_to(self, path: Path) -> Heads:
        """Copy every session, as all are at one moment, into a new SQLite store at `path`.

        Returns where the logs end. Leases stay behind: they are over before anybody restores.
        """

        def read(connection: Connection) -> Heads:
            # It holds no lock that others wait for, and writing a long log may take a while.
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            path.unlink(missing_ok=True)  # what an attempt before this one has left
            target = SqliteBackend(path, read_only=False, create=True, busy_timeout=5.0)
            try:
                for session in connection.execute(select(sessions)).mappings().all():
                    query = (
                        select(events)
                        .where(events.c.session_id == session["id"])
                        .order_by(events.c.seq)
                    )
                    rows = connection.execute(query).mappings().all()
                    target.run(_rows_writer(session, rows), write=True)
                return read_heads(connection)
            finally:
                target.close()

        return self.run(read, limit=None)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def _rows_writer(session: RowMapping, rows: Sequence[RowMapping]) -> Callable[[Connection], None]:
    """Write one session and its events as they are."""

    def write(connection: Connection) -> None:
        connection.execute(insert(sessions), dict(session))
        if rows:
            connection.execute(insert(events), [dict(row) for row in rows])

    return write


def _make(connection: Connection) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
    migrate.upgrade(connection)


def _set_up(connection: Any, record: Any) -> None:
    calls = ", ".join(["set_config(%s, %s, false)"] * len(_SETTINGS))
    parameters = [part for setting in _SETTINGS.items() for part in setting]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {calls}", parameters)
    connection.commit()


@contextlib.contextmanager
def _deadline(connection: Connection, limit: float | None) -> Iterator[None]:
    """Cut the connection's socket after `limit` seconds: a cut network gives no error by itself."""
    if limit is None:
        yield
        return
    raw: Any = connection.connection.driver_connection

    def cut() -> None:
        with contextlib.suppress(Exception), socket.socket(fileno=os.dup(raw.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(limit, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
