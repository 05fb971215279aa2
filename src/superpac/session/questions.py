"""What passes through a session's door: questions, receipts, and the facts of a new session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol
from uuid import uuid4

from superpac.answers.events import SessionInfo, canonical
from superpac.answers.log import Log, no_clock, timestamp
from superpac.session.known_items import noted
from superpac.session.spec import Spec

if TYPE_CHECKING:
    from superpac.data import Dataset
    from superpac.strategies.base import Proposal
    from superpac.strategies.forms import FormProposal

Labelling = Literal["answers", "model"]


class Store(Protocol):
    """Where a session's log is made."""

    def create(self, info: SessionInfo) -> Log:
        """Make a log for a new session."""
        ...


@dataclass(frozen=True)
class Question:
    """Two items to compare.

    Attributes
    ----------
    i, j : int
        The items; `i` is the one to be placed.
    seq : int
        The log's last event when it was asked; an answer may name it.
    reason : str
        Why this pair, in a sentence.
    numbers : mapping
        The figures behind it.
    confirm : bool
        Whether a "same" counts only once a second answer agrees.
    """

    i: int
    j: int
    seq: int
    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    confirm: bool = False

    @classmethod
    def of(cls, proposal: Proposal, seq: int) -> Question:
        """What a strategy proposes, at one end of the log."""
        numbers = dict(proposal.numbers)
        return cls(proposal.i, proposal.j, seq, proposal.reason, numbers, proposal.confirm)


@dataclass(frozen=True)
class FormQuestion:
    """A question that may show more than two items, and what it is expected to bring.

    Attributes
    ----------
    form : {"pair", "strip", "wall", "board"}
        How it is put; see :func:`superpac.answers.forms.pairs_answered`.
    item : int
        The item to be placed; on a wall and a board the one that stands for its group.
    options : tuple of int
        What it is shown beside.
    seq : int
        The log's last event when it was asked.
    reason : str
        Why, in a sentence.
    gain : float
        Items whose label it is expected to mend; 0 for what checks an earlier answer.
    seconds : float
        Of a person's time that it is expected to take.
    confirm : frozenset of int
        Options of which a "same" counts only once a second answer agrees.
    """

    form: str
    item: int
    options: tuple[int, ...]
    seq: int
    reason: str
    gain: float = 0.0
    seconds: float = 0.0
    confirm: frozenset[int] = frozenset()

    @classmethod
    def of(cls, made: FormProposal, seq: int) -> FormQuestion:
        """What was made of a strategy's question, at one end of the log."""
        return cls(
            made.form,
            made.item,
            made.options,
            seq,
            made.reason,
            made.gain,
            made.seconds,
            made.confirm,
        )


@dataclass(frozen=True)
class Receipt:
    """Proof that something is in the log.

    Attributes
    ----------
    seq : int
        Its number in the log; 0 when nothing was written because it was implied already.
    hash : str
        Its hash in the chain.
    recorded : bool
        Whether an event stands for it.
    """

    seq: int
    hash: str
    recorded: bool = True


NOT_RECORDED = Receipt(0, "", recorded=False)
"""Receipt for what needed no writing."""


def describe(
    data: Dataset,
    spec: Spec,
    *,
    name: str | None = None,
    source: str | dict[str, Any] = "",
    kept: bool = False,
) -> SessionInfo:
    """Give the facts of a new session; one that is not kept has an id and time that never vary."""
    plain = spec.settled(data).to_dict()
    identity = sha256(canonical([data.fingerprint, plain]).encode()).hexdigest()[:32]
    return SessionInfo(
        id=uuid4().hex if kept else identity,
        name=name or data.name,
        created_at=timestamp(datetime.now(UTC) if kept else no_clock()),
        fingerprint=data.fingerprint,
        n_items=len(data),
        source=noted(data, source),
        spec=plain,
    )
