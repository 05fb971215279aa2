"""Run one trial of one method: a function of the task and the data alone, on any machine."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from superpac.affinity.registry import make_affinity
from superpac.answers.links import SAME
from superpac.data import Dataset
from superpac.errors import InputError
from superpac.metrics import adjusted_rand, clustering_error, normalized_mutual_info
from superpac.research import theory
from superpac.research.machine import machine_facts
from superpac.research.robust_pca import oracle_pca, oracle_robust_pca
from superpac.research.tasks import Task
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import NoisyOracle, TruthOracle
from superpac.strategies import STRATEGIES

Row = dict[str, Any]
KEPT = 6  # affinities kept in a process: the methods of one trial follow each other
NEEDS_K = ("tsc", "gsc", "ekss", "ksubspaces")  # methods whose graph may depend on K

_one_at_a_time = threading.Lock()
_affinities: OrderedDict[str, tuple[sparse.csr_array, float]] = OrderedDict()


def run_task(task: Task, data: Dataset | None, cache: str | None = None) -> Row:
    """Run one trial; a failure is a row that says so, since others must go on.

    Parameters
    ----------
    task : Task
        What to run.
    data : Dataset or None
        The complete benchmark set; None for a check of the theory.
    cache : str, optional
        Folder where affinities are shared between the processes of one machine.

    Returns
    -------
    dict
        One row of the results: see :mod:`superpac.research.results`.
    """
    begun, cpu = time.perf_counter(), time.process_time()
    row = _named(task)
    # One thread, always: sums in another order would differ in the last bits.
    with _one_at_a_time, one_thread():
        try:
            row |= {"status": "done", **_run(task, data, cache)}
        except Exception as error:  # whatever a method does wrong is its result
            row = failed_row(task, error)
    row["seconds"] = time.perf_counter() - begun
    row["cpu_seconds"] = time.process_time() - cpu
    row["machine"] = machine_facts()
    return row


def failed_row(task: Task, error: BaseException) -> Row:
    """Row of a trial that came to nothing: it says why, and is run again the next time."""
    why = f"{type(error).__name__}: {error}"[:500]
    return {**_named(task), "status": "failed", "why": why, "seconds": 0.0, "cpu_seconds": 0.0}


def _named(task: Task) -> Row:
    return {"key": task.key, **task.to_dict(), "seed": task.seed, "data_seed": task.data_seed}


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS, OpenMP and Numba to one thread in a block."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        numba.set_num_threads(before)


def draw_points(task: Task, data: Dataset) -> Dataset:
    """Draw a trial's points: a subset of the classes, or all points in a random order."""
    known = data.n_classes
    if known is None:
        raise InputError(f"{data.name} has no true classes, but an experiment needs them.")
    if task.standardise:
        data = data.standardised()
    if task.classes or task.per_class:
        return data.sample_classes(task.classes or known, task.per_class or None, task.data_seed)
    return data.shuffled(task.data_seed)


def _run(task: Task, data: Dataset | None, cache: str | None) -> Row:
    if task.kind in ("theorem", "corollary"):
        return _check_theory(task)
    if data is None:
        raise InputError(f"The task {task.figure}/{task.panel} needs data.")
    items = draw_points(task, data)
    truth = np.asarray(items.y)
    classes = int(np.unique(truth).size)
    facts: Row = {"n": len(items), "classes_true": classes, "ambient": items.X.shape[1]}
    if task.kind == "session":
        return facts | _session(task, items, truth, classes, cache)
    oracle = oracle_pca if task.kind == "oracle-pca" else oracle_robust_pca
    error = clustering_error(truth, oracle(items.points(), truth, task.dim or 1))
    return facts | {"error": [error], "dim_used": task.dim}


def _session(task: Task, items: Dataset, truth: NDArray, classes: int, cache: str | None) -> Row:
    if task.strategy not in STRATEGIES:
        raise InputError(f"There is no strategy {task.strategy!r}.")
    clusters = max(1, int(np.ceil(round(classes * task.clusters_times, 9))))
    affinity, affinity_s = _affinity(task, items, clusters, cache)
    begun = time.process_time()
    spec = Spec(clusters, task.affinity, task.strategy, task.options, task.dim or None, task.seed)
    session = Session.create(items, spec, affinity=affinity)
    row: Row = {
        "clusters": clusters,
        "dim_used": int(np.max(session.problem.dim)),
        "affinity_seconds": affinity_s,
        "start_seconds": time.process_time() - begun,
    }
    return row | _loop(task, session, truth, classes)


