"""Work on a Dask cluster: data placed there once, and the same results whichever workers die."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from superpac.errors import InputError, SuperpacError
from superpac.system.optional import require
from superpac.system.threads import one_thread

ANSWER_S = 10  # seconds within which a scheduler has to answer, and to have a worker
RETRIES = 3  # times that work is begun again after its worker died


class Placed:
    """A value that is on the workers; placed again should all that hold it have died."""

    def __init__(self, client: Any, value: Any) -> None:
        self._client, self._value = client, value
        self._future: Any = None

    def there(self) -> Any:
        """The value as the cluster knows it."""
        if self._future is None or self._future.status in ("cancelled", "lost", "error"):
            self._client.wait_for_workers(1)  # they may be starting again
            # by every worker, so that one that dies takes nothing with it
            self._future = self._client.scatter(self._value, broadcast=True, hash=False)
        return self._future


def _knock(address: str) -> None:
    """Connect once, by itself: a client that fails leaves a thread behind, and may hang."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme not in ("tcp", "tls") or not parts.hostname or not parts.port:
        raise ValueError("it is no host and port")
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=ANSWER_S).close()
    except UnicodeError:
        raise ValueError("it is no host and port") from None


class Cluster:
    """A Dask cluster, as long as the ``with`` lasts.

    Parameters
    ----------
    address : str
        Of its scheduler, such as ``tcp://host:8786``. Its workers need superpac, not the data.

    Raises
    ------
    InputError
        Where no scheduler answers there, it has no worker, or a worker lacks superpac.
    """

    def __init__(self, address: str) -> None:
        require("dask", "A Dask cluster")
        from distributed import Client

        try:
            _knock(address)
            self._client = Client(address, timeout=f"{ANSWER_S}s", set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"No Dask scheduler answers at {address[:80]!r} ({error}); give its address, such "
                "as tcp://host:8786."
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_S)
            lacking = [who for who, it in self._client.run(_has_superpac).items() if not it]
        except TimeoutError:
            self._client.close()
            raise InputError(
                f"The Dask scheduler at {address} has no workers; start one with: "
                f"dask worker {address}"
            ) from None
        if lacking:
            self._client.close()
            raise InputError(
                f"superpac is not installed where the worker {lacking[0]} runs; install it there."
            )

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Take leave of the cluster, which goes on without us."""
        self._client.close()

    def place(self, value: Any) -> Placed:
        """Put a value on all workers, once, for any number of calls."""
        return Placed(self._client, value)

    def each(
        self, work: Callable[..., Any], shared: Sequence[Any], blocks: Sequence[range]
    ) -> Iterator[Any]:
        """Give ``work(*shared, start, stop)`` of every block, in order; see `row_blocks`."""
        there = [self.place(value) for value in shared]
        calls = ((work, *there, block.start, block.stop) for block in blocks)
        yield from self.in_order(_on_one_thread, calls)

    def in_order(self, work: Callable[..., Any], calls: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
        """Give ``work(*call)`` of every call, in their order."""
        numbered: dict[int, Any] = {}
        following = count()
        wanted = next(following)
        numbers = count()
        for number, result in self.as_done(
            _numbered, ((next(numbers), work, *call) for call in calls)
        ):
            if isinstance(result, BaseException):
                raise SuperpacError(
                    f"The Dask cluster could not do a part of the work ({result}); start it again, "
                    "or leave --dask out."
                ) from result
            numbered[number[0]] = result
            while wanted in numbered:
                yield numbered.pop(wanted)
                wanted = next(following)

    def as_done(
        self, work: Callable[..., Any], calls: Iterator[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Give each call with its result, or the exception it ended in, as they come.

        A call is begun again where its worker died, and what was placed is placed again where it
        is on no worker any more.
        """
        from distributed import CancelledError, as_completed

        client = self._client
        running = as_completed(loop=client.loop)
        waiting: dict[Any, tuple[tuple[Any, ...], int]] = {}
        more = True

        def submit(call: tuple[Any, ...], tries: int) -> None:
            given = [part.there() if isinstance(part, Placed) else part for part in call]
            future = client.submit(work, *given, pure=False, retries=RETRIES)
            waiting[future.key] = call, tries
            running.add(future)

        def fill() -> None:
            # two per thread, asked anew each time: workers may join while the run goes on
            nonlocal more
            while more and len(waiting) < max(2 * sum(client.nthreads().values()), 2):
                call = next(calls, None)
                if call is None:
                    more = False
                    return
                submit(call, 0)

        fill()
        for future in running:
            call, tries = waiting.pop(future.key)
            result: Any
            try:
                result = future.result()
            except CancelledError as lost:  # all that held what was placed, or the result, died
                if tries < RETRIES:
                    submit(call, tries + 1)
                    continue
                result = lost
            except Exception as failed:  # of any kind: the work's own, or a worker that died of it
                result = failed
            yield call, result
            fill()


def _has_superpac() -> bool:
    return find_spec("superpac") is not None


def _on_one_thread(work: Callable[..., Any], *given: Any) -> Any:
    """Do one block's work by one thread: a worker has as many blocks at a time as threads."""
    with one_thread():
        return work(*given)


def _numbered(number: int, work: Callable[..., Any], *given: Any) -> Any:
    """Do a call that bears a number."""
    return work(*given)
