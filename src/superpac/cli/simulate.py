"""``superpac simulate``: a session answered from the truth, to see how the error falls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superpac.cli import common
from superpac.errors import InputError
from superpac.session.spec import DEFAULT_AFFINITY, DEFAULT_STRATEGY, Spec

if TYPE_CHECKING:
    from superpac.answers.forms import Costs
    from superpac.data import Dataset
    from superpac.session.questions import Labelling
    from superpac.simulation.loop import Run
    from superpac.system.progress import Progress

_EVERY_S = 60  # seconds of a person's time from one line to the next
LEVELS = {"5%": 0.05, "1%": 0.01, "0%": 0.0}


def simulate(
    data: common.DataArgument,
    k: common.TrueClustersOption = None,
    affinity: common.AffinityOption = DEFAULT_AFFINITY,
    strategy: common.StrategyOption = DEFAULT_STRATEGY,
    questions: Annotated[int, typer.Option("--questions", "-q", min=0, help="Budget.")] = 200,
    dim: common.DimOption = None,
    option: common.StrategyOptionsOption = None,
    classes: Annotated[int | None, typer.Option(min=1, help="Draw so many classes.")] = None,
    per_class: Annotated[int | None, typer.Option(min=1, help="Draw so many items each.")] = None,
    trials: Annotated[
        int, typer.Option(min=1, max=100_000, help="Repeat with seeds s, s+1, ...")
    ] = 1,
    wrong: Annotated[float, typer.Option(help="Share of wrong answers, such as 0.012.")] = 0.0,
    labelling: Annotated[
        str, typer.Option(help="Measure the 'model' labels (paper) or those that keep 'answers'.")
    ] = "model",
    until: common.UntilOption = None,
    forms: Annotated[
        str,
        typer.Option(
            "--forms", help="Ask in 'pair' only, or in 'all' forms by what they mend per second."
        ),
    ] = "pair",
    cost: Annotated[
        str, typer.Option("--cost", help="Seconds of a person's time, such as pair=1.5,click=1.")
    ] = "",
    yardstick: Annotated[
        bool,
        typer.Option(
            "--clairvoyant", help="Also count the questions of one who knows every wrong item."
        ),
    ] = False,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    features: common.FeaturesOption = None,
    text: common.TextOption = None,
    standardise: common.StandardiseOption = False,
    seed: common.SeedOption = 0,
    jobs: common.JobsOption = 2,
    dask: common.DaskOption = None,
    device: common.DeviceOption = "auto",
    plot: common.PlotOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Answer DATA's questions from its true classes and report the error after each."""
    from superpac.answers.forms import parse_costs
    from superpac.session.stopping import parse_share
    from superpac.system.progress import no_progress

    common.use_device(device)

    common.check_dask(dask)
    items = common.read_new(
        data,
        labels=labels,
        ids=ids,
        size=size,
        standardise=standardise,
        features=features,
        text=text,
    )
    if items.y is None:
        raise InputError(
            f"{items.name} has no true classes to answer from; name them with --labels."
        )
    if labelling not in ("model", "answers"):
        raise InputError(f"--labelling must be 'model' or 'answers'. Got {labelling!r}.")
    if forms not in ("pair", "strip", "wall", "board", "all"):
        raise InputError(
            f"--forms must be 'pair', 'strip', 'wall', 'board' or 'all'. Got {forms!r}."
        )
    costs = parse_costs(cost)
    clusters = k or classes or items.n_classes
    if clusters is None:
        raise InputError("Say how many clusters there are with -k.")
    spec = Spec(clusters, affinity, strategy, common.parse_options(option), dim, seed)
    spec = spec.settled(items)
    enough = None if until is None else parse_share(until)
    calls: Iterator[tuple[Any, ...]] = (
        (
            replace(spec, seed=seed + t),
            classes,
            per_class,
            questions,
            wrong,
            labelling,
            enough,
            yardstick,
            forms,
            costs,
        )
        for t in range(trials)
    )
    runs: list[Run] = []
    if min(jobs, trials) == 1 and dask is None:  # in this process: every question can be counted
        with common.OpeningBars() as bars:
            tell = no_progress if as_json else bars
            runs += [trial(items, *call, tell=tell) for call in calls]
    else:
        with common.Stages(quiet=as_json) as stages, stages.stage("trials", trials) as progress:
            for run in _runs(items, calls, min(jobs, trials), dask):
                runs.append(run)
                progress(len(runs), trials)
    report = summarise(runs, questions)
    report["spec"] = {**spec.to_dict(), "data": items.name, "wrong": wrong, "labelling": labelling}
    if plot is not None:
        from superpac.plots import draw_curves

        title = f"{items.name}: {strategy} on {spec.affinity}"
        drawn = draw_curves(plot, {strategy: [run.error for run in runs]}, title=title)
        report["plot"] = str(drawn)
    if as_json:
        common.print_json(report)
    else:
        _say(report)


