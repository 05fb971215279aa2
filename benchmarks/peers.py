"""Beside programs of others: CPU seconds per question, and how good the clusters are after them.

MNIST digits (10 classes, unit length), N of them, answered from the truth: SUPERPAC-D, COBRAS
(`cobras_ts`, k-means), and the two ways of `active-semi-supervised-clustering` to choose pairs,
Explore-Consolidate and Min-Max, each followed by its PCKMeans. CPU seconds are those of a whole run
of 300 questions over 300, everything included but reading the data; a run that needs more than
`--limit` of them is stopped. Each run is a process of its own on one thread.

    python benchmarks/peers.py --out benchmarks/results/peers.jsonl
    python benchmarks/peers.py --out benchmarks/results/peers.jsonl --sizes 1000 --seeds 3

The packages are in `requirements/bench.lock` (`make bench` installs them). They were written for NumPy before 1.24, whose name `np.int` is put back for them here; nothing else
of theirs is changed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from common import FIRST_SEED, Draw, kept_trials, parser_of
from sized import CLUSTERS, Sized
from superpac import Dataset, TruthOracle, adjusted_rand
from superpac.research.machine import machine_facts
from superpac.simulation.loop import AnswerLoop

MARKS = (100, 300)
Labelled = dict[int, np.ndarray]


def superpac_d(items: Dataset, seed: int) -> Labelled:
    """Labels of SUPERPAC-D after some questions."""
    session = Draw("mnist", "tsc:q=10", 9).session(items, seed)
    found = {}
    for asked, _ in enumerate(AnswerLoop(session, TruthOracle(items.y), max(MARKS)), 1):
        labels = session.labels("model")
        if asked in MARKS:
            found[asked] = labels
    return found


class _Truth:
    """Answers from the truth, as COBRAS asks; its own class for this needs a plotting library."""

    def __init__(self, y: np.ndarray) -> None:
        self.y = y

    def query_points(self, i: int, j: int) -> bool:
        """Whether two points are of one class."""
        return bool(self.y[i] == self.y[j])

    def continue_cluster_process(self) -> bool:
        """Go on to the end of the budget."""
        return True

    def update_clustering(self, clustering: object) -> None:
        """Nobody is shown the clusters."""


def cobras(items: Dataset, seed: int) -> Labelled:
    """Labels of COBRAS after some questions."""
    setattr(np, "int", int)  # noqa: B010 - a name that is gone
    from cobras_ts.cobras_kmeans import COBRAS_kmeans

    np.random.seed(seed)  # noqa: NPY002 - the only way to seed it
    _, after, *_ = COBRAS_kmeans(items.points(), _Truth(items.y), max(MARKS)).cluster()
    return {mark: np.asarray(after[min(mark, len(after)) - 1]) for mark in MARKS}


def _pckmeans(items: Dataset, seed: int, choose: str) -> Labelled:
    """Labels of PCKMeans on pairs chosen for some budgets; the largest is what is timed."""
    from active_semi_clustering.active import pairwise_constraints as active
    from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans

    X, found = items.points(), {}
    for mark in MARKS:
        np.random.seed(seed)  # noqa: NPY002 - the only way to seed it
        chooser = getattr(active, choose)(n_clusters=CLUSTERS)
        chooser.fit(X, oracle=active.ExampleOracle(items.y, max_queries_cnt=mark))
        same, different = chooser.pairwise_constraints_
        found[mark] = PCKMeans(n_clusters=CLUSTERS).fit(X, ml=same, cl=different).labels_
        _clock["begun"] = _clock.get("last", _clock["begun"])  # of the last budget alone
        _clock["last"] = time.process_time()
    return found


_clock: dict[str, float] = {}
METHODS: dict[str, Callable[[Dataset, int], Labelled]] = {
    "SUPERPAC-D": superpac_d,
    "COBRAS": cobras,
    "Explore-Consolidate": lambda items, seed: _pckmeans(items, seed, "ExploreConsolidate"),
    "Min-Max": lambda items, seed: _pckmeans(items, seed, "MinMax"),
}


def measure(method: str, count: int, seed: int) -> dict:
    """One run in this process."""
    items = Sized("mnist", "", points=count).items(seed)
    X = items.points()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    items = Dataset(X, y=items.y)
    _clock["begun"] = time.process_time()
    found = METHODS[method](items, seed)
    spent = time.process_time() - _clock["begun"]
    return {
        "key": [method, count, seed],
        "cpu_per_question": round(spent / max(MARKS), 5),
        "rand": {str(m): round(adjusted_rand(items.y, labels), 4) for m, labels in found.items()},
        "machine": machine_facts(),
    }


def in_own_process(method: str, count: int, seed: int, limit: int) -> dict:
    """Run one method in a process that is stopped after so many CPU seconds."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, __file__, "--one", method, str(count), str(seed)],
        env={**os.environ, **one, "SUPERPAC_CACHE": "off"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        return {"key": [method, count, seed], "over_s": limit, "machine": machine_facts()}
    if done.returncode:
        raise SystemExit(f"{method}, {count}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds per run")
    args = parser.parse_args()
    args.jobs = 1
    tasks = [
        ([method, count, seed], (method, count, seed, args.limit))
        for count in args.sizes
        for seed in range(FIRST_SEED, FIRST_SEED + args.seeds)
        for method in METHODS
    ]
    trials = kept_trials(args, in_own_process, tasks)
    marks = " | ".join(f"ARI after {mark}" for mark in MARKS)
    print(f"| points | method | runs | CPU ms per question | {marks} |")
    print("| --- | --- | --- | --- | --- | --- |")
    for count in sorted({trial["key"][1] for trial in trials}):
        for method in METHODS:
            runs = [trial for trial in trials if trial["key"][:2] == [method, count]]
            if runs:
                print(_line(method, count, runs))


def _line(method: str, count: int, trials: list[dict]) -> str:
    """One row of the table."""
    whole = [trial for trial in trials if "rand" in trial]
    if len(whole) < len(trials):
        over = max(trial["over_s"] for trial in trials if "over_s" in trial)
        return f"| {count:,} | {method} | {len(trials)} | stopped after {over} CPU s | - | - |"
    cost = 1e3 * np.mean([trial["cpu_per_question"] for trial in whole])
    rand = " | ".join(f"{np.mean([t['rand'][str(mark)] for t in whole]):.3f}" for mark in MARKS)
    return f"| {count:,} | {method} | {len(whole)} | {cost:.1f} | {rand} |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
