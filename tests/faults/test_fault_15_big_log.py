"""Fault 15: a log of 100,000 events opens in two seconds and modest memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from superpac.answers.log import Draft
from superpac.store import new_info, open_store

LOAD = """
import json, re, sys, time
from pathlib import Path
from superpac.store import open_store
started = time.process_time()
with open_store(sys.argv[1]) as store:
    events = store.open("x").events()
seconds = time.process_time() - started
# not getrusage: its peak begins with that of the process that started this one
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
megabytes = int(peak[1]) / 1024
print(json.dumps([len(events), seconds, megabytes, events[-1].body["i"]]))
"""


def test_a_hundred_thousand_events_open_in_two_seconds(memory_folder: Path) -> None:
    path, total, at_a_time = memory_folder / "a.sqlite3", 100_000, 10_000
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=2 * total))
        for start in range(0, total, at_a_time):
            log.append_many(
                [
                    Draft(
                        "answer",
                        {"i": n, "j": n + 1, "answer": "same", "why": {"margin": n / total}},
                        "annotator",
                        None,
                        1200,
                    )
                    for n in range(start, start + at_a_time)
                ]
            )
    # the best of three: a crowded machine slows a process down even in processor time
    runs = [
        subprocess.run(
            [sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, check=True
        )
        for _ in range(3)
    ]
    count, seconds, megabytes, last = min(
        (json.loads(ran.stdout) for ran in runs), key=lambda found: found[1]
    )
    assert (count, last) == (total, total - 1)
    # Of processor time: other work on the machine must not decide.
    assert seconds <= 2
    assert megabytes <= 300