def _runs(
    items: Dataset, calls: Iterator[tuple[Any, ...]], jobs: int, dask: str | None
) -> Iterator[Run]:
    """Trials in their order, on this machine's cores or on a cluster."""
    if dask is None:
        from joblib import Parallel, delayed

        many = Parallel(n_jobs=jobs, return_as="generator")
        yield from many(delayed(trial)(items, *call) for call in calls)
        return
    from superpac.system.cluster import Cluster

    with Cluster(dask) as cluster:
        there = cluster.place(items)
        yield from cluster.in_order(trial, ((there, *call) for call in calls))


def trial(
    items: Dataset,
    spec: Spec,
    classes: int | None,
    per_class: int | None,
    questions: int,
    wrong: float,
    labelling: Labelling,
    until: float | None = None,
    yardstick: bool = False,
    forms: str = "pair",
    costs: Costs | None = None,
    *,
    tell: Progress | None = None,
) -> Run:
    """One simulated session on a subset drawn with the spec's seed."""
    from superpac.cache import DiskCache
    from superpac.session.problem import build_affinity
    from superpac.session.session import Session
    from superpac.simulation.clairvoyant import clairvoyant
    from superpac.simulation.loop import simulate as run_session
    from superpac.simulation.oracles import NoisyOracle, TruthOracle
    from superpac.system.progress import no_progress, stage_of

    if classes or per_class:
        items = items.sample_classes(classes or items.n_classes or 1, per_class, spec.seed)
    else:
        items = items.shuffled(spec.seed)
    if items.y is None:
        raise InputError("A simulation needs true classes.")
    told = tell or no_progress
    affinity = build_affinity(
        items, spec.affinity, spec.clusters, spec.seed, progress=told, cache=DiskCache()
    )
    session = Session.create(items, spec, affinity=affinity, progress=told)
    answering = stage_of(told, "questions")
    oracle = NoisyOracle(items.y, wrong, spec.seed) if wrong else TruthOracle(items.y)
    run = run_session(
        session,
        oracle,
        items.y,
        questions,
        labelling=labelling,
        until=until,
        forms=forms,
        costs=costs,
        watch=lambda asked, _: answering(asked, questions),
    )
    progress = session.progress()
    for name in ("error_left", "clusters", "clusters_sure"):
        run.facts[name] = progress[name]
    if yardstick:
        run.facts["clairvoyant"] = clairvoyant(session, items.y, questions)
    return run


