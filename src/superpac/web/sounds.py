"""Sounds of items as WAV made here, by number; the last ones are kept in memory."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict

from superpac.data import Dataset
from superpac.data.sound_files import as_wav, read_sound
from superpac.errors import NotFoundError

KEPT_BYTES = 128 << 20
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class Sounds:
    """Decodes the sound of an item once and remembers the bytes.

    What a browser gets is written anew: a plain format that every browser plays, without what
    else the file may hold, such as where it was recorded.

    Parameters
    ----------
    data : Dataset
        The items.
    """

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def held(self, item: int) -> bytes | None:
        """Bytes of a sound that was decoded before."""
        with self._lock:
            found = self._kept.get(item)
            if found is not None:
                self._kept.move_to_end(item)
            return found

    def wav(self, item: int) -> bytes:
        """Sound of an item as a WAV file."""
        if self._data.sounds is None:
            raise NotFoundError("The items of this session are no sounds.")
        found = self.held(item)
        if found is not None:
            return found
        self._data.describe(item)  # refuses what is gone
        content = as_wav(read_sound(self._data.sounds[item]))
        with self._lock:
            if item not in self._kept:
                self._kept[item] = content
                self._bytes += len(content)
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped)
        return content


def asked_part(header: str | None, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last that a Range header asks for; None where it is empty.

    A header that is not understood, or names several parts, is passed over, as servers may (RFC
    9110, section 14.2): the whole is given.

    Examples
    --------
    >>> asked_part("bytes=10-19", 100), asked_part("bytes=-5", 100), asked_part("lines=1-2", 100)
    ((10, 20), (95, 100), (0, 100))
    >>> asked_part("bytes=100-", 100) is None
    True
    """
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None or not (found[1] or found[2]):
        return 0, size
    if not found[1]:
        start, end = max(0, size - int(found[2])), size
    else:
        start = int(found[1])
        end = min(size, int(found[2]) + 1) if found[2] else size
        if found[2] and int(found[2]) < start:
            return 0, size
    return (start, end) if start < end else None
