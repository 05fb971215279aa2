"""Runs the page: a socket on this computer, the gate, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.concurrency import run_in_threadpool

from superpac.errors import InputError, StoreError
from superpac.web.app import create_app
from superpac.web.browser import Doorway
from superpac.web.connections import ARRIVAL, handles, limited, room
from superpac.web.quiet_log import quieten
from superpac.web.security import Gate
from superpac.web.workspace import Workspace

PORT = 8437
DRAIN = 8  # seconds that requests under way get when the server is told to end
LOOK = 1.0  # seconds between two looks whether the store is still this server's
FAREWELL = 10.0  # seconds in which people are told why the server is about to end

_log = logging.getLogger("superpac.web")


def bind(host: str, port: int | None) -> socket.socket:
    """Open the socket to listen on: the port asked for, or the usual one, or any free one.

    Parameters
    ----------
    host : str
        Address.
    port : int or None
        Port; None tries the usual one first, 0 takes any.

    Returns
    -------
    socket
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tries = (PORT, 0) if port is None else (port,)
    for number in tries:
        # With the protocol named, asyncio switches Nagle's delay of 40 ms off.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, number))
            sock.listen(256)  # from here on a browser waits instead of being refused
            return sock
        except OSError as error:
            sock.close()
            if number == tries[-1]:
                raise InputError(
                    f"The address {host}:{number} cannot be used ({error.strerror}); "
                    "name another with --port."
                ) from None
    raise InputError("No port is free.")


def serve(
    workspace: Workspace,
    sock: socket.socket,
    token: str,
    *,
    hosts: tuple[str, ...] = (),
    behind_https: bool = False,
    arrival: float = ARRIVAL,
    announce: Callable[[str], None] = lambda address: None,
    browser: bool = False,
) -> None:
    """Serve the page until the process is told to end; answers under way are finished.

    Parameters
    ----------
    workspace : Workspace
        Data and session.
    sock : socket
        Where to listen.
    token : str
        The secret of the address.
    hosts : tuple of str
        Further names under which the server may be called.
    behind_https : bool
        Whether people reach those names through a proxy with HTTPS.
    arrival : float
        Seconds in which a request must have arrived.
    announce : callable
        Given the address once.
    browser : bool
        Whether to open a browser.

    Raises
    ------
    StoreError
        When another program has taken the store over, after the page has told so.
    """
    # The address holds the token, so no request line may reach a log.
    logging.getLogger("uvicorn.access").disabled = True
    name, port = sock.getsockname()[:2]
    gate = Gate(create_app(workspace), token, hosts, port=port, behind_https=behind_https)
    most, step = room(handles())
    config = uvicorn.Config(
        gate,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        http=limited(most, arrival),
        timeout_keep_alive=30,
        timeout_graceful_shutdown=DRAIN,
        backlog=step,
    )
    quieten()
    _hush_tracker()
    shown = f"[{name}]" if ":" in name else name
    address = f"http://{shown}:{port}/?token={token}"
    server = _Server(config, workspace)
    announce(address)
    with _orderly_end(server), _opened(address if browser else None):
        server.run(sockets=[sock])
    if server.lost is not None:
        raise server.lost


def _hush_tracker() -> None:
    """Keep Python's own helper process from warning of what the computing process left when ended.

    It removes that by itself. It is started with the first process, and reads this then.
    """
    told = os.environ.get("PYTHONWARNINGS")
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = f"{told},{quiet}" if told else quiet


class _Server(uvicorn.Server):
    """Ends when the store is no longer its own: what it knows is then out of date for good."""

    def __init__(self, config: uvicorn.Config, workspace: Workspace) -> None:
        super().__init__(config)
        self._workspace = workspace
        self.lost: StoreError | None = None

    async def main_loop(self) -> None:
        """Run until told to end."""
        watch = asyncio.create_task(self._watch())
        try:
            await super().main_loop()
        finally:
            watch.cancel()

    async def _watch(self) -> None:
        """Look at the store now and then; until the end, answers are refused with the reason."""
        while self.lost is None:
            await asyncio.sleep(LOOK)
            try:
                await run_in_threadpool(self._workspace.store.check_owned)
            except StoreError as error:
                self.lost = error
        await asyncio.sleep(FAREWELL)
        self.should_exit = True


@contextlib.contextmanager
def _orderly_end(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the program as Ctrl+C does, so that it tidies up.

    Left to the system, they would end it at once or before temporary files are removed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        # uvicorn puts its own handler before this one, and sends the signal on when it has ended
        warnings.simplefilter("ignore")  # such as that its work was never begun
        sys.unraisablehook = lambda _: None  # or that a half-made event loop cannot be closed
        sys.exit(128 + number)

    saved = {signal.SIGTERM: signal.signal(signal.SIGTERM, end)}
    # nohup has the closing of the terminal ignored, and so it stays
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        saved[signal.SIGHUP] = signal.signal(signal.SIGHUP, server.handle_exit)
    try:
        yield
    finally:
        for number, before in saved.items():
            signal.signal(number, before)


@contextlib.contextmanager
def _opened(address: str | None) -> Iterator[None]:
    """Open a browser at an address, and leave nothing behind."""
    door = None
    if address is not None:
        try:
            door = Doorway(address)
            door.open()
        except OSError as error:
            _log.warning("No browser was opened (%s); open the printed address.", error)
    try:
        yield
    finally:
        if door is not None:
            door.close()
