"""What the page shows beside the question: clusters, one item, the map, history, progress."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.acts import SECOND, TESTED, WITHDRAWN, named
from superpac.answers.consistent_labels import tied
from superpac.answers.history import UNDOABLE
from superpac.answers.links import describe
from superpac.answers.reliability import Reliability
from superpac.data import Dataset
from superpac.errors import InputError
from superpac.session.error_curve import ErrorPoint, error_curve, questions_left
from superpac.session.exports import cluster_names
from superpac.session.progress import pace
from superpac.session.suspects import find_suspects
from superpac.web.group_views import newcomers
from superpac.web.second_opinions import withdrawn_opinions
from superpac.web.service import LabelService
from superpac.web.worker import Model

ROWS = 60  # of a table that are shown
LETTERS = 20_000  # of a text that are shown
BRIEF = 140  # letters of an item in a list
CURVE = 150  # points of the error's curve that are sent


def _model(service: LabelService) -> Model:
    """Newest model, or a sentence where there is none yet."""
    service.model()
    return service.session.current_model()


def card(data: Dataset, item: int) -> dict[str, Any]:
    """An item as it is shown: its name, and its values or words where it is no picture."""
    text = data.texts[item] if data.kind == "text" and data.texts is not None else ""
    return {
        "item": item,
        "id": str(data.ids[item]),
        "rows": data.describe(item)[:ROWS] if data.kind == "table" else [],
        "text": text if len(text) <= LETTERS else text[:LETTERS] + "…",
        "behind": data.cuts is not None and not data.cuts[item].whole,
    }


def scales(data: Dataset) -> list[tuple[float, float] | None]:
    """Smallest and largest number of each column that a table shows; None where it has words.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> scales(Dataset([[1.5, 2], [3, 2]], columns=("width", "height")))
    [(1.5, 3.0), (2.0, 2.0)]
    """
    if data.kind != "table":
        return []
    if data.rows is None:
        values = np.asarray(data.X if data.shown is None else data.shown, dtype=np.float64)
        return [_scale(column) for column in values.T[:ROWS]]
    return [_scale_of_cells(cells) for cells in list(zip(*data.rows, strict=True))[:ROWS]]


def _scale(values: NDArray[np.float64]) -> tuple[float, float] | None:
    """Smallest and largest of the values; None where there are none."""
    inside = values[np.isfinite(values)]
    return (float(inside.min()), float(inside.max())) if inside.size else None


def _scale_of_cells(cells: tuple[str, ...]) -> tuple[float, float] | None:
    """Smallest and largest of the numbers among cells; None where one is something else."""
    try:
        return _scale(np.array([float(cell) for cell in cells if cell.strip()]))
    except ValueError:
        return None


def brief(data: Dataset, item: int) -> str:
    """An item in a few words, for lists; empty where its picture says more.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> brief(Dataset([[1.5, 2]], columns=("width", "height")), 0)
    'width 1.5 · height 2'
    """
    if data.kind == "table":
        words = " · ".join(f"{name} {value}" for name, value in data.describe(item)[:8])
    else:
        words = " ".join(card(data, item)["text"].split())
    return words if len(words) <= BRIEF else words[: BRIEF - 1] + "…"


def _sure(model: Model, item: int) -> float:
    return round(float(np.clip(model.margins[item], 0.0, 1.0)), 4)


def item_view(service: LabelService, item: int) -> dict[str, Any]:
    """One item: its cluster, its nearest rivals, what answers say about it."""
    model = _model(service)
    session = service.session
    known = session.state.constraints
    if not 0 <= item < len(service.data):
        raise InputError(
            f"There is no item {item}; items are numbered 0 to {len(service.data) - 1}."
        )
    labels = session.labels()
    certain = tied(labels, known)
    names = cluster_names(session, labels)
    rivals = []
    own = int(labels[item])
    for c in np.unique(labels):
        members = np.flatnonzero((labels == c) & (np.arange(labels.size) != item))
        members = np.array([m for m in members if int(m) not in session.state.bad], dtype=int)
        if members.size == 0:
            continue
        # a member that can still be compared comes first, then the surest
        open_ = np.array([known.implied(item, int(m)) is None for m in members])
        settled = {known.implied(item, int(m)) for m in members[certain[members]]} - {None}
        order = np.lexsort((members, -model.margins[members], ~certain[members], ~open_))
        best = int(members[order[0]])
        rivals.append(
            {
                "cluster": int(c),
                "name": names.get(int(c), ""),
                "exemplar": best,
                "distance": round(model.distance(item, best), 4),
                "known": next(iter(settled)) if len(settled) == 1 else None,
                "askable": session.state.askable(item, best),
                "own": int(c) == own,
            }
        )
    rivals.sort(key=lambda r: (not r["own"], r["distance"]))
    about = [e for e in session.history.standing() if item in (e.body["i"], e.body["j"])]
    return {
        **card(service.data, item),
        "cluster": own,
        "name": names.get(own, ""),
        "certain": bool(certain[item]),
        "set_aside": item in session.state.bad,
        "sure": _sure(model, item),
        "rivals": rivals[:6],
        "answers": [history_line(service, e.seq) for e in about[-20:]],
    }


def history_line(service: LabelService, seq: int) -> dict[str, Any]:
    """One event in words a person reads."""
    retracted = service.session.history.retracted
    event = service.session.history.event(seq)
    body = event.body
    kind = event.kind
    if kind == "note" and SECOND in body:
        kind = "second"
    elif kind == "note" and WITHDRAWN in body:
        kind = "withdrawn"
    elif kind == "note" and TESTED in body:
        kind = "tested"
    items = [body[name] for name in ("i", "j", "item") if name in body]
    return {
        "seq": event.seq,
        "kind": kind,
        "act": named(event),
        "count": 1,
        "items": items,
        "ids": [str(service.data.ids[i]) for i in items],
        "answer": body.get("answer"),
        "of": body.get("seq", body.get(SECOND, body.get(WITHDRAWN))),
        "name": body.get("name"),
        "expected": (body.get("why") or {}).get("expected") if kind == "answer" else None,
        "annotator": event.annotator,
        "at": event.at,
        "elapsed_ms": event.elapsed_ms,
        "taken_back": event.seq in retracted,
        "undoable": event.kind in UNDOABLE and event.seq not in retracted,
    }


def history(service: LabelService, before: int | None, limit: int) -> dict[str, Any]:
    """Events from the newest to the oldest, a page at a time."""
    events = service.session.history.events
    end = len(events) if before is None else max(0, min(before - 1, len(events)))
    withdrawn = withdrawn_opinions(events)
    lines: list[dict[str, Any]] = []
    history, n = service.session.history, end
    while n > 0 and len(lines) < limit:
        seqs = history.whole_act(events[n - 1]) if named(events[n - 1]) else [n]
        line = history_line(service, seqs[0])
        line["taken_back"] |= n in withdrawn
        if len(seqs) > 1:
            line |= _of_act(service, seqs)
        lines.append(line)
        n = seqs[0] - 1
    start = n
    known = service.session.state.constraints
    return {
        "events": lines,
        "more": start > 0,
        "total": len(events),
        "conflicts": [{"seq": c.seq, "message": c.message} for c in known.conflicts[:50]],
    }


def _of_act(service: LabelService, seqs: list[int]) -> dict[str, Any]:
    """What a line of history says of an act that wrote many events."""
    history = service.session.history
    events = [history.event(seq) for seq in seqs]
    items = {i: None for e in events for i in (e.body.get("i"), e.body.get("j")) if i is not None}
    stands = any(history.stands(event) for event in events)
    shown = list(items)[:2]
    return {
        "items": shown,
        "ids": [str(service.data.ids[i]) for i in shown],
        "count": len(seqs),
        "taken_back": not stands,
        "undoable": stands,
    }


def suspects(service: LabelService) -> dict[str, Any]:
    """Answers that contradict each other or do not fit, each with what the items are called."""
    model = service.model()
    known = model.reliability if model else Reliability()
    found = find_suspects(service.session.state, known).to_dict()
    links = [c[part] for c in found["contradictions"] for part in ("chain", "cut")]
    singles = [entry["answer"] for part in ("contradictions", "doubts") for entry in found[part]]
    for link in (*found["disputes"], *singles, *(one for several in links for one in several)):
        link["ids"] = [str(service.data.ids[link[end]]) for end in ("i", "j")]
    return {**found, "seq": service.session.seq}


def effect(service: LabelService, seqs: list[int]) -> str:
    """Say what taking events back or putting them back meant."""
    parts = []
    for seq in seqs:
        event = service.session.history.event(seq)
        if event.kind != "answer" or named(event):  # an act has too many pairs to tell them
            continue
        i, j = event.body["i"], event.body["j"]
        chain = service.session.state.constraints.explain(i, j)
        ids = service.data.ids
        if chain:
            parts.append(f"Still known: {describe(chain, [str(n) for n in ids])}.")
        else:
            parts.append(f"{ids[i]} and {ids[j]} may be asked again.")
    return " ".join(parts[:3])


def goal_reached(service: LabelService) -> bool:
    """Whether the upper end of the estimate is at or below the goal, after all the answers."""
    model = service.model()
    left = model.error_left if model is not None and service.session.fresh else None
    return left is not None and left["high"] <= service.until


def progress(service: LabelService, annotator: str | None = None) -> dict[str, Any]:
    """Figures that mean something to the person who answers.

    Parameters
    ----------
    service : LabelService
        The session.
    annotator : str, optional
        Whose pace is wanted; everybody's by default.

    Returns
    -------
    dict
        As :meth:`superpac.session.session.Session.progress`, and ``annotators``, ``undo`` (whether
        there is something to take back), ``contradictions``, ``goal`` (share of wrong items at
        which the work is finished), ``reached`` (whether the upper end of the estimate is there),
        ``curve`` (the estimate after so many answers) and ``questions_left`` (None where the
        curve does not tell).
    """
    service.model()
    session = service.session
    found = session.progress()
    own = [e for e in session.history.standing() if annotator in (None, e.annotator)]
    curve, left = error_curve(session.history), found["error_left"]
    if left is not None and session.fresh:
        curve.append(ErrorPoint(found["questions"], **left))
    step = -(-len(curve) // CURVE) or 1
    return {
        **found,
        "per_minute": pace(own),
        "goal": service.until,
        "reached": goal_reached(service),
        "curve": [point.to_dict() for point in (*curve[:-1:step], *curve[-1:])],
        "questions_left": questions_left(curve, service.until),
        "annotators": len({e.annotator for e in session.history.standing()}),
        "undo": bool(session.history.undoable()),
        "contradictions": len(session.state.constraints.conflicts),
        "new": 0 if session.model is None else len(newcomers(service)),
    }
