"""What the page shows beside the question: clusters, one item, the map, history, progress."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.acts import SECOND, WITHDRAWN
from superpac.answers.history import UNDOABLE
from superpac.answers.links import describe
from superpac.answers.reliability import Reliability
from superpac.data import Dataset
from superpac.errors import InputError, NotReadyError
from superpac.session.exports import cluster_names
from superpac.session.suspects import find_suspects
from superpac.web.second_opinions import withdrawn_opinions
from superpac.web.service import LabelService
from superpac.web.worker import Model

ROWS = 60  # of a table that are shown
LETTERS = 20_000  # of a text that are shown
BRIEF = 140  # letters of an item in a list


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
    }


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


def _surest_first(
    items: NDArray[np.intp], model: Model, certain: NDArray[np.bool_]
) -> NDArray[np.intp]:
    return items[np.lexsort((items, -model.margins[items], ~certain[items]))]


def clusters(service: LabelService, limit: int) -> dict[str, Any]:
    """Every cluster, the largest first, with its items from surest to least sure.

    Parameters
    ----------
    service : LabelService
        The session.
    limit : int
        Items shown per cluster: the surest half and the least sure half.

    Returns
    -------
    dict
    """
    model = _model(service)
    labels, certain = service.session.labels(), service.session.state.settled
    names = cluster_names(service.session, labels)
    bad = service.session.state.bad
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
        "seq": service.session.seq,
        "fresh": model.key == service.session.seq,
    }


def wall(service: LabelService, cluster: int, offset: int, limit: int) -> list[dict[str, Any]]:
    """Part of one cluster, surest first."""
    model = _model(service)
    labels, certain = service.session.labels(), service.session.state.settled
    bad = service.session.state.bad
    members = np.array(
        [i for i in np.flatnonzero(labels == cluster) if int(i) not in bad], dtype=np.intp
    )
    order = _surest_first(members, model, certain)[offset : offset + limit]
    return [
        {"item": int(i), "certain": bool(certain[i]), "sure": _sure(model, int(i))} for i in order
    ]


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
    labels, certain = session.labels(), service.session.state.settled
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


def map_view(service: LabelService, limit: int = 20_000) -> dict[str, Any]:
    """Two coordinates per item, in whole numbers from 0 to 1000, and its cluster."""
    basis = service.models.basis
    if basis is None:
        raise NotReadyError("The first clustering is not ready yet; try again in a moment.")
    _model(service)
    flat = basis.flat.astype(np.float64)
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    places = np.rint(1000 * (flat - low) / span).astype(int)
    labels, certain = service.session.labels(), service.session.state.settled
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
        "names": cluster_names(service.session, labels),
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
    items = [body[name] for name in ("i", "j", "item") if name in body]
    return {
        "seq": event.seq,
        "kind": kind,
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
    start = max(0, end - limit)
    withdrawn = withdrawn_opinions(list(events))
    lines = []
    for n in range(end, start, -1):
        line = history_line(service, n)
        line["taken_back"] |= n in withdrawn
        lines.append(line)
    known = service.session.state.constraints
    return {
        "events": lines,
        "more": start > 0,
        "total": len(events),
        "conflicts": [{"seq": c.seq, "message": c.message} for c in known.conflicts[:50]],
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
        if event.kind != "answer":
            continue
        i, j = event.body["i"], event.body["j"]
        chain = service.session.state.constraints.explain(i, j)
        ids = service.data.ids
        if chain:
            parts.append(f"Still known: {describe(chain, [str(n) for n in ids])}.")
        else:
            parts.append(f"{ids[i]} and {ids[j]} may be asked again.")
    return " ".join(parts[:3])


def progress(service: LabelService) -> dict[str, Any]:
    """Figures that mean something to the person who answers.

    Parameters
    ----------
    service : LabelService
        The session.

    Returns
    -------
    dict
        As :meth:`superpac.session.session.Session.progress`, and ``annotators``, ``undo`` (whether
        there is something to take back) and ``contradictions``.
    """
    service.model()
    session = service.session
    return {
        **session.progress(),
        "annotators": len({e.annotator for e in session.history.standing()}),
        "undo": bool(session.history.undoable()),
        "contradictions": len(session.state.constraints.conflicts),
    }
