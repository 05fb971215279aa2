"""Questions that people have before them: one pair, one person, for a while."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from superpac.answers.forms import BOARD, MOST, PAIR, STRIP, WALL
from superpac.answers.links import Pair, ordered
from superpac.answers.log import Log
from superpac.errors import ConflictError
from superpac.session.answer_book import AnswerBook

BEST = "best"  # a wish: the form that mends most per second of a person's time
LEASE = 120.0  # seconds a pair stays with a person who says nothing


class StaleError(ConflictError):
    """An answer to a question that is no longer the person's current one."""


@dataclass(frozen=True)
class OpenQuestion:
    """A question as one person has it before them.

    Attributes
    ----------
    shape : {"pair", "strip", "wall", "board", "second", "test"}
        Two items; one item against exemplars; items, or groups, beside one that stands for its
        group; a pair that somebody else has answered; a pair whose answer is known.
    item, other : int
        The item to be placed and what the strategy compares it with.
    seq : int
        The log's last event when it was asked.
    reason : str
        Why, in a sentence.
    numbers : dict
        The figures behind it.
    exemplars : tuple of int
        Clear members of the groups that the item may belong to, for a strip; what is shown on a
        wall or a board.
    first : int or None
        The first person's answer, for a second opinion.
    late : bool
        Whether the strategy ranked it before the last answers were taken in.
    confirm : bool
        Whether a "same" counts only once a second answer agrees.
    confirmed : frozenset of int
        The same for those that are shown on a board.
    wish : str
        The form that the person had asked for.
    """

    shape: str
    item: int
    other: int
    seq: int
    reason: str
    numbers: dict[str, float] = field(default_factory=dict)
    exemplars: tuple[int, ...] = ()
    first: int | None = None
    late: bool = False
    confirm: bool = False
    confirmed: frozenset[int] = frozenset()
    wish: str = PAIR

    @property
    def pair(self) -> tuple[int, int]:
        """The two items that the strategy asks about."""
        return self.item, self.other

    @property
    def others(self) -> tuple[int, ...]:
        """What the item is shown beside."""
        return self.exemplars if self.shape in MOST else (self.other,)

    @property
    def large(self) -> bool:
        """Whether it is a wall or a board."""
        return self.shape in (WALL, BOARD)

    @property
    def placing(self) -> frozenset[int]:
        """Items that an answer will place or join: nobody else is asked about them meanwhile."""
        if self.shape == WALL:
            return frozenset(self.others)
        return frozenset((self.item, *self.others) if self.shape == BOARD else (self.item,))

    def pairs(self) -> set[Pair]:
        """Pairs that it asks about, the smaller item first."""
        return {ordered(self.item, other) for other in self.others}

    def shaped(self, shape: str) -> OpenQuestion:
        """Same question in the shape that is wanted, where it can be put that way."""
        if self.shape == "second" or self.large or shape == BEST:
            return replace(self, wish=shape)
        choice = shape == STRIP and len(self.exemplars) > 1
        return replace(self, shape=STRIP if choice else PAIR, wish=shape)

    def serves(self, shape: str) -> bool:
        """Whether it may stay before a person who wants to be asked in a shape."""
        return self.wish == shape or {self.wish, shape} <= {PAIR, STRIP}

    def alive(self, book: AnswerBook) -> bool:
        """Whether it is still worth an answer: nobody has given it, and nothing implies it."""
        if self.shape == "second":
            return self.first not in book.history.retracted
        askable = [book.may_ask(self.item, other) for other in self.others]
        if self.large:  # what others have said of some of it is left out when it is answered
            return any(askable)
        if not all(askable):
            return False
        return not (book.weighs_answers and book.answered_since(self.pairs(), self.seq))


class OpenQuestions:
    """Who has which question.

    Parameters
    ----------
    log : Log
        The session's log.
    shared : bool
        Whether other processes give out questions of this log too; leases go through it then.
    ttl : float
        Seconds that a question stays with a person who says nothing.
    """

    def __init__(self, log: Log, shared: bool, ttl: float = LEASE) -> None:
        self._log, self._shared, self._ttl = log, shared, ttl
        self._held: dict[str, tuple[OpenQuestion, float]] = {}
        self._left: dict[str, Pair] = {}  # leases to be given back with the next one taken

    def __len__(self) -> int:
        return len(self._held)

    def of(self, annotator: str) -> OpenQuestion | None:
        """Question that a person has."""
        held = self._held.get(annotator)
        return None if held is None else held[0]

    def take(self, annotator: str, question: OpenQuestion) -> bool:
        """Give a question to a person, or prolong it; False if somebody else has the pair."""
        if self._shared:
            who, left = _lessee(annotator), self._left.pop(annotator, None)
            if not self._log.lease(question.pair, who, self._ttl, left):
                return False
        self._held[annotator] = (question, time.monotonic() + self._ttl)
        return True

    def release(self, annotator: str) -> None:
        """Take a person's question away; its lease ends with the next one, or when they leave."""
        held = self._held.pop(annotator, None)
        if held is not None and self._shared:
            self._left[annotator] = ordered(*held[0].pair)

    def leave(self, annotator: str) -> None:
        """Give back what a person holds who takes no other question now."""
        self.release(annotator)
        left = self._left.pop(annotator, None)
        if left is not None:
            self._log.release(left, _lessee(annotator))

    def items_of_others(self, annotator: str) -> frozenset[int]:
        """Items that other people are to place; what was held too long is dropped."""
        now = time.monotonic()
        items: set[int] = set()
        for name, (question, until) in list(self._held.items()):
            if until < now:
                del self._held[name]
            elif name != annotator:
                items |= question.placing
        if self._shared:
            here = {_lessee(name) for name in (*self._held, annotator)}
            for lease in self._log.leases():
                if lease.annotator not in here:  # which of the two is to be placed is not known
                    items |= {lease.i, lease.j}
        return frozenset(items)

    def pairs(self) -> set[Pair]:
        """Pairs that are before people now."""
        return {pair for question, _ in self._held.values() for pair in question.pairs()}


def _lessee(annotator: str) -> str:
    """Name under which the log keeps a lease: it takes no empty one."""
    return annotator or "-"
