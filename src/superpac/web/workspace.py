"""The data and the session that the page works on, and how to begin or resume one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from superpac.affinity import affinity_names, make_affinity
from superpac.answers.events import SessionInfo
from superpac.answers.growth import grown
from superpac.answers.log import Log
from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.errors import ConflictError, InputError
from superpac.session.known_items import are_items_of, as_items_of, names_beyond
from superpac.session.questions import describe
from superpac.session.session import check_sizes
from superpac.session.spec import Spec
from superpac.store import Store
from superpac.strategies import check_strategy
from superpac.web.service import LabelService
from superpac.web.sounds import Sounds
from superpac.web.thumbnails import Pictures


def check_spec(spec: Spec, data: Dataset) -> None:
    """Say at once what would fail only after minutes."""
    spec = spec.settled(data)
    make_affinity(spec.affinity, spec.clusters)
    check_strategy(spec.strategy, spec.options)
    check_sizes(data, spec)


def find_or_create(
    store: Store,
    data: Dataset,
    spec: Spec,
    name: str | None,
    source: dict[str, Any],
    *,
    fresh: bool = False,
) -> tuple[Log, bool]:
    """Log of the session with this data and spec, and whether it was there already."""
    plain = spec.settled(data).to_dict()
    for found in () if fresh else reversed(store.sessions()):
        info = found.now
        if info.spec != plain or (name is not None and info.name != name):
            continue
        if are_items_of(data, info):
            return store.open(info.id), True
        if names_beyond(data, info):
            try:
                as_items_of(data, info)
            except InputError as error:  # it says how to add what is new
                words = str(error).rstrip(".")
                raise InputError(f"{words}, or begin a new session under another --name.") from None
    taken = {found.info.name for found in store.sessions()}
    wanted = name or data.name or "session"
    if name is not None and name in taken:
        raise ConflictError(
            f"There is a session {name!r} already, on other data or with other settings; "
            "give another --name, or its own settings to go on with it."
        )
    count, free = 1, wanted
    while free in taken:
        count += 1
        free = f"{wanted}-{count}"
    info = describe(data, spec, name=free, source=source, kept=True)
    return store.create(info), False


def _now(log: Log) -> SessionInfo:
    """What a session is, with what was added to it."""
    return grown(log.info, log.additions())


class Workspace:
    """Holds one data set and the service of the session that is open on it.

    Parameters
    ----------
    data : Dataset
        The items.
    store : Store
        Where sessions are kept.
    log : Log
        The session to begin with.
    instructions : str
        What people read before their first question; none where it is empty.
    editors : sequence of str
        Who may name, move, merge and split groups; everybody where there are none.
    **options
        Passed on to each :class:`LabelService`.
    """

    def __init__(
        self,
        data: Dataset,
        store: Store,
        log: Log,
        *,
        instructions: str = "",
        editors: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.instructions, self.editors = instructions, frozenset(editors)
        self.data, self.store = as_items_of(data, _now(log)), store
        self.pictures, self.sounds = Pictures(self.data, DiskCache()), Sounds(self.data)
        self._options = options
        self._lock = threading.Lock()
        self.service = LabelService(self.data, log, store=store, **options)

    def check_editor(self, annotator: str) -> None:
        """Refuse somebody who may answer but not change groups as a whole."""
        if self.editors and annotator not in self.editors:
            named = ", ".join(sorted(self.editors))
            raise InputError(
                f"Only {named} may name, move, merge or split groups here; ask one of them."
            )

    def start(self) -> None:
        """Begin to compute."""
        self.service.start()

    def stop(self) -> None:
        """Stop computing and close the store."""
        self.pictures.save()
        self.service.stop()
        self.store.close()

    def begin(self, spec: Spec, name: str | None) -> LabelService:
        """Begin a session with another spec on the same data, or go on with it, and show it."""
        spec = spec.settled(self.data)
        method = spec.affinity.partition(":")[0]
        if method not in affinity_names():
            raise InputError(
                f"There is no affinity {method!r}; choose one of: {', '.join(affinity_names())}."
            )
        check_spec(spec, self.data)
        if self.data.absent:
            raise InputError(
                "Some files of this session are gone, so that no other can be begun from it here; "
                "begin one with: superpac label --fresh."
            )
        with self._lock:
            source = self.service.session.info.source
            recipe = dict(source) if isinstance(source, dict) else {"what": source}
            log, _ = find_or_create(self.store, self.data, replace(spec), name, recipe)
            if log.session_id == self.service.session.log.session_id:
                return self.service
            old = self.service
            data = as_items_of(self.data, _now(log))
            new = LabelService(data, log, store=self.store, **self._options)
            if data is not self.data:  # it began before files were renamed: in another order
                self.pictures.save()
                self.data, self.sounds = data, Sounds(data)
                self.pictures = Pictures(data, DiskCache())
            self.service = new
            self.service.start()
            old.stop()
            return self.service
