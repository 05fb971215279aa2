"""A figure as a small TOML file: what is drawn, on which data, with which methods."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from superpac.errors import InputError
from superpac.research.tasks import Task
from superpac.strategies import AS_THEY_ARE

LAYOUTS = ("curves", "time", "table")
KINDS = ("session", "oracle-pca", "oracle-rpca", "theorem", "corollary")


@dataclass(frozen=True)
class Line:
    """One curve of a figure: a method, or the panel's setting with one thing changed.

    Parameters
    ----------
    name : str
        The method's name in the results; seeds derive from it.
    label : str
        What the legend says; the name by default.
    kind : {"session", "oracle-pca", "oracle-rpca", "theorem", "corollary"}
        A session answered by a machine, a line that knows the truth, or a check of the theory.
    strategy : str
        Of the session; the name by default.
    options : mapping
        Options of the strategy.
    affinity : str
        Instead of the panel's.
    dim_times, clusters_times : float
        Factors on the panel's dimension and true number of clusters, rounded up.
    wrong : float
        Share of wrong answers.
    unit_rows : bool
        Whether a line that fits subspaces to points as they are has them scaled to unit length.
    trials, questions : int
        At most so many, where the panel has more; 0 for as many as the panel.
    every : int
        Answers from one measurement to the next; in between the last one stands. For a method
        whose questions do not depend on its clustering, this saves most of the time.
    paper : bool
        Whether the paper's figure shows it.
    """

    name: str
    label: str = ""
    kind: str = "session"
    strategy: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    affinity: str = ""
    dim_times: float = 1.0
    clusters_times: float = 1.0
    wrong: float = 0.0
    unit_rows: bool = False
    trials: int = 0
    questions: int = 0
    every: int = 1
    paper: bool = False


@dataclass(frozen=True)
class Panel:
    """One plot of a figure.

    Parameters
    ----------
    name, title : str
        Short name, and headline.
    data : str
        Benchmark.
    affinity : str
        Input affinity of all lines that name none.
    questions, trials : int
        Budget and repetitions; `trials` is the paper's number where it gives one.
    classes, per_class : int
        Subset drawn in each trial; 0 takes all.
    dim : int
        Subspace dimension; 0 lets the data decide.
    standardise : bool
        Scale columns first.
    limit_s : float
        Processor seconds after which a trial is stopped and kept as far as it got; 0 for none.
    lines : tuple of str
        Lines shown here; all when empty.
    stop : {"budget", "met"}
        "met" ends a trial when every class has been met.
    """

    name: str
    title: str
    data: str
    affinity: str = ""
    questions: int = 0
    trials: int = 1
    classes: int = 0
    per_class: int = 0
    dim: int = 0
    standardise: bool = False
    limit_s: float = 0.0
    lines: tuple[str, ...] = ()
    stop: str = "budget"
    quick: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FigureSpec:
    """A figure: its panels and its lines.

    Parameters
    ----------
    name, title, caption : str
        Short name, headline, and what to look at.
    layout : {"curves", "time", "table"}
        Error against questions; milliseconds per question against N; no picture.
    paper : bool
        Whether it is one of the paper's.
    singles : tuple of str
        Lines whose trials are drawn one by one in a second picture, in points wrong.
    panels : tuple of Panel
        From left to right.
    lines : tuple of Line
        In the legend's order.

    Examples
    --------
    >>> spec = load_figure("yale_mnist_many")
    >>> [panel.name for panel in spec.panels]
    ['yale5', 'yale10', 'mnist5', 'mnist10']
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    lines: tuple[Line, ...]
    caption: str = ""
    layout: str = "curves"
    paper: bool = False
    order: int = 100
    singles: tuple[str, ...] = ()
    quick: Mapping[str, Any] = field(default_factory=dict)

    def tasks(
        self,
        *,
        trials: int | None = None,
        quick: bool = False,
        limit_s: float | None = None,
        methods: Collection[str] | None = None,
        panels: Collection[str] | None = None,
    ) -> list[Task]:
        """List every trial of every line.

        Parameters
        ----------
        trials : int, optional
            At most so many per panel.
        quick : bool, default=False
            The short form: what the ``quick`` tables of the file say.
        limit_s : float, optional
            At most so many processor seconds per trial; the file may allow less.
        methods : collection of str, optional
            Only these lines.
        panels : collection of str, optional
            Only these panels.

        Returns
        -------
        list of Task
            Lines of one trial one after the other.
        """
        found = []
        for given in self.panels:
            if panels is not None and given.name not in panels:
                continue
            panel = replace(given, **given.quick) if quick else given
            if limit_s:
                panel = replace(panel, limit_s=min(panel.limit_s or limit_s, limit_s))
            count = panel.trials if trials is None else min(panel.trials, trials)
            lines = [line for line in self.lines if not panel.lines or line.name in panel.lines]
            lines = [line for line in lines if methods is None or line.name in methods]
            for trial in range(count):
                found += [
                    self._task(panel, line, trial, quick)
                    for line in lines
                    if not line.trials or trial < line.trials
                ]
        return found

    def _task(self, panel: Panel, line: Line, trial: int, quick: bool) -> Task:
        options = dict(line.options)
        if quick:
            changed = self.quick.get("options", {})
            options.update({k: v for k, v in changed.items() if k in options})
        strategy = (line.strategy or line.name) if line.kind == "session" else ""
        fitted = strategy in AS_THEY_ARE or line.kind in ("oracle-pca", "oracle-rpca")
        return Task(
            figure=self.name,
            panel=panel.name,
            method=line.name,
            trial=trial,
            kind=line.kind,
            data=panel.data,
            classes=panel.classes,
            per_class=panel.per_class,
            standardise=panel.standardise,
            affinity=line.affinity or panel.affinity,
            dim=math.ceil(panel.dim * line.dim_times),
            clusters_times=line.clusters_times,
            strategy=strategy,
            options=options,
            wrong=line.wrong,
            questions=_at_most(panel.questions, line.questions) if line.kind == "session" else 0,
            stop=panel.stop,
            limit_s=panel.limit_s,
            unit_rows=line.unit_rows if fitted else None,
            every=line.every,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what a drawing needs to know, kept beside the results."""
        return {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "layout": self.layout,
            "paper": self.paper,
            "order": self.order,
            "singles": list(self.singles),
            "panels": [_values(panel) for panel in self.panels],
            "lines": [_values(line) for line in self.lines],
        }


def _at_most(given: int, limit: int) -> int:
    """`given`, or `limit` where that is set and less."""
    return min(given, limit) if limit else given


def figure_names() -> list[str]:
    """Names of all figures, the paper's first.

    Examples
    --------
    >>> figure_names()[:2]
    ['yale_mnist_many', 'yaleFull']
    """
    found = [load_figure(_folder() / path.name) for path in _folder().glob("*.toml")]
    return [spec.name for spec in sorted(found, key=lambda spec: (spec.order, spec.name))]


def load_figure(name: str | Path) -> FigureSpec:
    """Read a figure by name, or from a TOML file.

    Parameters
    ----------
    name : str or path
        One of :func:`figure_names`, or a path that ends in ``.toml``.

    Returns
    -------
    FigureSpec
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = _folder() / f"{name}.toml"
    if not os.path.isfile(path):  # which raises nothing, whatever the name
        raise InputError(
            f"There is no figure {str(name)[:80]!r}; choose all or one of: "
            f"{', '.join(figure_names())}."
        )
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not valid TOML: {error}.") from None
    return _build(given, path.name)


def _build(given: dict[str, Any], where: str) -> FigureSpec:
    lines = tuple(_record(Line, each, f"{where}, line") for each in given.pop("line", []))
    panels = []
    for each in given.pop("panel", []):
        each["lines"] = tuple(each.get("lines", ()))
        panel = _record(Panel, each, f"{where}, panel")
        _known(Panel, panel.quick, f"{where}, panel {panel.name}, quick")
        panels.append(replace(panel, quick=_tuples(panel.quick)))
    given["singles"] = tuple(given.get("singles", ()))
    spec = _record(FigureSpec, {**given, "panels": tuple(panels), "lines": lines}, where)
    names = [line.name for line in lines]
    if set(spec.singles) - set(names):
        raise InputError(f"{where}: singles must be among the lines {', '.join(names)}.")
    for name, values in (("panel", [p.name for p in panels]), ("line", names)):
        if not values or len(set(values)) < len(values):
            raise InputError(f"{where} needs at least one {name}, and no two of the same name.")
    for panel in panels:
        unknown = {*panel.lines, *panel.quick.get("lines", ())} - set(names)
        if unknown:
            raise InputError(
                f"{where}, panel {panel.name}, names unknown lines {sorted(unknown)}; "
                f"the lines are {', '.join(names)}."
            )
    if spec.layout not in LAYOUTS:
        raise InputError(f"{where}: layout must be one of {', '.join(LAYOUTS)}.")
    for line in lines:
        if line.kind not in KINDS:
            raise InputError(f"{where}, line {line.name}: kind must be one of {', '.join(KINDS)}.")
    return spec


def _record(kind: type, given: Mapping[str, Any], where: str) -> Any:
    _known(kind, given, where)
    try:
        return kind(**given)
    except TypeError as error:
        raise InputError(f"{where}: {error}.") from None


def _known(kind: type, given: Mapping[str, Any], where: str) -> None:
    unknown = set(given) - {f.name for f in fields(kind)}
    if unknown:
        raise InputError(f"{where} has unknown entries {', '.join(sorted(unknown))}.")


def _tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}


def _values(record: Line | Panel) -> dict[str, Any]:
    found = {f.name: getattr(record, f.name) for f in fields(record) if f.name != "quick"}
    for name, value in found.items():
        if isinstance(value, Mapping):
            found[name] = dict(value)
        elif isinstance(value, tuple):
            found[name] = list(value)
    return found


def _folder() -> Path:
    return Path(str(files("superpac.research"))) / "specs"
