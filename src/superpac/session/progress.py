"""How far a session is, in figures that mean something to the person who answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from superpac.answers.state import Fold, counts


def progress_of(fold: Fold, n_clusters: int) -> dict[str, Any]:
    """Count what was asked, what followed for free and what is settled.

    Parameters
    ----------
    fold : Fold
        What the log says.
    n_clusters : int
        Clusters asked for.

    Returns
    -------
    dict
        ``questions`` answered, ``same``, ``different``, ``unsure``, ``implied`` (pairs known for
        free), ``groups`` met, ``clusters`` asked for, ``settled`` items whose group is known,
        ``items``, ``set_aside``, ``per_minute`` (None without times), ``seq``.
    """
    state = fold.state
    known = state.constraints
    touched = known.touched
    sizes = np.array([g.size for g in known.sets(touched)], dtype=np.int64)
    pairs = known.sets_apart(touched)
    same = int((sizes * (sizes - 1) // 2).sum())
    apart = int((sizes[pairs[:, 0]] * sizes[pairs[:, 1]]).sum()) if pairs.size else 0
    tally = counts(state.answers)
    took = [e.elapsed_ms for e in fold.standing() if e.elapsed_ms][-50:]
    pace = 60_000 / max(float(np.mean(took)), 1.0) if took else None
    return {
        "questions": state.n_answers,
        **tally,
        "implied": max(same + apart - tally["same"] - tally["different"], 0),
        "groups": int(sizes.size),
        "clusters": n_clusters,
        "settled": int(sizes[sizes > 1].sum()),
        "items": fold.n,
        "set_aside": len(state.bad),
        "per_minute": pace,
        "seq": fold.seq,
    }
