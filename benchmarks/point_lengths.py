"""Does SUPERPAC-D's subspace view gain from points as they are? Three readings, side by side.

The view fits a subspace to each set and takes a point's squared residual relative to its length,
all of points scaled to unit length. Compared with it: bases of points as they are (long points
count for more), and residuals of points as they are too, relative to the mean squared length.
Prints, for each set of points, the mean error over all questions and the median of the questions
to 1%, over trials that share points, affinity and seed.

    python benchmarks/point_lengths.py --trials 5

Needs the benchmark files in SUPERPAC_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from superpac.data import Dataset, load
from superpac.research import statistics as st
from superpac.research.figure_specs import load_figure
from superpac.research.trials import draw_points, run_task
from superpac.strategies.superpac_d import posterior
from superpac.strategies.superpac_d.view_scores import SubspaceView

# figure and panel of the reproduction whose points are taken, and questions asked
POINTS = {
    "Yale 5": ("yale_mnist_many", "yale5", 150),
    "Yale 10": ("yale_mnist_many", "yale10", 400),
    "MNIST 5": ("yale_mnist_many", "mnist5", 300),
    "MNIST 10": ("yale_mnist_many", "mnist10", 500),
    "COIL-20": ("coil", "coil20", 400),
}
READINGS = ("unit length", "bases as they are", "bases and residuals as they are")


@contextmanager
def subspaces_of(points: np.ndarray, reading: str) -> Iterator[None]:
    """Let SUPERPAC-D fit its subspaces to these points instead of its own."""

    def view(X: np.ndarray, dim: int, settings: posterior.Settings) -> SubspaceView:
        found = SubspaceView(X if reading == READINGS[0] else points, dim, settings)
        if reading == READINGS[2]:
            found._scale = np.full(len(points), float(found._squared.mean()))
        return found

    posterior.SubspaceView = view  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        posterior.SubspaceView = SubspaceView  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=list(POINTS))
    args = parser.parse_args()
    print(f"{'points':10} {'subspaces of':32} {'mean error':>10} {'to 1%':>7}  trials")
    for name in args.only or POINTS:
        figure, panel, questions = POINTS[name]
        tasks = load_figure(figure).tasks(
            trials=args.trials, methods=["superpac-d"], panels=[panel]
        )
        data: Dataset = load(tasks[0].data)
        for reading in READINGS:
            errors = []
            for task in tasks:
                points = draw_points(task, data).points()
                with subspaces_of(points, reading):
                    row = run_task(replace(task, questions=questions), data)
                if row["status"] != "done":
                    raise SystemExit(f"{name}, {reading}: {row['why']}")
                curve = row["error"]
                errors.append(curve + [curve[-1]] * (questions + 1 - len(curve)))
            curves = np.array(errors)
            to = st.median_of(st.questions_to(curves, 0.01)).text("", 0, False)
            print(
                f"{name:10} {reading:32} {100 * curves.mean():9.2f}% {to:>7}  {len(curves)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
