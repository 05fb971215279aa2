"""The answers log: events, what every log promises, and the log that lives in memory.

Answers are the only truth of a session, so this is the one thing that is kept. Everything else
(certain sets, labels, the next question, progress) is computed from it. Each event carries the
hash of the one before it [1]_, so a changed, missing or swapped event is found by recomputing.

Nothing here touches files or reads the clock: a log is handed a `clock`.

References
----------
.. [1] S. Haber and W. S. Stornetta, "How to time-stamp a digital document", Journal of
   Cryptology 3, 1991.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quote
from typing import Any, Protocol

from superpac.answers.events import (
    ANSWERS,
    KINDS,
    LOG_FORMAT,
    Draft,
    Event,
    Lease,
    SessionInfo,
    canonical,
    check_drafts,
    check_info,
    check_lease,
)
from superpac.answers.growth import added, changes_facts
from superpac.errors import ConflictError, InputError, StoreError

__all__ = [
    "ANSWERS",
    "KINDS",
    "LOG_FORMAT",
    "Draft",
    "Event",
    "Lease",
    "Log",
    "MemoryLog",
    "SessionInfo",
    "verify_chain",
]


class Log(Protocol):
    """What every answers log promises, wherever it is kept.

    *Append-only.* Events are numbered 1, 2, 3, ... without gaps and never change. Taking an
    answer back is one more event.

    *Durable.* When `append` or `append_many` returns, the events are on disk (synced); if it
    raises, they may be counted only when a retry with the same key returns them. A log kept in
    memory keeps this promise for as long as its process lives.

    *Idempotent.* A `key` seen before returns the very event it made, whatever `expected_seq`
    says now, and writes nothing. The same key with another kind, body or annotator is a
    `ConflictError`. Without a key one is drawn.

    *Optimistic.* With `expected_seq`, the append happens only if the log still ends there;
    otherwise `ConflictError`, and the caller looks at the new events before asking again.

    *Whole.* `append_many` writes all of its events next to each other, or none.

    *Ordered by seq.* Times (`at`) are informative; nothing is ever sorted by them.

    *Checked.* `events` recomputes the hash chain of what it returns and raises `StoreError`
    naming the first bad event: a damaged log is an error, not a wrong state.

    *Safe from threads.* Any method may be called from any thread.

    Errors: `InputError` for a value that is not allowed, `ConflictError` as above, and
    `StoreError` when the log cannot be read or written (its `status` is 507 when the disk is
    full and 503 when the store is locked or out of reach; `retryable` says whether sending the
    same thing again may work).
    """

    @property
    def info(self) -> SessionInfo:
        """What the session began as; what was added to it is in :meth:`additions`."""
        ...

    @property
    def session_id(self) -> str:
        """`info.id`."""
        ...

    def head(self) -> tuple[int, str]:
        """Return the last event's (seq, hash); (0, `info.genesis()`) of an empty log."""
        ...

    def events(self, after: int = 0) -> list[Event]:
        """Return every event with seq > `after`, in order, its chain checked."""
        ...

    def additions(self) -> list[Event]:
        """Return the events by which items were added, in order, without reading all others."""
        ...

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
        """Add one event and return it once it is durable."""
        ...

    def append_many(
        self, drafts: Sequence[Draft], *, expected_seq: int | None = None
    ) -> list[Event]:
        """Add several events, all or none, and return them once they are durable."""
        ...

    def lease(
        self,
        pair: tuple[int, int],
        annotator: str,
        ttl: float,
        instead_of: tuple[int, int] | None = None,
    ) -> bool:
        """Give the pair to `annotator` for `ttl` seconds; False if another holds it now.

        The holder may lease again, which moves the end; `instead_of` is a lease of theirs that
        ends with it, in one go. A lease only keeps two people from looking at the same pair; it
        takes no part in accepting answers.
        """
        ...

    def release(self, pair: tuple[int, int], annotator: str) -> None:
        """End the lease on the pair if `annotator` holds it."""
        ...

    def leases(self) -> list[Lease]:
        """Return the leases that have not run out, ordered by pair."""
        ...


