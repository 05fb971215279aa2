"""How often the interval for the error left covers the truth, and what stopping by it costs.

    SUPERPAC_DATA=folder python benchmarks/stopping.py --trials 10 --rows mnist,yale --json FILE

For every row sessions are answered from the truth; at several question counts the estimate of the
error left is compared with the error. The constants of `superpac.session.stopping` were chosen on
other seeds (0 to 14), of the rows marked * among others; see docs/stopping.md. "covered" is the
share of checkpoints (or of sessions, in the columns by count) whose 95% interval holds the error;
"stop" is where the upper end is first at or below 1%.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import NotFoundError
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import NoisyOracle, TruthOracle

FIRST = 3000  # seeds begin here: the constants were chosen on seeds below 15
UNTIL = 0.01


def _part(name: str, classes: int, per_class: int | None, affinity: str, dim: int | None) -> Any:
    def make(seed: int) -> tuple[Dataset, Spec]:
        items = load(name).sample_classes(classes, per_class, seed)
        return items, Spec(classes, affinity, "superpac-d", dim=dim, seed=seed)

    return make


def _planes(noise: float) -> Any:
    def make(seed: int) -> tuple[Dataset, Spec]:
        X, y = make_subspaces(60, 5, 3, 12, noise=noise, seed=seed)
        return Dataset(X, y=y), Spec(5, "tsc:q=4", "superpac-d", dim=3, seed=seed)

    return make


ROWS: dict[str, tuple[Callable[[int], tuple[Dataset, Spec]], int, float]] = {
    "digits 5 x 100 *": (_part("digits", 5, 100, "tsc:q=5", 3), 120, 0.0),
    "digits 10 x 80 *": (_part("digits", 10, 80, "tsc:q=5", None), 300, 0.0),
    "mnist 5 x 100 *": (_part("mnist", 5, 100, "tsc:q=5", 3), 250, 0.0),
    "yale 5 *": (_part("yaleb", 5, None, "ssc", 9), 150, 0.0),
    "planes, noise 0.4": (_planes(0.4), 150, 0.0),
    "planes, noise 0.8": (_planes(0.8), 250, 0.0),
    "planes, noise 1.2": (_planes(1.2), 250, 0.0),
    "pendigits 10 x 60": (_part("pendigits", 10, 60, "ensc:gamma=5", None), 300, 0.0),
    "segment 7 x 60": (_part("segment", 7, 60, "ensc:gamma=5", None), 250, 0.0),
    "yale 10": (_part("yaleb", 10, None, "ssc-omp", 9), 250, 0.0),
    "mnist 3 x 150": (_part("mnist", 3, 150, "tsc:q=5", 3), 150, 0.0),
    "mnist 5 x 100, 1.2% wrong": (_part("mnist", 5, 100, "tsc:q=5", 3), 250, 0.012),
    "digits 5 x 100, 5% wrong": (_part("digits", 5, 100, "tsc:q=5", 3), 150, 0.05),
}


def follow(made: tuple[Dataset, Spec], budget: int, wrong: float) -> list[dict[str, float]]:
    """One session: error and estimate at 0, 5, 10, ... questions."""
    items, spec = made
    session = Session.create(items, spec)
    oracle = NoisyOracle(items.y, wrong, spec.seed) if wrong else TruthOracle(items.y)
    found = []
    for asked in range(budget + 1):
        if asked % 5 == 0:
            error = clustering_error(items.y, session.labels())
            left = session.progress()["error_left"]
            found.append({"questions": asked, "error": error, **left})
        question = session.ask()
        if question is None:
            break
        session.tell(oracle(question), (question.i, question.j))
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
    parser = argparse.ArgumentParser(description=__doc__)
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
    for name, (make, budget, wrong) in ROWS.items():
        if words and not any(word in name for word in words):
            continue
        try:
            runs = [follow(make(FIRST + t), budget, wrong) for t in range(given.trials)]
        except NotFoundError as error:
            print(f"| {name} | {error} |")
            continue
        rows.append(summary(name, runs))
        print(line(rows[-1]), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
