"""What people call the items of a session, without reading the data each time.

A log knows items by number. Commands that read the data note the names down in the user's cache
folder, under the data's fingerprint, which covers the names; so reading answers needs no data.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from superpac.errors import InputError
from superpac.session.exports import write_whole

if TYPE_CHECKING:
    from superpac.answers.events import SessionInfo
    from superpac.data import Dataset
    from superpac.session.session import Session


class ItemNames:
    """Names by item number, looked up when a message or an export needs one.

    Parameters
    ----------
    session : Session
        Whose items.
    info : SessionInfo
        What the session is.
    """

    def __init__(self, session: Session, info: SessionInfo) -> None:
        self._session, self._info = session, info

    def __len__(self) -> int:
        return self._info.n_items

    def __getitem__(self, item: int) -> str:
        return self._names[item]

    @cached_property
    def _names(self) -> list[str]:
        read_already = "data" in vars(self._session)
        noted = None if read_already else recall(self._info)
        return noted or _names(self._session.data)


def remember(data: Dataset) -> None:
    """Note down the names of items; where that cannot be written, they are read again."""
    place = _place(data.fingerprint)
    if not place.exists():
        with suppress(InputError):
            write_whole(place, json.dumps(_names(data)).encode())


def recall(info: SessionInfo) -> list[str] | None:
    """Give the names of a session's items if they were noted down."""
    if not info.fingerprint.isalnum():  # it may come with an archive from anywhere
        return None
    try:
        found = json.loads(_place(info.fingerprint).read_bytes())
    except (OSError, ValueError):
        return None
    whole = isinstance(found, list) and len(found) == info.n_items
    return found if whole and all(isinstance(name, str) for name in found) else None


def _names(data: Dataset) -> list[str]:
    return [str(name) for name in data.ids]


def _place(fingerprint: str) -> Path:
    import platformdirs

    folder = platformdirs.user_cache_path("superpac", appauthor=False)
    return folder / "names" / f"{fingerprint}.json"
