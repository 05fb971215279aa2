"""Which question a person gets next: the prepared one, the last model's, or a second opinion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from superpac.errors import InputError
from superpac.strategies import Proposal, State
from superpac.web.asked import STRIP, Asked
from superpac.web.keeper import Keeper
from superpac.web.leases import Leases
from superpac.web.pagesession import PageSession
from superpac.web.seconds import choose_second
from superpac.web.standin import StandIn
from superpac.web.worker import Model

FEW = 5  # people for whom an answer waits at all: all others wait meanwhile
WAIT = 0.02  # seconds an answer waits for the new model before the last one stands in


class Chooser:
    """Finds questions.

    Parameters
    ----------
    session : PageSession
        The session.
    keeper : Keeper
        Where models come from.
    leases : Leases
        Questions that are out.
    stand_in : StandIn
        Chooses from the last model.
    overlap : float
        Share of second opinions.
    model, plan : callable
        The desk's newest model, and a call that says which models are needed.
    """

    def __init__(
        self,
        session: PageSession,
        keeper: Keeper,
        leases: Leases,
        stand_in: StandIn,
        overlap: float,
        model: Callable[[], Model | None],
        plan: Callable[[], None],
    ) -> None:
        self.session, self.keeper, self.leases = session, keeper, leases
        self._stand_in, self.overlap = stand_in, overlap
        self._model, self._plan = model, plan

    def choose(
        self, annotator: str, shape: str, item: int | None, other: int | None
    ) -> Asked | None:
        """Find the next question of a person; None when nothing is left.

        Parameters
        ----------
        annotator : str
            Who is asked.
        shape : {"pair", "strip"}
            How they want to be asked.
        item, other : int or None
            What they want to be asked about.

        Returns
        -------
        Asked or None
        """
        state = self.session.fold.state
        others = self.leases.others(annotator)
        if item is None and self.overlap > 0:
            second = choose_second(self.session, annotator, self.overlap, self.leases.pairs())
            if second is not None:
                i, j = second.body["i"], second.body["j"]
                reason = "Somebody else has answered this; how do you see it?"
                return Asked("second", i, (j,), self.session.seq, reason, first=second.seq)
        if item is not None and other is not None:
            evidence = self.session.model.evidence
            shut = item == other or state.put_off(item, other) or bool({item, other} & state.bad)
            if shut if evidence else not state.askable(item, other):
                raise InputError(
                    "This pair is settled by earlier answers, or was answered unsure; "
                    "take those back in History to ask it again."
                )
            found: Proposal | None = Proposal(item, other, "You asked to be asked about this.")
            fresh = True
        else:
            found, fresh = self._proposal(state, others, item, annotator)
        if found is None:
            return None
        numbers = {k: float(v) for k, v in found.numbers.items()}
        asked = Asked(
            "pair",
            found.i,
            (found.j,),
            self.session.seq,
            found.reason,
            numbers,
            stand_in=not fresh,
        )
        return self.reshape(asked, shape)

    def _proposal(
        self, state: State, others: frozenset[int], item: int | None, annotator: str
    ) -> tuple[Proposal | None, bool]:
        """Next pair and whether the model behind it is up to date."""
        model = self._model()
        if model is None:
            raise InputError("The first clustering is not ready yet; try again in a moment.")
        if item is None and (not others or self.session.model.evidence):
            self._plan()
            fresh = self.keeper.get(self.session.seq, WAIT if len(self.leases) <= FEW else 0.0)
            if others:
                return self._beside_others(state, model, fresh, others, annotator)
            if fresh is None and self._stand_in.propose(state, model) is None:
                # Only the real strategy may say that nothing is left.
                fresh = self.keeper.get(self.session.seq, 20.0)
            if fresh is not None:
                self._model()
                return fresh.proposal, True
        found = self._stand_in.propose(state, model, others, item)
        if found is None and item is None and others:
            raise InputError("Others are answering what is left; look again in a moment.")
        if found is not None and item is not None:
            found = replace(found, reason="You asked to be asked about this.")
        return found, model.key == self.session.seq

    def _beside_others(
        self,
        state: State,
        model: Model,
        fresh: Model | None,
        others: frozenset[int],
        annotator: str,
    ) -> tuple[Proposal | None, bool]:
        """Next pair while others are asked too: the strategy's, unless it is theirs to answer.

        An answer in doubt is better checked by somebody else than the one who gave it.
        """
        found = None if fresh is None else fresh.proposal
        free = found is not None and not {found.i, found.j} & others
        if free and found is not None and annotator not in found.not_by:
            self._model()
            return found, True
        other = self._stand_in.propose(state, model, others)
        if other is None and not free:
            raise InputError("Others are answering what is left; look again in a moment.")
        return other or found, model.key == self.session.seq

    def reshape(self, asked: Asked, shape: str) -> Asked:
        """Same question in the shape that is wanted, where it can be put that way."""
        pair = replace(asked, shape="pair", others=asked.others[:1])
        return self._as_strip(self.session.fold.state, pair) if shape == "strip" else pair

    def _as_strip(self, state: State, asked: Asked) -> Asked:
        model = self._model()
        if model is None or asked.numbers.get("again"):
            return asked
        near = self._stand_in.rivals(state, model, asked.item)
        members = [member for _, _, member in near]
        if asked.others[0] not in members:
            members.insert(0, asked.others[0])
        if len(members) < 2:
            return asked
        return replace(asked, shape="strip", others=tuple(members[:STRIP]))

    def single(self, asked: Asked) -> bool:
        """Whether the question can only be put as a pair."""
        model = self._model()
        return model is None or (
            asked.shape == "pair" and self._as_strip(self.session.fold.state, asked) is asked
        )

    def alive(self, asked: Asked) -> bool:
        """Whether a question is still worth an answer."""
        if asked.shape == "second":
            return asked.first not in self.session.fold.retracted
        return asked.alive(self.session.fold.state, self.session.model.evidence)
