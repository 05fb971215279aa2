"""Whether acts on walls help: the error after each of twelve acts that are all true.

Somebody who knows the truth looks at the walls and does one kind of act, twelve times or until
there is nothing left of it: says of the largest walls, one after the other, that all of the most
frequent class there are one; merges two walls of one class; moves the items of one other class from
the worst wall to where they belong; says of all other items on the worst wall that they do not
belong there. Prints a Markdown table: the share of wrong items before, on average after each act,
and after the last. More than before would mean that something true did harm.

    python benchmarks/acts.py --out benchmarks/results/acts.jsonl
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common import COIL20, DIGITS10, FIRST_SEED, MNIST5, Draw, kept_trials, parser_of
from superpac import Session, clustering_error

SETS = {
    "iris": Draw("iris", "auto"),
    "wine": Draw("wine", "auto", standardise=True),
    "MNIST 5 x 100": MNIST5,
    "digits 10 x 100": DIGITS10,
    "COIL-20": COIL20,
}
COUNTS = ("given", "auto")
ACTS = ("all one", "merge", "move", "not this group")
STEPS = 12


class Truth:
    """The walls as somebody sees them who knows the classes."""

    def __init__(self, y: Any, labels: Any) -> None:
        walls = [np.flatnonzero(labels == group) for group in np.unique(labels)]
        self.y = y
        self.walls = sorted(walls, key=lambda wall: (-wall.size, wall[0]))
        self.classes = [int(np.bincount(y[wall]).argmax()) for wall in self.walls]

    def right(self, wall: int) -> list[int]:
        """Items of a wall that are of its most frequent class."""
        items = self.walls[wall]
        return [int(i) for i in items[self.y[items] == self.classes[wall]]]

    def wrong(self, wall: int) -> list[int]:
        """The other items of a wall."""
        items = self.walls[wall]
        return [int(i) for i in items[self.y[items] != self.classes[wall]]]

    def worst(self) -> int:
        """Wall with the most items of other classes."""
        return int(np.argmax([len(self.wrong(wall)) for wall in range(len(self.walls))]))


def act_once(session: Session, seen: Truth, act: str, step: int) -> bool:
    """Do an act; False when nothing is left of its kind."""
    walls = range(len(seen.walls))
    if act == "all one":
        if step >= len(walls):
            return False
        if len(seen.right(step)) > 1:
            session.join(seen.right(step))
        return True
    if act == "merge":
        for a in walls:
            for b in walls[a + 1 :]:
                if seen.classes[a] == seen.classes[b]:
                    session.merge([seen.right(a)[0], seen.right(b)[0]])
                    return True
        return False
    worst = seen.worst()
    wrong = seen.wrong(worst)
    if not wrong:
        return False
    if act == "not this group":
        session.exclude(wrong)
        return True
    most = int(np.bincount(seen.y[wrong]).argmax())
    items = [i for i in wrong if seen.y[i] == most]
    homes = [wall for wall in walls if seen.classes[wall] == most]
    if homes:
        session.move(items, to=seen.right(homes[0])[0])
    else:
        session.split(items)
    return True


def trial(name: str, count: str, act: str, seed: int) -> dict[str, Any]:
    """Error before and after each act."""
    draw = SETS[name]
    items = draw.items(seed)
    clusters = "auto" if count == "auto" else None
    session = draw.session(items, seed, clusters=clusters, affinity=draw.graph(items, seed))
    labels = session.labels("model")
    errors = [float(clustering_error(items.y, labels))]
    for step in range(STEPS):
        if not act_once(session, Truth(items.y, labels), act, step):
            break
        labels = session.labels("model")
        errors.append(float(clustering_error(items.y, labels)))
    return {"key": [name, count, act, seed], "errors": errors}


def summary(errors: list[float]) -> tuple[float, float, float]:
    """Before, mean over all steps, after the last; what is finished early stays as it is."""
    filled = errors + [errors[-1]] * (STEPS + 1 - len(errors))
    return filled[0], float(np.mean(filled[1:])), filled[-1]


def table(trials: list[dict[str, Any]]) -> str:
    """Means over the draws in percent."""
    found = [
        f"| data | number of clusters | draws | before | {' | '.join(ACTS)} |",
        "| --- | --- | --- | --- |" + " --- |" * len(ACTS),
    ]
    for name in SETS:
        for count in COUNTS:
            cells, first = [], ""
            for act in ACTS:
                runs = [summary(t["errors"]) for t in trials if t["key"][:3] == [name, count, act]]
                if runs:
                    before, mean, last = 100 * np.mean(runs, axis=0)
                    first = f"{len(runs)} | {before:.1f}%"
                    cells.append(f"{mean:.1f}, {last:.1f}%")
            if cells:
                found.append(f"| {name} | {count} | {first} | {' | '.join(cells)} |")
    return "\n".join(found)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--trials", type=int, default=4)
    args = parser.parse_args()
    tasks = (
        ([name, count, act, seed], (name, count, act, seed))
        for name in SETS
        for count in COUNTS
        for seed in range(FIRST_SEED, FIRST_SEED + args.trials)
        for act in ACTS
    )
    print(table(kept_trials(args, trial, tasks)))


if __name__ == "__main__":
    main()
