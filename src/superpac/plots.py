"""Pictures of clusterings and of error curves. Drawn without any global matplotlib state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from superpac.errors import InputError
from superpac.system.atomic_files import stream_of, write_whole
from superpac.system.optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from superpac.data import Dataset

# Okabe & Ito's palette first: it can be told apart by most colour-blind people.
COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"),
    *("#56B4E9", "#B8A800", "#555555", "#7A3E9D", "#8C564B"),
)
TILE = 48
_LOOK: Mapping[str, Any] = {"dpi": 110, "bbox_inches": "tight", "facecolor": "white"}


def colour(k: int) -> str:
    """Colour of cluster number `k`; they repeat after ten."""
    return COLOURS[k % len(COLOURS)]


def check_format(path: str | Path) -> str:
    """Give the format that a picture's ending asks for, PNG without one; refuse an unknown one."""
    require("plots", "A picture")
    from matplotlib.backend_bases import FigureCanvasBase

    form = Path(path).suffix.lstrip(".").lower() or "png"
    known = FigureCanvasBase.get_supported_filetypes()
    if form not in known:
        raise InputError(f"{path}: pictures end in one of: {', '.join(sorted(known))}. Name it so.")
    return form


def _figure(width: float, height: float) -> Figure:
    """Make an empty figure without any global state."""
    require("plots", "A picture")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: str | Path, *, private: bool = True, **how: Any) -> Path:
    """Write a figure, making its folder.

    Parameters
    ----------
    figure : Figure
        What was drawn.
    path : path
        Where to; its ending decides the format, PNG without one.
    private : bool, default=True
        Whether only its owner may read it.
    **how
        Passed on to ``Figure.savefig``.

    Returns
    -------
    Path
    """
    form, content = check_format(path), BytesIO()
    figure.savefig(content, format=form, **how)
    named = Path(path).suffix or stream_of(path) is not None
    return write_whole(path if named else f"{path}.{form}", content.getvalue(), private=private)


def draw_clusters(
    path: str | Path,
    items: Dataset,
    clusters: NDArray,
    rows: NDArray,
    sureness: NDArray,
    *,
    title: str = "",
    per_cluster: int = 16,
    max_clusters: int = 20,
) -> Path:
    """Draw each cluster as a row of its surest items, beside a map of all items.

    Parameters
    ----------
    path : path
        Picture to write; its ending decides the format.
    items : Dataset
        The items.
    clusters : ndarray of shape (n,)
        Labels.
    rows : ndarray of shape (n, k)
        Spectral embedding with unit rows.
    sureness : ndarray of shape (n,)
        Margin of each item: which ones are shown first.
    title : str
        Headline.
    per_cluster, max_clusters : int
        Items per row, rows at most.

    Returns
    -------
    Path
    """
    shown = np.argsort(-np.bincount(clusters), kind="stable")[:max_clusters]
    figure = _figure(13, max(4.5, 0.52 * shown.size))
    wall, scatter = figure.subplots(1, 2, width_ratios=[1.7, 1])
    canvas = np.full((shown.size * TILE, per_cluster * TILE, 3), 255, dtype=np.uint8)
    for r, c in enumerate(shown):
        members = np.flatnonzero(clusters == c)
        best = members[np.argsort(-sureness[members], kind="stable")][:per_cluster]
        for s, item in enumerate(best):
            tile = items.draw(int(item)).convert("RGB").resize((TILE - 4, TILE - 4))
            top, left = r * TILE + 2, s * TILE + 2
            canvas[top : top + TILE - 4, left : left + TILE - 4] = np.asarray(tile)
    wall.imshow(canvas, interpolation="nearest")
    wall.set_xticks([])
    wall.set_yticks(TILE * (np.arange(shown.size) + 0.5))
    wall.set_yticklabels([f"{int((clusters == c).sum())} items" for c in shown])
    for label, c in zip(wall.get_yticklabels(), shown, strict=True):
        label.set_color(colour(int(c)))
        label.set_fontweight("bold")
    wall.tick_params(length=0)
    for side in wall.spines.values():
        side.set_visible(False)
    wall.set_title("surest items of each cluster", fontsize=10, loc="left")

    flat = flatten(rows)
    scatter.scatter(
        flat[:, 0], flat[:, 1], s=5, c=[colour(int(c)) for c in clusters], alpha=0.75, linewidths=0
    )
    scatter.set_axis_off()
    scatter.set_title("all items (spectral embedding)", fontsize=10, loc="left")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return save_figure(figure, path, **_LOOK)


def flatten(rows: NDArray) -> NDArray[np.float64]:
    """Two coordinates per point: the leading principal axes of the embedding rows."""
    centred = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    flat = centred @ axes[:2].T
    if flat.shape[1] < 2:
        flat = np.column_stack([flat, np.zeros(len(flat))])
    return flat


def draw_curves(
    path: str | Path,
    curves: Mapping[str, Sequence[NDArray]],
    *,
    title: str = "",
    lines: Mapping[str, float] | None = None,
) -> Path:
    """Draw error against questions, mean with a band from the least to the largest trial.

    Parameters
    ----------
    path : path
        Picture to write.
    curves : mapping of str to sequence of ndarray
        For each method its trials' errors after 0, 1, 2, ... questions.
    title : str
        Headline.
    lines : mapping of str to float, optional
        Constant errors to show as dashed lines, such as oracle PCA.

    Returns
    -------
    Path
    """
    figure = _figure(7, 4.2)
    axes = figure.subplots()
    for n, (name, trials) in enumerate(curves.items()):
        longest = max(len(t) for t in trials)
        table = np.stack([np.pad(t, (0, longest - len(t)), mode="edge") for t in trials])
        steps = np.arange(longest)
        axes.plot(steps, 100 * table.mean(axis=0), color=colour(n), label=name)
        if len(trials) > 1:
            low, high = 100 * table.min(axis=0), 100 * table.max(axis=0)
            axes.fill_between(steps, low, high, color=colour(n), alpha=0.15, linewidth=0)
    for name, value in (lines or {}).items():
        axes.axhline(100 * value, color="#555555", linestyle="--", linewidth=1, label=name)
    axes.set_xlabel("questions answered")
    axes.set_ylabel("misclassified, %")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    axes.set_title(title, loc="left", fontweight="bold")
    return save_figure(figure, path, **_LOOK)
