"""Work on many rows that goes block by block: here, or where else the same is given back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


class RowBlocks(Protocol):
    """Where blocks of rows are worked on."""

    def each(
        self, work: Callable[..., Any], shared: Sequence[Any], blocks: Sequence[range]
    ) -> Iterator[Any]:
        """Give ``work(*shared, start, stop)`` of every block, in order."""
        ...


class Here:
    """In this process, one block after the other.

    Examples
    --------
    >>> list(HERE.each(lambda x, start, stop: sum(x[start:stop]), [[1, 2, 3]], blocks_of(3, 2)))
    [3, 3]
    """

    def each(
        self, work: Callable[..., Any], shared: Sequence[Any], blocks: Sequence[range]
    ) -> Iterator[Any]:
        """Give ``work(*shared, start, stop)`` of every block, in order."""
        for block in blocks:
            yield work(*shared, block.start, block.stop)


HERE = Here()


def blocks_of(rows: int, size: int) -> list[range]:
    """So many rows in blocks of a size, the last one shorter.

    Examples
    --------
    >>> blocks_of(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(start, min(start + size, rows)) for start in range(0, rows, size)]
