"""What a result was made with: versions and machine, as far as they bear on figures and times."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("superpac", "numpy", "scipy", "scikit-learn", "numba", "joblib", "dask")


@lru_cache(maxsize=1)
def machine_facts() -> dict[str, str]:
    """Versions of what computes, the processor and the system; no names of people or hosts.

    Examples
    --------
    >>> "numpy" in machine_facts()
    True
    """
    facts = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count() or 0),
        "memory_gb": _memory(),
    }
    for name in PACKAGES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            continue
    return facts


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f}"
    except (ValueError, OSError, AttributeError):
        return "unknown"
