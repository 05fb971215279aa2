"""The paper's first figures in short: does SUPERPAC do here what the paper says it does?

Each row is a number of `superpac simulate` trials. Finished trials are kept in a file, so a run
that was stopped goes on where it was.

    python benchmarks/paper.py --out benchmarks/results/paper.jsonl            # everything
    python benchmarks/paper.py --out ... --rows mnist10 --strategies superpac  # one row
    python benchmarks/paper.py --out ... --only-table                          # the table alone
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from superpac.cli.simulate import trial
from superpac.data import load
from superpac.metrics import clustering_error
from superpac.research.robust_pca import oracle_pca
from superpac.session.spec import Spec


@dataclass(frozen=True)
class Row:
    """One experiment."""

    name: str
    data: str
    affinity: str
    dim: int
    questions: int
    trials: int
    classes: int | None = None
    per_class: int | None = None


ROWS = (
    Row("mnist5", "mnist", "tsc:q=5", 3, 500, 20, 5, 100),
    Row("mnist10", "mnist", "tsc:q=5", 3, 1100, 20, 10, 100),
    Row("yale5", "yaleb", "ssc-faces", 9, 300, 20, 5),
    Row("yale10", "yaleb", "ssc-faces", 9, 500, 10, 10),
    Row("coil20", "coil20", "ensc:gamma=50", 9, 1200, 2),
)
STRATEGIES = ("superpac", "superpac-s", "superpac-pinned", "random")


def one(row: Row, strategy: str, seed: int) -> dict:
    items = load(row.data)
    options = {} if strategy == "random" else {"refit": "exact"}
    spec = Spec(row.classes or items.n_classes, row.affinity, strategy, options, row.dim, seed)
    run = trial(items, spec, row.classes, row.per_class, row.questions, 0.0, "model")
    if row.classes or row.per_class:
        items = items.sample_classes(row.classes or items.n_classes, row.per_class, seed)
    oracle = clustering_error(items.y, oracle_pca(items.points(), items.y, row.dim))
    return {
        "key": [row.name, strategy, seed],
        "error": [round(float(e), 6) for e in run.error],
        "oracle_pca": float(oracle),
        "p95": float(np.percentile(run.ask_ms, 95)),
        "seconds": run.seconds,
    }


def table(done: dict, rows: list[Row], strategies: list[str]) -> str:
    lines = [
        "| data | strategy | trials | start | 100 | 300 | 500 | 1% at | 0% at "
        "| under oracle PCA at | worst rise |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        for strategy in strategies:
            runs = [r for key, r in done.items() if key[:2] == (row.name, strategy)]
            if not runs:
                continue
            curves = np.stack(
                [np.pad(r["error"], (0, row.questions + 1 - len(r["error"])), "edge") for r in runs]
            )
            marks = [f"{100 * curves[:, q].mean():.1f}%" if q <= row.questions else "-"
                     for q in (0, 100, 300, 500)]  # fmt: skip
            oracle = np.array([r["oracle_pca"] for r in runs])[:, None]
            cells = [first(curves <= level + 1e-12) for level in (0.01, 0.0)]
            cells.append(first(curves <= oracle + 1e-12))
            rise = max(float(np.max(c - np.minimum.accumulate(c))) for c in curves)
            lines.append(
                f"| {row.name} | {strategy} | {len(runs)} | {' | '.join(marks)} | "
                f"{' | '.join(cells)} | {100 * rise:.1f} points |"
            )
    return "\n".join(lines)


def first(below: np.ndarray) -> str:
    """Mean number of questions until a condition first holds, where it does in every trial."""
    reached = below.any(axis=1)
    if not reached.any():
        return "-"
    mean = f"{np.argmax(below[reached], axis=1).mean():.0f}"
    return mean if reached.all() else f"{mean} ({reached.sum()} of {len(reached)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", nargs="*", default=[row.name for row in ROWS])
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-table", action="store_true")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    done = {}
    if args.out.exists():
        done = {tuple(r["key"]): r for r in map(json.loads, args.out.read_text().splitlines())}
    rows = [row for row in ROWS if row.name in args.rows]
    todo = [
        (row, strategy, seed)
        for row in rows
        for strategy in args.strategies
        for seed in range(row.trials)
        if (row.name, strategy, seed) not in done
    ]
    if not args.only_table:
        with args.out.open("a") as file:
            work = Parallel(n_jobs=args.jobs, return_as="generator_unordered")
            for result in work(delayed(one)(*task) for task in todo):
                done[tuple(result["key"])] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                os.fsync(file.fileno())
    print(table(done, rows, args.strategies))


if __name__ == "__main__":
    main()
