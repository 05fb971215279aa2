"""Fault 15: a log of 100,000 events opens in a few statements and modest memory.

How many seconds it takes is measured by benchmarks/limits.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from long_log import write_long_log

TOTAL = 100_000

LOAD = """
import json, re, sys
from pathlib import Path
from sqlalchemy import Engine, event
from superpac.store import open_store
statements = []
event.listen(Engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
with open_store(sys.argv[1]) as store:
    events = store.open("x").events()
# not getrusage: its peak begins with that of the process that started this one
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
megabytes = int(peak[1]) / 1024
print(json.dumps([len(events), events[-1].body["i"], len(statements), megabytes]))
"""


def test_a_hundred_thousand_events_open_in_few_statements_and_little_memory(
    memory_folder: Path,
) -> None:
    path = memory_folder / "a.sqlite3"
    write_long_log(path, TOTAL)
    ran = subprocess.run(
        [sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, check=True
    )
    count, last, statements, megabytes = json.loads(ran.stdout)
    assert (count, last) == (TOTAL, TOTAL - 1)
    assert statements < 100
    assert megabytes <= 300
