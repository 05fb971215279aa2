"""Backups of a store while it is in use.

A backup is a SQLite store in one file, whatever it was made from: it can be looked into
(``superpac sessions --store BACKUP``) and restored into a file or into PostgreSQL. A file that is
copied by other means while answers are written may be half of one state and half of the next;
`superpac.store.restore` reads every event, so that such a copy is refused by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from superpac.errors import InputError, NotFoundError, StoreError
from superpac.store import failures
from superpac.store.draft_folder import draft_folder, put
from superpac.store.failures import StoreFailure
from superpac.store.store import file_of, open_store, utc_now
from superpac.store.stored_log import StoredLog
from superpac.store.verification import KeptSession, hash_at, heads_of, verify_store
from superpac.system.atomic_files import sync_folder


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made: its file, what is in it, and what became of older ones.

    `removed` are those that were beyond the number to keep; `spared` are those that were too, but
    are damaged or hold answers that the new one does not have.
    """

    path: Path
    sessions: tuple[KeptSession, ...]
    removed: tuple[Path, ...] = ()
    spared: tuple[Path, ...] = ()


def backup_store(
    url: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    keep: int | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Backup:
    """Write a store, as it is at one moment, to a new file: what ``superpac store backup`` runs.

    Whoever writes to the store may go on. The copy gets its name, which has the time (UTC) in it,
    only after it was synced and read back event by event; it is for its owner only (0600).

    Parameters
    ----------
    url : str or path
        The store: a file name, or the address of a PostgreSQL database.
    folder : str or path, optional
        Where to put it; by default ``backups`` beside the file, which is made if need be.
    keep : int, optional
        How many backups of this store to keep here, the new one included; by default all. An older
        one is removed only if it is whole and everything in it is in the new one too, so neither
        the backups of another store of this name nor those of before a loss are ever removed.
    clock : callable, optional
        Returns the time as an aware datetime.

    Returns
    -------
    Backup

    Examples
    --------
    >>> import tempfile
    >>> from superpac.store import new_info, open_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(Path(folder) / "answers.sqlite3") as store:
    ...         log = store.create(new_info("birds", fingerprint="f00d", n_items=100))
    ...         event = log.append("answer", {"i": 4, "j": 7, "answer": "same"})
    ...         made = backup_store(Path(folder) / "answers.sqlite3", folder)
    ...     [(kept.name, kept.events) for kept in made.sessions]
    [('birds', 1)]
    """
    if keep is not None and keep < 1:
        raise InputError(f"The number of backups to keep must be 1 or more; got {keep}.")
    source = file_of(url)
    with open_store(url, read_only=True) as store:
        place = _folder(source, folder)
        stem = _stem(url, source)
        path = place / f"{stem}-backup-{file_stamp(clock())}.sqlite3"
        with draft_folder(place) as draft:
            copy = draft / path.name
            heads = store.copy_to(copy)
            found = verify_store(copy)
            if heads_of(found) != heads:
                raise StoreFailure(
                    f"The backup in {place} does not hold what was read from {store.where}, so it "
                    "was not kept; check the disk and try again."
                )
            put(copy, path)
    removed, spared = ((), ()) if keep is None else _rotate(path, stem, keep)
    return Backup(path, found, removed, spared)


def _folder(source: Path | None, folder: str | os.PathLike[str] | None) -> Path:
    """Where backups go; only the folder that nobody named is made."""
    if folder is not None:
        place = Path(folder).absolute()
        if not os.path.isdir(place):  # which raises nothing, whatever the name
            raise NotFoundError(f"There is no folder {place}; make it first, or name another.")
        return place
    if source is None:
        raise InputError(
            "A PostgreSQL database has no folder of its own for backups; name one with --to FOLDER."
        )
    place = source.parent / "backups"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise failures.unwritable(str(place), error) from error
    return place


def _stem(url: str | os.PathLike[str], source: Path | None) -> str:
    """What backups of a store begin with: its file's name, or that of the database."""
    name = source.stem if source is not None else urlsplit(os.fspath(url)).path.strip("/")
    return re.sub(r"[^\w.-]", "_", name).lstrip(".") or "store"


def file_stamp(moment: datetime) -> str:
    """A time as it stands in a file's name: sorted by name is sorted by time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")[:-3] + "Z"


def _rotate(new: Path, stem: str, keep: int) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Remove the oldest backups beyond `keep` that the new one makes needless."""
    ours = re.compile(re.escape(stem) + r"-backup-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.sqlite3")
    older = sorted(
        path
        for path in new.parent.iterdir()
        if ours.fullmatch(path.name) and path != new and path.is_file() and not path.is_symlink()
    )
    removed, spared = [], []
    with open_store(new, read_only=True) as fresh:
        logs = {log.session_id: log for log in fresh.logs()}
        for path in older[: max(0, len(older) - keep + 1)]:
            if _needless(path, logs):
                path.unlink(missing_ok=True)
                removed.append(path)
            else:
                spared.append(path)
    sync_folder(new.parent)
    return tuple(removed), tuple(spared)


def _needless(path: Path, logs: dict[str, StoredLog]) -> bool:
    """Whether a backup is whole and all that it holds is in these logs."""
    try:
        held = verify_store(path)
    except StoreError:
        return False
    return all(
        kept.id in logs and hash_at(logs[kept.id], kept.events) == kept.hash for kept in held
    )
