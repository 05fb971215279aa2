"""How far a session is, in figures that mean something to the person who answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from superpac.answers.events import Event
from superpac.answers.history import History
from superpac.answers.state import counts

PACE_OF = 50  # last answers that the pace is taken from


def pace(events: list[Event]) -> float | None:
    """Answers per minute, from the times of the last ones; None without times.

    The middle time is taken, so that a break does not count.
    """
    took = [e.elapsed_ms for e in events if e.elapsed_ms][-PACE_OF:]
    return 60_000 / max(float(np.median(took)), 1.0) if took else None


def progress_of(history: History, n_clusters: int | None) -> dict[str, Any]:
    """Count what was asked, what followed for free and what is settled.

    Parameters
    ----------
    history : History
        What the log says.
    n_clusters : int or None
        Clusters asked for; None where that was left open.

    Returns
    -------
    dict
        ``questions`` answered, ``same``, ``different``, ``unsure``, ``implied`` (pairs known for
        free), ``groups`` met, ``clusters`` asked for, ``settled`` items whose group is known,
        ``items``, ``set_aside``, ``per_minute`` (None without times), ``late`` (answers to
        questions that were chosen before the answer just before them was taken in), ``seq``; and
        None for what only a model knows: ``clusters_sure``, ``error_left``.
    """
    state = history.state
    known = state.constraints
    touched = known.touched
    sizes = np.array([g.size for g in known.sets(touched)], dtype=np.int64)
    pairs = known.sets_apart(touched)
    same = int((sizes * (sizes - 1) // 2).sum())
    apart = int((sizes[pairs[:, 0]] * sizes[pairs[:, 1]]).sum()) if pairs.size else 0
    tally = counts(state.answers)
    return {
        "questions": state.n_answers,
        **tally,
        "implied": max(same + apart - tally["same"] - tally["different"], 0),
        "groups": int(sizes.size),
        "clusters": n_clusters,
        "settled": int(sizes[sizes > 1].sum()),
        "items": state.n,
        "set_aside": len(state.bad),
        "per_minute": pace(history.standing()),
        "late": sum(bool((e.body.get("why") or {}).get("late")) for e in history.standing()),
        "seq": history.seq,
        "clusters_sure": None,
        "error_left": None,
    }
