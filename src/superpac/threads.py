"""One BLAS thread for small matrices: waking and joining more costs longer than the work itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run a block with a single BLAS and OpenMP thread."""
    with _controller().limit(limits=1):
        yield
