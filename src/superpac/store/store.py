"""A store: many sessions in one SQLite file or one PostgreSQL database."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, func, insert, make_url, select, text
from sqlalchemy.exc import ArgumentError

from superpac.answers.events import ITEMS, NOTE, check_info
from superpac.answers.growth import grown
from superpac.answers.log import Event, SessionInfo, timestamp, verify_chain
from superpac.errors import ConflictError, InputError, NotFoundError
from superpac.store import archive, failures
from superpac.store.schema import Heads
from superpac.store.schema import events as events_table
from superpac.store.schema import sessions as sessions_table
from superpac.store.sqlite import SqliteBackend
from superpac.store.stored_log import Backend, StoredLog, event_rows, session_info, session_row

if TYPE_CHECKING:
    from superpac.store.postgres import PostgresBackend

_ADD = text(
    "INSERT INTO superpac_sessions (id, name, created_at, fingerprint, n_items, source, spec, "
    "format, digest, last_seq, last_hash) VALUES (:id, :name, :created_at, :fingerprint, "
    ":n_items, :source, :spec, :format, :digest, :last_seq, :last_hash) ON CONFLICT DO NOTHING"
)


def utc_now() -> datetime:
    """Return the time now: the clock of a store unless another is given."""
    return datetime.now(UTC)


def new_info(
    name: str,
    *,
    fingerprint: str,
    n_items: int,
    source: str | dict[str, Any] = "",
    spec: dict[str, Any] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> SessionInfo:
    """Describe a new session: draws its id and stamps the time.

    Examples
    --------
    >>> new_info("birds", fingerprint="f00d", n_items=100).name
    'birds'
    """
    info = SessionInfo(
        secrets.token_hex(8),
        name,
        timestamp(clock()),
        fingerprint,
        n_items,
        source,
        dict(spec or {}),
    )
    return check_info(info)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of the list of sessions: what it is, events of each kind, time of the last one.

    `now` is what it is with the items that were added to it.
    """

    info: SessionInfo
    events: int
    counts: dict[str, int]
    last_at: str
    now: SessionInfo

    @property
    def answers(self) -> int:
        """Number of answers given, those taken back included."""
        return self.counts.get("answer", 0)