def link(
    previous: str,
    seq: int,
    kind: str,
    body: str,
    annotator: str,
    key: str,
    at: str,
    elapsed_ms: int | None,
) -> str:
    """Hash of an event whose body is given as canonical JSON text."""
    took = "null" if elapsed_ms is None else elapsed_ms
    text = (
        f'{previous}{{"annotator":{_quote(annotator)},"at":{_quote(at)},"body":{body},'
        f'"elapsed_ms":{took},"key":{_quote(key)},"kind":{_quote(kind)},"seq":{seq}}}'
    )
    return sha256(text.encode()).hexdigest()


def verify_chain(events: Iterable[Event], info: SessionInfo) -> None:
    """Recompute the chain of a whole log; raise `StoreError` naming the first bad event.

    Examples
    --------
    >>> log = MemoryLog(SessionInfo("a1", "x", "", "f00d", 100))
    >>> _ = log.append("answer", {"i": 1, "j": 2, "answer": "same"})
    >>> verify_chain(log.events(), log.info)
    """
    previous, expected = info.genesis(), 1
    for e in events:
        good = e.seq == expected and e.hash == link(
            previous, e.seq, e.kind, canonical(e.body), e.annotator, e.key, e.at, e.elapsed_ms
        )
        if not good:
            raise damaged(info.name, expected)
        previous, expected = e.hash, expected + 1


def damaged(name: str, seq: int) -> StoreError:
    """Error that names the first event whose hash does not fit."""
    return StoreError(
        f"The log of session {name!r} is damaged at event {seq}: its hash does not fit the "
        "events before it; restore the store from a backup or import an archive."
    )


def repeated(drafts: Sequence[Draft], known: Mapping[str, Event]) -> list[Event] | None:
    """Return the events that the same keys made before, or None when all the keys are new."""
    keys = [d.key for d in drafts if d.key is not None]
    if len(set(keys)) < len(keys):
        raise InputError("Each event of one append must have a key of its own.")
    if not any(key in known for key in keys):
        return None
    found = []
    for draft in drafts:
        event = known.get(draft.key) if draft.key is not None else None
        if event is None or (event.kind, event.body, event.annotator) != (
            draft.kind,
            draft.body,
            draft.annotator,
        ):
            raise ConflictError(
                f"The key {draft.key!r} does not match what was sent before under these keys; "
                "send the same thing again, or use a new key."
            )
        found.append(event)
    return found


def chain(
    drafts: Sequence[Draft], seq: int, previous: str, at: str, expected_seq: int | None
) -> list[Event]:
    """Turn checked drafts with keys into the events that follow (`seq`, `previous`)."""
    if expected_seq is not None and expected_seq != seq:
        raise ConflictError(
            f"This was meant to follow event {expected_seq}, but the log is at event {seq}; "
            "look at the current question and answer that."
        )
    events = []
    for draft in drafts:
        seq += 1
        target = draft.body.get("seq", 0) if draft.kind in ("retract", "restore") else 0
        if target >= seq:
            raise InputError(f"Event {target} cannot be taken back: the log ends at {seq - 1}.")
        key = draft.key or ""
        previous = link(
            previous,
            seq,
            draft.kind,
            canonical(draft.body),
            draft.annotator,
            key,
            at,
            draft.elapsed_ms,
        )
        events.append(
            Event(
                seq,
                draft.kind,
                dict(draft.body),
                draft.annotator,
                key,
                at,
                draft.elapsed_ms,
                previous,
            )
        )
    return events


