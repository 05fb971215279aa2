"""Does SUPERPAC-D's subspace view gain from other readings? Four of them, side by side.

The view fits a subspace to each set and takes a point's squared residual relative to its length,
all of points scaled to unit length. Compared with it: bases of points as they are (long points
count for more), residuals of points as they are too, relative to the mean squared length, and the
mean of the scores by d, 2d and 4d directions (at most a third of a mean cluster's points).
Prints, for each set of points, the mean error over all questions and the median of the questions
to 1%, over trials that share points, affinity and seed.

    python benchmarks/point_lengths.py --trials 5
    python benchmarks/point_lengths.py --only "MNIST 10" --readings "unit length" "three dimensions"

Needs the benchmark files in SUPERPAC_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

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
READINGS = (
    *("unit length", "bases as they are", "bases and residuals as they are"),
    "three dimensions",
)


class ThreeDimensions:
    """The mean of the scores by d, 2d and 4d directions, as SUPERPAC-B takes it."""

    def __init__(self, X: np.ndarray, dim: int, clusters: int, settings: posterior.Settings):
        most = len(X) // (3 * clusters)
        dims = (max(dim, min(k * dim, most)) for k in (1, 2, 4))
        self.views = [SubspaceView(X, min(d, X.shape[1] - 1), settings) for d in dims]

    def clear(self) -> None:
        """Drop all sets."""
        for view in self.views:
            view.clear()

    def save(self) -> list[Any]:
        """What :meth:`restore` takes."""
        return [view.save() for view in self.views]

    def restore(self, saved: list[Any]) -> None:
        """Go back to what was saved."""
        for view, part in zip(self.views, saved, strict=True):
            view.restore(part)

    def update(self, labels: np.ndarray, keys: Sequence[int], limit: int) -> None:
        """Follow points labelled by set."""
        for view in self.views:
            view.update(labels, keys, limit)

    def comparable(self, keys: Sequence[int]) -> np.ndarray:
        """Columns of all dimensions, the last axis."""
        return np.stack([view.comparable(keys) for view in self.views], axis=-1)

    def scores(self, columns: np.ndarray) -> np.ndarray:
        """The mean of the dimensions' scores."""
        each = [view.scores(columns[..., k]) for k, view in enumerate(self.views)]
        return np.mean(each, axis=0)


@contextmanager
def subspaces_of(points: np.ndarray, clusters: int, reading: str) -> Iterator[None]:
    """Let SUPERPAC-D read subspaces in this way instead of its own."""

    def view(X: np.ndarray, dim: int, settings: posterior.Settings) -> Any:
        if reading == READINGS[3]:
            return ThreeDimensions(X, dim, clusters, settings)
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
    parser.add_argument("--readings", nargs="*", choices=READINGS, default=READINGS)
    args = parser.parse_args()
    print(f"{'points':10} {'subspaces of':32} {'mean error':>10} {'to 1%':>7}  trials")
    for name in args.only or POINTS:
        figure, panel, questions = POINTS[name]
        tasks = load_figure(figure).tasks(
            trials=args.trials, methods=["superpac-d"], panels=[panel]
        )
        data: Dataset = load(tasks[0].data)
        for reading in args.readings:
            errors = []
            for task in tasks:
                drawn = draw_points(task, data)
                with subspaces_of(drawn.points(), drawn.n_classes, reading):
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
