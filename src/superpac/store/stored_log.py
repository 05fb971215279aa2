"""The answers log in a database: the contract of `superpac.answers.log.Log`, on either back end."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, delete, insert, select, text, update

from superpac.answers.events import ITEMS, NOTE, check_drafts, check_lease
from superpac.answers.growth import added, changes_facts
from superpac.answers.log import (
    Draft,
    Event,
    Lease,
    SessionInfo,
    canonical,
    chain,
    damaged,
    link,
    repeated,
    timestamp,
)
from superpac.errors import ConflictError, InputError, NotFoundError
from superpac.store import failures
from superpac.store.schema import Heads
from superpac.store.schema import events as events_table
from superpac.store.schema import leases as leases_table
from superpac.store.schema import sessions as sessions_table

T = TypeVar("T")

_COLUMNS = tuple(
    events_table.c[name]
    for name in ("seq", "kind", "body", "annotator", "client_key", "at", "elapsed_ms", "hash")
)

# One statement on both back ends: the pair is free, run out, or the asker's own.
_LEASE = text(
    "INSERT INTO superpac_leases (session_id, i, j, annotator, expires_at, ttl) "
    "VALUES (:session_id, :i, :j, :annotator, :expires_at, :ttl) "
    "ON CONFLICT (session_id, i, j) DO UPDATE SET annotator = excluded.annotator, "
    "expires_at = excluded.expires_at, ttl = excluded.ttl "
    "WHERE superpac_leases.annotator = excluded.annotator OR superpac_leases.expires_at <= :now"
)


class Backend(Protocol):
    """What a database must do for the store; see `SqliteBackend` and `PostgresBackend`."""

    where: str

    def run(
        self, work: Callable[[Connection], T], write: bool = False, limit: float | None = 6.5
    ) -> T:
        """Run `work` in one transaction; on return it is committed and synced."""
        ...

    def check_owned(self) -> None:
        """Raise if only one may write and another has taken over."""
        ...

    def now(self, connection: Connection) -> float:
        """Seconds since 1970."""
        ...

    def integrity(self, connection: Connection) -> str | None:
        """Return what the database finds wrong with itself."""
        ...

    def copy_to(self, path: Path) -> Heads:
        """Copy everything, as it is at one moment, to a new SQLite file; returns the logs' ends."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def digest(info: SessionInfo) -> str:
    """Hash over all of a session's facts, the name and source included."""
    facts = [info.genesis(), info.name, info.source]
    return sha256(canonical(facts).encode()).hexdigest()


def session_row(info: SessionInfo, seq: int, last: str) -> dict[str, Any]:
    """Return the row that keeps `info` and the log's head."""
    return {
        "id": info.id,
        "name": info.name,
        "created_at": info.created_at,
        "fingerprint": info.fingerprint,
        "n_items": info.n_items,
        "source": canonical(info.source),
        "spec": canonical(info.spec),
        "format": info.format,
        "digest": digest(info),
        "last_seq": seq,
        "last_hash": last,
    }


def session_info(row: Mapping[str, Any], where: str) -> SessionInfo:
    """Read `info` back from its row, checking that no byte of it changed."""
    try:
        info = SessionInfo(
            row["id"],
            row["name"],
            row["created_at"],
            row["fingerprint"],
            row["n_items"],
            json.loads(row["source"]),
            json.loads(row["spec"]),
            row["format"],
        )
        good = digest(info) == row["digest"]
    except (TypeError, ValueError, RecursionError):
        good = False
    if not good:
        raise failures.broken(where, f"the facts of session {ascii(row['name'])} do not fit")
    return info


