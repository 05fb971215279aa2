"""What people call the items of a session, without reading the data each time.

A log knows items by number. Commands that read the data keep the names in the cache, under the
data's fingerprint, which covers the names; so reading answers needs no data.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from superpac.cache import CachePart, DiskCache

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
        if "data" not in vars(self._session):
            kept = _kept(self._info.fingerprint).get("names")
            if kept is not None:
                names: list[str] = kept["names"]
                return names
        return [str(name) for name in self._session.data.ids]


def remember(data: Dataset) -> None:
    """Keep the names of items for commands that read the log alone."""
    _kept(data.fingerprint).get_or_make(
        "names", lambda: {"names": [str(name) for name in data.ids]}
    )


def _kept(fingerprint: str) -> CachePart:
    return DiskCache().part(f"items of {fingerprint}")