class Store:
    """Sessions and their logs. Use `open_store` to get one, and close it after use."""

    def __init__(self, backend: Backend, clock: Callable[[], datetime] = utc_now) -> None:
        self._backend = backend
        self._clock = clock

    @property
    def where(self) -> str:
        """The file, or the address without its password."""
        return self._backend.where

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def create(self, info: SessionInfo) -> StoredLog:
        """Add a session and return its empty log; a name or id in use is a `ConflictError`."""
        return self._insert(check_info(info), [])

    def _insert(self, info: SessionInfo, events: Sequence[Event]) -> StoredLog:
        """Add a session with its events in one transaction."""
        seq, last = (events[-1].seq, events[-1].hash) if events else (0, info.genesis())
        row = session_row(info, seq, last)
        attempts = 0

        def write(connection: Connection) -> bool:
            nonlocal attempts
            attempts += 1
            if connection.execute(_ADD, row).rowcount:
                if events:
                    connection.execute(insert(events_table), event_rows(info.id, events))
                return True
            # After a lost commit the row found may be the one that the first attempt wrote.
            query = select(sessions_table).where(sessions_table.c.id == info.id)
            found = connection.execute(query).mappings().one_or_none()
            return attempts > 1 and found is not None and dict(found) == row

        if not self._backend.run(write, write=True, limit=30.0 + 0.002 * len(events)):
            raise ConflictError(
                f"A session with the name {info.name!r} or the id {info.id} is already in "
                f"{self.where}; open that one, or give another name."
            )
        return StoredLog(self._backend, info, self._clock)

    def open(self, session: str) -> StoredLog:
        """Return the log of the session with this id, name, or unique beginning of either."""
        rows = self._backend.run(
            lambda connection: connection.execute(select(sessions_table)).mappings().all()
        )
        for test in (
            lambda row: row["id"] == session,
            lambda row: row["name"] == session,
            lambda row: (
                bool(session) and (row["id"].startswith(session) or row["name"].startswith(session))
            ),
        ):
            found = [row for row in rows if test(row)]
            if len(found) == 1:
                info = check_info(session_info(dict(found[0]), self.where))
                return StoredLog(self._backend, info, self._clock)
            if found:
                names = ", ".join(f"{row['name']} ({row['id']})" for row in found[:5])
                raise NotFoundError(f"{session!r} could be any of {names}; write more of it.")
        known = ", ".join(sorted(row["name"] for row in rows)[:10]) or "none"
        raise NotFoundError(f"There is no session {session!r} in {self.where}; it has: {known}.")

    def logs(self) -> list[StoredLog]:
        """Return the log of every session, the oldest first."""
        rows = self._backend.run(
            lambda connection: connection.execute(select(sessions_table)).mappings().all()
        )
        infos = [check_info(session_info(dict(row), self.where)) for row in rows]
        infos.sort(key=lambda info: (info.created_at, info.id))
        return [StoredLog(self._backend, info, self._clock) for info in infos]

    def add(self, info: SessionInfo, events: Sequence[Event]) -> StoredLog:
        """Add a session that was elsewhere, with all of its events, whose chain is checked."""
        verify_chain(events, info)
        return self._insert(check_info(info), events)

    def sessions(self) -> list[SessionSummary]:
        """Return every session, the oldest first, with its counts of events by kind."""
        table = events_table.c

        def read(connection: Connection) -> tuple[Any, Any, Any]:
            last = select(table.session_id, table.at).join(
                sessions_table,
                (table.session_id == sessions_table.c.id)
                & (table.seq == sessions_table.c.last_seq),
            )
            counts = select(table.session_id, table.kind, func.count()).group_by(
                table.session_id, table.kind
            )
            rows = connection.execute(select(sessions_table)).mappings().all()
            return rows, connection.execute(counts).all(), connection.execute(last).all()

        rows, counts, last = self._backend.run(read, limit=60.0)
        kinds: dict[str, dict[str, int]] = {}
        for session_id, kind, number in counts:
            kinds.setdefault(session_id, {})[kind] = number
        times = {row[0]: row[1] for row in last}
        found = []
        for row in rows:
            info, count = session_info(dict(row), self.where), kinds.get(row["id"], {})
            now = info
            if ITEMS in count or NOTE in count:
                log = StoredLog(self._backend, info, self._clock)
                now = grown(info, log.additions())
            found.append(
                SessionSummary(info, row["last_seq"], count, times.get(row["id"], ""), now)
            )
        return sorted(found, key=lambda s: (s.info.created_at, s.info.id))

    def verify(self, session: str) -> tuple[int, str]:
        """Check everything that can be checked of a session; return its (seq, hash).

        Raises
        ------
        StoreError
            Naming the first event whose hash does not fit, or what the database itself found.
        """
        log = self.open(session)
        log.events()
        wrong = self._backend.run(self._backend.integrity, limit=None)
        if wrong is not None:
            raise failures.broken(self.where, wrong)
        return log.head()

    def copy_to(self, path: str | os.PathLike[str]) -> Heads:
        """Copy everything, as it is at one moment, to a new SQLite file that is a store.

        Others may go on writing meanwhile. `superpac.store.backup_store` does this with checks.

        Returns
        -------
        dict
            Where each log ends in the copy: its last (seq, hash), by the session's id.
        """
        return self._backend.copy_to(Path(path))

    def export_archive(
        self, session: str, path: str | os.PathLike[str], *, overwrite: bool = False
    ) -> Path:
        """Write a session to one file that `import_archive` reads anywhere; returns its path."""
        log = self.open(session)
        return archive.write(Path(path), log.info, log.events(), overwrite=overwrite)

    def import_archive(self, path: str | os.PathLike[str], *, name: str | None = None) -> StoredLog:
        """Add the session of an archive, its log equal to the last byte.

        An archive that is already here, event for event, is simply opened.
        """
        info, events = archive.read(Path(path), name=name)
        try:
            return self._insert(info, events)
        except ConflictError:
            head = (events[-1].seq, events[-1].hash) if events else (0, info.genesis())
            try:
                log = self.open(info.id)
            except NotFoundError:
                log = None
            if log is None or log.session_id != info.id or log.head() != head:
                raise
            return log

    def check_owned(self) -> None:
        """Raise a `StoreError` once another program has taken over a file opened for writing."""
        self._backend.check_owned()

    def close(self) -> None:
        """Let go of the file or the connections."""
        self._backend.close()


