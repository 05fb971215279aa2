"""Threads for routes that look: what waits or computes there never keeps an answer waiting.

A plain route runs in the one pool of threads that the framework has. Sixty people who wait for
their clusters would take all of it, and an answer would have to wait for them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi.routing import APIRoute

THREADS = 8  # for looking; answers have the framework's forty to themselves


class LookingRoute(APIRoute):
    """A route whose function runs in threads apart from those that take answers in."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = in_looking_threads(endpoint)
        super().__init__(path, endpoint, **options)


def in_looking_threads(work: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that runs `work` in one of the threads for looking."""

    @functools.wraps(work)
    async def run(*args: Any, **named: Any) -> Any:
        return await to_thread.run_sync(functools.partial(work, *args, **named), limiter=_limiter())

    return run


@functools.cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(THREADS)
