"""How much memory this process may still take, and sizes as people write them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from superpac.errors import InputError

UNKNOWN = 4 * 10**9
"""What is taken to be free where the system does not tell."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def parse_bytes(setting: str, text: str) -> int:
    """Read a size such as "500 MB"; `setting` is what the error names.

    Examples
    --------
    >>> parse_bytes("SUPERPAC_CACHE_LIMIT", "1.5 GB")
    1500000000
    """
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d*)?)\s*([kmgt]?)b?\s*", text.lower(), re.ASCII)
    if found is None:
        raise InputError(f"{setting} must be a size such as 500 MB or 2 GB. Got {text!r}.")
    return int(float(found[1]) * _UNITS[found[2]])


def free_bytes() -> int:
    """Memory that can still be taken: of the machine, its container and this process's own limit.

    Examples
    --------
    >>> free_bytes() > 0
    True
    """
    found = [_of_machine(), _of_group(), _of_process()]
    return max(0, min((free for free in found if free is not None), default=UNKNOWN))


def _of_machine() -> int | None:
    """What the system holds free or can free at once."""
    try:
        told = re.search(r"^MemAvailable:\s+(\d+) kB", _MEMINFO.read_text(), re.M)
        return int(told[1]) * 1024 if told else None
    except OSError:
        pass
    try:  # other systems tell at least how much there is; half of it may well be free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _of_group() -> int | None:
    """What the container that this runs in leaves."""
    try:
        most = int((_GROUP / "memory.max").read_text())
        return most - int((_GROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no container, or one that says "max"
        return None


def _of_process() -> int | None:
    """What the limit on this process's addresses leaves, where there is one."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return int(most - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):
        return None
