"""Pictures of items made here, by number; the last ones stay in memory, small ones on disk."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict

from PIL import Image

from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.web.kept_thumbnails import KeptThumbnails

SMALL = 96
FULL = 4096
"""Longest side of a photo at its full size; what is larger is reduced to it."""

SIZES = (SMALL, 320, 960, FULL)
KEPT_BYTES = 64 << 20
_LOSSY = frozenset({".jpg", ".jpeg", ".jpe", ".jfif", ".webp"})


class Pictures:
    """Draws items once and remembers the bytes.

    Parameters
    ----------
    data : Dataset
        The items.
    cache : DiskCache, optional
        Where small pictures of photos are kept from one run to the next.

    Examples
    --------
    >>> shown = Pictures(Dataset([[0, 1, 1, 0], [1, 0, 0, 1]], image_shape=(2, 2)))
    >>> picture_kind(shown.draw(0, 96)), shown.held(0, 96) is not None
    ('image/png', True)
    """

    def __init__(self, data: Dataset, cache: DiskCache | None = None) -> None:
        self._data = data
        self._kept: OrderedDict[tuple[int, int, bool], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        # a photo takes many times as long to decode as other items take to draw
        photos = cache is not None and data.paths is not None
        self._small = KeptThumbnails(data, cache) if cache is not None and photos else None

    @property
    def crisp(self) -> bool:
        """Whether pixels are to be shown as squares: small images enlarged."""
        shape = self._data.image_shape
        return self._data.paths is None and shape is not None and max(shape[:2]) <= 160

    def held(self, item: int, size: int, behind: bool = False) -> bytes | None:
        """Bytes of a picture that was drawn before."""
        with self._lock:
            found = self._kept.get((item, size, behind))
            if found is not None:
                self._kept.move_to_end((item, size, behind))
            return found

    def draw(self, item: int, size: int, behind: bool = False) -> bytes:
        """Draw an item at most `size` pixels wide and high, as PNG or JPEG.

        With `behind` it is the whole photo that the item is a part of, the part framed.
        """
        found = self.held(item, size, behind)
        if found is not None:
            return found
        small = self._small if size == SMALL and not behind else None
        content = small.get(item) if small is not None else None
        if content is None:
            content = self._encoded(item, size, behind)
            if small is not None:
                small.put(item, content)
        with self._lock:
            if (item, size, behind) not in self._kept:
                self._kept[item, size, behind] = content
                self._bytes += len(content)
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped)
        return content

    def save(self) -> None:
        """Keep what was drawn for the next run."""
        if self._small is not None:
            self._small.save()

    def _encoded(self, item: int, size: int, behind: bool) -> bytes:
        buffer = io.BytesIO()
        draw = self._data.draw_behind if behind else self._data.draw
        drawn: Image.Image = draw(item, size)
        paths = self._data.paths
        # What lost detail once loses no more that is seen; a photo as PNG is ten times as large.
        lossy = paths is not None and paths[item].suffix.lower() in _LOSSY
        if lossy and self._data.kind == "image":
            drawn.save(buffer, "JPEG", quality=90)
        else:
            drawn.save(buffer, "PNG", compress_level=3)
        return buffer.getvalue()


def picture_kind(content: bytes) -> str:
    """Media type of a picture made here."""
    return "image/jpeg" if content[:2] == b"\xff\xd8" else "image/png"
