"""How time and memory grow with the number of points: affinity, opening, next question.

For each kind of data and size, in a process of its own and on one thread: CPU seconds of TSC's
affinity by approximate search, of an opening (from the affinity to the first question), of the
median next question with the labels, and peak memory.
Prints a table and the exponents of N that fit them by least squares on logarithms, and draws both.

    python benchmarks/growth.py --out benchmarks/results/growth.jsonl --most 200000
    python benchmarks/growth.py --out benchmarks/results/growth.jsonl --only-table

Sizes that are in the file are not run again. Below 5,000 points fixed costs rule, so exponents are
fitted from there on, and from 50,000 points on, which is nearer to what comes after.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from common import kept_trials, parser_of
from sized import Sized
from superpac import TruthOracle
from superpac.research.machine import machine_facts
from superpac.simulation.loop import AnswerLoop

KINDS = {"mnist": 9, "subspaces": 6}  # and the dimension of their subspaces
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
AFFINITY = "tsc:q=10,search=approximate"
FITTED_FROM = (5_000, 50_000)  # the picture shows the first
QUESTIONS = 40
MEASURES = {
    "affinity_s": "affinity, approximate",
    "opening_s": "opening",
    "question_s": "next question",
    "memory_gb": "peak memory",
}


def measure(kind: str, count: int) -> dict:
    """One size, measured in this process."""
    draw = Sized(kind, AFFINITY, KINDS[kind], points=count)
    items = draw.items(0)
    session = draw.session(items, 0)
    begun = time.process_time()
    problem = session.problem
    built = time.process_time()
    session.ask()
    opened = time.process_time()
    work = []
    for _ in AnswerLoop(session, TruthOracle(items.y), QUESTIONS):
        session.labels("model")
        session.ask()
        work.append(time.process_time() - opened)
        opened += work[-1]
    return {
        "key": [kind, count, AFFINITY, QUESTIONS],
        "affinity_s": round(built - begun, 3),
        "opening_s": round(opened - sum(work) - built, 3),
        "question_s": round(float(np.median(work)), 5),
        "question_p95_s": round(float(np.percentile(work, 95)), 5),
        "memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 3),
        "neighbours": round(problem.affinity.nnz / count, 1),
        "machine": machine_facts(),
    }


def in_own_process(kind: str, count: int) -> dict:
    """Measure one size in a fresh process, so that its peak memory is its own."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    found = subprocess.run(
        [sys.executable, __file__, "--one", kind, str(count)],
        env={**os.environ, **one, "SUPERPAC_CACHE": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise SystemExit(f"{kind}, {count} points: {found.stderr.strip().splitlines()[-1:]}")
    return json.loads(found.stdout.splitlines()[-1])


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of a line through logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def rows_of(trials: list[dict], kind: str) -> list[dict]:
    """Trials of one kind, by size."""
    return sorted((t for t in trials if t["key"][0] == kind), key=lambda t: t["key"][1])


def table(trials: list[dict]) -> dict[tuple[str, str], float]:
    """Print all sizes and the exponents; give those of the widest fit."""
    slopes: dict[tuple[str, str], float] = {}
    for kind in KINDS:
        rows = rows_of(trials, kind)
        if not rows:
            continue
        print(f"\n| {kind} | " + " | ".join(MEASURES.values()) + " | next question, p95 |")
        print("| --- |" + " --- |" * (len(MEASURES) + 1))
        for row in rows:
            print(
                f"| {row['key'][1]:,} | {row['affinity_s']:.1f} s | {row['opening_s']:.1f} s | "
                f"{1e3 * row['question_s']:.0f} ms | {row['memory_gb']:.2f} GB | "
                f"{1e3 * row['question_p95_s']:.0f} ms |"
            )
        for least in FITTED_FROM:
            fitted = [row for row in rows if row["key"][1] >= least]
            if len(fitted) > 1:
                sizes = [row["key"][1] for row in fitted]
                found = {m: exponent(sizes, [row[m] for row in fitted]) for m in MEASURES}
                words = " | ".join(f"N^{found[m]:.2f}" for m in MEASURES)
                print(f"| from {least:,} on | {words} | |")
                for name, slope in found.items():
                    slopes.setdefault((kind, name), slope)
    return slopes


def draw(trials: list[dict], slopes: dict[tuple[str, str], float], path: Path) -> None:
    """Time and memory against N on logarithmic axes, one panel each."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(MEASURES), figsize=(15, 4), layout="constrained")
    for panel, (name, words) in zip(panels, MEASURES.items(), strict=True):
        for kind, mark in zip(KINDS, "os", strict=True):
            rows = rows_of(trials, kind)
            if rows:
                slope = slopes.get((kind, name))
                grows = "" if slope is None else f": N^{slope:.2f}"
                values = [row[name] for row in rows]
                panel.plot([row["key"][1] for row in rows], values, f"{mark}-", label=kind + grows)
        panel.set(xscale="log", yscale="log", title=words, xlabel="points")
        panel.set_ylabel("GB" if name.endswith("gb") else "CPU seconds, one thread")
        panel.grid(alpha=0.3)
        panel.legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--most", type=int, default=200_000, help="largest number of points")
    parser.add_argument("--picture", type=Path, help="write a PNG here")
    args = parser.parse_args()
    args.jobs = 1  # one at a time: they would slow each other down
    sizes = [count for count in SIZES if count <= args.most]
    tasks = [
        ([kind, count, AFFINITY, QUESTIONS], (kind, count)) for count in sizes for kind in KINDS
    ]
    trials = kept_trials(args, in_own_process, tasks)
    slopes = table(trials)
    if args.picture:
        draw(trials, slopes, args.picture)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        main()
