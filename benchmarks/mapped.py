"""What points cost in memory where they stay in a file, and where they are read into memory.

An .npy file of digits (784 numbers in single precision each) is written to a temporary folder. One
process opens it as `superpac.load` opens any .npy file, another reads all of it into memory first.
Both build TSC's affinity by approximate search, open a session and answer some questions. From
outside, their anonymous memory (RssAnon: what cannot be dropped and read again from a file) is
looked at every few milliseconds.

    python benchmarks/mapped.py --out benchmarks/results/mapped.jsonl
    python benchmarks/mapped.py --out benchmarks/results/mapped.jsonl --only-table

Sizes that are in the file are not run again. A session makes its choice of a dimension, too, since
people do not name one. Both must ask the same questions; the last column says whether they did.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np

from common import kept_trials, parser_of
from growth import AFFINITY, QUESTIONS
from sized import CLUSTERS, Sized
from superpac import Session, Spec, TruthOracle, load
from superpac.research.machine import machine_facts
from superpac.simulation.loop import AnswerLoop

WAYS = {"memory": "in memory", "file": "in a file"}
STAGES = {"load": "loading", "affinity": "affinity", "open": "opening", "ask": "questions"}
EVERY = 0.02  # seconds between two looks at a process


def measure(way: str, folder: Path) -> None:
    """Do the work in this process, and print when a stage ends and what it took."""
    begun = time.process_time()

    def ended(stage: str, **facts: object) -> None:
        nonlocal begun
        now = time.process_time()
        print(json.dumps({"stage": stage, "cpu_s": round(now - begun, 3), **facts}), flush=True)
        begun = time.process_time()

    path, y = folder / "points.npy", np.load(folder / "labels.npy")
    items = load(path if way == "file" else np.load(path), labels=y)
    session = Session.create(items, Spec(CLUSTERS, AFFINITY))
    ended("load", fingerprint=items.fingerprint)
    dim = session.problem.dim
    ended("affinity", dim=dim)
    session.ask()
    ended("open")
    loop = AnswerLoop(session, TruthOracle(y), QUESTIONS)
    asked = [[step.question.i, step.question.j] for step in loop]
    said = json.dumps([asked, session.labels("model").tolist()])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB, all kinds of memory
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    ended("ask", same=digest, most_gb=round(most / 1024**2, 3))


class Watched:
    """A process, and the most anonymous memory that it was seen to hold in each of its stages."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.most: list[int] = [0]
        self.facts: list[dict] = []

    def run(self) -> list[dict]:
        """Wait until it ends, and give what it printed, with its memory."""
        looking = Thread(target=self._look, daemon=True)
        looking.start()
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        for line in self.process.stdout:
            self.facts.append(json.loads(line))
            self.most.append(0)
        said = self.process.stderr.read().strip().splitlines()[-1:]
        if self.process.wait():
            raise SystemExit(f"{' '.join(self.process.args)}: {said}")  # type: ignore[arg-type]
        looking.join()
        return [
            {**facts, "anonymous_gb": round(most / 1024**2, 3)}
            for facts, most in zip(self.facts, self.most, strict=False)
        ]

    def _look(self) -> None:
        place = Path(f"/proc/{self.process.pid}/status")
        while self.process.poll() is None:
            found = re.search(r"^RssAnon:\s+(\d+) kB", place.read_text(), re.M)
            if found:
                self.most[-1] = max(self.most[-1], int(found[1]))
            time.sleep(EVERY)


def in_own_process(way: str, count: int, folder: Path) -> dict:
    """Measure one way in a fresh process on one thread."""
    write(count, folder)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    limit = {"SUPERPAC_CACHE": "off", "SUPERPAC_DATA_LIMIT": "100 GB"}
    stages = Watched(
        [sys.executable, __file__, "--one", way, str(folder)], {**os.environ, **one, **limit}
    ).run()
    return {
        "key": [way, count, AFFINITY, QUESTIONS],
        "points_gb": round((folder / "points.npy").stat().st_size / 1024**3, 3),
        "stages": {facts.pop("stage"): facts for facts in stages},
        "machine": machine_facts(),
    }


def write(count: int, folder: Path) -> None:
    """Put so many digits into the folder, unless they are there."""
    path = folder / "points.npy"
    if path.exists() and len(np.load(path, mmap_mode="r")) == count:
        return
    items = Sized("mnist", AFFINITY, points=count).whole()
    np.save(folder / "labels.npy", items.y)
    np.save(path, items.X.astype(np.float32))


def table(trials: list[dict]) -> None:
    """Print anonymous memory by stage, the peak of all memory, CPU seconds, and what agrees."""
    heads = [*STAGES.values(), "with pages of files", "CPU", "same questions and labels"]
    print("| points | | " + " | ".join(heads) + " |")
    print("| --- | --- |" + " --- |" * len(heads))
    for trial in sorted(trials, key=lambda t: (t["key"][1], list(WAYS).index(t["key"][0]))):
        way, count, *_ = trial["key"]
        stages = trial["stages"]
        results = {t["stages"]["ask"]["same"] for t in trials if t["key"][1:] == trial["key"][1:]}
        most = " | ".join(f"{stages[stage]['anonymous_gb']:.2f} GB" for stage in STAGES)
        seconds = sum(stages[stage]["cpu_s"] for stage in STAGES)
        print(
            f"| {count:,} ({trial['points_gb']:.2f} GB) | {WAYS[way]} | {most} | "
            f"{stages['ask']['most_gb']:.2f} GB | {seconds:.0f} s | "
            f"{'yes' if len(results) == 1 else 'NO'} |"
        )


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000], help="points")
    args = parser.parse_args()
    args.jobs = 1  # one at a time: they would slow each other down
    with TemporaryDirectory() as folder:
        tasks = [
            ([way, count, AFFINITY, QUESTIONS], (way, count, Path(folder)))
            for count in args.sizes
            for way in WAYS
        ]
        table(kept_trials(args, in_own_process, tasks))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
