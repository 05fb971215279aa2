"""Truthful answers to a strategy's questions, without a session."""

from __future__ import annotations

import numpy as np

from superpac.answers.constraints import Constraints
from superpac.answers.links import Link
from superpac.strategies import State, Strategy


def tell(state: State, i: int, j: int, answer: str) -> None:
    seq = state.n_answers + 1
    state.constraints.add(i, j, answer, seq)
    state.answers.append(Link(seq, i, j, answer))


def drive(
    strategy: Strategy, y: np.ndarray, questions: int, state: State | None = None
) -> tuple[State, list[tuple[int, int]]]:
    """Give the state and the pairs asked; fails on a question whose answer is implied."""
    state = state or State(Constraints(len(y)))
    asked = []
    for _ in range(questions):
        question = strategy.propose(state)
        if question is None:
            break
        assert state.constraints.implied(question.i, question.j) is None
        tell(
            state, question.i, question.j, "same" if y[question.i] == y[question.j] else "different"
        )
        asked.append((question.i, question.j))
    return state, asked


def prefix(state: State, cut: int, revision: int = 0) -> State:
    """Give the state after the first `cut` answers."""
    part = State(Constraints(state.constraints.n), revision=revision)
    for link in state.answers[:cut]:
        part.constraints.add(link.i, link.j, link.answer, link.seq)
        part.answers.append(link)
    return part
