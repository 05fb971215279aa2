"""How many questions SUPERPAC-D needs: the rows of a table, with confidence intervals.

Every row is a number of trials with the default setting of the strategy, on subsets or orders drawn
with seeds that no setting was chosen on. Prints a Markdown table: questions until an error (or
an adjusted Rand index) is reached, or the error after a number of them, beside the target; the
same for somebody who knows every wrong item; the largest rise of the error over fifty questions;
and the 95th percentile of the wait from an answer to the next question. `--trials` limits the
table, too.

    python benchmarks/questions.py --out benchmarks/results/questions.jsonl
    python benchmarks/questions.py --out ... --rows mnist5 yale5 --trials 5
    python benchmarks/questions.py --out ... --trials 5 --option views=false   # an ablation
    python benchmarks/questions.py --out ... --only-table
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

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
    rand_curve,
    rounded,
)
from superpac import NoisyOracle, TruthOracle, simulate
from superpac.simulation.clairvoyant import clairvoyant

WITHIN = 50  # questions over which a rise of the error is looked for


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table; `levels` are errors with their targets in questions."""

    words: str
    draw: Draw
    questions: int
    trials: int = 20
    levels: tuple[tuple[float, int], ...] = ()
    wrong: float = 0.0
    at: tuple[int, float] | None = None  # error aimed at after so many questions
    rand: tuple[float, int] | None = None  # adjusted Rand index and its target in questions
    yardstick: int = 0  # questions that the clairvoyant is given


ROWS = {
    "mnist10": Row(
        words="MNIST 10 x 100, TSC q 5, d 3",
        draw=MNIST10,
        questions=800,
        levels=((0.10, 150), (0.05, 250), (0.01, 450), (0.0, 700)),
        yardstick=300,
    ),
    "mnist5": Row(
        words="MNIST 5 x 100, TSC q 5, d 3",
        draw=MNIST5,
        questions=300,
        levels=((0.05, 50), (0.01, 90), (0.0, 220)),
        yardstick=150,
    ),
    "yale5": Row(
        words="Yale 5, SSC, d 9",
        draw=YALE5,
        questions=150,
        levels=((0.01, 50), (0.0, 80)),
        yardstick=100,
    ),
    "yale10": Row(
        words="Yale 10, SSC, d 9",
        draw=YALE10,
        questions=300,
        levels=((0.01, 150), (0.0, 250)),
        yardstick=150,
    ),
    "yale38": Row(
        words="Yale 38, SSC-OMP k 5, d 9",
        draw=Draw("yaleb", "ssc-omp:k=5", 9),
        questions=1200,
        trials=5,
        levels=((0.05, 600), (0.0, 1000)),
        yardstick=400,
    ),
    "coil20": Row(
        words="COIL-20, EnSC gamma 10, d 9",
        draw=COIL20,
        questions=200,
        trials=5,
        levels=((0.01, 130), (0.0, 200)),
        yardstick=150,
    ),
    "coil100": Row(
        words="COIL-100, EnSC gamma 5, d 9",
        draw=Draw("coil100", "ensc:gamma=5", 9),
        questions=2500,
        trials=5,
        levels=((0.05, 1500), (0.01, 2500)),
    ),
    "usps": Row(
        words="USPS, TSC q 10, d 9",
        draw=Draw("usps", "tsc:q=10", 9),
        questions=1800,
        trials=5,
        levels=((0.05, 200), (0.01, 900), (0.002, 1800)),
    ),
    "mnist10-1.2": Row(
        words="MNIST 10, 1.2% wrong", draw=MNIST10, questions=500, wrong=0.012, at=(500, 0.03)
    ),
    "mnist10-5": Row(
        words="MNIST 10, 5% wrong", draw=MNIST10, questions=500, wrong=0.05, at=(500, 0.06)
    ),
    "yale10-1.2": Row(
        words="Yale 10, 1.2% wrong", draw=YALE10, questions=500, wrong=0.012, at=(500, 0.01)
    ),
    "yale10-5": Row(
        words="Yale 10, 5% wrong", draw=YALE10, questions=500, wrong=0.05, at=(500, 0.03)
    ),
    "digits": Row(
        words="digits 10 x 100, TSC q 5",
        draw=DIGITS10,
        questions=200,
        rand=(0.95, 120),
        yardstick=100,
    ),
}


