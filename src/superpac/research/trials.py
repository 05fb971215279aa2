"""Run one trial of one method: a function of the task and the data alone, on any machine."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.affinity.registry import make_affinity
from superpac.answers.links import SAME
from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.errors import InputError
from superpac.metrics import adjusted_rand, clustering_error, normalized_mutual_info
from superpac.research import theory
from superpac.research.machine import machine_facts
from superpac.research.results import revision_of
from superpac.research.robust_pca import oracle_pca, oracle_robust_pca
from superpac.research.tasks import Task
from superpac.session.problem import NEED_COUNT
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import AnswerLoop
from superpac.simulation.oracles import NoisyOracle
from superpac.strategies import STRATEGIES
from superpac.system.threads import one_thread

Row = dict[str, Any]

_one_at_a_time = threading.Lock()


def run_task(task: Task, data: Dataset | None, affinities: str | Path | None = None) -> Row:
    """Run one trial; a failure is a row that says so, since others must go on.

    Parameters
    ----------
    task : Task
        What to run.
    data : Dataset or None
        The complete benchmark set; None for a check of the theory.
    affinities : path, optional
        Folder of affinities, shared by the processes of one machine; that of
        :class:`~superpac.cache.DiskCache` by default.

    Returns
    -------
    dict
        One row of the results: see :mod:`superpac.research.results`.
    """
    begun, cpu = time.perf_counter(), time.process_time()
    row = _named(task)
    cache = DiskCache(affinities)  # a wrong setting stops the run instead of failing every trial
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
    return {
        "key": task.key,
        **task.to_dict(),
        "revision": revision_of(task.strategy),
        "seed": task.seed,
        "data_seed": task.data_seed,
    }


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


def _run(task: Task, data: Dataset | None, cache: DiskCache) -> Row:
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
    found = oracle(items.points(), truth, task.dim or 1, unit=bool(task.unit_rows))
    error = clustering_error(truth, found)
    return facts | {"error": [error], "dim_used": task.dim}


def _session(task: Task, items: Dataset, truth: NDArray, classes: int, cache: DiskCache) -> Row:
    if task.strategy not in STRATEGIES:
        raise InputError(f"There is no strategy {task.strategy!r}.")
    clusters = max(1, int(np.ceil(round(classes * task.clusters_times, 9))))
    affinity, affinity_s = _affinity(task, items, clusters, cache)
    begun = time.process_time()
    spec = Spec(
        clusters,
        task.affinity,
        task.strategy,
        task.options,
        task.dim or None,
        task.seed,
        normalize=task.unit_rows,
    )
    session = Session.create(items, spec, affinity=affinity)
    session.strategy  # noqa: B018 - made when it is first used: here, so that its time counts
    row: Row = {
        "clusters": clusters,
        "dim_used": int(np.max(session.problem.dim)),
        "affinity_seconds": affinity_s,
        "start_seconds": time.process_time() - begun,
    }
    return row | _follow(task, session, truth, classes)


def _follow(task: Task, session: Session, truth: NDArray, classes: int) -> Row:
    """Error, Rand index and processor time after every answer, and why the trial ended."""
    oracle = NoisyOracle(truth, task.wrong, task.seed)
    labels = session.labels("model")
    errors = [clustering_error(truth, labels)]
    rand = [adjusted_rand(truth, labels)]
    waits: list[float] = []
    met, met_at = MetClasses(truth), -1
    answers = AnswerLoop(session, oracle, task.questions)
    # Processor time, not the clock on the wall: a limit then cuts a trial at the same question
    # whether the machine is idle or crowded.
    begun = since = time.process_time()
    for step in answers:
        new = session.labels("model") if step.number % task.every == 0 else labels
        waits.append(1e3 * (time.process_time() - since))
        if np.array_equal(new, labels):
            errors.append(errors[-1])
            rand.append(rand[-1])
        else:
            labels = new
            errors.append(clustering_error(truth, labels))
            rand.append(adjusted_rand(truth, labels))
        asked = step.question
        if met_at < 0 and met.take(asked.i, asked.j, step.answer == SAME) == classes:
            met_at = step.number
            if task.stop == "met":
                stopped = "every class met"
                break
        if task.limit_s and time.process_time() - begun > task.limit_s:
            stopped = "time"
            break
        since = time.process_time()
    else:
        stopped = answers.ended
    return {
        "error": errors,
        "ari": rand,
        "nmi_last": normalized_mutual_info(truth, labels),
        "ask_ms": [round(w, 3) for w in waits],
        "met_at": met_at,
        "stopped": stopped,
        "mistakes": oracle.mistakes,
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


def _affinity(task: Task, items: Dataset, clusters: int, cache: DiskCache) -> tuple[Any, float]:
    """Affinity of a trial's points, and the processor seconds it took when it was built."""

    def make() -> dict[str, Any]:
        begun = time.process_time()
        maker = make_affinity(task.affinity, clusters, random_state=task.data_seed, n_jobs=1)
        matrix = maker.affinity(items.points())  # as they are: a session does the same
        return {"matrix": matrix, "seconds": time.process_time() - begun}

    used = clusters if task.affinity.partition(":")[0] in NEED_COUNT else 0
    # a key of its own: sessions build the same affinity with several threads, and other last bits
    key = repr(("trial", items.fingerprint, task.affinity, used, task.data_seed))
    found = cache.get_or_make(key, make)
    return found["matrix"], found["seconds"]


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
