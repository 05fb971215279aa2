"""What people call the items of a session, without reading the data each time.

A log knows items by number. Commands that read the data keep the names in the cache, as they are,
for this session; so reading answers needs no data. A session on files also noted down the names
that they had when it began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from superpac.cache import CachePart, DiskCache
from superpac.session.known_items import as_items_of, first_names

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
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: list[str] = []

    def __len__(self) -> int:
        return self._session.info.n_items

    def __getitem__(self, item: int) -> str:
        if len(self._found) != len(self):  # not looked up yet, or items were added since
            self._found = self._look_up()
        return self._found[item]

    def _look_up(self) -> list[str]:
        info = self._session.info
        if "data" not in vars(self._session):
            kept = _kept(info).get("names")
            names: list[str] | None = first_names(info) if kept is None else kept["names"]
            if names is not None:
                return names
        return [str(name) for name in self._session.data.ids]


def remember(data: Dataset, info: SessionInfo) -> Dataset:
    """Keep the names of a session's items for commands that read the log alone; gives the items.

    Parameters
    ----------
    data : Dataset
        The data, in any order that the session takes.
    info : SessionInfo
        What the session is, with what was added to it.

    Returns
    -------
    Dataset
        The items in the session's order.
    """
    items = as_items_of(data, info)
    names = {"names": [str(name) for name in items.ids]}
    part = _kept(info)
    if part.get("names") != names:
        part.put("names", names)
    return items


def _kept(info: SessionInfo) -> CachePart:
    return DiskCache().part(f"items of {info.id} {info.fingerprint}")
