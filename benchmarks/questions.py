"""How many questions SUPERPAC-D needs: the rows of a table, with confidence intervals.

Every row is a number of `superpac simulate` trials with the default setting of the strategy, on
subsets or orders drawn with seeds from 100 on, which no setting was chosen on. Finished trials are
kept in a file, so a run that was stopped goes on where it was; `--trials` limits the table, too.

    python benchmarks/questions.py --out benchmarks/results/questions.jsonl
    python benchmarks/questions.py --out ... --rows mnist5 yale5 --trials 5
    python benchmarks/questions.py --out ... --only-table
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.stats import t as student

from superpac.data import Dataset, load
from superpac.metrics import adjusted_rand
from superpac.session.session import Session
from superpac.session.spec import Spec, build_problem
from superpac.simulation.clairvoyant import clairvoyant
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import NoisyOracle, TruthOracle

FIRST_SEED = 100
WITHIN = 50  # questions over which a rise of the error is looked for


@dataclass(frozen=True)
class Row:
    """One line of the table; `levels` are errors with their targets in questions."""

    name: str
    words: str
    data: str
    affinity: str
    dim: int
    questions: int
    trials: int
    levels: tuple[tuple[float, int], ...] = ()
    classes: int | None = None
    per_class: int | None = None
    wrong: float = 0.0
    at: tuple[int, float] | None = None  # error aimed at after so many questions
    rand: tuple[float, int] | None = None  # adjusted Rand index and its target in questions
    yardstick: int = 0  # questions that the clairvoyant is given


MNIST10 = ((0.10, 150), (0.05, 250), (0.01, 450), (0.0, 700))
ROWS = (
    Row(
        "mnist10",
        "MNIST 10 x 100, TSC q 5, d 3",
        "mnist",
        "tsc:q=5",
        3,
        800,
        20,
        MNIST10,
        10,
        100,
        yardstick=300,
    ),
    Row(
        "mnist5",
        "MNIST 5 x 100, TSC q 5, d 3",
        "mnist",
        "tsc:q=5",
        3,
        300,
        20,
        ((0.05, 50), (0.01, 90), (0.0, 220)),
        5,
        100,
        yardstick=150,
    ),
    Row(
        "yale5",
        "Yale 5, SSC, d 9",
        "yaleb",
        "ssc-faces",
        9,
        150,
        20,
        ((0.01, 50), (0.0, 80)),
        5,
        yardstick=100,
    ),
    Row(
        "yale10",
        "Yale 10, SSC, d 9",
        "yaleb",
        "ssc-faces",
        9,
        300,
        20,
        ((0.01, 150), (0.0, 250)),
        10,
        yardstick=150,
    ),
    Row(
        "yale38",
        "Yale 38, SSC-OMP k 5, d 9",
        "yaleb",
        "ssc-omp:k=5",
        9,
        1200,
        5,
        ((0.05, 600), (0.0, 1000)),
        yardstick=400,
    ),
    Row(
        "coil20",
        "COIL-20, EnSC gamma 10, d 9",
        "coil20",
        "ensc:gamma=10",
        9,
        200,
        5,
        ((0.01, 130), (0.0, 200)),
        yardstick=150,
    ),
    Row(
        "coil100",
        "COIL-100, EnSC gamma 5, d 9",
        "coil100",
        "ensc:gamma=5",
        9,
        2500,
        5,
        ((0.05, 1500), (0.01, 2500)),
    ),
    Row(
        "usps",
        "USPS, TSC q 10, d 9",
        "usps",
        "tsc:q=10",
        9,
        1800,
        5,
        ((0.05, 200), (0.01, 900), (0.002, 1800)),
    ),
    Row(
        "mnist10-1.2",
        "MNIST 10, 1.2% wrong",
        "mnist",
        "tsc:q=5",
        3,
        500,
        20,
        (),
        10,
        100,
        0.012,
        (500, 0.03),
    ),
    Row(
        "mnist10-5",
        "MNIST 10, 5% wrong",
        "mnist",
        "tsc:q=5",
        3,
        500,
        20,
        (),
        10,
        100,
        0.05,
        (500, 0.06),
    ),
    Row(
        "yale10-1.2",
        "Yale 10, 1.2% wrong",
        "yaleb",
        "ssc-faces",
        9,
        500,
        20,
        (),
        10,
        None,
        0.012,
        (500, 0.01),
    ),
    Row(
        "yale10-5",
        "Yale 10, 5% wrong",
        "yaleb",
        "ssc-faces",
        9,
        500,
        20,
        (),
        10,
        None,
        0.05,
        (500, 0.03),
    ),
    Row(
        "digits",
        "digits 10 x 100, TSC q 5",
        "digits",
        "tsc:q=5",
        5,
        200,
        20,
        (),
        10,
        100,
        rand=(0.95, 120),
        yardstick=100,
    ),
)


def one(row: Row, seed: int, options: dict, yardstick: bool, kept: Path | None) -> dict:
    """Run one trial."""
    items = load(row.data)
    spec = Spec(row.classes or items.n_classes, row.affinity, "superpac-d", options, row.dim, seed)
    drawn = items.shuffled(seed)
    if row.classes:
        drawn = items.sample_classes(row.classes, row.per_class, seed)
    graph = affinity(row, drawn, spec, kept)
    session = Session.create(drawn, spec, affinity=graph)
    oracle = NoisyOracle(drawn.y, row.wrong, seed) if row.wrong else TruthOracle(drawn.y)
    run = simulate(session, oracle, drawn.y, row.questions, labelling="model")
    found: dict = {
        "key": [row.name, seed, options],
        "error": [round(float(e), 6) for e in run.error],
        "p95": float(np.percentile(run.ask_ms, 95)),
        "seconds": run.seconds,
    }
    if row.rand:
        found["rand"] = rand_curve(row, drawn, Session.create(drawn, spec, affinity=graph))
    if row.yardstick and yardstick:
        fresh = Session.create(drawn, spec, affinity=graph)
        knowing = clairvoyant(fresh, drawn.y, row.yardstick)
        found["clairvoyant"] = [round(float(e), 6) for e in knowing.error]
    return found


def affinity(row: Row, drawn: Dataset, spec: Spec, kept: Path | None) -> sparse.csr_array:
    """Build the affinity, or take it from the folder where another row has left it."""
    parts = (row.data, row.affinity, row.classes, row.per_class, spec.seed)
    path = kept / ("-".join(map(str, parts)).replace(":", "_") + ".npz") if kept else None
    if path is not None and path.exists():
        return sparse.csr_array(sparse.load_npz(path))
    graph = build_problem(drawn, spec).affinity
    if path is not None:
        draft = path.with_name(f"{os.getpid()}.npz")
        sparse.save_npz(draft, graph)
        draft.rename(path)
    return graph


def rand_curve(row: Row, drawn: Dataset, session: Session) -> list[float]:
    """Adjusted Rand index after every question."""
    oracle = TruthOracle(drawn.y)
    found = [adjusted_rand(drawn.y, session.labels("model"))]
    for _ in range(row.questions):
        question = session.ask()
        if question is None:
            break
        session.tell(oracle(question), (question.i, question.j))
        found.append(adjusted_rand(drawn.y, session.labels("model")))
    return [round(float(v), 6) for v in found]


def interval(values: np.ndarray, digits: int = 0) -> str:
    """Mean and 95% interval of the mean."""
    mean = f"{values.mean():.{digits}f}"
    if values.size < 2:
        return mean
    half = student.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    return f"{mean} ± {half:.{digits}f}"


def reach(curves: list[list[float]], test: object) -> str:
    """Questions until a condition first holds, over the trials where it does."""
    first = [next((q for q, v in enumerate(c) if test(v)), None) for c in curves]  # type: ignore[operator]
    inside = np.array([q for q in first if q is not None], dtype=float)
    if inside.size == 0:
        return f"not in {len(first)}"
    words = interval(inside)
    return words if inside.size == len(first) else f"{words} (in {inside.size} of {len(first)})"


def worst_rise(curve: list[float]) -> float:
    """Largest rise of the error over any fifty questions."""
    errors = np.array(curve)
    return max(float(errors[q : q + WITHIN + 1].max() - errors[q]) for q in range(errors.size))


def lines(row: Row, runs: list[dict]) -> list[str]:
    """Lines of the table for one row."""
    curves = [r["error"] for r in runs]
    knowing = [r["clairvoyant"] for r in runs if "clairvoyant" in r]
    longest = max(map(len, curves))
    mean = np.mean([c + c[-1:] * (longest - len(c)) for c in curves], axis=0)
    rises = worst_rise(list(mean)), max(worst_rise(c) for c in curves)
    wait = np.mean([r["p95"] for r in runs])
    tail = f"{100 * rises[0]:.1f} / {100 * rises[1]:.1f} | {wait:.0f} |"
    found = []
    for level, target in row.levels:
        below = lambda e, level=level: e <= level + 1e-12  # noqa: E731
        bound = reach(knowing, below) if knowing else "-"
        found.append(
            f"| {row.words} | {len(runs)} | {100 * level:g}% | {target} | "
            f"{reach(curves, below)} | {bound} | {tail}"
        )
    if row.at:
        q, aim = row.at
        errors = np.array([100 * c[min(q, len(c) - 1)] for c in curves])
        found.append(
            f"| {row.words} | {len(runs)} | error at {q} | {100 * aim:g}% | "
            f"{interval(errors, 1)}% | - | {tail}"
        )
    if row.rand:
        level, target = row.rand
        rands = [r["rand"] for r in runs]
        found.append(
            f"| {row.words} | {len(runs)} | ARI {level} | {target} | "
            f"{reach(rands, lambda v: v >= level)} | - | {tail}"
        )
    return found


def table(done: dict, rows: list[Row], options: str) -> str:
    """Format the trials of one setting."""
    found = [
        "| data | trials | to reach | target | questions | clairvoyant | worst rise over 50 "
        "questions (mean curve / any trial), points | p95, ms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        runs = [r for key, r in done.items() if key[0] == row.name and key[2] == options]
        if runs:
            found += lines(row, runs)
    return "\n".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", nargs="*", default=[row.name for row in ROWS])
    parser.add_argument("--trials", type=int, help="at most so many a row")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--affinities", type=Path, help="folder to keep them in, for later runs")
    parser.add_argument("--option", nargs="*", default=[], help="NAME=VALUE, for an ablation")
    parser.add_argument("--only-table", action="store_true")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    options = {k: json.loads(v) for k, v in (pair.split("=") for pair in args.option)}
    name = json.dumps(options, sort_keys=True)
    done = {}
    if args.out.exists():
        for line in args.out.read_text().splitlines():
            r = json.loads(line)
            done[(r["key"][0], r["key"][1], json.dumps(r["key"][2], sort_keys=True))] = r
    rows = [row for row in ROWS if row.name in args.rows]
    todo = [
        (row, seed)
        for row in rows
        for seed in range(FIRST_SEED, FIRST_SEED + min(row.trials, args.trials or row.trials))
        if (row.name, seed, name) not in done
    ]
    if not args.only_table:
        if args.affinities:
            args.affinities.mkdir(parents=True, exist_ok=True)
        with args.out.open("a") as file:
            work = Parallel(n_jobs=args.jobs, return_as="generator_unordered")
            tasks = ((row, seed, options, not options, args.affinities) for row, seed in todo)
            for result in work(delayed(one)(*task) for task in tasks):
                done[(result["key"][0], result["key"][1], name)] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                os.fsync(file.fileno())
    if args.trials:
        done = {key: r for key, r in done.items() if key[1] < FIRST_SEED + args.trials}
    print(table(done, rows, name))


if __name__ == "__main__":
    main()
