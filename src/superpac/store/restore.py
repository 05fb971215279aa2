"""Restoring a backup: into a file, whole, or into PostgreSQL, session by session."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from superpac.answers.log import Event
from superpac.errors import ConflictError, InputError, NotFoundError, StoreError
from superpac.store import failures
from superpac.store.backup import file_stamp
from superpac.store.draft_folder import draft_folder, put
from superpac.store.failures import StoreFailure
from superpac.store.owner_lock import OwnerLock
from superpac.store.schema import Heads
from superpac.store.sqlite import companions
from superpac.store.store import file_of, open_store, utc_now
from superpac.store.stored_log import StoredLog
from superpac.store.verification import hash_at, heads_of, verify_store
from superpac.system.atomic_files import sync_folder


@dataclass(frozen=True, slots=True)
class Restored:
    """What restoring did to one session: events that were added, and that were there beyond."""

    name: str
    added: int
    beyond: int


def restore_store(
    backup: str | os.PathLike[str],
    url: str | os.PathLike[str],
    *,
    replace: bool = False,
    clock: Callable[[], datetime] = utc_now,
) -> tuple[tuple[Restored, ...], Path | None]:
    """Bring back what a backup holds: what ``superpac store restore`` runs.

    The backup is read from end to end first. A file comes back whole; one that is there already is
    refused, or with `replace` kept under another name, and one that a program has open for writing
    is refused. Into PostgreSQL come sessions that are missing there, and the events that a log
    there lacks at its end; a log that went on since is left as it is. If any log there disagrees
    with the backup's, nothing is written.

    Parameters
    ----------
    backup : str or path
        A file that `backup_store` made, or any other copy of a store's file.
    url : str or path
        Where to: a file name, or the address of a PostgreSQL database.
    replace : bool, default=False
        Whether a file that is there may be moved aside.
    clock : callable, optional
        Returns the time as an aware datetime.

    Returns
    -------
    sessions : tuple of Restored
        What was done for each session.
    aside : Path or None
        Where the file is now that was there before.

    Examples
    --------
    >>> import tempfile
    >>> from superpac.store import backup_store, new_info
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(Path(folder) / "answers.sqlite3") as store:
    ...         log = store.create(new_info("birds", fingerprint="f00d", n_items=100))
    ...     made = backup_store(Path(folder) / "answers.sqlite3", folder)
    ...     restore_store(made.path, Path(folder) / "again.sqlite3")
    ((Restored(name='birds', added=0, beyond=0),), None)
    """
    source = file_of(backup)
    if source is None:
        raise InputError("A backup is a file; got the address of a database.")
    found = verify_store(source)
    target = file_of(url)
    if target is None:
        return _restore_sessions(source, url), None
    return tuple(Restored(kept.name, kept.events, 0) for kept in found), _restore_file(
        source, target, heads_of(found), replace=replace, clock=clock
    )


def _restore_file(
    source: Path, target: Path, heads: Heads, *, replace: bool, clock: Callable[[], datetime]
) -> Path | None:
    """Put a copy of the backup at `target`; returns where what was there is now."""
    if not target.parent.is_dir():
        raise NotFoundError(f"There is no folder {target.parent}; make it first.")
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file in it.")
    if os.path.lexists(target) and os.path.samefile(source, target):
        raise InputError(f"{target} is the backup itself; name the file to restore to with --to.")
    lock = OwnerLock(target)
    try:
        if os.path.lexists(target) and not replace:
            raise ConflictError(
                f"{target} is already there, so nothing was restored; name another file with --to, "
                "or say --replace, which keeps the old one under another name."
            )
        with draft_folder(target.parent) as draft:
            copy = draft / target.name
            with open_store(source, read_only=True) as store:
                store.copy_to(copy)
            if heads_of(verify_store(copy)) != heads:
                raise StoreFailure(
                    f"{source} changed while it was read, so nothing was restored; try again."
                )
            aside = _move_aside(target, clock)
            put(copy, target)
    finally:
        lock.release()
    return aside


def _move_aside(target: Path, clock: Callable[[], datetime]) -> Path | None:
    """Give a file and what SQLite keeps beside it another name; None if there was no file."""
    # What a crash left half-written is rolled back first, if the file can be read at all; what is
    # left then must not stay, since SQLite would put it into the new file.
    with contextlib.suppress(StoreError, NotFoundError), open_store(target, read_only=True):
        pass
    aside = target.with_name(f"{target.name}.before-restore-{file_stamp(clock())}")
    there = os.path.lexists(target)
    try:
        for path in (*([target] if there else []), *companions(target)):
            os.rename(path, aside.with_name(path.name.replace(target.name, aside.name, 1)))
    except OSError as error:
        raise failures.unwritable(str(target.parent), error) from error
    sync_folder(target.parent)
    return aside if there else None


def _restore_sessions(source: Path, url: str | os.PathLike[str]) -> tuple[Restored, ...]:
    """Bring sessions into a database, those that are missing and the ends of those that are not."""
    with open_store(source, read_only=True) as backup, open_store(url) as live:
        held = {log.session_id: log for log in live.logs()}
        names = {log.info.name: log.session_id for log in held.values()}
        kept = [(log, log.events()) for log in backup.logs()]
        apart = [log.info.name for log, events in kept if not _agree(held, names, log, events)]
        if apart:
            raise ConflictError(
                f"{', '.join(map(repr, apart))} in {live.where} went another way than in {source}, "
                "so nothing was restored; restore into an empty database."
            )
        done = []
        for log, events in kept:
            if log.session_id not in held:
                live.add(log.info, events)
                done.append(Restored(log.info.name, len(events), 0))
                continue
            beyond = held[log.session_id].head()[0] - len(events)
            added = 0 if beyond >= 0 else held[log.session_id].extend(events)
            done.append(Restored(log.info.name, added, max(beyond, 0)))
        return tuple(done)


def _agree(
    held: dict[str, StoredLog], names: dict[str, str], log: StoredLog, events: list[Event]
) -> bool:
    """Whether a backup's session is missing, or one of the two logs is a beginning of the other."""
    there = held.get(log.session_id)
    if there is None:
        return log.info.name not in names
    seq, last = there.head()
    if seq <= len(events):
        return last == (events[seq - 1].hash if seq else log.info.genesis())
    return hash_at(there, len(events)) == (events[-1].hash if events else log.info.genesis())
