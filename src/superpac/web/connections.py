"""How many connections the page holds, and how long each may take to say what it wants.

A connection that sends half a request, or none, costs its sender nothing and the server a file
handle, of which a process has about a thousand. So a request must arrive within a limit, and where
connections run out the one that has waited longest for its own request makes room. Some handles are
always left for the store, for pictures and for the process that computes.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from superpac.web.schemas import Problem

ARRIVAL = 20.0  # seconds in which a request must have arrived, its body included
MOST = 2000  # connections at once, however many handles there are
ASSUMED = 512  # handles where the system does not say how many there are

BUSY = "So many connections are open that this one has to wait; send it again in a moment."


def room(handles: int) -> tuple[int, int]:
    """Connections that may be open, and how many are let in between two looks at the number.

    Parameters
    ----------
    handles : int
        File handles that the process may have; 0 or less means without limit.

    Returns
    -------
    tuple of (int, int)
        Together at most three quarters of the handles: the rest is for files.

    Examples
    --------
    >>> room(1024), room(64)
    ((640, 128), (40, 8))
    """
    if handles <= 0:
        return MOST, 128
    step = max(1, min(128, handles // 8))
    return max(1, min(MOST, handles * 3 // 4 - step)), step


def handles() -> int:
    """File handles that this process may have open at once."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return ASSUMED
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


class Connection(H11Protocol):
    """A connection of uvicorn's that is closed when its request does not arrive in time."""

    most, arrival = MOST, ARRIVAL
    _timer: asyncio.TimerHandle | None = None
    _heard = False  # whether a whole request has come; a new connection is awaited at once
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection in; where there are too many, one that only waits makes room."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._watch()
        held = [c for c in self.connections if not _closing(c)]
        if len(held) <= self.most:
            return
        idle = [c for c in held if c is not self and isinstance(c, Connection) and c.idle]
        if idle:
            min(idle, key=lambda c: (c._heard, c.since)).transport.abort()
        else:  # all are at work: say so once the request is here, or the reply would be lost
            self.app = _busy

    @property
    def idle(self) -> bool:
        """Whether nothing is being done for this connection."""
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Take bytes in."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._heard, self.since = True, self.loop.time()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._unset()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Time a request from its first byte until it is whole, not from byte to byte."""
        begun = bool(self.conn.trailing_data[0]) or not self._heard
        state = self.conn.their_state
        arriving = state is h11.SEND_BODY or (state is h11.IDLE and begun)
        if not arriving or self.transport.is_closing():
            self._unset()
        elif self._timer is None:
            # aborted, since a graceful end would wait for a reply that nobody reads
            self._timer = self.loop.call_later(self.arrival, self.transport.abort)

    def _unset(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def limited(most: int, arrival: float) -> type[Connection]:
    """Give connections of which `most` may be open, with `arrival` seconds for each request."""
    return type("Connection", (Connection,), {"most": most, "arrival": arrival})


def _closing(connection: Any) -> bool:
    """Whether a connection is on its way out; its handle is free at the next turn of the loop."""
    return connection.transport is not None and connection.transport.is_closing()


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 503 to whoever came when every connection was at work."""
    if scope["type"] != "http":
        return
    content = json.dumps(Problem(detail=BUSY, retryable=True).model_dump()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"retry-after", b"1"),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": content})
