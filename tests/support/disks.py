"""Disks as tests need them: one that is soon full, and a user whom file modes bind."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from postgres import unavailable


@contextlib.contextmanager
def mounted_disk(place: Path, size: str = "2m") -> Iterator[Path]:
    """Mount a disk in memory of that size at `place` for the length of a block."""
    place.mkdir()
    if os.getuid() != 0 or shutil.which("mount") is None:
        unavailable(f"mounting a disk of {size} needs root")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True
    )
    if made.returncode:
        unavailable(f"a disk of {size} cannot be mounted: {made.stderr.decode()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill_disk(place: Path, leave: int = 0) -> Path:
    """Fill the disk of a folder but for so many bytes; gives the file that does."""
    ballast = place / "ballast"
    free = os.statvfs(place).f_bavail * os.statvfs(place).f_bsize
    ballast.write_bytes(b"x" * max(0, free - leave))
    return ballast


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """Be somebody whom file modes bind; root they do not."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
