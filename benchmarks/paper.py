"""The paper's first figures in short: does SUPERPAC do here what the paper says it does?

Prints a Markdown table with a row per set and strategy: mean error at the start and after 100, 300
and 500 questions, mean questions to 1% and 0% and to less than the error of oracle PCA, and how far
the error of any trial ever climbed above its lowest value before.

    python benchmarks/paper.py --out benchmarks/results/paper.jsonl            # everything
    python benchmarks/paper.py --out ... --rows mnist10 --strategies superpac  # one row
    python benchmarks/paper.py --out ... --only-table                          # the table alone
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common import MNIST5, MNIST10, YALE5, YALE10, Draw, kept_trials, parser_of, rounded
from superpac import TruthOracle, clustering_error, simulate
from superpac.research.robust_pca import oracle_pca


@dataclass(frozen=True)
class Row:
    """One experiment."""

    draw: Draw
    questions: int
    trials: int


ROWS = {
    "mnist5": Row(MNIST5, 500, 20),
    "mnist10": Row(MNIST10, 1100, 20),
    "yale5": Row(YALE5, 300, 20),
    "yale10": Row(YALE10, 500, 10),
    "coil20": Row(Draw("coil20", "ensc:gamma=50", 9), 1200, 2),
}
STRATEGIES = ("superpac", "superpac-s", "superpac-pinned", "random")


def trial(name: str, strategy: str, seed: int) -> dict:
    """Error after every question, and that of oracle PCA on the same points."""
    row = ROWS[name]
    items = row.draw.items(seed)
    options = {} if strategy == "random" else {"refit": "exact"}
    graph = row.draw.graph(items, seed)
    session = row.draw.session(items, seed, strategy, options, affinity=graph)
    run = simulate(session, TruthOracle(items.y), items.y, row.questions)
    oracle = oracle_pca(items.points(), items.y, row.draw.dim or 1)
    return {
        "key": [name, strategy, seed],
        "error": rounded(run.error),
        "oracle_pca": float(clustering_error(items.y, oracle)),
        "p95": float(np.percentile(run.ask_ms, 95)),
        "seconds": run.seconds,
    }


def table(trials: list[dict], names: list[str], strategies: list[str]) -> str:
    """A row per set and strategy."""
    lines = [
        "| data | strategy | trials | start | 100 | 300 | 500 | 1% at | 0% at "
        "| under oracle PCA at | worst rise |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in names:
        last = ROWS[name].questions
        for strategy in strategies:
            runs = [r for r in trials if r["key"][:2] == [name, strategy]]
            if not runs:
                continue
            curves = np.stack(
                [np.pad(r["error"], (0, last + 1 - len(r["error"])), "edge") for r in runs]
            )
            marks = [
                f"{100 * curves[:, q].mean():.1f}%" if q <= last else "-"
                for q in (0, 100, 300, 500)
            ]
            oracle = np.array([r["oracle_pca"] for r in runs])[:, None]
            cells = [first(curves <= level + 1e-12) for level in (0.01, 0.0, oracle)]
            rise = max(float(np.max(c - np.minimum.accumulate(c))) for c in curves)
            lines.append(
                f"| {name} | {strategy} | {len(runs)} | {' | '.join(marks)} | "
                f"{' | '.join(cells)} | {100 * rise:.1f} points |"
            )
    return "\n".join(lines)


def first(below: np.ndarray) -> str:
    """Mean number of questions until a condition first holds, over the trials where it does."""
    reached = below.any(axis=1)
    if not reached.any():
        return "-"
    mean = f"{np.argmax(below[reached], axis=1).mean():.0f}"
    return mean if reached.all() else f"{mean} ({reached.sum()} of {len(reached)})"


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=ROWS)
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES))
    args = parser.parse_args()
    tasks = (
        ([name, strategy, seed], (name, strategy, seed))
        for name in args.rows
        for strategy in args.strategies
        for seed in range(ROWS[name].trials)
    )
    print(table(kept_trials(args, trial, tasks), args.rows, args.strategies))


if __name__ == "__main__":
    main()
