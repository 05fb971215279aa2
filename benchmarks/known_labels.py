"""What labels that are there already are worth: the error before the first question.

Some items of some classes are taken in as `superpac label --known` takes them: a few (3%), a tenth
or half of every class, half or all of one class, all of half of the classes. Prints a Markdown
table with the share of all items in a wrong cluster (those with labels are mostly right then), mean
over the draws. More than without labels would mean that they did harm.

    python benchmarks/known_labels.py --out benchmarks/results/known_labels.jsonl
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common import (
    CALTECH20,
    COIL20,
    DIGITS10,
    FIRST_SEED,
    MNIST5,
    SIGNS,
    Draw,
    kept_trials,
    parser_of,
)
from superpac import clustering_error
from superpac.session.known_labels import Known, take_known

SETS = {
    "iris": Draw("iris", "auto"),
    "wine": Draw("wine", "auto", standardise=True),
    "breast cancer": Draw("wdbc", "auto", standardise=True, classes=2, per_class=150),
    "image segments 7 x 60": Draw("segment", "auto", standardise=True, classes=7, per_class=60),
    "MNIST 5 x 100": MNIST5,
    "digits 10 x 100": DIGITS10,
    "COIL-20": COIL20,
    "photos of 20 kinds": CALTECH20,
    "photos of hand signs": SIGNS,
}
COUNTS = ("given", "auto")
# share of the classes, and share of the items in each
WAYS = {
    "3%": (1.0, 0.03),
    "10%": (1.0, 0.1),
    "50%": (1.0, 0.5),
    "50% of one class": (0.0, 0.5),
    "all of one class": (0.0, 1.0),
    "all of half of the classes": (0.5, 1.0),
}


def labels_of(y: Any, way: str, seed: int) -> Known:
    """Labels of some items; at least one item of a class, and one class."""
    rng = np.random.default_rng([seed, 5])
    share, within = WAYS[way]
    classes = rng.permutation(np.unique(y))
    groups = {}
    for c in classes[: max(1, int(share * classes.size))]:
        members = rng.permutation(np.flatnonzero(y == c))
        groups[str(c)] = members[: max(1, int(within * members.size))].tolist()
    return Known(groups, [], [])


def trial(name: str, count: str, seed: int) -> dict[str, Any]:
    """Error without labels, then with labels of each kind."""
    draw = SETS[name]
    items = draw.items(seed)
    graph = draw.graph(items, seed)
    errors = []
    for way in (None, *WAYS):
        clusters = "auto" if count == "auto" else None
        session = draw.session(items, seed, clusters=clusters, affinity=graph)
        if way is not None:
            take_known(session, labels_of(items.y, way, seed))
        errors.append(float(clustering_error(items.y, session.labels("model"))))
    return {"key": [name, count, seed], "errors": errors}


def table(trials: list[dict[str, Any]]) -> str:
    """Means over the draws in percent."""
    found = [
        f"| data | number of clusters | draws | no labels | {' | '.join(WAYS)} |",
        "| --- | --- | --- | --- |" + " --- |" * len(WAYS),
    ]
    for name in SETS:
        for count in COUNTS:
            runs = [t["errors"] for t in trials if t["key"][:2] == [name, count]]
            if runs:
                mean = " | ".join(f"{100 * x:.1f}%" for x in np.mean(runs, axis=0))
                found.append(f"| {name} | {count} | {len(runs)} | {mean} |")
    return "\n".join(found)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--trials", type=int, default=5)
    args = parser.parse_args()
    tasks = (
        ([name, count, seed], (name, count, seed))
        for name in SETS
        for count in COUNTS
        for seed in range(FIRST_SEED, FIRST_SEED + args.trials)
    )
    print(table(kept_trials(args, trial, tasks)))


if __name__ == "__main__":
    main()
