"""Run many trials: on this machine's cores, or on a Dask cluster, with the same results."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from superpac.data import Dataset, load
from superpac.errors import InputError, SuperpacError
from superpac.research.figure_specs import FigureSpec, figure_names, load_figure
from superpac.research.machine import machine_facts
from superpac.research.results import (
    Parts,
    Row,
    finished_rows,
    only_run,
    read_results,
    revision_of,
    write_results,
)
from superpac.research.tasks import Task
from superpac.research.trials import failed_row, run_task
from superpac.strategies import STRATEGIES
from superpac.system.cluster import Cluster

RESULTS = "results.parquet"
Watch = Callable[[int, int, float], None]


def run_figures(
    figures: Sequence[FigureSpec],
    out: str | Path,
    *,
    trials: int | None = None,
    quick: bool = False,
    jobs: int = 1,
    dask: str | None = None,
    allowed_s: float | None = None,
    limit_s: float | None = None,
    methods: Collection[str] | None = None,
    panels: Collection[str] | None = None,
    affinities: str | Path | None = None,
    command: str = "",
    watch: Watch | None = None,
) -> Path:
    """Run what is not in `out` yet and write its Parquet file.

    Parameters
    ----------
    figures : sequence of FigureSpec
        What to run.
    out : path
        Folder of parts and results; finished trials found there are not run again.
    trials : int, optional
        At most so many per panel.
    quick : bool, default=False
        The short form of each figure.
    jobs : int, default=1
        Processes on this machine.
    dask : str, optional
        Address of a Dask scheduler to run on instead; its workers need superpac, not the data.
    allowed_s : float, optional
        Begin no trial after so many seconds; what was left out is said in the results.
    limit_s : float, optional
        At most so many processor seconds per trial; its curve is kept as far as it got.
    methods : collection of str, optional
        Only these lines of the figures.
    panels : collection of str, optional
        Only these panels of the figures.
    affinities : path, optional
        Folder of affinities to keep and to take from, instead of the cache folder of this machine.
    command : str
        Kept with the results, beside those of earlier runs in the same folder.
    watch : callable, optional
        Called as ``watch(done, total, seconds_left)``.

    Returns
    -------
    Path
        The Parquet file.
    """
    root = Path(out)
    begun = time.monotonic()
    cluster = None if dask is None else Cluster(dask)  # says at once if there is none
    wanted = [
        task
        for spec in figures
        for task in spec.tasks(
            trials=trials, quick=quick, limit_s=limit_s, methods=methods, panels=panels
        )
    ]
    if not wanted:
        lines = sorted({line.name for spec in figures for line in spec.lines})
        plots = sorted({panel.name for spec in figures for panel in spec.panels})
        raise InputError(
            "Nothing is left to run: the panels are "
            f"{', '.join(plots)} and the lines {', '.join(lines)}; choose among these."
        )
    with only_run(root):
        parts = Parts(root / "parts")
        # the parts may be gone, as in a folder that was kept for its results alone
        earlier = finished_rows(root / RESULTS)
        known = {row["key"]: row for row in [*earlier, *parts.rows()]}
        todo, data, skipped = _ready([t for t in wanted if not _finished(t, known)])
        todo = in_rounds(todo, max(jobs, 1))
        clock = TimeLeft(todo, jobs)
        done = len(wanted) - len(todo) - len(skipped)
        total = len(wanted) - len(skipped)
        late: list[Task] = []
        watch = watch or (lambda done, total, left: None)
        watch(done, total, clock.left())

        def in_time() -> Iterator[Task]:
            for task in todo:
                if allowed_s is not None and time.monotonic() - begun > allowed_s:
                    late.append(task)
                else:
                    yield task

        work = (
            _on_cluster(in_time(), data, cluster)
            if cluster
            else _on_cores(in_time(), data, jobs, affinities)
        )
        try:
            for row in work:
                parts.append(row)
                clock.note(row)
                done += 1
                watch(done, total, clock.left())
        finally:
            parts.close()
            if cluster is not None:
                cluster.close()
        skipped += [(task, "the time allowed was over") for task in late]
        known |= {row["key"]: row for row in parts.rows()}
        rows = list(known.values())
        shown = [*figures, *_others(figures, rows)]
        keys = {task.key for spec in shown for task in spec.tasks(quick=quick)}
        rows = [row for row in rows if row["key"] in keys]
        meta = {
            "figures": [spec.to_dict() for spec in shown],
            "skipped": _reasons(skipped),
            "commands": _commands(root / RESULTS, command),
            "quick": quick,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine_facts(),
            "seconds": time.monotonic() - begun,
        }
        return write_results(root / RESULTS, rows, meta)


def in_rounds(tasks: Sequence[Task], width: int) -> list[Task]:
    """Order tasks so that workers do not all build the same trial's affinity at once.

    Parameters
    ----------
    tasks : sequence of Task
        In the order of their figures.
    width : int
        Trials in work at a time.

    Returns
    -------
    list of Task
        The same, a few trials at a time, method by method.
    """
    trials: dict[tuple[str, str, int], list[Task]] = defaultdict(list)
    for task in tasks:
        trials[task.figure, task.panel, task.trial].append(task)
    groups = list(trials.values())
    ordered = []
    for start in range(0, len(groups), width):
        part = groups[start : start + width]
        for step in range(max(len(group) for group in part)):
            ordered += [group[step] for group in part if step < len(group)]
    return ordered


class TimeLeft:
    """Estimate of the time left, from what trials like those that are left have taken.

    Parameters
    ----------
    tasks : sequence of Task
        All that will be run.
    jobs : int
        How many at a time.
    """

    def __init__(self, tasks: Sequence[Task], jobs: int) -> None:
        self.waiting = {task.key: task for task in tasks}
        self.jobs = max(jobs, 1)
        self.seen: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def note(self, row: Row) -> None:
        """Take in a finished trial."""
        task = self.waiting.pop(row["key"], None)
        if task is not None:
            for kind in self._kinds(task):
                self.seen[kind].append(float(row["seconds"]))

    def left(self) -> float:
        """Seconds left; NaN while nothing is known."""
        if not self.waiting:
            return 0.0
        if () not in self.seen:
            return float("nan")
        return sum(self._guess(task) for task in self.waiting.values()) / self.jobs

    def _guess(self, task: Task) -> float:
        for kind in self._kinds(task):
            if kind in self.seen:
                found = self.seen[kind]
                return sum(found) / len(found)
        return 0.0

    @staticmethod
    def _kinds(task: Task) -> list[tuple[str, ...]]:
        return [(task.figure, task.panel, task.method), (task.figure, task.panel), ()]


def _others(figures: Sequence[FigureSpec], rows: list[Row]) -> list[FigureSpec]:
    """Figures that earlier runs left in the same folder: the report goes on showing them."""
    here = {row["figure"] for row in rows} - {spec.name for spec in figures}
    return [load_figure(name) for name in figure_names() if name in here]


def _commands(path: Path, command: str) -> list[str]:
    """Commands behind a Parquet file, each once, the latest last."""
    try:
        before = list(read_results(path).meta.get("commands", []))
    except SuperpacError:
        before = []
    return [*(each for each in before if each != command), *([command] if command else [])]


def _finished(task: Task, known: dict[str, Row]) -> bool:
    row = known.get(task.key)
    if row is None or row["status"] != "done":
        return False
    if row.get("revision", 0) != revision_of(task.strategy):
        return False
    # One that was stopped for time is run again when more time is allowed.
    cut = row.get("stopped") == "time"
    return not cut or (0 < task.limit_s <= float(row["limit_s"]))


def _ready(
    tasks: list[Task],
) -> tuple[list[Task], dict[str, Dataset], list[tuple[Task, str]]]:
    """Split tasks into those that can run, with their data, and those that cannot, with why."""
    data: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    ready, skipped = [], []
    for task in tasks:
        if task.kind == "session" and task.strategy not in STRATEGIES:
            skipped.append((task, f"there is no strategy {task.strategy}"))
            continue
        if task.data and task.data not in data and task.data not in missing:
            try:
                data[task.data] = load(task.data)
            except SuperpacError as error:
                missing[task.data] = str(error)
        if task.data in missing:
            skipped.append((task, missing[task.data]))
        else:
            ready.append(task)
    return ready, data, skipped


def _reasons(skipped: list[tuple[Task, str]]) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str, str, str], int] = defaultdict(int)
    for task, why in skipped:
        counts[task.figure, task.panel, task.method, why] += 1
    names = ("figure", "panel", "method", "why")
    return [
        {**dict(zip(names, key, strict=True)), "trials": count} for key, count in counts.items()
    ]


def _on_cores(
    tasks: Iterator[Task], data: dict[str, Dataset], jobs: int, affinities: str | Path | None
) -> Iterator[Row]:
    if jobs == 1:
        for task in tasks:
            yield run_task(task, data.get(task.data), affinities)
        return
    # pre_dispatch: a trial is begun only when a process is free, so that `allowed_s` holds.
    many = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)
    yield from many(delayed(run_task)(task, data.get(task.data), affinities) for task in tasks)


def _on_cluster(tasks: Iterator[Task], data: dict[str, Dataset], cluster: Cluster) -> Iterator[Row]:
    there = {name: cluster.place(part) for name, part in data.items()}
    calls = ((task, there.get(task.data)) for task in tasks)
    for (task, _), found in cluster.as_done(run_task, calls):
        # such as a worker that died of it four times
        yield failed_row(task, found) if isinstance(found, BaseException) else found