def _loop(task: Task, session: Session, truth: NDArray, classes: int) -> Row:
    oracle = NoisyOracle(truth, task.wrong, task.seed) if task.wrong else TruthOracle(truth)
    labels = session.labels("model")
    errors = [clustering_error(truth, labels)]
    rand = [adjusted_rand(truth, labels)]
    waits: list[float] = []
    met = MetClasses(truth)
    met_at, stopped = -1, "budget"
    # Processor time, not the clock on the wall: a limit then cuts a trial at the same question
    # whether the machine is idle or crowded.
    begun = time.process_time()
    for asked in range(1, task.questions + 1):
        told = time.process_time()
        question = session.ask()
        if question is None:
            stopped = "nothing left to ask"
            break
        answer = oracle(question)
        session.tell(answer, (question.i, question.j), expected_seq=question.seq)
        new = session.labels("model")
        waits.append(1e3 * (time.process_time() - told))
        if np.array_equal(new, labels):
            errors.append(errors[-1])
            rand.append(rand[-1])
        else:
            labels = new
            errors.append(clustering_error(truth, labels))
            rand.append(adjusted_rand(truth, labels))
        if met_at < 0 and met.take(question.i, question.j, answer == SAME) == classes:
            met_at = asked
            if task.stop == "met":
                stopped = "every class met"
                break
        if task.limit_s and time.process_time() - begun > task.limit_s:
            stopped = "time"
            break
    return {
        "error": errors,
        "ari": rand,
        "nmi_last": normalized_mutual_info(truth, labels),
        "ask_ms": [round(w, 3) for w in waits],
        "met_at": met_at,
        "stopped": stopped,
        "mistakes": getattr(oracle, "mistakes", 0),
    }


class MetClasses:
    """Count the classes of which a point is known to stand apart from all classes met before.

    Parameters
    ----------
    truth : ndarray of shape (n,)
        True classes, for measuring.

    Examples
    --------
    >>> met = MetClasses(np.array([0, 1, 2]))
    >>> met.take(1, 0, False), met.take(2, 0, False), met.take(2, 1, False)
    (2, 2, 3)
    """

    def __init__(self, truth: NDArray) -> None:
        self.truth = truth
        self.met: set[int] = set()
        self.apart: dict[int, set[int]] = {}

    def take(self, i: int, j: int, same: bool) -> int:
        """Note an answer (`i` is the point being placed); gives the number of classes met."""
        first, second = int(self.truth[i]), int(self.truth[j])
        if same or not self.met:
            self.met.add(second)
        if not same:
            self.apart.setdefault(i, set()).add(second)
            self.apart.setdefault(j, set()).add(first)
            for point, own in ((j, second), (i, first)):
                if self.met <= self.apart[point]:
                    self.met.add(own)
        return len(self.met)


def _affinity(
    task: Task, items: Dataset, clusters: int, cache: str | None
) -> tuple[sparse.csr_array, float]:
    """Affinity of a trial's points, built once a trial, and the processor seconds that took."""
    used = clusters if task.affinity.partition(":")[0] in NEEDS_K else 0
    text = repr((items.fingerprint, task.affinity, used, task.data_seed))
    key = sha256(text.encode()).hexdigest()[:32]
    if key in _affinities:
        _affinities.move_to_end(key)
        return _affinities[key]
    path = Path(cache) / f"{key}.npz" if cache else None
    if path is not None and path.is_file():
        found = sparse.csr_array(sparse.load_npz(path))
        seconds = float(path.with_suffix(".seconds").read_text())
    else:
        begun = time.process_time()
        maker = make_affinity(task.affinity, clusters, random_state=task.data_seed, n_jobs=1)
        found = maker.affinity(items.points())  # as they are: a session does the same
        seconds = time.process_time() - begun
        if path is not None:
            _share(path, found, seconds)
    _affinities[key] = (found, seconds)
    while len(_affinities) > KEPT:
        _affinities.popitem(last=False)
    return found, seconds


def _share(path: Path, affinity: sparse.csr_array, seconds: float) -> None:
    """Write for the other processes; the rename makes it whole or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.stem}.{os.getpid()}.npz")
    sparse.save_npz(draft, affinity, compressed=False)
    path.with_suffix(".seconds").write_text(repr(seconds))
    draft.replace(path)


def _check_theory(task: Task) -> Row:
    """Theorem 1 or the Corollary by simulation; the figures are kept as facts."""
    check: Any
    if task.kind == "theorem":
        check = theory.check_theorem(seed=task.seed, **task.options)
        share, bound = check.table["inside"], check.table["bound"]
        kept = np.ones(len(check.table), dtype=bool)
        extra = {"largest_c": check.largest_c}
    else:
        check = theory.check_corollary(seed=task.seed, **task.options)
        kept = check.table["condition"].to_numpy()
        share, bound = check.table["ordered"][kept], check.table["bound"][kept]
        extra = {"least_ordered": check.least_ordered, "largest_c": check.largest_c}
    return {
        "error": [],
        "facts": {
            "holds": bool(check.holds),
            "settings": int(kept.sum()),
            "broken": int((~check.table["holds"]).sum()),
            "telling": int((bound > 0).sum()),
            "least_slack": float((share - bound).min()),
            **{k: float(v) for k, v in extra.items() if np.isfinite(v)},
        },
    }
