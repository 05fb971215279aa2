"""Results made up for tests of what is concluded from them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from superpac.research.figure_specs import figure_names, load_figure
from superpac.research.results import Results, read_results, write_results


def falling(start: float, zero_at: int, questions: int) -> list[float]:
    """Error that falls on a line to 0."""
    steps = np.arange(questions + 1)
    return [float(v) for v in np.maximum(start * (1 - steps / zero_at), 0.0)]


def level(value: float, questions: int) -> list[float]:
    return [value] * (questions + 1)


def trials(
    figure: str, panel: str, method: str, curves: Iterable[list[float]], **facts: Any
) -> list[dict[str, Any]]:
    kind = method if method.startswith("oracle") or figure == "theory" else "session"
    rows = []
    for t, curve in enumerate(curves):
        row = {
            "key": f"{figure}/{panel}/{method}/{t}",
            "figure": figure,
            "panel": panel,
            "method": method,
            "trial": t,
            "kind": kind,
            "status": "done",
            "stopped": "budget",
            "questions": max(len(curve) - 1, 0),
            "error": curve,
            "ari": [1 - e for e in curve],
            "ask_ms": [2.0] * (len(curve) - 1),
            "seconds": 60.0,
            "cpu_seconds": 50.0,
            "machine": {"python": "3"},
            "n": 100,
            "revision": 1,
        }
        given = {k: v[t] if isinstance(v, list) else v for k, v in facts.items()}
        rows.append(row | given)
    return rows


def made(folder: Path, rows: list[dict[str, Any]], **meta: Any) -> Results:
    """Write rows to a Parquet file and read it back."""
    figures = [load_figure(name).to_dict() for name in figure_names()]
    told = {"figures": figures, "skipped": [], "commands": [], "quick": False, "date": "today"}
    return read_results(write_results(folder / "results.parquet", rows, {**told, **meta}))


def good(folder: Path) -> Results:
    """Results in which everything is as the paper says."""
    rng = np.random.default_rng(0)
    many, rows = "yale_mnist_many", []
    for panel, half, q in (("yale5", 100, 300), ("yale10", 300, 900), ("mnist5", 250, 600)):
        rows += trials(many, panel, "superpac", [falling(0.2, half + 3 * t, q) for t in range(6)])
        rows += trials(many, panel, "urasc-n", [falling(0.2, 2 * half + t, q) for t in range(6)])
        rows += trials(many, panel, "oracle-pca", [[0.02]] * 6)
        rows += trials(many, panel, "oracle-rpca", [[0.021]] * 6)
    noise = rng.normal(0, 0.005, 6)
    mine = [[max(0.35 - 0.0006 * q, 0.0) + n for q in range(1601)] for n in noise]
    mine = [[0.0 if e < 0.02 else e for e in curve] for curve in mine]
    rows += trials(many, "mnist10", "superpac", mine)
    theirs = [[max(0.35 - 0.0003 * q, 0.0) + n for q in range(1601)] for n in noise]
    theirs = [[0.0 if e < 0.02 else e for e in curve] for curve in theirs]
    rows += trials(many, "mnist10", "urasc-n", theirs)
    rows += trials("yaleFull", "yale38", "superpac", [falling(0.3, 1000, 3000)] * 2)
    rows += trials("yaleFull", "yale38", "urasc-n", [level(0.3, 3000)] * 2)
    rows += trials("yaleFull", "yale38", "random", [level(0.31, 3000)] * 2)
    flipping = falling(0.2, 300, 400) + [0.07, 0.0] * 50
    rows += trials("coil", "coil20s", "superpac", [flipping])
    rows += trials("coil", "coil20s", "superpac-s", [falling(0.2, 300, 500)])
    for panel in ("usps9", "usps15"):
        rows += trials("usps", panel, "superpac", [falling(0.4, 1800, 2000)])
    rows += trials("usps", "usps9", "urasc-n", [falling(0.4, 3000, 900)], stopped="time")
    rows += trials("sonar", "sonar", "superpac", [falling(0.4, 150 + t, 200) for t in range(8)])
    rows += trials("sonar", "sonar", "urasc-n", [falling(0.4, 150 - t, 200) for t in range(8)])
    for panel, k in (("yale5", 5), ("yale10", 10), ("yale38", 38)):
        met = [k * (k - 1) // 2 + t for t in range(4)]
        rows += trials("explore", panel, "superpac", [level(0.3, 5)] * 4, met_at=met)
    facts = {"holds": True, "settings": 9, "broken": 0, "telling": 5, "least_ordered": 0.9}
    for method in ("theorem", "corollary"):
        rows += trials("theory", "margins", method, [[]], facts=facts, ask_ms=[[]], questions=0)
    return made(folder, rows)
