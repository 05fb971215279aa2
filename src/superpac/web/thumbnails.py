"""Pictures of items as PNG made here, by number; the last ones are kept in memory."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict

from superpac.data import Dataset

SIZES = (96, 320, 960)
KEPT_BYTES = 64 << 20


class Pictures:
    """Draws items once and remembers the bytes.

    Parameters
    ----------
    data : Dataset
        The items.

    Examples
    --------
    >>> shown = Pictures(Dataset([[0, 1, 1, 0], [1, 0, 0, 1]], image_shape=(2, 2)))
    >>> shown.png(0, 96)[1:4], shown.held(0, 96) is not None
    (b'PNG', True)
    """

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def crisp(self) -> bool:
        """Whether pixels are to be shown as squares: small images enlarged."""
        shape = self._data.image_shape
        return self._data.paths is None and shape is not None and max(shape[:2]) <= 160

    def held(self, item: int, size: int) -> bytes | None:
        """Bytes of a picture that was drawn before."""
        with self._lock:
            found = self._kept.get((item, size))
            if found is not None:
                self._kept.move_to_end((item, size))
            return found

    def png(self, item: int, size: int) -> bytes:
        """Draw an item at most `size` pixels wide and high."""
        found = self.held(item, size)
        if found is not None:
            return found
        buffer = io.BytesIO()
        self._data.draw(item, size).save(buffer, "PNG", compress_level=3)
        content = buffer.getvalue()
        with self._lock:
            if (item, size) not in self._kept:
                self._kept[item, size] = content
                self._bytes += len(content)
            while self._bytes > KEPT_BYTES:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped)
        return content
