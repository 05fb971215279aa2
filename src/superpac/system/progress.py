"""How long work tells how far it is: one kind of function, called as ``progress(done, total)``."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default of every ``progress`` argument."""
