"""Processor time of one piece of work, as little disturbed by the rest of the machine as can be."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def least_seconds(work: Callable[[], T], times: int = 3) -> tuple[float, T]:
    """Do `work` a few times; give the least processor time of this thread, and the last result.

    A crowded machine slows a process down even in processor time, and threads that other tests
    left behind count towards the process, so neither the clock nor the process is measured.
    """
    seconds = []
    for _ in range(times):
        begun = time.thread_time()
        result = work()
        seconds.append(time.thread_time() - begun)
    return min(seconds), result