def trial(name: str, seed: int, options: dict) -> dict:
    """Error after every question, and what else the row asks for."""
    row = ROWS[name]
    items = row.draw.items(seed)
    graph = row.draw.graph(items, seed)
    session = row.draw.session(items, seed, options=options, affinity=graph)
    run = simulate(session, NoisyOracle(items.y, row.wrong, seed), items.y, row.questions)
    found: dict = {
        "key": [name, seed, options],
        "error": rounded(run.error),
        "p95": float(np.percentile(run.ask_ms, 95)),
        "seconds": run.seconds,
    }
    if row.rand:
        fresh = row.draw.session(items, seed, options=options, affinity=graph)
        found["rand"] = rand_curve(fresh, TruthOracle(items.y), items.y, row.questions)
    if row.yardstick and not options:
        found["clairvoyant"] = rounded(clairvoyant(session, items.y, row.yardstick).error)
    return found


def interval(values: np.ndarray, digits: int = 0) -> str:
    """Mean and 95% interval of the mean."""
    mean = f"{values.mean():.{digits}f}"
    if values.size < 2:
        return mean
    half = student.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    return f"{mean} ± {half:.{digits}f}"


def reach(curves: list[list[float]], test: Callable[[float], bool]) -> str:
    """Questions until a condition first holds, over the trials where it does."""
    first = [next((q for q, v in enumerate(c) if test(v)), None) for c in curves]
    inside = np.array([q for q in first if q is not None], dtype=float)
    if inside.size == 0:
        return f"not in {len(first)}"
    words = interval(inside)
    return words if inside.size == len(first) else f"{words} (in {inside.size} of {len(first)})"


def worst_rise(curve: list[float]) -> float:
    """Largest rise of the error over any fifty questions."""
    errors = np.array(curve)
    return max(float(errors[q : q + WITHIN + 1].max() - errors[q]) for q in range(errors.size))


def lines(row: Row, runs: list[dict]) -> list[str]:
    """Lines of the table for one row."""
    curves = [r["error"] for r in runs]
    knowing = [r["clairvoyant"] for r in runs if "clairvoyant" in r]
    longest = max(map(len, curves))
    mean = np.mean([c + c[-1:] * (longest - len(c)) for c in curves], axis=0)
    rises = worst_rise(list(mean)), max(worst_rise(c) for c in curves)
    wait = np.mean([r["p95"] for r in runs])
    tail = f"{100 * rises[0]:.1f} / {100 * rises[1]:.1f} | {wait:.0f} |"
    found = []
    for level, target in row.levels:
        below = lambda e, level=level: e <= level + 1e-12  # noqa: E731
        bound = reach(knowing, below) if knowing else "-"
        found.append(
            f"| {row.words} | {len(runs)} | {100 * level:g}% | {target} | "
            f"{reach(curves, below)} | {bound} | {tail}"
        )
    if row.at:
        q, aim = row.at
        errors = np.array([100 * c[min(q, len(c) - 1)] for c in curves])
        found.append(
            f"| {row.words} | {len(runs)} | error at {q} | {100 * aim:g}% | "
            f"{interval(errors, 1)}% | - | {tail}"
        )
    if row.rand:
        level, target = row.rand
        rands = [r["rand"] for r in runs]
        found.append(
            f"| {row.words} | {len(runs)} | ARI {level} | {target} | "
            f"{reach(rands, lambda v: v >= level)} | - | {tail}"
        )
    return found


def table(trials: list[dict], names: list[str], options: dict) -> str:
    """Format the trials of one setting."""
    found = [
        "| data | trials | to reach | target | questions | clairvoyant | worst rise over 50 "
        "questions (mean curve / any trial), points | p95, ms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in names:
        runs = [r for r in trials if r["key"][0] == name and r["key"][2] == options]
        if runs:
            found += lines(ROWS[name], runs)
    return "\n".join(found)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=ROWS)
    parser.add_argument("--trials", type=int, help="at most so many per row")
    parser.add_argument("--option", nargs="*", default=[], help="NAME=VALUE, for an ablation")
    args = parser.parse_args()
    options = {k: json.loads(v) for k, v in (pair.split("=") for pair in args.option)}
    tasks = (
        ([name, seed, options], (name, seed, options))
        for name in args.rows
        for seed in range(
            FIRST_SEED, FIRST_SEED + min(ROWS[name].trials, args.trials or ROWS[name].trials)
        )
    )
    trials = kept_trials(args, trial, tasks)
    if args.trials:
        trials = [r for r in trials if r["key"][1] < FIRST_SEED + args.trials]
    print(table(trials, args.rows, options))


if __name__ == "__main__":
    main()
