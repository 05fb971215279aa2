"""Who has which question before them: one pair, one person, for a while."""

from __future__ import annotations

import time
from dataclasses import dataclass

from superpac.answers.log import Log
from superpac.web.asked import Asked

LEASE = 120.0  # seconds a pair stays with a person who says nothing


@dataclass
class _Held:
    asked: Asked
    until: float


class Leases:
    """Questions that are out.

    Parameters
    ----------
    log : Log
        The session's log.
    shared : bool
        Whether other processes give out questions of this log too; leases go through it then.
    ttl : float
        Seconds a lease lasts.
    """

    def __init__(self, log: Log, shared: bool, ttl: float = LEASE) -> None:
        self._log, self._shared, self._ttl = log, shared, ttl
        self._held: dict[str, _Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def of(self, annotator: str) -> Asked | None:
        """Question that a person has."""
        held = self._held.get(annotator)
        return None if held is None else held.asked

    def take(self, annotator: str, asked: Asked) -> bool:
        """Give a question to a person, or prolong it; False if somebody else has the pair."""
        if self._shared:
            pair = (asked.item, asked.others[0])
            if not self._log.lease(pair, _lessee(annotator), self._ttl):
                return False
        self._held[annotator] = _Held(asked, time.monotonic() + self._ttl)
        return True

    def release(self, annotator: str) -> None:
        """Take a person's question away."""
        held = self._held.pop(annotator, None)
        if held is not None and self._shared:
            self._log.release((held.asked.item, held.asked.others[0]), _lessee(annotator))

    def others(self, annotator: str) -> frozenset[int]:
        """Items that other people have before them; what was held too long is dropped."""
        now = time.monotonic()
        items: set[int] = set()
        for name, held in list(self._held.items()):
            if held.until < now:
                del self._held[name]
            elif name != annotator:
                items.add(held.asked.item)
        if self._shared:
            own = _lessee(annotator)
            for lease in self._log.leases():
                if lease.annotator != own:
                    items |= {lease.i, lease.j}
        return frozenset(items)

    def pairs(self, without: str | None = None) -> set[tuple[int, int]]:
        """Pairs that are out, but for one person's."""
        return {
            pair
            for name, held in self._held.items()
            if name != without
            for pair in held.asked.pairs()
        }


def _lessee(annotator: str) -> str:
    return annotator or "-"
