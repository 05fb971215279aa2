"""SUPERPAC-B beside SUPERPAC-D: the same draws, graphs and oracles for both.

Prints a Markdown table with a row per set: the mean error over all questions, the questions until
an error is reached (a trial that does not get there counts as one question more than it had), and
the error at the end, SUPERPAC-B's first; and the ratio of the mean errors, with a 95% interval
over the draws. Seeds from 200 on: nothing was chosen on them.

    python benchmarks/beside.py --out benchmarks/results/beside.jsonl --trials 10
    python benchmarks/beside.py --out ... --sets mnist10 yale10 --jobs 1
    python benchmarks/beside.py --out ... --only-table
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from common import (
    COIL20,
    DIGITS10,
    MNIST5,
    MNIST10,
    PENDIGITS,
    YALE10,
    Draw,
    kept_trials,
    parser_of,
    rounded,
)
from superpac import NoisyOracle, simulate

FIRST = 200
STRATEGIES = ("superpac-b", "superpac-d")


def _table(name: str) -> Draw:
    """A small table, its columns standardised."""
    return Draw(name, "knn", standardise=True)


@dataclass(frozen=True)
class Set:
    """Points, questions asked, errors to reach, and the share of wrong answers."""

    draw: Draw
    questions: int
    levels: tuple[float, ...] = (0.10, 0.05, 0.01)
    wrong: float = 0.0


SETS = {
    "mnist10": Set(MNIST10, 450),
    "mnist5": Set(MNIST5, 200, (0.05, 0.01)),
    "usps10x80": Set(Draw("usps", "ensc:gamma=5", 9, 10, 80), 250),
    "yale10": Set(YALE10, 250, (0.05, 0.01)),
    "coil20": Set(COIL20, 100, (0.05, 0.01)),
    "digits": Set(DIGITS10, 200, (0.05, 0.01)),
    "pendigits": Set(PENDIGITS, 200, (0.10, 0.05)),
    "segment": Set(Draw("segment", "knn", None, 7, 60, standardise=True), 150, (0.20, 0.10)),
    "iris": Set(_table("iris"), 60, (0.05, 0.01)),
    "wine": Set(_table("wine"), 60, (0.05, 0.01)),
    "wdbc": Set(_table("wdbc"), 100, (0.05, 0.03)),
    "ecoli": Set(_table("ecoli"), 150, (0.10, 0.05)),
    "glass": Set(_table("glass"), 150, (0.30, 0.15)),
    "ionosphere": Set(_table("ionosphere"), 100, (0.20, 0.10)),
    "parkinsons": Set(_table("parkinsons"), 80, (0.10, 0.05)),
    "sonar": Set(_table("sonar"), 120, (0.20, 0.10)),
    # many small groups: a hundred objects, and 38 people, of ten pictures each
    "coil100x10": Set(Draw("coil100", "ensc:gamma=5", 9, 100, 10), 600, (0.35, 0.30)),
    "yale38x10": Set(Draw("yaleb", "ssc-omp:k=5", 9, 38, 10), 600, (0.30, 0.20)),
    "mnist10, 5% wrong": Set(MNIST10, 450, (0.10, 0.05), wrong=0.05),
    "yale10, 5% wrong": Set(YALE10, 250, (0.05, 0.01), wrong=0.05),
}


def trial(name: str, strategy: str, seed: int) -> dict:
    """Error after every question, the last one repeated to the end of the budget."""
    one = SETS[name]
    items = one.draw.items(seed)
    session = one.draw.session(items, seed, strategy, affinity=one.draw.graph(items, seed))
    run = simulate(session, NoisyOracle(items.y, one.wrong, seed), items.y, one.questions)
    error = rounded(run.error)
    error += error[-1:] * (one.questions + 1 - len(error))
    return {
        "key": [name, strategy, seed],
        "error": error,
        "p95": float(np.percentile(run.ask_ms, 95)) if run.ask_ms.size else 0.0,
    }


def first_below(curve: np.ndarray, level: float) -> int:
    """Questions until an error is reached; one more than there were where it never is."""
    below = np.flatnonzero(curve <= level + 1e-12)
    return int(below[0]) if below.size else curve.size


def line(name: str, trials: list[dict]) -> str | None:
    """A set's row; None where no draw was run with both strategies."""
    found: dict[str, dict[int, np.ndarray]] = {strategy: {} for strategy in STRATEGIES}
    for one in trials:
        if one["key"][0] == name:
            found[one["key"][1]][one["key"][2]] = np.array(one["error"])
    seeds = sorted(set(found[STRATEGIES[0]]) & set(found[STRATEGIES[1]]))
    if not seeds:
        return None
    ours, theirs = (np.array([found[strategy][s] for s in seeds]) for strategy in STRATEGIES)
    to = []
    for level in SETS[name].levels:
        needed = (np.mean([first_below(curve, level) for curve in c]) for c in (ours, theirs))
        to.append("{:g}%: {:.0f} / {:.0f}".format(100 * level, *needed))
    ratio = np.log((ours.mean(axis=1) + 1e-6) / (theirs.mean(axis=1) + 1e-6))
    words = f"{np.exp(ratio.mean()):.2f}"
    if ratio.size > 1:
        half = student.ppf(0.975, ratio.size - 1) * ratio.std(ddof=1) / np.sqrt(ratio.size)
        low, high = np.exp(ratio.mean() - half), np.exp(ratio.mean() + half)
        words += f" ({low:.2f} to {high:.2f})"
    mean = f"{100 * ours.mean():.2f} / {100 * theirs.mean():.2f}%"
    end = f"{100 * ours[:, -1].mean():.2f} / {100 * theirs[:, -1].mean():.2f}%"
    return f"| {name} | {len(seeds)} | {mean} | {'; '.join(to)} | {end} | {words} |"


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--trials", type=int, default=10)
    args = parser.parse_args()
    tasks = (
        ([name, strategy, seed], (name, strategy, seed))
        for seed in range(FIRST, FIRST + args.trials)
        for name in args.sets
        for strategy in STRATEGIES
    )
    trials = kept_trials(args, trial, tasks)
    print(
        "| data | trials | mean error | questions to | error at the end | ratio of mean errors |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    for name in args.sets:
        row = line(name, trials)
        if row is not None:
            print(row)


if __name__ == "__main__":
    main()
