"""Beside programs of others: CPU seconds per question, and how good the clusters are after them.

MNIST digits (10 classes, unit length), N of them, answered from the truth: SUPERPAC-D, COBRAS
(`cobras_ts`, k-means), the two ways of `active-semi-supervised-clustering` to choose pairs,
Explore-Consolidate and Min-Max, each followed by its PCKMeans, A3S as its authors wrote it, and A3S
as it is written here. CPU seconds are those of a whole run of 300 questions over 300, everything
included but reading the data; a run that needs more than `--limit` of them is stopped. Each run is
a process of its own on one thread.

    python benchmarks/peers.py --out benchmarks/results/peers.jsonl --a3s FOLDER
    python benchmarks/peers.py --out benchmarks/results/peers.jsonl --sizes 1000 --seeds 3

The packages are in `requirements/bench.lock` (`make bench` installs them). They were written for
NumPy before 1.24, whose name `np.int` is put back for them here; nothing else of theirs is changed.

The authors' A3S is no package. Without `--a3s` it is left out; FOLDER is a copy of theirs:

    git clone https://github.com/xiangtanshi/A3S FOLDER && pip install tqdm

It is a script, run as it stands with the settings its authors name for handwritten digits; only
what reads the data gives the digits, their isotonic regression is fitted to these by their own
function (pseudo-labels of k-means, never the truth), and questions are counted as they are asked.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from common import FIRST_SEED, Draw, kept_trials, parser_of
from sized import CLUSTERS, Sized
from superpac import Dataset, TruthOracle, adjusted_rand
from superpac.research.machine import machine_facts
from superpac.simulation.loop import AnswerLoop

MARKS = (100, 300)
A3S_FOLDER = "A3S_FOLDER"  # the environment variable that names the folder of its authors' A3S
A3S_OPTIONS = ("--d=0", "--n=0", "--iso=0", "--tau=0.8", "--T=4")  # theirs for handwritten digits
Labelled = dict[int, np.ndarray]


def ours(items: Dataset, seed: int, strategy: str) -> Labelled:
    """Labels of a strategy of this project after some questions; it may end before the last."""
    session = Draw("mnist", "tsc:q=10", 9).session(items, seed, strategy)
    found = {}
    for asked, _ in enumerate(AnswerLoop(session, TruthOracle(items.y), max(MARKS)), 1):
        labels = session.labels("model")
        if asked in MARKS:
            found[asked] = labels
    return {mark: found.get(mark, labels) for mark in MARKS}


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


class _Enough(Exception):
    """All questions of the budget were asked."""


def a3s(items: Dataset, seed: int) -> Labelled:
    """Labels of its authors' A3S after some questions.

    Their file is carried out statement by statement, so that a function can be wrapped once it is
    there: `query` to count, `test` (which measures and prints after every third question) to do
    nothing.
    """
    folder = Path(os.environ[A3S_FOLDER])
    sys.path.insert(0, str(folder))
    import Data_feature as theirs

    np.random.seed(seed)  # noqa: NPY002 - the only way to seed it
    names: dict[str, Any] = {"__name__": "a3s"}
    found: Labelled = {}
    asked = 0

    def counted(truth: np.ndarray, i: int, j: int) -> bool:
        """Answer as their `query` does; what follows from answers is no question to them either."""
        nonlocal asked
        if names["state"][i, j] == 0:
            if asked in MARKS:
                found[asked] = np.array(names["pclus_label"])
            if asked == max(MARKS):
                raise _Enough
            asked += 1
        return bool(truth[i] == truth[j])

    with TemporaryDirectory() as place:
        X, regression = items.points(), f"{place}/regression.pkl"
        theirs.compute_posterior_prob_by_l2_distance(regression, X, CLUSTERS)
        theirs.get_feature_similarity = lambda *_: (X, items.y.copy())
        theirs.n_list, theirs.iso_paths = [len(X)], [regression]
        sys.argv = ["A3S.py", f"--seed={seed}", *A3S_OPTIONS]
        try:
            for part in ast.parse((folder / "A3S.py").read_text()).body:
                if _sets(part, "end_time"):
                    break  # the rest prints what was measured
                exec(compile(ast.Module([part], []), "A3S.py", "exec"), names)
                names.update({"query": counted, "test": lambda *_: None})
        except _Enough:
            pass
    return {mark: found.get(mark, np.array(names["pclus_label"])) for mark in MARKS}


def _sets(part: ast.stmt, name: str) -> bool:
    """Whether a statement gives this name a value."""
    return isinstance(part, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in part.targets
    )


_clock: dict[str, float] = {}
METHODS: dict[str, Callable[[Dataset, int], Labelled]] = {
    "SUPERPAC-D": lambda items, seed: ours(items, seed, "superpac-d"),
    "COBRAS": cobras,
    "Explore-Consolidate": lambda items, seed: _pckmeans(items, seed, "ExploreConsolidate"),
    "Min-Max": lambda items, seed: _pckmeans(items, seed, "MinMax"),
    "A3S": a3s,
    "A3S, as written here": lambda items, seed: ours(items, seed, "a3s"),
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
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds per run")
    parser.add_argument("--a3s", type=Path, help="folder of the A3S of its authors")
    args = parser.parse_args()
    args.jobs = 1
    if args.a3s:
        os.environ[A3S_FOLDER] = str(args.a3s.resolve())  # the runs' processes look there
    tasks = [
        ([method, count, seed], (method, count, seed, args.limit))
        for count in args.sizes
        for seed in range(FIRST_SEED, FIRST_SEED + args.seeds)
        for method in args.methods
        if method != "A3S" or A3S_FOLDER in os.environ
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
