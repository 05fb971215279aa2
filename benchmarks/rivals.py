"""Small tables without subspaces: questions SUPERPAC-D needs for what the best rival ever reaches.

For every set and seed each rival is given a budget of questions; the best of their last adjusted
Rand indices is the goal, and the questions of the rival that got there first are compared with
SUPERPAC-D's.

    python benchmarks/rivals.py --out benchmarks/results/rivals.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from superpac.data import load
from superpac.metrics import adjusted_rand
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle

SETS = (
    *("sonar", "iris", "wine", "wdbc", "ecoli", "glass", "ionosphere", "parkinsons", "segment"),
    *("yeast", "pendigits"),
)
RIVALS = ("superpac-pinned", "urasc-n", "cobras", "a3s", "explore-consolidate", "min-max", "random")
MOST = 600  # points; larger sets are sampled
FIRST_SEED = 100


def curve(name: str, strategy: str, seed: int, questions: int) -> dict:
    """Adjusted Rand index after every question."""
    items = load(name, standardise=True)
    classes = items.n_classes or 1
    items = items.shuffled(seed).subset(np.arange(min(len(items), MOST)))
    spec = Spec(classes, "knn", strategy, dim=min(3, items.points().shape[1] - 1), seed=seed)
    session = Session.create(items, spec)
    oracle = TruthOracle(items.y)
    found = [adjusted_rand(items.y, session.labels("model"))]
    for _ in range(questions):
        question = session.ask()
        if question is None:
            break
        session.tell(oracle(question), (question.i, question.j))
        found.append(adjusted_rand(items.y, session.labels("model")))
    found += [found[-1]] * (questions + 1 - len(found))
    return {"key": [name, strategy, seed], "rand": [round(float(v), 6) for v in found]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-table", action="store_true")
    args = parser.parse_args()
    done = {}
    if args.out.exists():
        done = {tuple(r["key"]): r for r in map(json.loads, args.out.read_text().splitlines())}
    todo = [
        (name, strategy, seed)
        for name in args.sets
        for seed in range(FIRST_SEED, FIRST_SEED + args.seeds)
        for strategy in ("superpac-d", *RIVALS)
        if (name, strategy, seed) not in done
    ]
    if not args.only_table:
        with args.out.open("a") as file:
            work = Parallel(n_jobs=args.jobs, return_as="generator_unordered")
            for r in work(delayed(curve)(*task, args.questions) for task in todo):
                done[tuple(r["key"])] = r
                file.write(json.dumps(r) + "\n")
                file.flush()
    print(f"| data | best rival | its ARI at {args.questions} | its questions | SUPERPAC-D's |")
    print("| --- | --- | --- | --- | --- |")
    for name in args.sets:
        curves: dict[str, list] = {}
        for (data, strategy, _), r in done.items():
            if data == name:
                curves.setdefault(strategy, []).append(r["rand"])
        means = {s: np.mean(c, axis=0) for s, c in curves.items()}
        rivals = {s: c for s, c in means.items() if s in RIVALS}
        if "superpac-d" not in means or not rivals:
            continue
        goal = max(c[-1] for c in rivals.values()) - 1e-9
        first = {s: int(np.argmax(c >= goal)) for s, c in rivals.items() if (c >= goal).any()}
        best = min(first, key=lambda s: first[s])
        ours = means["superpac-d"]
        words = str(int(np.argmax(ours >= goal))) if (ours >= goal).any() else f"ARI {ours[-1]:.2f}"
        print(f"| {name} | {best} | {goal:.2f} | {first[best]} | {words} |")


if __name__ == "__main__":
    main()
