"""What not knowing the number of clusters costs (`-k auto`), on pixels, tables and good vectors.

Every trial is run twice, with the number of clusters given and with it unknown. Prints Markdown
tables. A row per set: the number found at the start and at the end, the error at both, the mean
error over the questions, the questions to 5 and 1%, and the share of checkpoints (every fifth
question) at which the 95% interval of the error left holds the error, with its mean width. Two
means: over the sets that settings were chosen on, and over those that they were then checked on;
with the share of runs in which 94% of the checkpoints or more were covered. And, for ranges of the
certainty given for the number, the share of checkpoints at which it was right.

Vectors are made by superpac's own encoders (`superpac[features]`, and once `superpac features get
text` and `speaker`) from the photos, sounds and texts in SUPERPAC_DATA, and kept in the cache. Rows
whose data or encoder are not there are left out by name.

    python benchmarks/count.py --out benchmarks/results/count.jsonl
    python benchmarks/count.py --out benchmarks/results/count.jsonl --only-table
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from common import (
    BANK20,
    BANK20B,
    BANK77,
    CALTECH10,
    CALTECH20,
    COIL20,
    DIGITS10,
    FACES15,
    FACES35,
    FIRST_SEED,
    MNIST5,
    MNIST10,
    PENDIGITS,
    SEGMENT,
    SIGNS,
    VOICES,
    YALE5,
    YALE10,
    Draw,
    kept_trials,
    parser_of,
    rounded,
)
from superpac import SuperpacError, TruthOracle, clustering_error
from superpac.simulation.loop import AnswerLoop

CHOSEN_ON = {
    "MNIST 5 x 100": MNIST5,
    "Yale 10": YALE10,
    "COIL-20": COIL20,
    "USPS 10 x 80, EnSC": Draw("usps", "ensc:gamma=5", None, 10, 80),
    "pendigits 10 x 60": PENDIGITS,
    "iris": Draw("iris", "knn", standardise=True),
    "segment 7 x 60": replace(SEGMENT, standardise=True),
    "segment 7 x 60, as it is": SEGMENT,
    "photos of 20 kinds": CALTECH20,
    "photos of 20 kinds, EnSC": replace(CALTECH20, affinity="ensc:gamma=5"),
    "hand signs": SIGNS,
    "faces of 35 people": FACES35,
    "bank questions": BANK20,
    "COIL-100, 70 objects x 10": Draw("coil100", "tsc:q=3", 9, 70, 10),
}
CHECKED_ON = {
    "MNIST 10 x 100": MNIST10,
    "MNIST 10 x 100, EnSC": Draw("mnist", "ensc:gamma=5", None, 10, 100),
    "digits 10 x 100": DIGITS10,
    "Yale 5": YALE5,
    "Yale 20, EnSC": Draw("yaleb", "ensc:gamma=10", 9, 20),
    "COIL-100, 40 objects": Draw("coil100", "ensc:gamma=10", 9, 40),
    "USPS 5 x 100": Draw("usps", "tsc:q=5", 9, 5, 100),
    "wine": Draw("wine", "knn", standardise=True),
    "wdbc": Draw("wdbc", "knn", standardise=True),
    "photos of 10 kinds": CALTECH10,
    "hand signs 5 x 60": replace(SIGNS, classes=5, per_class=60),
    "faces of 15 people": FACES15,
    "faces of 35 people, EnSC": replace(FACES35, affinity="ensc:gamma=5"),
    "other bank questions": BANK20B,
    "other bank questions, EnSC": replace(BANK20B, affinity="ensc:gamma=5"),
    "bank questions, 70 intents x 15": replace(BANK77, classes=70, per_class=15),
    "voices": VOICES,
}
ROWS = {**CHOSEN_ON, **CHECKED_ON}
QUESTIONS = 150
EVERY = 5
GOALS = (0.05, 0.01)
HELD = 0.94  # share of a run's checkpoints covered at which its interval is taken to hold
RANGES = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.01))


def trial(name: str, known: bool, seed: int) -> dict:
    """Error after every question; number, certainty and interval after every fifth."""
    draw = ROWS[name]
    items = draw.items(seed)
    clusters = None if known else "auto"
    session = draw.session(items, seed, clusters=clusters, affinity=draw.graph(items, seed))
    found, errors = [], []

    def note(asked: int) -> None:
        errors.append(clustering_error(items.y, session.labels()))
        if asked % EVERY == 0:
            now = session.progress()
            ends = rounded(now["error_left"][end] for end in ("low", "high"))
            found.append([now["clusters"], now["clusters_sure"], *ends])

    note(0)
    for step in AnswerLoop(session, TruthOracle(items.y), QUESTIONS):
        note(step.number)
    key, truth = [name, known, seed], int(items.n_classes or 0)
    return {"key": key, "truth": truth, "found": found, "errors": rounded(errors)}


def figures(runs: list[dict]) -> dict[str, float]:
    """Means over some trials; a goal that is not reached counts as all questions."""
    rows = []
    for run in runs:
        errors, found = np.array(run["errors"]), run["found"]
        whole = np.append(errors, np.full(QUESTIONS + 1 - errors.size, errors[-1]))
        at = errors[: EVERY * len(found) : EVERY]
        inside = [low <= e <= high for e, (*_, low, high) in zip(at, found, strict=True)]
        came = [np.flatnonzero(whole <= goal) for goal in GOALS]
        rows.append(
            {
                "first": found[0][0],
                "last": found[-1][0],
                "right": found[-1][0] == run["truth"],
                "start": 100 * whole[0],
                "mean": 100 * whole.mean(),
                "end": 100 * whole[-1],
                "5%": came[0][0] if came[0].size else QUESTIONS,
                "1%": came[1][0] if came[1].size else QUESTIONS,
                "covered": 100 * np.mean(inside),
                "held": 100 * (np.mean(inside) >= HELD),
                "width": 100 * np.mean([high - low for *_, low, high in found]),
            }
        )
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def cells(known: dict[str, float], auto: dict[str, float]) -> str:
    """What both halves of the table share: each figure with K given, then unknown."""
    goals = (f"{run['5%']:.0f} / {run['1%']:.0f}" for run in (known, auto))
    errors = (
        f"{known[what]:.1f} / {auto[what]:.1f}%"
        for what in ("start", "mean", "end", "covered", "width")
    )
    start, mean, end, covered, width = errors
    return f"{start} | {mean} | {end} | {' and '.join(goals)} | {covered} | {width} |"


def table(trials: list[dict]) -> str:
    """Tables of the numbers found and of the certainty."""
    lines = [
        "| data | clusters | found at the start, end | error at the start, K given / unknown "
        "| mean error | error at the end | questions to 5 / 1%, K given and unknown | covered "
        "| width |",
        "| --- " * 9 + "|",
    ]
    means = []
    for half, rows in (("chosen on", CHOSEN_ON), ("checked on", CHECKED_ON)):
        all_of: dict[bool, list[dict[str, float]]] = {True: [], False: []}
        for name in rows:
            both: dict[bool, Any] = {
                known: [r for r in trials if r["key"][:2] == [name, known]]
                for known in (True, False)
            }
            if not all(both.values()):
                continue
            by = {known: figures(runs) for known, runs in both.items()}
            for known, row in by.items():
                all_of[known].append(row)
            found = f"{by[False]['first']:.1f}, {by[False]['last']:.1f}"
            lines.append(
                f"| {name} | {both[True][0]['truth']} | {found} | {cells(by[True], by[False])}"
            )
        if all_of[True]:
            known, auto = (
                {what: float(np.mean([row[what] for row in all_of[k]])) for what in all_of[k][0]}
                for k in (True, False)
            )
            means.append(
                f"| **mean of {len(all_of[True])} sets {half}** | | number right in "
                f"{100 * auto['right']:.0f}%, interval held in {known['held']:.0f} / "
                f"{auto['held']:.0f}% of the runs | {cells(known, auto)}"
            )
    lines += means
    lines += ["", "| certainty given | checkpoints | number right |", "| --- | --- | --- |"]
    unknown = [r for r in trials if not r["key"][1]]
    checks = [(f[1], f[0] == r["truth"]) for r in unknown for f in r["found"]]
    for low, high in RANGES:
        inside = [right for sure, right in checks if low <= sure < high]
        if inside:
            words = f"{100 * low:.0f} to {min(100, 100 * high):.0f}%"
            lines.append(f"| {words} | {len(inside)} | {100 * np.mean(inside):.0f}% |")
    return "\n".join(lines)


def _is_there(name: str) -> bool:
    """Whether a row's data and encoder are here; says what is missing. Vectors are made now."""
    try:
        ROWS[name].whole()
    except SuperpacError as error:
        print(f"Left out: {name}: {error}", file=sys.stderr)
        return False
    return True


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--trials", type=int, default=3)
    args = parser.parse_args()
    there = [] if args.only_table else [name for name in ROWS if _is_there(name)]
    tasks = (
        ([name, known, seed], (name, known, seed))
        for seed in range(FIRST_SEED, FIRST_SEED + args.trials)
        for name in there
        for known in (True, False)
    )
    print(table(kept_trials(args, trial, tasks)))


if __name__ == "__main__":
    main()
