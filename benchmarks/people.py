"""Whether several people at once are asked as well as one: answers needed, for 1, 2, 5 and 20.

Everybody has a question before them. They answer in turn, rightly; who has answered is handed the
best question that is about no item of the others' questions, as on the page. Prints a Markdown
table: the answers of all together until the error is at most 5% and 1%, and how well that is per
answer beside one person (the answers of one over those of all; 0.9 at least is wanted).

    python benchmarks/people.py --out benchmarks/results/people.jsonl
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common import DIGITS10, FIRST_SEED, MNIST5, MNIST10, YALE5, Draw, kept_trials, parser_of
from superpac import Session, TruthOracle, clustering_error
from superpac.simulation.crowd import answer_in_turn

SETS = {
    "digits 10 x 100": DIGITS10,
    "MNIST 5 x 100": MNIST5,
    "Yale 5": YALE5,
    "MNIST 10 x 100": MNIST10,
    "USPS": Draw("usps", "ensc:gamma=50,tau=0.9", 9),
}
PEOPLE = (1, 2, 5, 20)
LEVELS = (0.05, 0.01)
BUDGET = 1500


def errors_of(session: Session, y: Any, people: int, answers: int) -> list[float]:
    """Error after 0, 1, 2, ... answers, until the lowest level is reached."""
    errors = [float(clustering_error(y, session.labels("model")))]
    for _ in answer_in_turn(session, TruthOracle(y), people, answers):
        errors.append(float(clustering_error(y, session.labels("model"))))
        if errors[-1] <= min(LEVELS):
            break
    return errors


def needed(errors: list[float], level: float) -> int:
    """Answers until the error was at most so much; all of them where it never was."""
    below = np.flatnonzero(np.array(errors) <= level + 1e-12)
    return int(below[0]) if below.size else len(errors) - 1


def trial(name: str, people: int, seed: int) -> dict[str, Any]:
    """One trial: answers to each level; a trial that never gets there counts its whole budget."""
    draw = SETS[name]
    items = draw.items(seed)
    session = draw.session(items, seed, affinity=draw.graph(items, seed))
    errors = errors_of(session, items.y, people, BUDGET)
    return {"key": [name, people, seed], "to": [needed(errors, level) for level in LEVELS]}


def table(trials: list[dict[str, Any]]) -> str:
    """Means over the trials, and each beside one person."""
    found = [
        "| data | trials | people | answers to 5 / 1% | per answer, beside one person |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in SETS:
        one = None
        for people in PEOPLE:
            runs = [t["to"] for t in trials if t["key"][:2] == [name, people]]
            if not runs:
                continue
            mean = np.mean(runs, axis=0)
            one = mean if people == 1 else one
            share = "" if one is None else " / ".join(f"{x:.2f}" for x in one / mean)
            count = " / ".join(f"{x:.0f}" for x in mean)
            found.append(f"| {name} | {len(runs)} | {people} | {count} | {share} |")
    return "\n".join(found)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--trials", type=int, default=10)
    args = parser.parse_args()
    tasks = (
        ([name, people, seed], (name, people, seed))
        for name in SETS
        for seed in range(FIRST_SEED, FIRST_SEED + args.trials)
        for people in PEOPLE
    )
    print(table(kept_trials(args, trial, tasks)))


if __name__ == "__main__":
    main()
