"""The report of a run: one HTML page with figures, figures' tables and the claims, from Parquet."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader

from superpac.research import statistics as st
from superpac.research.claims import Claim, judge
from superpac.research.figure_plots import SHOWN, draw_figure, label_of
from superpac.research.results import Results, read_results, stack
from superpac.system.atomic_files import write_whole

if TYPE_CHECKING:
    import pandas as pd

LEVELS = {"5%": 0.05, "1%": 0.01, "0%": 0.0}
ANSWERS = {
    "reproduced": "yes",
    "partly": "partly",
    "not": "no",
    "unclear": "untested",
    "not tested": "untested",
}


def write_report(parquet: str | Path, folder: str | Path | None = None) -> Path:
    """Draw every figure and write the page, from the Parquet file alone.

    Parameters
    ----------
    parquet : path
        Results of :func:`~superpac.research.runner.run_figures`.
    folder : path, optional
        Where to write; beside the Parquet file by default.

    Returns
    -------
    Path
        ``report.html``; the figures are in ``figures/`` beside it and inside the page, claims and
        figures once more in ``claims.md`` and ``figures.md``, for readers of Markdown.
    """
    source = Path(parquet)
    root = Path(folder) if folder is not None else source.parent
    results = read_results(source)
    figures = [_section(results, layout, root) for layout in _in_order(results)]
    claims = judge(results)
    pages = Environment(
        loader=PackageLoader("superpac.research"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = pages.get_template("report.html").render(
        claims=[_claim(claim) for claim in claims],
        counts=_counts(claims),
        figures=figures,
        meta=results.meta,
        machines=_machines(results.table),
        trials=len(results.table),
        failed=_failed(results.table),
        hours=results.table["cpu_seconds"].sum() / 3600,
        costs=costs(results),
    )
    told = f"Of the paper's ten claims: **{_counts(claims)}**.\n\n{claims_table(claims)}"
    write_whole(root / "claims.md", told.encode(), private=False)
    write_whole(root / "figures.md", figures_page(figures).encode(), private=False)
    return write_whole(root / "report.html", text.encode(), private=False)


def claims_table(claims: Sequence[Claim]) -> str:
    """Write the claims as a Markdown table.

    Parameters
    ----------
    claims : sequence of Claim
        From :func:`~superpac.research.claims.judge`.

    Returns
    -------
    str

    Examples
    --------
    >>> from superpac.research.claims import Check
    >>> claim = Claim("C0", "It is so.", (Check("error", "5%", "4%", True),), ("Because.",))
    >>> print(claims_table([claim]).splitlines()[2])
    | C0 | It is so. | reproduced | error: 4%; the paper: 5%. |
    """
    rows = [
        "| claim | in short | verdict | what decides it |",
        "| --- | --- | --- | --- |",
    ]
    folded = []
    for claim in claims:
        cells = (claim.name, claim.title or claim.words, claim.verdict, _decided_by(claim))
        rows.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
        told = [
            f"- **{check.words}**: {check.what}. Paper: {check.paper}. Ours: {check.ours}."
            for check in claim.checks
        ]
        reasons = [f"- {reason}" for reason in claim.why]
        title = f"<details><summary>{claim.name}: {claim.verdict}</summary>"
        quoted = ["", f"> {claim.words}", ""]
        folded.append("\n".join([title, *quoted, *told, *reasons, "", "</details>"]))
    beliefs = [f"- {claim.name}: {claim.belief}" for claim in claims if claim.belief]
    if beliefs:
        rows += ["", "What we believe of those that are not reproduced, and what was tried:", ""]
        rows += beliefs
    rows += ["", "The paper's words and every check, with its bound and 95% interval:", "", *folded]
    return "\n".join([*rows, ""])


def figures_page(sections: Sequence[Mapping[str, Any]]) -> str:
    """Write the figures as a Markdown page: what there is, then picture, command and numbers.

    Parameters
    ----------
    sections : sequence of mapping
        One per figure, as the report has them.

    Returns
    -------
    str
    """
    lines = ["# The figures", "", *_contents_table(sections), ""]
    for section in sections:
        beyond = "" if section["paper"] else " (beyond the paper)"
        lines += [f"## {section['title']}{beyond}", ""]
        for name in section["files"]:
            lines += [f"![{section['title']}](figures/{name})", ""]
        lines += [
            section["caption"],
            "",
            f"`{section['command']}`: {section['counted']} trials, "
            f"{section['minutes']:.1f} processor minutes.",
            "",
        ]
        if section["rows"]:
            lines += ["<details><summary>Numbers</summary>", "", *_numbers_table(section["rows"])]
            lines += ["", "</details>", ""]
    return "\n".join(lines)


def _contents_table(sections: Sequence[Mapping[str, Any]]) -> list[str]:
    """Figures with their trials, and the lines that have none yet, as a Markdown table."""
    lines = ["| figure | trials | processor minutes | without any trial yet |"]
    lines.append("| --- | --- | --- | --- |")
    for section in sections:
        missing = "; ".join(section["missing"]).replace("|", "/")
        cells = (section["name"], section["counted"], f"{section['minutes']:.0f}", missing)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _numbers_table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Numbers of a figure as a Markdown table."""
    heads = ("data", "method", "trials", "start", "mean", "last", "questions", *LEVELS)
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for row in rows:
        if "only" in row:
            cells = [row["only"], *[""] * (len(heads) - 4)]
        else:
            cells = [row["start"], row["area"], row["last"], row["got"], *row["to"]]
        shown = [row["panel"], row["method"], str(row["trials"]), *cells]
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in shown)} |")
    return lines


