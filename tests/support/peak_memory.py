"""The command line in a process of its own, and the most memory that it took."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# From inside: what the system tells a parent counts memory of the parent itself.
CHILD = """
import atexit, pathlib, sys
from superpac.cli import main
told, status = pathlib.Path(sys.argv.pop(1)), pathlib.Path("/proc/self/status")
atexit.register(lambda: told.write_text(status.read_text()))
main()
"""


@dataclass
class Measured:
    returncode: int
    output: str
    memory: int


def measured(*words: object, cwd: Path, **settings: str) -> Measured:
    """Run the command line and say how many bytes it took at most."""
    with tempfile.NamedTemporaryFile("r") as told:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, told.name, *map(str, words)],
            cwd=cwd,
            env={**os.environ, "COLUMNS": "200", **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        peak = re.search(r"^VmHWM:\s+(\d+) kB", told.read(), re.M)
    assert peak, done.stdout
    return Measured(done.returncode, done.stdout, int(peak[1]) * 1024)
