"""An answer that contradicts earlier ones, with the chain that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from superpac.answers.links import SAME, Link, describe

if TYPE_CHECKING:
    from superpac.answers.constraints import Constraints


class Conflict:
    """An answer that :meth:`Constraints.fold` left out because earlier ones imply the opposite.

    Attributes
    ----------
    seq, i, j, answer
        The answer as it was given.
    """

    def __init__(
        self, owner: Constraints, seq: int, i: int, j: int, answer: str, position: int
    ) -> None:
        self.seq, self.i, self.j, self.answer = seq, i, j, answer
        self._owner, self._position = owner, position
        self._chain: tuple[Link, ...] | None = None

    @property
    def chain(self) -> tuple[Link, ...]:
        """Shortest chain of earlier answers that implies the opposite."""
        if self._chain is None:
            crossings = 1 if self.answer == SAME else 0
            self._chain = self._owner._path(self.i, self.j, crossings, self._position)
        return self._chain

    @property
    def message(self) -> str:
        """The sentence a person is shown."""
        return f"{describe(self.chain, self._owner.names)}; you said {self.answer}"

    def _of(self, owner: Constraints) -> Conflict:
        return Conflict(owner, self.seq, self.i, self.j, self.answer, self._position)

    def __repr__(self) -> str:
        return f"Conflict(seq={self.seq}, i={self.i}, j={self.j}, answer={self.answer!r})"
