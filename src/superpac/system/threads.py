"""How many threads a piece of work may use.

Small work is done by one: waking and joining more costs longer than the work itself. On a busy
two-core machine the loop on USPS took 120 ms of CPU per question with two threads, most of it spent
waiting for each other, and 30 ms with one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache

import numba
from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Handle on the libraries that have threads; finding them anew takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Run a block with at most `count` threads in BLAS, OpenMP and Numba each."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        with _controller().limit(limits=count):
            yield
    finally:
        numba.set_num_threads(before)


def one_thread() -> AbstractContextManager[None]:
    """Run a block with a single BLAS, OpenMP and Numba thread."""
    return limit_threads(1)
