"""Truthful answers to a strategy's questions, without a session."""

from __future__ import annotations

import numpy as np

from superpac.answers.links import Link
from superpac.answers.state import State
from superpac.strategies import Proposal, Strategy


def tell(state: State, i: int, j: int, answer: str, confirm: bool = False) -> None:
    confirm = confirm and answer == "same"
    state.hear(Link(state.n_answers + 1, i, j, answer, confirm=confirm))


def first(strategy: Strategy, state: State, avoid: frozenset[int] = frozenset()) -> Proposal | None:
    """Give the best question, None when nothing is left."""
    return next(iter(strategy.propose(state, 1, avoid)), None)


def drive(
    strategy: Strategy, y: np.ndarray, questions: int, state: State | None = None
) -> tuple[State, list[tuple[int, int]]]:
    """Give the state and the pairs asked; fails on a question whose answer is implied."""
    state = state or State(len(y))
    asked = []
    for _ in range(questions):
        question = first(strategy, state)
        if question is None:
            break
        i, j = question.i, question.j
        assert state.constraints.implied(i, j) is None
        tell(state, i, j, "same" if y[i] == y[j] else "different", question.confirm)
        asked.append((i, j))
    return state, asked


def prefix(state: State, cut: int, revision: int = 0) -> State:
    """Give the state after the first `cut` answers."""
    part = State.of(state.n, state.answers[:cut])
    part.revision = revision
    return part
