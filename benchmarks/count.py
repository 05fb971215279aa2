"""How well the number of clusters is found while asking (`-k auto`), and how sure it says it is.

    python benchmarks/count.py --out benchmarks/results/count.jsonl
    python benchmarks/count.py --out benchmarks/results/count.jsonl --only-table

Every row is some trials on seeds from 100 on; after every ten questions the number of clusters
found, the certainty given and the error are kept. The second table is about the certainty: of all
checkpoints at which it was within a range, the share where the number was right.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from superpac.data import load
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle

# name, data, affinity, dimension, classes, points a class, questions
ROWS = (
    ("MNIST 5 x 100", "mnist", "tsc:q=5", 3, 5, 100, 200),
    ("MNIST 10 x 100", "mnist", "tsc:q=5", 3, 10, 100, 400),
    ("Yale 5", "yaleb", "ssc-faces", 9, 5, None, 150),
    ("Yale 10", "yaleb", "ssc-faces", 9, 10, None, 250),
    ("digits 10 x 100", "digits", "tsc:q=5", 5, 10, 100, 250),
    ("pendigits 10 x 60", "pendigits", "knn", 3, 10, 60, 250),
    ("COIL-20", "coil20", "ensc:gamma=10", 9, None, None, 200),
)
FIRST_SEED = 100
EVERY = 10
SHARES = (0.0, 0.25, 0.5, 1.0)
RANGES = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 1.01))


def one(row: tuple, seed: int) -> dict:
    """Number, certainty and error after every tenth question."""
    name, data, affinity, dim, classes, per_class, questions = row
    items = load(data, standardise=affinity == "knn")
    drawn = items.sample_classes(classes, per_class, seed) if classes else items.shuffled(seed)
    session = Session.create(drawn, Spec("auto", affinity, "superpac-d", dim=dim, seed=seed))
    oracle, found = TruthOracle(drawn.y), []
    for asked in range(questions + 1):
        if asked % EVERY == 0:
            now = session.progress()
            error = clustering_error(drawn.y, session.labels())
            found.append([now["clusters"], now["clusters_sure"], round(float(error), 6)])
        question = session.ask()
        if question is None:
            break
        session.tell(oracle(question), (question.i, question.j))
    return {"key": [name, seed], "truth": int(drawn.n_classes or 0), "found": found}


def table(done: dict) -> str:
    """Tables of the numbers found and of the certainty."""
    head = " | ".join(f"at {100 * share:.0f}% of them" for share in SHARES)
    lines = [
        f"| data | clusters | trials | questions | {head} | right at the end | error then |",
        "| --- " * (6 + len(SHARES)) + "|",
    ]
    checks = []
    for name, *_, questions in ROWS:
        runs = [r for key, r in done.items() if key[0] == name]
        if not runs:
            continue
        cells = []
        for share in SHARES:
            at = [
                r["found"][min(round(share * questions / EVERY), len(r["found"]) - 1)] for r in runs
            ]
            cells.append(f"{np.mean([a[0] for a in at]):.1f}")
        ends = [r["found"][-1] for r in runs]
        right = sum(end[0] == r["truth"] for end, r in zip(ends, runs, strict=True))
        error = 100 * np.mean([end[2] for end in ends])
        lines.append(
            f"| {name} | {runs[0]['truth']} | {len(runs)} | {questions} | {' | '.join(cells)} | "
            f"{right} of {len(runs)} | {error:.1f}% |"
        )
        checks += [(f[1], f[0] == r["truth"]) for r in runs for f in r["found"]]
    lines += ["", "| certainty given | checkpoints | number right |", "| --- | --- | --- |"]
    for low, high in RANGES:
        inside = [right for sure, right in checks if low <= sure < high]
        if inside:
            words = f"{100 * low:.0f} to {min(100, 100 * high):.0f}%"
            lines.append(f"| {words} | {len(inside)} | {100 * np.mean(inside):.0f}% |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-table", action="store_true")
    args = parser.parse_args()
    done = {}
    if args.out.exists():
        done = {tuple(r["key"]): r for r in map(json.loads, args.out.read_text().splitlines())}
    seeds = range(FIRST_SEED, FIRST_SEED + args.trials)
    todo = [(row, seed) for row in ROWS for seed in seeds if (row[0], seed) not in done]
    if not args.only_table:
        with args.out.open("a") as file:
            work = Parallel(n_jobs=args.jobs, return_as="generator_unordered")
            for r in work(delayed(one)(row, seed) for row, seed in todo):
                done[tuple(r["key"])] = r
                file.write(json.dumps(r) + "\n")
                file.flush()
    print(table(done))


if __name__ == "__main__":
    main()
