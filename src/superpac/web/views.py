"""What the page shows beside the question: clusters, one item, the map, history, progress."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.links import describe
from superpac.answers.reliability import Reliability
from superpac.answers.state import UNDOABLE
from superpac.errors import InputError
from superpac.session.exports import cluster_names
from superpac.session.suspects import find_suspects
from superpac.web.desk import Desk
from superpac.web.pagesession import SECOND, WITHDRAWN, withdrawn_opinions
from superpac.web.worker import Model

RECENT = 20  # placed items over which the clusters are judged
ENOUGH = 0.95  # share of them that were in the right cluster already: time to stop


def _model(desk: Desk) -> Model:
    model = desk.model()
    if model is None:
        raise InputError("The first clustering is not ready yet; try again in a moment.")
    return model


def _surest_first(
    items: NDArray[np.intp], model: Model, certain: NDArray[np.bool_]
) -> NDArray[np.intp]:
    return items[np.lexsort((items, -model.margins[items], ~certain[items]))]


def clusters(desk: Desk, limit: int) -> dict[str, Any]:
    """Every cluster, the largest first, with its items from surest to least sure.

    Parameters
    ----------
    desk : Desk
        The session.
    limit : int
        Items shown a cluster: the surest half and the least sure half.

    Returns
    -------
    dict
    """
    model = _model(desk)
    labels, certain = desk.session.labels(), desk.certain()
    names = cluster_names(desk.session, labels)
    bad = desk.session.fold.state.bad
    found = []
    for c in np.argsort(-np.bincount(labels), kind="stable"):
        members = np.array(
            [i for i in np.flatnonzero(labels == c) if int(i) not in bad], dtype=np.intp
        )
        if members.size == 0:
            continue
        order = _surest_first(members, model, certain)
        shown = (
            order if order.size <= limit else np.r_[order[: -(-limit // 2)], order[-(limit // 2) :]]
        )
        found.append(
            {
                "cluster": int(c),
                "name": names.get(int(c), ""),
                "size": int(members.size),
                "certain": int(certain[members].sum()),
                "items": [
                    {"item": int(i), "certain": bool(certain[i]), "sure": _sure(model, int(i))}
                    for i in shown
                ],
            }
        )
    return {
        "clusters": found,
        "set_aside": sorted(int(i) for i in bad),
        "seq": desk.session.seq,
        "fresh": model.key == desk.session.seq,
    }


def wall(desk: Desk, cluster: int, offset: int, limit: int) -> list[dict[str, Any]]:
    """Part of one cluster, surest first."""
    model = _model(desk)
    labels, certain = desk.session.labels(), desk.certain()
    bad = desk.session.fold.state.bad
    members = np.array(
        [i for i in np.flatnonzero(labels == cluster) if int(i) not in bad], dtype=np.intp
    )
    order = _surest_first(members, model, certain)[offset : offset + limit]
    return [
        {"item": int(i), "certain": bool(certain[i]), "sure": _sure(model, int(i))} for i in order
    ]


def _sure(model: Model, item: int) -> float:
    return round(float(np.clip(model.margins[item], 0.0, 1.0)), 4)


def item_view(desk: Desk, item: int) -> dict[str, Any]:
    """One item: its cluster, its nearest rivals, what answers say about it."""
    model = _model(desk)
    session = desk.session
    known = session.fold.state.constraints
    if not 0 <= item < len(desk.data):
        raise InputError(f"There is no item {item}; items are numbered 0 to {len(desk.data) - 1}.")
    labels, certain = session.labels(), desk.certain()
    names = cluster_names(session, labels)
    rivals = []
    own = int(labels[item])
    for c in np.unique(labels):
        members = np.flatnonzero((labels == c) & (np.arange(labels.size) != item))
        members = np.array([m for m in members if int(m) not in session.fold.state.bad], dtype=int)
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
                "askable": session.fold.state.askable(item, best),
                "own": int(c) == own,
            }
        )
    rivals.sort(key=lambda r: (not r["own"], r["distance"]))
    about = [e for e in session.fold.standing() if item in (e.body["i"], e.body["j"])]
    return {
        "item": item,
        "id": str(desk.data.ids[item]),
        "rows": desk.data.describe(item)[:60] if desk.data.kind == "table" else [],
        "cluster": own,
        "name": names.get(own, ""),
        "certain": bool(certain[item]),
        "set_aside": item in session.fold.state.bad,
        "sure": _sure(model, item),
        "rivals": rivals[:6],
        "answers": [history_line(desk, e.seq) for e in about[-20:]],
    }


def map_view(desk: Desk, limit: int = 20_000) -> dict[str, Any]:
    """Two coordinates an item in whole numbers from 0 to 1000, and its cluster."""
    basis = desk.keeper.basis
    if basis is None or basis.flat is None:
        raise InputError("The first clustering is not ready yet; try again in a moment.")
    _model(desk)
    flat = np.asarray(basis.flat, dtype=np.float64)
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    places = np.rint(1000 * (flat - low) / span).astype(int)
    labels, certain = desk.session.labels(), desk.certain()
    shown = np.arange(len(labels))
    if shown.size > limit:
        rng = np.random.default_rng(0)
        shown = np.sort(rng.choice(shown, limit, replace=False))
    return {
        "items": shown.tolist(),
        "x": places[shown, 0].tolist(),
        "y": places[shown, 1].tolist(),
        "cluster": labels[shown].tolist(),
        "certain": certain[shown].astype(int).tolist(),
        "names": cluster_names(desk.session, labels),
    }


def history_line(desk: Desk, seq: int) -> dict[str, Any]:
    """One event in words a person reads."""
    fold = desk.session.fold
    event = fold.event(seq)
    body = event.body
    kind = event.kind
    if kind == "note" and SECOND in body:
        kind = "second"
    elif kind == "note" and WITHDRAWN in body:
        kind = "withdrawn"
    items = [body[name] for name in ("i", "j", "item") if name in body]
    return {
        "seq": event.seq,
        "kind": kind,
        "items": items,
        "ids": [str(desk.data.ids[i]) for i in items],
        "answer": body.get("answer"),
        "of": body.get("seq", body.get(SECOND, body.get(WITHDRAWN))),
        "name": body.get("name"),
        "expected": (body.get("why") or {}).get("expected") if kind == "answer" else None,
        "annotator": event.annotator,
        "at": event.at,
        "elapsed_ms": event.elapsed_ms,
        "taken_back": event.seq in fold.retracted,
        "undoable": event.kind in UNDOABLE and event.seq not in fold.retracted,
    }


def history(desk: Desk, before: int | None, limit: int) -> dict[str, Any]:
    """Events from the newest to the oldest, a page at a time."""
    events = desk.session.fold.events
    end = len(events) if before is None else max(0, min(before - 1, len(events)))
    start = max(0, end - limit)
    withdrawn = withdrawn_opinions(list(events))
    lines = []
    for n in range(end, start, -1):
        line = history_line(desk, n)
        line["taken_back"] |= n in withdrawn
        lines.append(line)
    known = desk.session.fold.state.constraints
    return {
        "events": lines,
        "more": start > 0,
        "total": len(events),
        "conflicts": [{"seq": c.seq, "message": c.message} for c in known.conflicts[:50]],
    }


def suspects(desk: Desk) -> dict[str, Any]:
    """Answers that contradict each other or do not fit, each with what the items are called."""
    model = desk.model()
    found = find_suspects(desk.session, model.reliability if model else Reliability()).to_dict()
    links = [c[part] for c in found["contradictions"] for part in ("chain", "cut")]
    singles = [entry["answer"] for part in ("contradictions", "doubts") for entry in found[part]]
    for link in (*singles, *(one for several in links for one in several)):
        link["ids"] = [str(desk.data.ids[link[end]]) for end in ("i", "j")]
    return {**found, "seq": desk.session.seq}


def effect(desk: Desk, seqs: list[int]) -> str:
    """Say what taking events back or putting them back meant."""
    fold = desk.session.fold
    parts = []
    for seq in seqs:
        event = fold.event(seq)
        if event.kind != "answer":
            continue
        i, j = event.body["i"], event.body["j"]
        chain = fold.state.constraints.explain(i, j)
        ids = desk.data.ids
        if chain:
            parts.append(f"Still known: {describe(chain, [str(n) for n in ids])}.")
        else:
            parts.append(f"{ids[i]} and {ids[j]} may be asked again.")
    return " ".join(parts[:3])


def progress(desk: Desk) -> dict[str, Any]:
    """Figures that mean something to the person who answers.

    Of each answer the log keeps what the clusters said at the time. Over the last items placed
    this shows how often they are right already where they are least sure; it is the figure to
    stop by.

    Returns
    -------
    dict
        As :meth:`superpac.session.session.Session.progress`, and ``right``, ``recent``, ``curve``,
        ``questions_left``, ``minutes_left``.
    """
    figures = desk.session.progress()
    placed: list[tuple[bool, float]] = []
    right: dict[int, bool] = {}
    for event in desk.session.fold.standing():
        why = event.body.get("why") or {}
        expected, said = why.get("expected"), event.body["answer"]
        if said == "unsure" or expected not in ("same", "different"):
            continue
        item = event.body["i"]
        right[item] = right.get(item, True) and expected == said
        if said == "same":
            placed.append((right.pop(item), float(why.get("margin", 0.0))))
    recent = placed[-RECENT:]
    width = max(1, len(placed) // 60)
    running = []
    for n in range(len(placed), 0, -width):
        window = placed[max(0, n - RECENT) : n]
        running.append([n, round(sum(ok for ok, _ in window) / len(window), 4)])
    left = _questions_left(placed, figures["questions"])
    pace = figures["per_minute"]
    return {
        **figures,
        "annotators": len({e.annotator for e in desk.session.fold.standing()}),
        "placed": len(placed),
        "right": sum(ok for ok, _ in recent),
        "recent": len(recent),
        "curve": running[::-1],
        "questions_left": left,
        "minutes_left": None if left is None or not pace else round(left / pace, 1),
        "undo": bool(desk.session.fold.undoable()),
        "contradictions": len(desk.session.fold.state.constraints.conflicts),
    }


def _questions_left(placed: list[tuple[bool, float]], questions: int) -> int | None:
    """Questions until the clusters are right where they are least sure, if they go on improving.

    A line through how often they were right over the last items placed and over those before;
    None while there are too few items, or no improvement to go by.
    """
    if len(placed) < RECENT:
        return None
    now = sum(ok for ok, _ in placed[-RECENT:]) / RECENT
    if now >= ENOUGH:
        return 0
    before = placed[-3 * RECENT : -RECENT]
    if len(before) < RECENT:
        return None
    gain = (now - sum(ok for ok, _ in before) / len(before)) / ((len(before) + RECENT) / 2)
    if gain <= 1e-3:
        return None
    items = (ENOUGH - now) / gain
    return max(1, round(items * max(questions / len(placed), 1.0)))
