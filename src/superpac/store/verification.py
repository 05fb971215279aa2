"""Reading a store from end to end, so that nothing in it has to be believed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from superpac.errors import StoreError
from superpac.store.failures import StoreFailure
from superpac.store.schema import Heads
from superpac.store.store import open_store
from superpac.store.stored_log import StoredLog


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as a backup has it: its id and name, its number of events and its last hash."""

    id: str
    name: str
    events: int
    hash: str


def verify_store(path: str | os.PathLike[str]) -> tuple[KeptSession, ...]:
    """Read a store from end to end: pages, sessions, and every event's hash.

    Parameters
    ----------
    path : str or path
        A file name, or the address of a PostgreSQL database.

    Returns
    -------
    tuple of KeptSession

    Raises
    ------
    StoreError
        Naming the file, when anything in it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from superpac.store import new_info
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(Path(folder) / "answers.sqlite3") as store:
    ...         log = store.create(new_info("birds", fingerprint="f00d", n_items=100))
    ...     [(kept.name, kept.events) for kept in verify_store(Path(folder) / "answers.sqlite3")]
    [('birds', 0)]
    """
    with open_store(path, read_only=True) as store:
        return tuple(_verify(log, store.where) for log in store.logs())


def _verify(log: StoredLog, where: str) -> KeptSession:
    """Check every event of a session."""
    try:
        events = log.events()
    except StoreFailure:
        raise
    except StoreError as error:  # it names the session; a person with several copies needs the file
        raise StoreFailure(f"{where} is damaged. {error}") from error
    last = events[-1].hash if events else log.info.genesis()
    return KeptSession(log.info.id, log.info.name, len(events), last)


def heads_of(sessions: tuple[KeptSession, ...]) -> Heads:
    """Where the logs end."""
    return {kept.id: (kept.events, kept.hash) for kept in sessions}


def hash_at(log: StoredLog, seq: int) -> str:
    """Hash of an event; "" where the log is shorter."""
    if seq == 0:
        return log.info.genesis()
    found = log.events(after=seq - 1)
    return found[0].hash if found else ""
