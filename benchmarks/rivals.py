"""Small tables without subspaces: questions SUPERPAC-D needs for what the best rival ever reaches.

For every set each strategy is given a budget of questions; the best last adjusted Rand index of a
rival, mean over seeds, is the goal. Prints a Markdown table with a row per set: the rival that got
there first, the goal, the questions of that rival, and those of SUPERPAC-D (or, where it does not
get there, its index at the end).

    python benchmarks/rivals.py --out benchmarks/results/rivals.jsonl
    python benchmarks/rivals.py --out ... --sets iris wine --questions 100 --seeds 3
"""

from __future__ import annotations

import numpy as np

from common import FIRST_SEED, Draw, kept_trials, parser_of, rand_curve
from superpac import TruthOracle

SETS = (
    *("sonar", "iris", "wine", "wdbc", "ecoli", "glass", "ionosphere", "parkinsons", "segment"),
    *("yeast", "pendigits"),
)
OURS = "superpac-d"
RIVALS = ("superpac-pinned", "urasc-n", "cobras", "a3s", "explore-consolidate", "min-max", "random")
MOST = 600  # points; larger sets are sampled


def trial(name: str, strategy: str, seed: int, questions: int) -> dict:
    """Adjusted Rand index after every question, the last one repeated to the end of the budget."""
    whole = Draw(name, "knn", standardise=True).items(seed)
    items = whole.subset(np.arange(min(len(whole), MOST)))
    draw = Draw(name, "knn", dim=min(3, items.X.shape[1] - 1))
    session = draw.session(items, seed, strategy, clusters=whole.n_classes)
    found = rand_curve(session, TruthOracle(items.y), items.y, questions)
    found += [found[-1]] * (questions + 1 - len(found))
    return {"key": [name, strategy, seed], "rand": found}


def line(name: str, trials: list[dict]) -> str | None:
    """A set's row of the table; None without a trial of ours and one of a rival."""
    curves: dict[str, list] = {}
    for found in trials:
        if found["key"][0] == name:
            curves.setdefault(found["key"][1], []).append(found["rand"])
    means = {strategy: np.mean(each, axis=0) for strategy, each in curves.items()}
    rivals = {strategy: mean for strategy, mean in means.items() if strategy in RIVALS}
    if OURS not in means or not rivals:
        return None
    goal = max(mean[-1] for mean in rivals.values()) - 1e-9
    first = {s: int(np.argmax(mean >= goal)) for s, mean in rivals.items() if (mean >= goal).any()}
    best = min(first, key=lambda strategy: first[strategy])
    ours = means[OURS]
    words = str(int(np.argmax(ours >= goal))) if (ours >= goal).any() else f"ARI {ours[-1]:.2f}"
    return f"| {name} | {best} | {goal:.2f} | {first[best]} | {words} |"


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    tasks = (
        ([name, strategy, seed], (name, strategy, seed, args.questions))
        for name in args.sets
        for seed in range(FIRST_SEED, FIRST_SEED + args.seeds)
        for strategy in (OURS, *RIVALS)
    )
    trials = kept_trials(args, trial, tasks)
    print(f"| data | best rival | its ARI at {args.questions} | its questions | SUPERPAC-D's |")
    print("| --- | --- | --- | --- | --- |")
    for name in args.sets:
        row = line(name, trials)
        if row is not None:
            print(row)


if __name__ == "__main__":
    main()
