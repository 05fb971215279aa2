"""Draw figures from results alone, in the paper's layout: a row of panels with one legend."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t as student

from superpac.array_types import FloatArray
from superpac.plots import COLOURS, save_figure
from superpac.research.results import Results
from superpac.research.statistics import answered

Layout = Mapping[str, Any]

STYLES = ("-", "--", ":", "-.")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
ENOUGH = 5  # trials for a band: that of two covers everything
POINTS = 400  # of a curve: more than a page can show only makes the file larger
DASHES = {"oracle-pca": "--", "oracle-rpca": ":"}
OLDER = " (older version)"
IN_A_ROW = 3  # panels: with more beside each other their words are too small on a page
SHOWN = 20  # single trials in a plot: more is a blot


def draw_figure(results: Results, layout: Layout, folder: str | Path) -> list[Path]:
    """Draw one figure as PNG and SVG.

    Parameters
    ----------
    results : Results
        From :func:`~superpac.research.results.read_results`.
    layout : mapping
        One of ``results.meta["figures"]``.
    folder : path
        Where to write.

    Returns
    -------
    list of Path
        Empty for a figure without a picture, or without results.
    """
    if layout["layout"] == "table" or not (results.table["figure"] == layout["name"]).any():
        return []
    drawn = [(layout["name"], (_time if layout["layout"] == "time" else _curves)(results, layout))]
    if layout.get("singles"):
        drawn.append((f"{layout['name']}_singles", _singles(results, layout)))
    paths = []
    for name, figure in drawn:
        if figure is None:
            continue
        png, svg = (Path(folder) / f"{name}.{ending}" for ending in ("png", "svg"))
        # A fixed salt and no date: the same results give the same files.
        with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
            save_figure(figure, png, private=False, dpi=130, facecolor="white")
            save_figure(figure, svg, private=False, facecolor="white", metadata={"Date": None})
        paths += [png, svg]
    return paths


def label_of(results: Results, layout: Layout, line: Layout) -> str:
    """What a legend says of a line; marked where it holds trials of an older revision."""
    old = any(results.older(layout["name"], p["name"], line["name"]) for p in layout["panels"])
    return (line["label"] or line["name"]) + (OLDER if old else "")


def style_of(layout: Layout) -> dict[str, dict[str, Any]]:
    """Colour, dash and mark of each line.

    Where a panel shows several lines of one strategy beside another strategy's, a colour is a
    strategy and a dash a setting; elsewhere a colour is a line, the same in every panel.

    Parameters
    ----------
    layout : mapping
        One of ``results.meta["figures"]``.

    Returns
    -------
    dict
        By the line's name.
    """
    lines = [line for line in layout["lines"] if line["kind"] == "session"]
    family = {line["name"]: line["strategy"] or line["name"] for line in lines}
    mixed = any(_mixed(panel, family) for panel in layout["panels"])
    groups: list[str] = []
    steps: dict[str, int] = {}
    styles: dict[str, dict[str, Any]] = {}
    for line in lines:
        group = family[line["name"]] if mixed else line["label"] or line["name"]
        if group not in groups:
            groups.append(group)
        number = groups.index(group)
        step = steps.get(group, 0) if mixed else number // len(COLOURS)
        steps[group] = step + 1
        styles[line["name"]] = {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": STYLES[step % len(STYLES)],
            "marker": MARKS[(number + 3 * (number // len(COLOURS))) % len(MARKS)],
        }
    for line in layout["lines"]:
        if line["kind"] in DASHES:
            colour = "#b06000" if line.get("unit_rows") else "#333333"
            styles[line["name"]] = {"color": colour, "linestyle": DASHES[line["kind"]]}
    return styles


def _mixed(panel: Layout, family: Mapping[str, str]) -> bool:
    shown = [family[name] for name in family if not panel["lines"] or name in panel["lines"]]
    return 1 < len(set(shown)) < len(shown)


def _curves(results: Results, layout: Layout) -> Figure | None:
    here = results.table[results.table["figure"] == layout["name"]]
    panels = [p for p in layout["panels"] if (here["panel"] == p["name"]).any()]
    if not panels:
        return None
    run = set(here["method"])
    styles = style_of({**layout, "lines": [li for li in layout["lines"] if li["name"] in run]})
    across = len(panels) if len(panels) <= IN_A_ROW else 2
    down = -(-len(panels) // across)
    width = {1: 8.2, 2: 6.2}.get(across, 4.2)
    figure = Figure(figsize=(width * across + 0.4, 3.9 * down + 0.6), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    axes = grid.ravel()[: len(panels)]
    for ax in grid.ravel()[len(panels) :]:
        ax.set_visible(False)
    labelled: dict[str, Any] = {}
    for panel, ax in zip(panels, axes, strict=True):
        for n, line in enumerate(layout["lines"]):
            curves = results.curves(layout["name"], panel["name"], line["name"])
            if curves.size == 0:
                continue
            style = styles[line["name"]]
            if line["kind"] == "session":
                drawn = _curve(ax, curves, style, offset=n)
            else:
                drawn = ax.axhline(100 * float(curves[:, 0].mean()), linewidth=1.1, **style)
            labelled.setdefault(label_of(results, layout, line), drawn)
        _dress(ax, panel["title"])
        # Bands of few trials may be wide; the curves decide how much is shown.
        top = max((np.max(drawn.get_ydata()) for drawn in ax.lines), default=1.0)
        ax.set_ylim(0, max(1.12 * float(top), 1.0))
        ax.set_xlabel("pairwise comparisons")
    for ax in grid[:, 0]:
        ax.set_ylabel("misclassification rate, %")
    columns = min(len(labelled), 3 if across == 1 else 4)
    figure.legend(
        list(labelled.values()), list(labelled), loc="outside lower center", ncols=columns,
        frameon=False, fontsize=9,
    )  # fmt: skip
    return figure


def _curve(ax: Axes, curves: FloatArray, style: Mapping[str, Any], offset: int) -> Any:
    """Draw the mean and, of five trials or more, a 95% band; a cross where the time ran out."""
    got = int(answered(curves).min())
    shown = curves[:, : got + 1]
    steps = np.unique(np.linspace(0, got, min(got + 1, POINTS)).round().astype(int))
    mean = 100 * shown[:, steps].mean(axis=0)
    spacing = max(1, len(steps) // 8)
    drawn = ax.plot(
        steps, mean, linewidth=1.5, markersize=4.5, markevery=(offset * 3 % spacing, spacing),
        **style,
    )[0]  # fmt: skip
    if len(curves) >= ENOUGH:
        spread = 100 * shown[:, steps].std(axis=0, ddof=1) / np.sqrt(len(curves))
        half = student.ppf(0.975, len(curves) - 1) * spread
        ax.fill_between(
            steps, np.maximum(mean - half, 0), mean + half, color=style["color"], alpha=0.13,
            linewidth=0,
        )  # fmt: skip
    if got + 1 < curves.shape[1]:
        ax.plot(
            steps[-1], mean[-1], "x", color=style["color"], markersize=8, markeredgewidth=2,
            clip_on=False, zorder=5,
        )  # fmt: skip
    return drawn


def _singles(results: Results, layout: Layout) -> Figure | None:
    """Points wrong in each trial by itself: the last one or two show, which a mean hides."""
    wanted = [line for line in layout["lines"] if line["name"] in layout["singles"]]
    here = results.table[results.table["figure"] == layout["name"]]
    run = set(zip(here["panel"], here["method"], strict=True))
    panels = [p for p in layout["panels"] if any((p["name"], w["name"]) in run for w in wanted)]
    if not panels:
        return None
    styles = style_of(layout)
    figure = Figure(
        figsize=(6.2 * len(wanted) + 0.4, 2.7 * len(panels) + 0.4), layout="constrained"
    )
    grid = figure.subplots(len(panels), len(wanted), squeeze=False)
    for panel, axes in zip(panels, grid, strict=True):
        for line, ax in zip(wanted, axes, strict=True):
            trials = results.select(layout["name"], panel["name"], line["name"]).head(SHOWN)
            colour = styles[line["name"]]["color"]
            ends = []
            for curve, n in zip(trials["error"], trials["n"], strict=True):
                wrong = np.asarray(curve) * n
                ax.plot(wrong, color=colour, linewidth=0.7, alpha=0.45)
                if wrong.size and wrong.min() < 0.5:
                    ends.append(int(np.argmax(wrong < 0.5)))
            ax.plot(ends, np.zeros(len(ends)), "|", color="#000000", markersize=9)
            ax.set_yscale("symlog", linthresh=1.0)
            ax.set_ylim(-0.25, 300)
            ax.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
            ax.minorticks_off()
            name = line["label"] or line["name"]
            _dress(ax, f"{panel['title']}: {name}", from_zero=False)
            ax.set_xlim(0, panel["questions"])
        axes[0].set_ylabel("points wrong")
    for ax in grid[-1]:
        ax.set_xlabel("pairwise comparisons")
    return figure


def _time(results: Results, layout: Layout) -> Figure | None:
    figure = Figure(figsize=(7.2, 5.0), layout="constrained")
    ax = figure.subplots()
    styles = style_of(layout)
    for line in layout["lines"]:
        found = []
        for panel in layout["panels"]:
            trials = results.select(layout["name"], panel["name"], line["name"])
            waits = [float(np.mean(w)) for w in trials["ask_ms"] if len(w)]
            if waits:
                found.append((int(trials["n"].iloc[0]), waits))
        if not found:
            continue
        n = [size for size, _ in found]
        mid = [float(np.mean(waits)) for _, waits in found]
        low = [m - float(np.min(waits)) for m, (_, waits) in zip(mid, found, strict=True)]
        high = [float(np.max(waits)) - m for m, (_, waits) in zip(mid, found, strict=True)]
        style = dict(styles[line["name"]])
        label = label_of(results, layout, line)
        ax.errorbar(
            n, mid, yerr=[low, high], capsize=3, linewidth=1.5, markersize=5, label=label, **style
        )
    if not ax.lines:
        return None
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = sorted({int(x) for line in ax.lines for x in np.atleast_1d(line.get_xdata())})
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    _dress(ax, layout["title"], from_zero=False)
    ax.set_xlabel("points N")
    ax.set_ylabel("processor milliseconds per question, mean")
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    return figure


def _dress(ax: Axes, title: str, from_zero: bool = True) -> None:
    ax.set_title(title, fontsize=11, fontweight="bold", loc="left")
    if from_zero:
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
