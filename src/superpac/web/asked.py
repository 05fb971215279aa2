"""A question as one person has it before them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from superpac.errors import ConflictError
from superpac.strategies import State
from superpac.web.worker import Model

STRIP = 9  # groups offered at once


class StaleError(ConflictError):
    """An answer to a question that is no longer the person's current one."""


@dataclass(frozen=True)
class Asked:
    """A question as one person has it before them.

    Attributes
    ----------
    shape : {"pair", "strip", "second"}
        Two items; one item against exemplars; a pair that somebody else has answered.
    item, others : int, tuple of int
        The item to be placed and what it is compared with.
    seq : int
        The log's last event when it was asked.
    reason : str
        Why, in a sentence.
    numbers : dict
        The figures behind it.
    first : int or None
        The first person's answer, for a second opinion.
    stand_in : bool
        Whether the model behind it is a few answers old.
    """

    shape: str
    item: int
    others: tuple[int, ...]
    seq: int
    reason: str
    numbers: dict[str, float] = field(default_factory=dict)
    first: int | None = None
    stand_in: bool = False

    def alive(self, state: State, evidence: bool = False) -> bool:
        """Whether it is still worth an answer.

        Where answers are evidence, what earlier ones imply may be asked again: a question is idle
        once somebody has answered it since.
        """
        if self.item in state.bad:
            return False
        if not evidence:
            return all(state.askable(self.item, other) for other in self.others)
        if state.bad & set(self.others) or any(state.put_off(*pair) for pair in self.pairs()):
            return False
        since = takewhile(lambda answer: answer.seq > self.seq, reversed(state.answers))
        return all((min(a.i, a.j), max(a.i, a.j)) not in self.pairs() for a in since)

    def pairs(self) -> set[tuple[int, int]]:
        """Pairs that it asks about, the smaller item first."""
        return {(min(self.item, o), max(self.item, o)) for o in self.others}


def strip_pairs(
    item: int, options: tuple[int, ...], choice: int | None
) -> list[tuple[int, int, str]]:
    """Pairs that a choice from a strip answers, as if they had been asked one by one.

    Examples
    --------
    >>> strip_pairs(7, (1, 2, 3), 2)
    [(7, 1, 'different'), (7, 2, 'same'), (7, 3, 'different')]
    >>> strip_pairs(7, (1, 2), None)
    [(7, 1, 'different'), (7, 2, 'different')]
    """
    return [(item, o, "same" if o == choice else "different") for o in options]


def figures(model: Model | None, asked: Asked | None, pair: tuple[int, int]) -> dict[str, Any]:
    """Figures kept with an answer: margin then, and what the clusters said."""
    if model is None:
        return {"expected": None}
    i, j = pair
    same = bool(model.shown[i] == model.shown[j])
    why: dict[str, Any] = {
        "margin": round(float(model.margins[i]), 6),
        "expected": "same" if same else "different",
    }
    if asked is not None and asked.stand_in:
        why["stand_in"] = True
    return why