def event_rows(session_id: str, events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the rows that keep the events."""
    return [
        {
            "session_id": session_id,
            "seq": e.seq,
            "kind": e.kind,
            "body": canonical(e.body),
            "annotator": e.annotator,
            "client_key": e.key,
            "at": e.at,
            "elapsed_ms": e.elapsed_ms,
            "hash": e.hash,
        }
        for e in events
    ]


class StoredLog:
    """A session's log in a store; `Store.create` and `Store.open` return one."""

    def __init__(self, backend: Backend, info: SessionInfo, clock: Callable[[], datetime]) -> None:
        self._backend = backend
        self._info = info
        self._clock = clock
        self._n_items = info.n_items  # at least so many: others may have added more since

    @property
    def info(self) -> SessionInfo:
        """What the session is."""
        return self._info

    @property
    def session_id(self) -> str:
        """`info.id`."""
        return self._info.id

    def head(self) -> tuple[int, str]:
        """Return the last event's (seq, hash)."""
        return self._backend.run(self._head)

    def _head(self, connection: Connection, lock: bool = False) -> tuple[int, str]:
        """Head as this transaction sees it; locked until its end where it will be moved."""
        table = sessions_table.c
        query = select(table.last_seq, table.last_hash).where(table.id == self._info.id)
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise NotFoundError(f"Session {self._info.name!r} is gone from {self._backend.where}.")
        return row[0], row[1]

    def events(self, after: int = 0) -> list[Event]:
        """Return every event with seq > `after`, its chain checked from there to the head."""
        after = max(after, 0)

        def read(connection: Connection) -> tuple[Sequence[Any], tuple[int, str]]:
            query = (
                select(*_COLUMNS)
                .where(events_table.c.session_id == self._info.id, events_table.c.seq >= after)
                .order_by(events_table.c.seq)
            )
            return connection.execute(query).all(), self._head(connection)

        rows, head = self._backend.run(read, limit=120.0)
        return self._checked(rows, after, head)

    def additions(self) -> list[Event]:
        """Return events that change what the session is about; their chain is checked with all."""

        def read(connection: Connection) -> Sequence[Any]:
            query = (
                select(*_COLUMNS)
                .where(
                    events_table.c.session_id == self._info.id,
                    events_table.c.kind.in_((ITEMS, NOTE)),
                )
                .order_by(events_table.c.seq)
            )
            return connection.execute(query).all()

        rows = self._backend.run(read, limit=120.0)
        try:
            read_ = (Event(seq, kind, json.loads(body), *rest) for seq, kind, body, *rest in rows)
            found = [event for event in read_ if changes_facts(event)]
            self._n_items = self._info.n_items + added(found)
        except (TypeError, ValueError, KeyError) as error:
            raise damaged(self._info.name, rows[0][0]) from error
        return found

    def _within(self, check: Callable[[int], T]) -> T:
        """Check item numbers; where one is too large, look whether items were added meanwhile."""
        known = self._n_items
        try:
            return check(known)
        except InputError:
            self.additions()
            if self._n_items == known:
                raise
            return check(self._n_items)

    def _checked(self, rows: Sequence[Any], after: int, head: tuple[int, str]) -> list[Event]:
        """Rows as events, each hash recomputed; the row of event `after` itself comes first."""
        if after > head[0]:
            return []
        rest = iter(rows)
        previous, expected = self._info.genesis(), after + 1
        if after:
            first = next(rest, None)
            previous = first[7] if first is not None and first[0] == after else ""
        found: list[Event] = []
        same: dict[str, str] = {}  # a log has few kinds and annotators: keep one copy of each
        loads, add = json.loads, found.append
        try:
            for seq, kind, body, who, key, at, took, own in rest:
                if seq != expected or own != link(previous, seq, kind, body, who, key, at, took):
                    raise damaged(self._info.name, expected)
                kind, who = same.setdefault(kind, kind), same.setdefault(who, who)
                add(Event(seq, kind, loads(body), who, key, at, took, own))
                previous, expected = own, expected + 1
        except (TypeError, ValueError) as error:
            raise damaged(self._info.name, expected) from error
        if (expected - 1, previous) != head:
            raise damaged(self._info.name, min(expected, head[0] + 1))
        return found

    def append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        annotator: str = "",
        key: str | None = None,
        expected_seq: int | None = None,
        elapsed_ms: int | None = None,
    ) -> Event:
        """Add one event and return it once it is synced."""
        draft = Draft(kind, body, annotator, key, elapsed_ms)
        return self.append_many([draft], expected_seq=expected_seq)[0]

    def append_many(
        self, drafts: Sequence[Draft], *, expected_seq: int | None = None
    ) -> list[Event]:
        """Add several events, all or none, and return them once they are synced."""
        checked = self._within(lambda n_items: check_drafts(drafts, n_items))
        if not checked:
            return []
        # Drawn before the first attempt, so that a second one after a lost commit finds the first.
        keyed = [
            Draft(d.kind, d.body, d.annotator, d.key or secrets.token_hex(8), d.elapsed_ms)
            for d in checked
        ]

        def write(connection: Connection) -> list[Event]:
            seq, last = self._head(connection, lock=True)
            before = repeated(keyed, self._known(connection, [d.key or "" for d in keyed]))
            if before is not None:
                return before
            made = chain(keyed, seq, last, timestamp(self._clock()), expected_seq)
            connection.execute(insert(events_table), event_rows(self._info.id, made))
            self._move_head(connection, made[-1])
            return made

        return self._backend.run(write, write=True, limit=6.5 + 0.002 * len(keyed))

    def extend(self, events: Sequence[Event]) -> int:
        """Add the events that a longer copy of this log has beyond it; returns how many.

        Raises
        ------
        ConflictError
            When this log is no beginning of theirs.
        """

        def write(connection: Connection) -> int:
            seq, last = self._head(connection, lock=True)
            if seq > len(events) or last != (events[seq - 1].hash if seq else self._info.genesis()):
                raise ConflictError(
                    f"The log of session {self._info.name!r} in {self._backend.where} went another "
                    "way; restore into an empty store."
                )
            if seq < len(events):
                rows = event_rows(self._info.id, events[seq:])
                connection.execute(insert(events_table), rows)
                self._move_head(connection, events[-1])
            return len(events) - seq

        return self._backend.run(write, write=True, limit=6.5 + 0.002 * len(events))

    def _move_head(self, connection: Connection, last: Event) -> None:
        """Note down the last event."""
        connection.execute(
            update(sessions_table)
            .where(sessions_table.c.id == self._info.id)
            .values(last_seq=last.seq, last_hash=last.hash)
        )

    def _known(self, connection: Connection, keys: list[str]) -> dict[str, Event]:
        """Events that already carry one of these keys."""
        known = {}
        for first in range(0, len(keys), 500):  # databases cap the parameters of a statement
            query = select(*_COLUMNS).where(
                events_table.c.session_id == self._info.id,
                events_table.c.client_key.in_(keys[first : first + 500]),
            )
            for seq, kind, body, *rest in connection.execute(query):
                event = Event(seq, kind, json.loads(body), *rest)
                known[event.key] = event
        return known

    def lease(
        self,
        pair: tuple[int, int],
        annotator: str,
        ttl: float,
        instead_of: tuple[int, int] | None = None,
    ) -> bool:
        """Give the pair to `annotator` for `ttl` seconds; False if another holds it now."""
        i, j = self._within(lambda n_items: check_lease(pair, annotator, ttl, n_items))
        old = None
        if instead_of is not None:
            old = self._within(lambda n_items: check_lease(instead_of, annotator, 1.0, n_items))

        def write(connection: Connection) -> bool:
            now = self._fresh(connection)
            if old is not None and old != (i, j):
                self._end(connection, old, annotator, now)
            row = {"session_id": self._info.id, "i": i, "j": j, "annotator": annotator}
            row |= {"expires_at": now + ttl, "ttl": float(ttl), "now": now}
            return connection.execute(_LEASE, row).rowcount == 1

        return self._backend.run(write, write=True)

    def _fresh(self, connection: Connection) -> float:
        """Time now, once leases that would run too long are cut."""
        # After the clock was set back, a lease lasts at most its length once more.
        now = self._backend.now(connection)
        table = leases_table.c
        connection.execute(
            update(leases_table)
            .where(table.session_id == self._info.id, table.expires_at > now + table.ttl)
            .values(expires_at=now + table.ttl)
        )
        return now

    def release(self, pair: tuple[int, int], annotator: str) -> None:
        """End the lease on the pair if `annotator` holds it; leases that ran out go as well."""
        i, j = self._within(lambda n_items: check_lease(pair, annotator, 1.0, n_items))

        def write(connection: Connection) -> None:
            self._end(connection, (i, j), annotator, self._backend.now(connection))

        self._backend.run(write, write=True)

    def _end(
        self, connection: Connection, pair: tuple[int, int], annotator: str, now: float
    ) -> None:
        """End one lease, and those that ran out."""
        table = leases_table.c
        own = (table.i == pair[0]) & (table.j == pair[1]) & (table.annotator == annotator)
        late = table.expires_at <= now
        connection.execute(
            delete(leases_table).where(table.session_id == self._info.id, own | late)
        )

    def leases(self) -> list[Lease]:
        """Return the leases that have not run out, ordered by pair."""
        table = leases_table.c

        def read(connection: Connection) -> list[Lease]:
            now = self._backend.now(connection)
            query = (
                select(table.i, table.j, table.annotator, table.expires_at, table.ttl)
                .where(table.session_id == self._info.id, table.expires_at > now)
                .order_by(table.i, table.j)
            )
            rows = connection.execute(query)
            return [Lease(i, j, who, min(until, now + ttl)) for i, j, who, until, ttl in rows]

        return self._backend.run(read)
