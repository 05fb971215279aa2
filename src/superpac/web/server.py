"""Runs the page: a socket on this computer, the gate, and an orderly end."""

from __future__ import annotations

import logging
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from superpac.errors import InputError
from superpac.web.app import create_app
from superpac.web.security import Gate
from superpac.web.workspace import Workspace

PORT = 8437
DRAIN = 8  # seconds that requests under way get when the server is told to end


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
    announce : callable
        Given the address once.
    browser : bool
        Whether to open a browser.
    """
    # The address holds the token, so no request line may reach a log.
    logging.getLogger("uvicorn.access").disabled = True
    gate = Gate(create_app(workspace), token, hosts)
    config = uvicorn.Config(
        gate,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        http="h11",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=DRAIN,
        backlog=256,
    )
    name, port = sock.getsockname()[:2]
    shown = f"[{name}]" if ":" in name else name
    address = f"http://{shown}:{port}/?token={token}"
    announce(address)
    if browser:
        threading.Timer(0.5, webbrowser.open, args=(address,)).start()
    uvicorn.Server(config).run(sockets=[sock])