def timestamp(moment: datetime) -> str:
    """Write a time as UTC ISO 8601 with milliseconds.

    Examples
    --------
    >>> timestamp(datetime(2024, 5, 1, 12, tzinfo=UTC))
    '2024-05-01T12:00:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def no_clock() -> datetime:
    """Return 1970 for ever: the clock of a log whose times do not matter."""
    return datetime.fromtimestamp(0, UTC)


class MemoryLog:
    """A log that lives as long as its process: for experiments and tests.

    Parameters
    ----------
    info : SessionInfo
        What the session is.
    clock : callable, optional
        Returns the time as an aware datetime. Without one every event says 1970.

    Examples
    --------
    >>> log = MemoryLog(SessionInfo("a1", "digits", "", "f00d", 100))
    >>> log.append("answer", {"i": 4, "j": 7, "answer": "different"}, key="k1").seq
    1
    >>> log.append("answer", {"i": 4, "j": 7, "answer": "different"}, key="k1").seq
    1
    """

    def __init__(self, info: SessionInfo, clock: Callable[[], datetime] = no_clock) -> None:
        self._info = check_info(info)
        self._clock = clock
        self._genesis = self._info.genesis()
        self._events: list[Event] = []
        self._n_items = self._info.n_items
        self._known: dict[str, Event] = {}
        self._leases: dict[tuple[int, int], tuple[str, float, float]] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

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
        with self._lock:
            return self._head()

    def _head(self) -> tuple[int, str]:
        return (self._events[-1].seq, self._events[-1].hash) if self._events else (0, self._genesis)

    def events(self, after: int = 0) -> list[Event]:
        """Return every event with seq > `after`."""
        with self._lock:
            return self._events[max(after, 0) :]

    def additions(self) -> list[Event]:
        """Return the events by which items were added."""
        with self._lock:
            return [event for event in self._events if changes_facts(event)]

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
        """Add one event."""
        draft = Draft(kind, body, annotator, key, elapsed_ms)
        return self.append_many([draft], expected_seq=expected_seq)[0]

    def append_many(
        self, drafts: Sequence[Draft], *, expected_seq: int | None = None
    ) -> list[Event]:
        """Add several events, all or none."""
        with self._lock:
            checked = check_drafts(drafts, self._n_items)
            before = repeated(checked, self._known)
            if before is not None:
                return before
            seq, last = self._head()
            keyed = [
                Draft(d.kind, d.body, d.annotator, d.key or self._free_key(n), d.elapsed_ms)
                for n, d in enumerate(checked, seq + 1)
            ]
            made = chain(keyed, seq, last, timestamp(self._clock()), expected_seq)
            self._events += made
            self._n_items += added(made)
            self._known.update((event.key, event) for event in made)
            return made

    def _free_key(self, seq: int) -> str:
        key = f"#{seq}"
        while key in self._known:
            key += "'"
        return key

    def lease(
        self,
        pair: tuple[int, int],
        annotator: str,
        ttl: float,
        instead_of: tuple[int, int] | None = None,
    ) -> bool:
        """Give the pair to `annotator` for `ttl` seconds."""
        i, j = check_lease(pair, annotator, ttl, self._n_items)
        if instead_of is not None:
            self.release(instead_of, annotator)
        with self._lock:
            now = self._fresh()
            if (i, j) in self._leases and self._leases[i, j][0] != annotator:
                return False
            self._leases[i, j] = (annotator, now + ttl, ttl)
            return True

    def _fresh(self) -> float:
        # After the clock was set back, a lease lasts at most its length once more.
        now = self._clock().timestamp()
        self._leases = {
            pair: (who, min(until, now + ttl), ttl)
            for pair, (who, until, ttl) in self._leases.items()
            if until > now
        }
        return now

    def release(self, pair: tuple[int, int], annotator: str) -> None:
        """End the lease on the pair if `annotator` holds it."""
        i, j = check_lease(pair, annotator, 1.0, self._n_items)
        with self._lock:
            if self._leases.get((i, j), ("",))[0] == annotator:
                del self._leases[i, j]

    def leases(self) -> list[Lease]:
        """Return the leases that have not run out."""
        with self._lock:
            self._fresh()
            return [
                Lease(i, j, who, until) for (i, j), (who, until, _) in sorted(self._leases.items())
            ]
