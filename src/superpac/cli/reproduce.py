"""``superpac reproduce``: the paper's figures and claims, and what lies beyond them, run again."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from superpac.cli import common
from superpac.errors import InputError
from superpac.system.optional import require

QUICK_S = 24 * 60  # begin no trial later than this, so that a quick run ends within half an hour
PAUSE_S = 30  # between lines where there is no terminal to draw a bar on


def reproduce(
    figure: Annotated[
        str, typer.Argument(metavar="FIGURE", help="Which figure; 'list' names them.")
    ] = "all",
    trials: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="At most so many a panel; the paper has 100."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few trials and short budgets: under 30 minutes.")
    ] = False,
    jobs: common.JobsOption = 2,
    dask: common.DaskOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            callback=common.check_folder,
            help="Folder of results; a run that was stopped goes on there.",
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            min=0.1, metavar="SECONDS", help="Processor time per trial; its curve ends there."
        ),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these lines, separated by commas.")
    ] = None,
    panels: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these panels, separated by commas.")
    ] = None,
    affinities: Annotated[
        Path | None,
        typer.Option(
            callback=common.check_folder, help="Folder of affinities to keep and to take from."
        ),
    ] = None,
    draw_only: Annotated[
        bool, typer.Option("--draw-only", help="Draw the report again from OUT/results.parquet.")
    ] = False,
) -> None:
    """Run the paper's experiments again, judge its ten claims and write a report.

    Finished trials are kept: the same command goes on where it was stopped. The report and the
    figures are drawn from one Parquet file.
    """
    require("research", "superpac reproduce")
    if dask is not None:
        require("dask", "--dask")
    from superpac.research.figure_specs import figure_names, load_figure
    from superpac.research.report import write_report
    from superpac.research.runner import RESULTS, run_figures

    if figure == "list":
        for name in figure_names():
            common.say(f"{name:18} {load_figure(name).title}")
        return
    root = out or Path("superpac-output") / ("reproduce-quick" if quick else "reproduce")
    if draw_only:
        results = root / RESULTS
    else:
        specs = [load_figure(name) for name in (figure_names() if figure == "all" else [figure])]
        with _bar() as watch:
            results = run_figures(
                specs,
                root,
                trials=trials,
                quick=quick,
                jobs=jobs,
                dask=dask,
                allowed_s=QUICK_S if quick else None,
                limit_s=limit,
                methods=None if methods is None else methods.split(","),
                panels=None if panels is None else panels.split(","),
                affinities=affinities,
                command=_command(figure, trials, quick, jobs, dask, limit, methods, panels),
                watch=watch,
            )
    if not results.is_file():
        raise InputError(f"There is no {results}; run superpac reproduce without --draw-only.")
    page = write_report(results)
    _say(results, page)


class _bar:
    """A bar with the time left on a terminal; elsewhere a line now and then."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("trials"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]} left"),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("trials", total=None, left="?")
        self.said = 0.0

    def __enter__(self) -> Callable[[int, int, float], None]:
        self.bar.start()
        return self.watch

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def watch(self, done: int, total: int, left: float) -> None:
        """Show how far it is."""
        words = "?" if math.isnan(left) else _duration(left)
        self.bar.update(self.task, completed=done, total=total, left=words)
        now = time.monotonic()
        if not self.console.is_terminal and (now - self.said > PAUSE_S or done == total):
            self.said = now
            sys.stderr.write(f"{done} of {total} trials, {words} left\n")
            sys.stderr.flush()


def _duration(seconds: float) -> str:
    """Write a time left, such as 3 h 05 min.

    Examples
    --------
    >>> _duration(45), _duration(200), _duration(11100)
    ('45 s', '4 min', '3 h 05 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def _command(
    figure: str,
    trials: int | None,
    quick: bool,
    jobs: int,
    dask: str | None,
    limit: float | None,
    methods: str | None,
    panels: str | None,
) -> str:
    parts = ["superpac reproduce", figure]
    parts += [f"--trials {trials}"] if trials else []
    parts += ["--quick"] if quick else []
    parts += [f"--limit {limit:g}"] if limit else []
    parts += [f"--methods {methods}"] if methods else []
    parts += [f"--panels {panels}"] if panels else []
    parts += ["--dask ADDRESS"] if dask else [f"--jobs {jobs}"]
    return " ".join(parts)


def _say(results: Path, page: Path) -> None:
    from superpac.research.claims import judge
    from superpac.research.results import read_results

    found = read_results(results)
    for claim in judge(found):
        common.say(f"{claim.name:4} {claim.verdict}")
    failed = int((found.table["status"] == "failed").sum())
    if failed:
        common.say(f"{failed} trial(s) failed; the report says which and why.")
    for missing in sorted({s["why"] for s in found.meta["skipped"]}):
        common.say(f"Left out: {missing}")
    common.say(f"Written: {results}")
    common.say(f"Written: {page}")
