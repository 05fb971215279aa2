"""One thread for small work: waking and joining more costs longer than the work itself.

On a busy two-core machine the loop on USPS took 120 ms of CPU a question with two threads, most of
it spent waiting for each other, and 30 ms with one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numba
from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block with a single BLAS, OpenMP and Numba thread."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        numba.set_num_threads(before)
