"""The curve of the estimated error, kept with the answers, and what it says is left."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.session.error_curve import LEFT, ErrorPoint, error_curve, questions_left
from superpac.session.session import Session
from superpac.session.spec import Spec


def falling(highs: list[float]) -> list[ErrorPoint]:
    return [ErrorPoint(n, high / 2, high / 4, high) for n, high in enumerate(highs)]


@pytest.mark.parametrize("factor", [0.9, 0.93, 0.96])
def test_a_steady_fall_is_drawn_on(factor: float):
    curve = falling([0.5 * factor**n for n in range(30)])
    expected = np.log(0.001 / curve[-1].high) / np.log(factor)
    assert questions_left(curve, 0.001) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(
    "highs",
    [
        [0.5 * 0.9**n for n in range(11)],
        [0.3] * 40,
        [0.2 + 0.001 * n for n in range(40)],
        [*(0.5 * 0.9**n for n in range(20)), *([0.06 - 1e-5 * n for n in range(20)])],
        [],
    ],
    ids=["few", "level", "rising", "fell and stopped", "none"],
)
def test_nothing_is_said_where_the_curve_does_not_tell(highs: list[float]):
    assert questions_left(falling(highs), 0.01) is None


def test_the_curve_is_read_from_standing_answers():
    X = np.repeat(np.eye(2), 5, axis=0)
    session = Session.create(X, Spec(2, affinity="tsc:q=2", dim=1))
    for pair, kept in [((0, 1), [0.4, 0.2, 0.6]), ((2, 3), None), ((4, 5), [0.2, 0.1, 0.3])]:
        why = {} if kept is None else {LEFT: kept}
        session.record("same" if pair != (4, 5) else "different", pair, why=why, asked=True)
    assert error_curve(session.history) == [
        ErrorPoint(0, 0.4, 0.2, 0.6),
        ErrorPoint(2, 0.2, 0.1, 0.3),
    ]
    session.undo()
    assert error_curve(session.history) == [ErrorPoint(0, 0.4, 0.2, 0.6)]
