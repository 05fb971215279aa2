"""Small pictures of a folder of photos, kept on disk in one piece from one run to the next."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from superpac.cache import DiskCache
from superpac.data import Dataset

EVERY = 500  # new ones after which all are written: what a killed process loses at most


class KeptThumbnails:
    """Bytes of small pictures by number, each good while its file is as it was.

    Parameters
    ----------
    data : Dataset
        The photos; `paths` must be there.
    cache : DiskCache
        Where they are kept. Whatever is wrong there costs time, never a picture.
    """

    def __init__(self, data: Dataset, cache: DiskCache) -> None:
        self._paths: tuple[Path, ...] = data.paths or ()
        self._cache = cache
        self._key = f"thumbnails {data.fingerprint} {data.source}"
        self._lock = threading.Lock()
        self._found: dict[int, tuple[str, bytes]] | None = None
        self._new = 0

    def get(self, item: int) -> bytes | None:
        """Bytes of a picture, unless its file has changed since."""
        with self._lock:
            kept = self._all().get(item)
        return kept[1] if kept is not None and kept[0] == self._stamp(item) else None

    def put(self, item: int, content: bytes) -> None:
        """Keep a picture."""
        stamp = self._stamp(item)
        with self._lock:
            self._all()[item] = stamp, content
            self._new += 1
            due = self._new >= EVERY
        if due:
            self.save()

    def save(self) -> None:
        """Write all pictures, if there are new ones."""
        with self._lock:
            if not self._new or self._found is None:
                return
            self._new = 0
            entries = sorted(self._found.items())
        sizes = [len(content) for _, (_, content) in entries]
        whole = b"".join(content for _, (_, content) in entries)
        facts: dict[str, Any] = {
            "items": [item for item, _ in entries],
            "stamps": [stamp for _, (stamp, _) in entries],
            "ends": np.cumsum(sizes),
            "bytes": np.frombuffer(whole, dtype=np.uint8),
        }
        self._cache.put(self._key, facts)

    def _stamp(self, item: int) -> str:
        """What changes when a file does: its place, size and time; nothing where it is gone."""
        path = self._paths[item]
        try:
            facts = path.lstat()
        except OSError:
            return ""
        return f"{path} {facts.st_size} {facts.st_mtime_ns}"

    def _all(self) -> dict[int, tuple[str, bytes]]:
        """Pictures so far; from disk at the first time."""
        if self._found is None:
            self._found = {}
            kept = self._cache.get(self._key)
            if kept is not None:
                whole, starts = kept["bytes"].tobytes(), [0, *kept["ends"].tolist()]
                for k, (item, stamp) in enumerate(zip(kept["items"], kept["stamps"], strict=True)):
                    self._found[item] = stamp, whole[starts[k] : starts[k + 1]]
        return self._found
