"""A session in one file: a zip of plain JSON lines and a manifest that outlives this program.

``manifest.json`` holds the session's facts, the number of events and the last hash;
``events.jsonl`` one event per line. The same log always gives the same bytes. An archive comes
from anywhere, so nothing in it is trusted: no name in it becomes a path, sizes are capped
before and while reading, every event is validated, the whole chain recomputed, and what it says is
read as an opening would read it (`archive_meaning`).

The events may take 64 MB, some two hundred thousand answers; ``SUPERPAC_ARCHIVE_LIMIT`` (such as
``500 MB``) allows more.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from superpac.answers.events import Draft, check_draft, check_info, check_text
from superpac.answers.growth import added
from superpac.answers.log import Event, SessionInfo, canonical, verify_chain
from superpac.errors import ConflictError, DataError, InputError, NotFoundError, StoreError
from superpac.store.failures import StoreFailure
from superpac.system.atomic_files import atomic_write, stream_of
from superpac.system.memory import parse_bytes

VERSION = 1

_MANIFEST, _EVENTS = "manifest.json", "events.jsonl"
SETTING = "SUPERPAC_ARCHIVE_LIMIT"
DEFAULT_LIMIT = 64 * 10**6
"""Bytes of all events; an answer takes about three hundred."""

_MANIFEST_LIMIT = 4 << 20
_LONGEST_LINE = 1 << 18
_FIELDS = frozenset(Event.__dataclass_fields__)


def write(path: Path, info: SessionInfo, events: Sequence[Event], *, overwrite: bool) -> Path:
    """Write the archive next to its final place and rename it there."""
    if path.exists() and not overwrite and stream_of(path) is None:
        raise ConflictError(f"{path} is already there; name another file, or ask to overwrite it.")
    last = events[-1].hash if events else info.genesis()
    manifest = {
        "superpac_archive": VERSION,
        "session": asdict(info),
        "events": len(events),
        "hash": last,
    }
    try:
        with (
            atomic_write(path, streams=True) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle,
        ):
            bundle.writestr(_entry(_MANIFEST), canonical(manifest) + "\n")
            with bundle.open(_entry(_EVENTS), "w") as lines:
                for event in events:
                    lines.write(canonical(asdict(event)).encode() + b"\n")
    except OSError as error:
        raise StoreFailure(
            f"{path} cannot be written ({error.strerror}); name another file or free some space.",
            status=507 if error.errno == 28 else 503,
        ) from error
    return path


def _entry(name: str) -> zipfile.ZipInfo:
    """Facts of a part of the archive, the same for equal content."""
    # The default date (1980) and fixed modes: equal logs make equal archives.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def read(path: Path, *, name: str | None = None) -> tuple[SessionInfo, list[Event]]:
    """Read and check an archive; `name` replaces the session's name, which is not hashed."""
    # a store is opened more often than an archive is read, and need not wait for NumPy
    from superpac.store.archive_meaning import check_events, check_facts

    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as bundle:
            _check_entries(bundle)
            with bundle.open(_MANIFEST) as part:
                manifest = _json(part.read(_MANIFEST_LIMIT + 1))
            info = _info(manifest, name)
            check_facts(info)
            with bundle.open(_EVENTS) as part:
                events = list(_events(part, info, manifest.get("events")))
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no archive at {path}; check its name.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path} is not a whole superpac archive; export it again.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the file.") from error
    except (InputError, ValueError, TypeError, KeyError) as error:
        reason = str(error) if isinstance(error, InputError) else "its content has another shape"
        raise DataError(f"{path} is not a superpac archive of this version: {reason}") from error
    try:
        verify_chain(events, info)
    except StoreError as error:
        raise DataError(f"{path} was changed since it was written: {error}") from error
    last = events[-1].hash if events else info.genesis()
    if (len(events), last) != (manifest.get("events"), manifest.get("hash")):
        raise DataError(f"{path} does not hold the events that its manifest names; export again.")
    try:
        check_events(events, info)
    except InputError as error:
        raise DataError(f"{path} cannot be taken in: {error}") from error
    return info, events


def _caps() -> dict[str, int]:
    """Bytes that each part may take."""
    text = os.environ.get(SETTING, "")
    most = parse_bytes(SETTING, text) if text.strip() else DEFAULT_LIMIT
    return {_MANIFEST: _MANIFEST_LIMIT, _EVENTS: most}


def _check_entries(bundle: zipfile.ZipFile) -> None:
    """Refuse an archive of other parts than it should have, or of parts that are too large."""
    entries = bundle.infolist()
    caps = _caps()
    if sorted(entry.filename for entry in entries) != sorted(caps):
        raise DataError(f"it must hold {_MANIFEST} and {_EVENTS} and nothing else.")
    for entry in entries:
        if entry.file_size > caps[entry.filename]:
            more = f"; set {SETTING} to allow more" if entry.filename == _EVENTS else ""
            raise DataError(
                f"{entry.filename} would take {entry.file_size} bytes, "
                f"more than the {caps[entry.filename]} that are allowed{more}."
            )
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError("it uses a compression that is not allowed.")


def _json(data: bytes) -> dict[str, Any]:
    """Parse an object."""
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise DataError("its JSON is nested too deeply.") from error
    if not isinstance(value, dict):
        raise DataError("its JSON is not an object.")
    return value


def _info(manifest: dict[str, Any], name: str | None) -> SessionInfo:
    """Session of a manifest, under another name if one is given."""
    version = manifest.get("superpac_archive")
    if version != VERSION:
        raise DataError(
            f"its version is {version!r} and this superpac reads {VERSION}; pip install -U superpac"
        )
    info = check_info(SessionInfo(**manifest["session"]))
    return info if name is None else check_info(replace(info, name=name))


def _events(part: IO[bytes], info: SessionInfo, told: Any) -> Iterator[Event]:
    """Events of the archive, each checked as one that is appended; no more than were `told`."""
    seen: set[str] = set()
    size, most = 0, _caps()[_EVENTS]
    n_items = info.n_items
    while line := part.readline(_LONGEST_LINE):
        size += len(line)
        if size > most or not line.endswith(b"\n"):
            raise DataError("an event is too long or cut off.")
        if len(seen) == told:
            raise DataError(f"it holds more events than the {told} that its manifest names.")
        fields = _json(line)
        if fields.keys() != _FIELDS:
            raise DataError("an event has other fields than it should.")
        event = Event(**fields)
        check_text("at", event.at, 40)
        check_text("hash", event.hash, 64)
        check_text("key", event.key, 200)
        draft = Draft(event.kind, event.body, event.annotator, event.key, event.elapsed_ms)
        if check_draft(draft, n_items).body != event.body or type(event.seq) is not int:
            raise DataError("an event has another form than it should.")
        n_items += added([event])
        if event.key in seen:
            raise DataError(f"the key {event.key!r} appears twice.")
        seen.add(event.key)
        yield event
