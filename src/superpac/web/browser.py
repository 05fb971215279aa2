"""Opens the page in a browser without telling the token to everybody on this computer.

What a program is started with can be read by every user of the computer (``ps``). So the browser is
started with the name of a file that only its owner can read, and the file leads on to the page.
"""

from __future__ import annotations

import html
import os
import shutil
import tempfile
import threading
import webbrowser
from pathlib import Path

DELAY = 0.5  # seconds until the browser is started
KEPT = 120.0  # seconds that the file stays there: a browser may take long to start


class Doorway:
    """A file that leads to an address, in a folder of its own; both go when it is closed.

    Parameters
    ----------
    address : str
        Where it leads, with the token.

    Examples
    --------
    >>> door = Doorway("http://127.0.0.1:8437/?token=secret")
    >>> "secret" in door.url, oct(door.path.stat().st_mode & 0o777)
    (False, '0o600')
    >>> door.close()
    >>> door.path.exists()
    False
    """

    def __init__(self, address: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="superpac-"))  # of mode 0700
        self.path = self._folder / "open.html"
        target = html.escape(address, quote=True)
        content = (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            '<meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0;url={target}">'
            f'<title>superpac</title><p><a href="{target}">Go on to superpac</a></p></html>'
        )
        handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(content)
        self._timers: list[threading.Timer] = []

    @property
    def url(self) -> str:
        """What the browser is started with."""
        return self.path.as_uri()

    def open(self) -> None:
        """Start the browser in a moment; the file goes a while later."""
        for delay, act in ((DELAY, self._start), (KEPT, self._remove)):
            timer = threading.Timer(delay, act)
            timer.daemon = True  # an ending server waits for no browser
            timer.start()
            self._timers.append(timer)

    def close(self) -> None:
        """Remove the file; harmless when done twice."""
        for timer in self._timers:
            timer.cancel()
        self._remove()

    def _start(self) -> None:
        webbrowser.open(self.url)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
