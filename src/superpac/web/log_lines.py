"""What the server logs: text from requests and data is shown there, never obeyed by a terminal."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from superpac.system.safe_text import printable


class PlainRecord(logging.LogRecord):
    r"""A log record whose message and traceback hold no control characters.

    Examples
    --------
    >>> PlainRecord("x", logging.ERROR, "", 0, "GET %s", ("/\x1b[2J",), None).getMessage()
    'GET /\\x1b[2J'
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if self.exc_info and self.exc_info[0] is not None:
            lines = "".join(traceback.format_exception(*self.exc_info)).rstrip("\n").split("\n")
            self.exc_text = "\n".join(printable(line) for line in lines)

    def getMessage(self) -> str:  # noqa: N802 - the name that logging gives it
        """Give the message in one line."""
        return printable(super().getMessage().rstrip("\n"))


def make_plain() -> None:
    """Let every logger of this process write plain lines."""
    logging.setLogRecordFactory(PlainRecord)
