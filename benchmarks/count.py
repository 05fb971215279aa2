"""How well the number of clusters is found while asking (`-k auto`), and how sure it says it is.

Every row is some trials; after every ten questions the number of clusters found, the certainty
given and the error are kept. Prints two Markdown tables: the mean number found at several shares
of the budget with the error at its end, a row per set; and, for ranges of the certainty given, the
share of checkpoints at which the number was right.

    python benchmarks/count.py --out benchmarks/results/count.jsonl
    python benchmarks/count.py --out benchmarks/results/count.jsonl --only-table
"""

from __future__ import annotations

import numpy as np

from common import (
    COIL20,
    DIGITS10,
    FIRST_SEED,
    MNIST5,
    MNIST10,
    YALE5,
    YALE10,
    Draw,
    kept_trials,
    parser_of,
)
from superpac import TruthOracle, clustering_error
from superpac.simulation.loop import AnswerLoop

# name: points, questions
ROWS = {
    "MNIST 5 x 100": (MNIST5, 200),
    "MNIST 10 x 100": (MNIST10, 400),
    "Yale 5": (YALE5, 150),
    "Yale 10": (YALE10, 250),
    "digits 10 x 100": (DIGITS10, 250),
    "pendigits 10 x 60": (Draw("pendigits", "knn", 3, 10, 60, standardise=True), 250),
    "COIL-20": (COIL20, 200),
}
EVERY = 10
SHARES = (0.0, 0.25, 0.5, 1.0)
RANGES = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.01))


def trial(name: str, seed: int) -> dict:
    """Number, certainty and error after every tenth question."""
    draw, questions = ROWS[name]
    items = draw.items(seed)
    session = draw.session(items, seed, clusters="auto")
    found = []

    def note() -> None:
        now = session.progress()
        error = clustering_error(items.y, session.labels())
        found.append([now["clusters"], now["clusters_sure"], round(float(error), 6)])

    note()
    for step in AnswerLoop(session, TruthOracle(items.y), questions):
        if step.number % EVERY == 0:
            note()
    return {"key": [name, seed], "truth": int(items.n_classes or 0), "found": found}


def table(trials: list[dict]) -> str:
    """Tables of the numbers found and of the certainty."""
    head = " | ".join(f"at {100 * share:.0f}% of them" for share in SHARES)
    lines = [
        f"| data | clusters | trials | questions | {head} | right at the end | error then |",
        "| --- " * (6 + len(SHARES)) + "|",
    ]
    checks = []
    for name, (_, questions) in ROWS.items():
        runs = [r for r in trials if r["key"][0] == name]
        if not runs:
            continue
        cells = []
        for share in SHARES:
            at = [
                r["found"][min(round(share * questions / EVERY), len(r["found"]) - 1)] for r in runs
            ]
            cells.append(f"{np.mean([a[0] for a in at]):.1f}")
        ends = [r["found"][-1] for r in runs]
        right = sum(end[0] == r["truth"] for end, r in zip(ends, runs, strict=True))
        error = 100 * np.mean([end[2] for end in ends])
        lines.append(
            f"| {name} | {runs[0]['truth']} | {len(runs)} | {questions} | {' | '.join(cells)} | "
            f"{right} of {len(runs)} | {error:.1f}% |"
        )
        checks += [(f[1], f[0] == r["truth"]) for r in runs for f in r["found"]]
    lines += ["", "| certainty given | checkpoints | number right |", "| --- | --- | --- |"]
    for low, high in RANGES:
        inside = [right for sure, right in checks if low <= sure < high]
        if inside:
            words = f"{100 * low:.0f} to {min(100, 100 * high):.0f}%"
            lines.append(f"| {words} | {len(inside)} | {100 * np.mean(inside):.0f}% |")
    return "\n".join(lines)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--trials", type=int, default=5)
    args = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + args.trials)
    tasks = (([name, seed], (name, seed)) for name in ROWS for seed in seeds)
    print(table(kept_trials(args, trial, tasks)))


if __name__ == "__main__":
    main()
