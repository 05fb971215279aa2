"""How often the interval for the error left covers the truth, and what stopping by it costs.

Sessions are answered from the truth; every five questions the estimate of the error left is
compared with the error. Prints a Markdown table with a row per set: the share of checkpoints whose
95% interval holds the error, and whose upper end does; how far the estimate is off; the share
covered, the error and half the width at four question counts; where the upper end is first at or
below 1%; and where the error is. The constants of `superpac.session.stopping` were chosen on other
seeds (0 to 14), of the rows marked * among others; see docs/stopping.md.

    python benchmarks/stopping.py --trials 10
    python benchmarks/stopping.py --trials 10 --rows mnist,yale --json FILE
    python benchmarks/stopping.py --trials 3 --rows unknown,photos,faces,bank

In rows with "K unknown" the sessions are not told the number of clusters. Vectors are made by
superpac's own encoders, as benchmarks/count.py says.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common import (
    BANK20,
    BANK20B,
    CALTECH10,
    CALTECH20,
    DIGITS10,
    FACES15,
    FACES35,
    MNIST5,
    MNIST10,
    PENDIGITS,
    SEGMENT,
    SIGNS,
    YALE5,
    YALE10,
    Draw,
    parser_of,
)
from superpac import Dataset, NoisyOracle, clustering_error
from superpac.data.synthetic import make_subspaces
from superpac.errors import SuperpacError
from superpac.simulation.loop import AnswerLoop

FIRST = 3000  # seeds begin here: the constants were chosen on seeds below 15
EVERY = 5
UNTIL = 0.01


@dataclass(frozen=True)
class Planes(Draw):
    """Five subspaces of dimension 3 with noise."""

    noise: float = 0.0

    def items(self, seed: int) -> Dataset:
        """The points of one seed."""
        X, y = make_subspaces(60, 5, 3, 12, noise=self.noise, seed=seed)
        return Dataset(X, y=y)


DIGITS5 = Draw("digits", "tsc:q=5", 3, 5, 100)
UNKNOWN = "K unknown"

# name: points, questions, share of wrong answers
ROWS: dict[str, tuple[Draw, int, float]] = {
    "digits 5 x 100 *": (DIGITS5, 120, 0.0),
    "digits 10 x 80 *": (Draw("digits", "tsc:q=5", None, 10, 80), 300, 0.0),
    "mnist 5 x 100 *": (MNIST5, 250, 0.0),
    "yale 5 *": (Draw("yaleb", "ssc", 9, 5), 150, 0.0),
    "planes, noise 0.4": (Planes("planes", "tsc:q=4", 3, noise=0.4), 150, 0.0),
    "planes, noise 0.8": (Planes("planes", "tsc:q=4", 3, noise=0.8), 250, 0.0),
    "planes, noise 1.2": (Planes("planes", "tsc:q=4", 3, noise=1.2), 250, 0.0),
    "pendigits 10 x 60": (Draw("pendigits", "ensc:gamma=5", None, 10, 60), 300, 0.0),
    "segment 7 x 60": (SEGMENT, 250, 0.0),
    "yale 10": (Draw("yaleb", "ssc-omp", 9, 10), 250, 0.0),
    "mnist 3 x 150": (Draw("mnist", "tsc:q=5", 3, 3, 150), 150, 0.0),
    "mnist 5 x 100, 1.2% wrong": (MNIST5, 250, 0.012),
    "digits 5 x 100, 5% wrong": (DIGITS5, 150, 0.05),
    "photos of 20 kinds": (CALTECH20, 150, 0.0),
    "photos of 10 kinds": (CALTECH10, 100, 0.0),
    "hand signs": (SIGNS, 150, 0.0),
    "faces of 35 people": (FACES35, 100, 0.0),
    "bank questions": (BANK20, 150, 0.0),
    "other bank questions": (BANK20B, 150, 0.0),
    f"mnist 5 x 100, {UNKNOWN} *": (MNIST5, 150, 0.0),
    f"yale 10, {UNKNOWN} *": (YALE10, 150, 0.0),
    f"pendigits 10 x 60, {UNKNOWN} *": (PENDIGITS, 150, 0.0),
    f"segment 7 x 60, {UNKNOWN} *": (SEGMENT, 150, 0.0),
    f"photos of 20 kinds, {UNKNOWN} *": (CALTECH20, 150, 0.0),
    f"hand signs, {UNKNOWN} *": (SIGNS, 150, 0.0),
    f"faces of 35 people, {UNKNOWN} *": (FACES35, 100, 0.0),
    f"bank questions, {UNKNOWN} *": (BANK20, 150, 0.0),
    f"mnist 10 x 100, {UNKNOWN}": (MNIST10, 150, 0.0),
    f"digits 10 x 100, {UNKNOWN}": (DIGITS10, 150, 0.0),
    f"yale 5, {UNKNOWN}": (YALE5, 150, 0.0),
    f"photos of 10 kinds, {UNKNOWN}": (CALTECH10, 100, 0.0),
    f"faces of 15 people, {UNKNOWN}": (FACES15, 100, 0.0),
    f"other bank questions, {UNKNOWN}": (BANK20B, 150, 0.0),
}


def follow(
    draw: Draw, seed: int, budget: int, wrong: float, known: bool = True
) -> list[dict[str, float]]:
    """One session: error and estimate at 0, 5, 10, ... questions."""
    items = draw.items(seed)
    session = draw.session(items, seed, clusters=None if known else "auto")
    found: list[dict[str, float]] = []

    def note(asked: int) -> None:
        error = clustering_error(items.y, session.labels())
        found.append({"questions": asked, "error": error, **session.progress()["error_left"]})

    note(0)
    for step in AnswerLoop(session, NoisyOracle(items.y, wrong, seed), budget):
        if step.number % EVERY == 0:
            note(step.number)
    return found


def covered(point: dict[str, float]) -> bool:
    """Whether the interval holds the error."""
    return point["low"] - 1e-9 <= point["error"] <= point["high"] + 1e-9


def summary(name: str, runs: list[list[dict[str, float]]]) -> dict[str, Any]:
    """One row of the table."""
    points = [p for run in runs for p in run]
    counts = sorted({int(p["questions"]) for p in points})
    marks = [counts[len(counts) * k // 5] for k in range(1, 5)]
    stops = [next((p for p in run if p["high"] <= UNTIL), None) for run in runs]
    truly = [next((p for p in run if p["error"] <= UNTIL), None) for run in runs]
    made = [p for p in stops if p is not None]
    return {
        "row": name,
        "trials": len(runs),
        "covered": float(np.mean([covered(p) for p in points])),
        "upper": float(np.mean([p["error"] <= p["high"] + 1e-9 for p in points])),
        "at": {
            m: float(np.mean([covered(p) for p in points if p["questions"] == m])) for m in marks
        },
        "width": {
            m: float(np.mean([p["high"] - p["low"] for p in points if p["questions"] == m]))
            for m in marks
        },
        "error": {
            m: float(np.mean([p["error"] for p in points if p["questions"] == m])) for m in marks
        },
        "off": float(np.mean([abs(p["estimate"] - p["error"]) for p in points])),
        "stopped": len(made),
        "stop_questions": float(np.mean([p["questions"] for p in made])) if made else None,
        "stop_error": float(np.mean([p["error"] for p in made])) if made else None,
        "stop_late": float(np.mean([p["error"] > UNTIL for p in made])) if made else None,
        "needed": float(np.mean([p["questions"] for p in truly if p is not None]))
        if any(truly)
        else None,
    }


def line(row: dict[str, Any]) -> str:
    """The row as a line of Markdown."""
    marks = ", ".join(
        f"{m}: {100 * row['at'][m]:.0f}% ({100 * row['error'][m]:.1f} ± {50 * row['width'][m]:.1f})"
        for m in row["at"]
    )
    stop = "-"
    if row["stopped"]:
        stop = (
            f"{row['stop_questions']:.0f} in {row['stopped']}, error {100 * row['stop_error']:.2f}%"
        )
    needed = "-" if row["needed"] is None else f"{row['needed']:.0f}"
    return (
        f"| {row['row']} | {100 * row['covered']:.1f}% | {100 * row['upper']:.1f}% | "
        f"{100 * row['off']:.1f} | {marks} | {stop} | {needed} |"
    )


def main() -> None:
    """Print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rows", default="", help="words that a row's name must contain one of")
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    words = [word for word in given.rows.split(",") if word]
    print(
        "| data | covered | upper end | off by (points) | covered at (error ± half width, %) "
        "| stop at 1% | error 1% reached |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for name, (draw, budget, wrong) in ROWS.items():
        if words and not any(word in name for word in words):
            continue
        try:
            known = UNKNOWN not in name
            runs = [follow(draw, FIRST + t, budget, wrong, known) for t in range(given.trials)]
        except SuperpacError as error:
            print(f"| {name} | {error} |")
            continue
        rows.append(summary(name, runs))
        print(line(rows[-1]), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
