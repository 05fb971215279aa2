"""A log that strangers cannot fill: of each kind of line only a few a minute are written."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

FEW = 5  # lines of a kind
SPAN = 60.0  # seconds
KINDS = 200  # kinds told apart
NAMES = ("asyncio", "uvicorn.error", "superpac.web")


class FewOfAKind(logging.Filter):
    """Lets a few lines of each kind through; the next one after a while says how many were not.

    Lines are of a kind when their first words, before anything is filled in, are the same.

    Parameters
    ----------
    few : int
        Lines of a kind in each span.
    span : float
        Seconds.
    clock : callable
        Gives seconds that never go back.

    Examples
    --------
    >>> quiet = FewOfAKind(few=1, span=60.0, clock=lambda: 0.0)
    >>> line = logging.makeLogRecord({"name": "x", "msg": "No room for %s", "args": ("a",)})
    >>> quiet.filter(line), quiet.filter(line)
    (True, False)
    """

    def __init__(
        self, few: int = FEW, span: float = SPAN, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._few, self._span, self._clock = few, span, clock
        self._lock = threading.Lock()
        # kind -> (beginning of its span, lines seen in it)
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        kind = record.name, str(record.msg).partition("\n")[0][:200]
        now = self._clock()
        with self._lock:
            begun, count = self._seen.pop(kind, (now, 0))
            left_out = 0
            if now - begun >= self._span:
                left_out = max(0, count - self._few)
                begun, count = now, 0
            self._seen[kind] = begun, count + 1
            while len(self._seen) > KINDS:
                self._seen.pop(next(iter(self._seen)))
        if left_out:
            record.msg = f"{record.getMessage()} ({left_out} more like it were not written)"
            record.args = ()
        return count < self._few


def quieten() -> None:
    """Let only a few lines of each kind through from all that a request can make speak."""
    for name in NAMES:
        logger = logging.getLogger(name)
        if not any(isinstance(one, FewOfAKind) for one in logger.filters):
            logger.addFilter(FewOfAKind())