def summarise(runs: list[Run], questions: int) -> dict[str, Any]:
    """Trials and their mean, as ``--json`` prints them."""
    import numpy as np

    # a run that had nothing left to ask stays where it was: one mark for the whole budget then
    asked = max(run.error.size - 1 for run in runs)
    marks = sorted({*range(0, min(questions, asked) + 1, 50), questions})
    report: dict[str, Any] = {
        "trials": [
            {
                "seed": run.facts["seed"],
                "start_error": float(run.error[0]),
                "curve": [
                    [int(q), float(e)] for q, e in zip(run.questions, run.error, strict=True)
                ],
                "spent": [round(float(t), 3) for t in run.spent],
                "seconds": round(run.seconds, 3),
                "ask_ms": {
                    "p50": float(np.percentile(run.ask_ms, 50)) if run.ask_ms.size else None,
                    "p95": float(np.percentile(run.ask_ms, 95)) if run.ask_ms.size else None,
                },
                "finished": run.finished,
                "stopped": run.facts.get("stopped", False),
                "error_left": run.facts.get("error_left"),
                "clusters": run.facts.get("clusters"),
                "clusters_sure": run.facts.get("clusters_sure"),
            }
            for run in runs
        ],
        "mean": {
            "error_at": {str(q): float(np.mean([run.error_at(q) for run in runs])) for q in marks},
            **_questions_to(runs),
            "error_after": {
                str(mark): float(np.mean([run.error_after(mark) for run in runs]))
                for mark in range(0, int(max(run.spent[-1] for run in runs)) + 1, _EVERY_S)
            },
            "seconds_to": {
                name: _mean([run.seconds_to(level) for run in runs])
                for name, level in LEVELS.items()
            },
        },
    }
    knowing = [run.facts["clairvoyant"] for run in runs if "clairvoyant" in run.facts]
    if knowing:
        report["clairvoyant"] = _questions_to(knowing)
    return report


def _mean(values: list[float | None]) -> float | None:
    """Mean of what every trial reached; None where one did not."""
    found = [value for value in values if value is not None]
    return sum(found) / len(values) if len(found) == len(values) else None


def _questions_to(runs: list[Run]) -> dict[str, dict[str, Any]]:
    """Questions until the error is down to each level, and in how many trials it got there."""
    import numpy as np

    to = {name: [run.questions_to(level) for run in runs] for name, level in LEVELS.items()}
    return {
        "questions_to": {
            name: None if None in found else float(np.mean(found))  # type: ignore[arg-type]
            for name, found in to.items()
        },
        "reached": {name: sum(f is not None for f in found) for name, found in to.items()},
    }


def _say(report: dict[str, Any]) -> None:
    import numpy as np

    mean, n = report["mean"], len(report["trials"])
    common.say(f"Mean of {n} trial(s)", "bold")
    for mark, error in mean["error_at"].items():
        common.say(f"{mark:>6} questions  {100 * error:6.2f}%")
    for mark, error in list(mean["error_after"].items())[1:]:
        common.say(f"{mark:>6} seconds    {100 * error:6.2f}%")
    for name, count in mean["questions_to"].items():
        reached = mean["reached"][name]
        words = f"in {reached} of {n} trials"
        if count is not None:
            words = f"{count:.0f} questions, {mean['seconds_to'][name]:.0f} seconds of a person"
        if "clairvoyant" in report:
            least = report["clairvoyant"]["questions_to"][name]
            words += f" (clairvoyant: {'-' if least is None else format(least, '.0f')})"
        common.say(f"error {name}: {words}")
    met = [t for t in report["trials"] if t["clusters_sure"] is not None]
    if met:
        counts = ", ".join(f"{t['clusters']} ({100 * t['clusters_sure']:.0f}% sure)" for t in met)
        common.say(f"clusters found: {counts}")
    stops = [t for t in report["trials"] if t["stopped"]]
    if stops:
        asked, errors = zip(*(t["curve"][-1] for t in stops), strict=True)
        words = f"{np.mean(asked):.0f} questions, error then {100 * np.mean(errors):.2f}%"
        common.say(f"stopped by the estimate in {len(stops)} of {n} trials: {words}")
    waits = [t["ask_ms"]["p95"] for t in report["trials"] if t["ask_ms"]["p95"] is not None]
    if waits:
        common.say(f"from answer to next question: p95 {np.mean(waits):.0f} ms")
    if "plot" in report:
        common.say(f"Written: {report['plot']}")