def open_store(
    url: str | os.PathLike[str],
    *,
    read_only: bool = False,
    create: bool = True,
    busy_timeout: float = 5.0,
    clock: Callable[[], datetime] = utc_now,
) -> Store:
    """Open the store at a path (SQLite) or a PostgreSQL address.

    Parameters
    ----------
    url : str or path
        A file name, ``sqlite:///file`` or ``postgresql://user:password@host/database``.
    read_only : bool, default=False
        Write nothing. A SQLite file has one writer at a time and any number of readers.
    create : bool, default=True
        Whether a missing SQLite file may be made. Folders never are. Missing tables in a
        PostgreSQL database are made unless `read_only`.
    busy_timeout : float, default=5.0
        Seconds to wait while another program locks the SQLite file.
    clock : callable, optional
        Returns the time as an aware datetime.

    Returns
    -------
    Store

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(Path(folder) / "answers.sqlite3") as store:
    ...         log = store.create(new_info("birds", fingerprint="f00d", n_items=100))
    ...         event = log.append("answer", {"i": 4, "j": 7, "answer": "same"}, key="k1")
    ...         store.verify("birds") == (1, event.hash)
    True
    """
    return Store(
        _backend(url, read_only=read_only, create=create, busy_timeout=busy_timeout), clock
    )


def upgrade_store(url: str | os.PathLike[str]) -> Path | None:
    """Bring a store of an older superpac up to date: what ``superpac store upgrade`` runs.

    Returns
    -------
    Path or None
        The copy of the SQLite file as it was before; None where there was nothing to do, and
        for PostgreSQL, which has its own backups.
    """
    backend = _backend(url, read_only=False, create=False, busy_timeout=5.0, check=False)
    try:
        return backend.upgrade()
    finally:
        backend.close()


def file_of(url: str | os.PathLike[str]) -> Path | None:
    """Return the file that a file name or address stands for; None if it is a database server's.

    Examples
    --------
    >>> file_of("sqlite:////tmp/answers.sqlite3").name
    'answers.sqlite3'
    >>> file_of("postgresql://ann@localhost/answers") is None
    True
    """
    parsed = _address(url)
    return None if isinstance(parsed, URL) else parsed


def _backend(
    url: str | os.PathLike[str],
    *,
    read_only: bool,
    create: bool,
    busy_timeout: float,
    check: bool = True,
) -> SqliteBackend | PostgresBackend:
    """Open the database that a file name or an address stands for."""
    place = _address(url)
    if isinstance(place, URL):
        from superpac.store.postgres import PostgresBackend

        return PostgresBackend(place, read_only=read_only, check=check)
    return SqliteBackend(
        place, read_only=read_only, create=create, busy_timeout=busy_timeout, check=check
    )


def _address(url: str | os.PathLike[str]) -> Path | URL:
    """Return the file, or the database's address, that a name stands for."""
    place = os.fspath(url)
    if not isinstance(place, str) or not place or "\0" in place:
        raise InputError(f"A store must be a file name or an address; got {place!r}.")
    try:
        place.encode()
        Path(place).exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(
            f"A store cannot be called {ascii(place)[1:-1][:80]} ({reason}); name another file."
        ) from error
    if "://" not in place:
        return Path(place).absolute()
    try:
        parsed = make_url(place)
    except (ArgumentError, ValueError) as error:
        raise InputError(
            "The address of the store cannot be read; "
            "write it as postgresql://user:password@host/database."
        ) from error
    scheme = parsed.drivername.partition("+")[0]
    if scheme in ("postgresql", "postgres"):
        return parsed
    if scheme != "sqlite" or not parsed.database or parsed.database == ":memory:":
        raise InputError(
            f"A store must be a file, sqlite:///file or postgresql://...; got {scheme}://."
        )
    return Path(parsed.database).absolute()