def _decided_by(claim: Claim) -> str:
    """The check that tells most about a claim, in a sentence."""
    check = claim.deciding
    if check is None:
        return "No results."
    return f"{check.what}: {check.ours}; the paper: {check.paper}."


def _held(claim: Claim) -> str:
    """How many of a claim's checks hold, such as 2 of 3."""
    return f"{sum(check.holds is True for check in claim.checks)} of {len(claim.checks)}"


def costs(results: Results) -> list[dict[str, Any]]:
    """Processor time of each figure, and how many of its trials were stopped for time.

    Parameters
    ----------
    results : Results
        The run.

    Returns
    -------
    list of dict
        ``name``, ``trials``, ``counted`` (with how many there are to be, where some are missing),
        ``stopped`` and ``minutes``, in the order of the figures; an affinity that several figures
        share counts for the one that built it.
    """
    table = results.table
    found = []
    for layout in _in_order(results):
        rows = table[table["figure"] == layout["name"]]
        found.append(
            {
                "name": layout["name"],
                "trials": len(rows),
                "counted": _counted(results, layout, len(rows)),
                "stopped": int((rows["stopped"] == "time").sum()),
                "minutes": float(rows["cpu_seconds"].sum()) / 60,
            }
        )
    return found


def summary(results: Results, layout: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Numbers of one figure, a row for each line of each panel.

    Parameters
    ----------
    results : Results
        The run.
    layout : mapping
        One of ``results.meta["figures"]``.

    Returns
    -------
    list of dict
        Texts, ready to be shown.
    """
    rows = []
    for panel in layout["panels"]:
        for line in layout["lines"]:
            trials = results.select(layout["name"], panel["name"], line["name"])
            if trials.empty:
                continue
            row = {"panel": panel["title"], "method": label_of(results, layout, line)}
            rows.append(row | (_numbers(trials) if line["kind"] == "session" else _plain(trials)))
    return rows


def _numbers(trials: pd.DataFrame) -> dict[str, Any]:
    curves = stack(trials)
    got = int(st.answered(curves).min())
    waits = np.concatenate([np.asarray(w, dtype=float) for w in trials["ask_ms"]])
    met = np.where(trials["met_at"] < 0, np.inf, trials["met_at"]).astype(float)
    return {
        "trials": len(trials),
        "start": f"{100 * curves[:, 0].mean():.1f}%",
        "area": st.mean_of(st.area(curves, got)).text(),
        "last": f"{100 * np.mean(curves[:, got]):.1f}%",
        "got": f"{got:,}" + _stopped(trials),
        "to": [_short(st.median_of(st.questions_to(curves, level))) for level in LEVELS.values()],
        "met": _short(st.median_of(met)),
        "ms": f"{waits.mean():.1f} / {np.percentile(waits, 95):.1f}" if waits.size else "-",
        "affinity": f"{trials['affinity_seconds'].mean():.1f} s",
    }


def _stopped(trials: pd.DataFrame) -> str:
    cut = trials[trials["stopped"] == "time"]
    if cut.empty:
        return ""
    limit = f" after {cut['limit_s'].max():.0f} s" if cut["limit_s"].max() else ""
    return f" (stopped{limit})"


def _plain(trials: pd.DataFrame) -> dict[str, Any]:
    errors = np.array([e[0] for e in trials["error"] if len(e)])
    facts = trials.iloc[0]["facts"]
    text = st.mean_of(errors).text() if errors.size else _facts(facts)
    return {"trials": len(trials), "only": text}


def _facts(facts: Mapping[str, Any]) -> str:
    told = {k: f"{v:.3g}" if isinstance(v, float) else str(v) for k, v in facts.items()}
    return ", ".join(f"{k.replace('_', ' ')}: {v}" for k, v in told.items())


def _short(found: st.Interval) -> str:
    if np.isinf(found.value):
        return "never"
    low, high = found.low, found.high
    if np.isnan(low) or found.n == 1:
        return f"{found.value:.0f}"
    return f"{found.value:.0f} ({low:.0f} to {'never' if np.isinf(high) else f'{high:.0f}'})"


def _section(results: Results, layout: Mapping[str, Any], root: Path) -> dict[str, Any]:
    paths = draw_figure(results, layout, root / "figures")
    pictures = [
        "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()
        for path in paths
        if path.suffix == ".svg"
    ]
    here = results.table[results.table["figure"] == layout["name"]]
    caption = layout["caption"]
    if pictures and (here["stopped"] == "time").any():
        caption += " A cross: stopped by the time allowed."
    if len(pictures) > 1:
        caption += (
            f" Below: the first {SHOWN} trials one by one, in points wrong; a tick marks the first "
            "question after which none is."
        )
    left_out = [s for s in results.meta["skipped"] if s["figure"] == layout["name"]]
    return {
        **layout,
        "caption": caption,
        "pictures": pictures,
        "files": [path.name for path in paths if path.suffix == ".png"],
        "rows": summary(results, layout),
        "left_out": left_out,
        "command": f"superpac reproduce {layout['name']}",
        "minutes": float(here["cpu_seconds"].sum()) / 60,
        "counted": _counted(results, layout, len(here)),
        "missing": _missing(results, layout),
    }


def _missing(results: Results, layout: Mapping[str, Any]) -> list[str]:
    """Lines of each panel that have no trial, where a full run has some."""
    found = []
    for panel in layout["panels"]:
        without = [
            label_of(results, layout, line)
            for line in layout["lines"]
            if (not panel["lines"] or line["name"] in panel["lines"])
            and min(panel["trials"], line.get("trials") or panel["trials"])
            and results.select(layout["name"], panel["name"], line["name"]).empty
        ]
        found += [f"{panel['title']}: {', '.join(without)}"] if without else []
    return [] if results.meta["quick"] else found


def _counted(results: Results, layout: Mapping[str, Any], run: int) -> str:
    """Trials that were run and, where some of a full run are missing, how many it has."""
    planned = sum(
        min(panel["trials"], line.get("trials") or panel["trials"])
        for panel in layout["panels"]
        for line in layout["lines"]
        if not panel["lines"] or line["name"] in panel["lines"]
    )
    return f"{run:,}" if results.meta["quick"] or run >= planned else f"{run:,} of {planned:,}"


def _in_order(results: Results) -> list[Mapping[str, Any]]:
    return sorted(results.meta["figures"], key=lambda layout: (layout["order"], layout["name"]))


def _claim(claim: Claim) -> dict[str, Any]:
    marks = {True: "yes", False: "no", None: "untested"}
    return {
        "name": claim.name,
        "words": claim.words,
        "verdict": claim.verdict,
        "title": claim.title,
        "decided_by": _decided_by(claim),
        "belief": claim.belief,
        "held": _held(claim),
        "mark": ANSWERS[claim.verdict],
        "why": claim.why,
        "checks": [
            {**vars(check), "mark": marks[check.holds], "words": check.words}
            for check in claim.checks
        ],
    }


def _counts(claims: list[Claim]) -> str:
    found = [claim.verdict for claim in claims]
    return ", ".join(f"{found.count(name)} {name}" for name in ANSWERS if name in found)


def _machines(table: pd.DataFrame) -> list[dict[str, Any]]:
    kinds: dict[str, dict[str, Any]] = {}
    for facts in table["machine"]:
        text = ", ".join(f"{k} {v}" for k, v in facts.items())
        kinds.setdefault(text, {"text": text, "trials": 0})["trials"] += 1
    return list(kinds.values())


def _failed(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table[table["status"] == "failed"]
    return [
        {"what": f"{r.figure}/{r.panel}, {r.method}, trial {r.trial}", "why": r.why}
        for r in rows.itertuples()
    ]
