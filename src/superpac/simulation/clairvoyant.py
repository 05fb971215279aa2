"""A yardstick: the questions needed by somebody who knows every wrong point and its right set.

It looks at the truth, so it is no strategy and cannot be chosen as one; it only says how far below
a strategy's count any other way of asking could get on the same data with the same model. At each
step one wrong point is taken, the one whose correction tells most about other wrong points by the
affinity, and compared with a certain point of its own class: one question, answered "same".
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from superpac.answers.forms import Costs
from superpac.array_types import FloatArray, IntArray
from superpac.graph.spectral import normalized_affinity
from superpac.metrics import align_labels, clustering_error
from superpac.session.questions import Question
from superpac.session.session import Session
from superpac.simulation.loop import AnswerLoop, Run
from superpac.simulation.oracles import TruthOracle
from superpac.strategies import WEIGH_ANSWERS

STEPS = 3  # of the walk by which a correction tells about other points


def clairvoyant(session: Session, y: ArrayLike, questions: int) -> Run:
    """Correct a session's wrong points one by one, the most telling first.

    Parameters
    ----------
    session : Session
        Whose data, affinity and model are to be measured. It stays as it is: a new session without
        an answer is made from these.
    y : array-like of shape (n,)
        True classes.
    questions : int
        Budget.

    Returns
    -------
    Run
        As :func:`superpac.simulation.loop.simulate` gives it; `finished` means that no point
        was wrong. Greedy, so not a proven bound: a still luckier order may exist.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.session.spec import Spec
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, noise=0.4, seed=0)
    >>> spec = Spec(3, affinity="tsc:q=4", strategy="superpac-d", dim=2)
    >>> run = clairvoyant(Session.create(Dataset(X), spec), y, 60)
    >>> run.finished, float(run.error[-1])
    (True, 0.0)
    """
    truth = np.unique(np.asarray(y), return_inverse=True)[1].astype(np.intp)
    spec = session.spec
    if spec.strategy in WEIGH_ANSWERS:
        # who knows the truth need not be asked twice
        spec = replace(spec, options={**spec.options, "doubt": False})
    fresh = Session.create(session.data, spec, affinity=session.problem.affinity)
    walk = normalized_affinity(fresh.problem.affinity)
    begun = time.perf_counter()
    labels = fresh.labels("model")
    errors = [clustering_error(truth, labels)]
    waits: list[float] = []
    told: set[tuple[int, int]] = set()

    def correct_next() -> Question | None:
        pair = _correction(fresh, truth, labels, walk, told) if errors[-1] > 0 else None
        return None if pair is None else Question(*pair, fresh.seq, "")

    for step in AnswerLoop(fresh, TruthOracle(truth), questions, choose=correct_next):
        i, j = step.question.i, step.question.j
        told.add((min(i, j), max(i, j)))
        labels = fresh.labels("model")
        waits.append(1e3 * (time.perf_counter() - step.told_at))
        errors.append(clustering_error(truth, labels))
    seconds = time.perf_counter() - begun
    return Run(
        np.array(errors),
        np.array(waits),
        seconds,
        errors[-1] == 0,
        Costs().pair * np.arange(len(errors), dtype=np.float64),
        {"seed": spec.seed},
    )


def _correction(
    session: Session,
    truth: IntArray,
    labels: IntArray,
    walk: FloatArray,
    told: set[tuple[int, int]],
) -> tuple[int, int] | None:
    """Choose the wrong point to correct and the point to compare it with."""
    named = align_labels(labels, truth)
    wrong = named != truth
    telling = np.zeros(truth.size)
    for c in np.unique(truth[wrong]):
        here = wrong & (truth == c)
        step = here.astype(np.float64)
        reach = step.copy()
        for _ in range(STEPS):
            step = walk @ step
            reach += step
        telling[here] = reach[here]
    known = session.state.constraints
    weight = np.asarray(walk.sum(axis=1)).ravel()
    certain = np.zeros(truth.size)
    for members in known.sets(known.touched):
        certain[members] = members.size
    for i in np.argsort(-telling, kind="stable")[: int(wrong.sum())].tolist():
        mates = np.flatnonzero((truth == truth[i]) & (np.arange(truth.size) != i))
        # a right point in a large certain set first, then by how well it is connected
        order = np.lexsort((-weight[mates], -certain[mates], wrong[mates]))
        rivals = np.flatnonzero((named == named[i]) & (truth != truth[i]))
        others = [*mates[order][:5], *rivals[np.argsort(-certain[rivals], kind="stable")][:3]]
        for j in (int(o) for o in others):
            if known.implied(i, j) is None and (min(i, j), max(i, j)) not in told:
                return i, j
    return None
