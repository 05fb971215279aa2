"""Where questions are given out and answers taken in: the page's core, without any HTTP."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.log import Log
from superpac.data import Dataset
from superpac.errors import ConflictError, InputError
from superpac.session.session import Receipt
from superpac.store import Store
from superpac.web.ahead import followers, job, what_next
from superpac.web.asked import STRIP, Asked, StaleError, figures, strip_pairs
from superpac.web.chooser import Chooser
from superpac.web.keeper import HUNG, Keeper, Preparing
from superpac.web.leases import Leases
from superpac.web.pagesession import PageSession
from superpac.web.standin import StandIn
from superpac.web.worker import Model


class Desk:
    """Hands out questions, takes answers in and keeps the model up to date.

    Parameters
    ----------
    data : Dataset
        The items.
    log : Log
        The answers.
    store : Store, optional
        Where the log is kept, for archives.
    shared : bool
        Whether other processes write to the log too (PostgreSQL): leases go through it then.
    overlap : float
        Share of questions that are second opinions on what others have answered.
    hang_after : float
        Passed on to the keeper.
    """

    def __init__(
        self,
        data: Dataset,
        log: Log,
        *,
        store: Store | None = None,
        shared: bool = False,
        overlap: float = 0.0,
        hang_after: float = HUNG,
    ) -> None:
        if not 0.0 <= overlap <= 1.0:
            raise InputError(f"The overlap must be a share from 0 to 1. Got {overlap!r} instead.")
        self.data, self.store, self.shared, self.overlap = data, store, shared, overlap
        self.session = PageSession(data, log)
        self.keeper = Keeper(data, self.session.spec, hang_after=hang_after)
        self._stand_in = StandIn(len(data))
        self._lock = threading.RLock()
        self._leases = Leases(log, shared)
        self._chooser = Chooser(
            self.session,
            self.keeper,
            self._leases,
            self._stand_in,
            overlap,
            self.model,
            lambda: self._plan(None),
        )
        self._implied: OrderedDict[str, tuple[Any, Receipt]] = OrderedDict()
        self._newest: Hashable = None

    def start(self) -> None:
        """Begin to compute."""
        self._plan(None)
        self.keeper.start()

    def stop(self) -> None:
        """Stop computing; the log stays as it is."""
        self.keeper.stop()

    @property
    def name(self) -> str:
        """What people call the session."""
        return self.session.log.info.name

    def status(self) -> Preparing:
        """How far the first computation is."""
        return self.keeper.status()

    def model(self) -> Model | None:
        """Newest model of a state that the session was really in."""
        newest = self.keeper.newest
        if newest is not None and newest.key != self._newest:
            with self._lock:
                self.session.take_model(newest)
                self._newest = newest.key
        return newest

    def settle(self, timeout: float = 20.0) -> bool:
        """Wait until the model follows from all the answers; False when that takes too long."""
        self._plan(None)
        ready = self.keeper.get(self.session.seq, timeout) is not None
        self.model()
        return ready

    def ask(
        self,
        annotator: str,
        shape: str = "pair",
        item: int | None = None,
        other: int | None = None,
    ) -> Asked | None:
        """Give a person their question: the same until they answer it or it has become idle.

        Parameters
        ----------
        annotator : str
            Who asks.
        shape : {"pair", "strip"}
            How they want to be asked.
        item, other : int, optional
            What they want to be asked about.

        Returns
        -------
        Asked or None
            None when nothing is left to ask.
        """
        with self._lock:
            if self.shared:
                self.session.refresh()
            held = self._leases.of(annotator)
            wanted = "strip" if shape == "strip" else "pair"
            if held is not None and item is None:
                fits = held.shape in (wanted, "second") or self._chooser.single(held)
                if self._chooser.alive(held) and fits and self._leases.take(annotator, held):
                    return held
            self._leases.release(annotator)
            if (
                held is not None
                and item is None
                and self._chooser.alive(held)
                and held.shape != "second"
            ):
                asked: Asked | None = self._chooser.reshape(held, wanted)
            else:
                asked = self._chooser.choose(annotator, wanted, item, other)
            for _ in range(20):
                if asked is None or self._leases.take(annotator, asked):
                    break
                asked = self._chooser.choose(annotator, wanted, None, None)
            self._plan(asked, annotator)
            return asked

    def current(self, annotator: str) -> Asked | None:
        """Question a person has before them; changes nothing."""
        with self._lock:
            held = self._leases.of(annotator)
            return held if held is not None and self._chooser.alive(held) else None

    def answer(
        self,
        annotator: str,
        pair: tuple[int, int],
        answer: str,
        *,
        seq: int,
        key: str,
        elapsed_ms: int | None = None,
    ) -> Receipt:
        """Record an answer to a pair.

        Parameters
        ----------
        annotator : str
            Who answers.
        pair : (int, int)
            The items.
        answer : {"same", "different", "unsure"}
            What they said.
        seq : int
            The question's number; refused with StaleError when the question has gone.
        key : str
            The client's key: the same key again gives the same receipt.
        elapsed_ms : int, optional
            How long it took.

        Returns
        -------
        Receipt
        """
        with self._lock:
            again = self._again(key, (pair, answer))
            if again is not None:
                return again
            asked = self._expect(annotator, pair[0], pair[1:], seq)
            if asked is not None and asked.shape == "second" and asked.first is not None:
                first = self.session.fold.event(asked.first)
                receipt = self.session.opine(
                    answer, first, annotator=annotator, key=key, elapsed_ms=elapsed_ms
                )
                self._leases.release(annotator)
                return receipt
            before = self.session.seq
            why = figures(self.model(), asked, pair)
            receipt = self._written(
                lambda: self.session.tell(
                    answer,
                    pair,
                    annotator=annotator,
                    key=key,
                    elapsed_ms=elapsed_ms,
                    why=why,
                )
            )
            if receipt.recorded:
                self._moved((before, answer, *pair))
            else:
                self._remember(key, (pair, answer), receipt)
            self._leases.release(annotator)
            return receipt

    def choose(
        self,
        annotator: str,
        item: int,
        options: tuple[int, ...],
        choice: int | None,
        *,
        seq: int,
        key: str,
        elapsed_ms: int | None = None,
    ) -> list[Receipt]:
        """Record which of the exemplars an item belongs to; None says none of them.

        It is logged as the pairs it answers, less those that follow from the others.
        """
        if len(set(options)) != len(options) or not 0 < len(options) <= STRIP:
            raise InputError(f"A strip holds 1 to {STRIP} different items; got {len(options)}.")
        if choice is not None and choice not in options:
            raise InputError(f"The choice must be one of the items offered; got {choice}.")
        with self._lock:
            before = self.session.known_key(f"{key}/0")
            if before is None:
                again = self._again(key, (item, options, choice))
                if again is not None:
                    return [again]
                self._expect(annotator, item, options, seq)
            told = strip_pairs(item, options, choice)
            old = self.session.seq
            receipts = self._written(
                lambda: self.session.tell_many(
                    told, annotator=annotator, key=key, elapsed_ms=elapsed_ms, asked=True
                )
            )
            if before is None:
                self._moved((old, "strip", item, choice))
                self._leases.release(annotator)
                if not receipts:
                    self._remember(key, (item, options, choice), Receipt(0, "", recorded=False))
            return receipts or [Receipt(0, "", recorded=False)]

    def skip(self, annotator: str, pair: tuple[int, int], *, seq: int, key: str) -> Receipt:
        """Postpone a pair."""
        with self._lock:
            event = self.session.known_key(key)
            if event is not None:
                return Receipt(event.seq, event.hash)
            asked = self._expect(annotator, pair[0], None, seq)
            if asked is not None and asked.shape == "second":
                self._leases.release(annotator)
                return Receipt(0, "", recorded=False)
            before = self.session.seq
            receipt = self._written(lambda: self.session.skip(pair, annotator=annotator, key=key))
            self._moved((before, "skip", *pair))
            self._leases.release(annotator)
            return receipt

    def act(self, annotator: str, act: Callable[[], Any]) -> Any:
        """Run something that changes the log and let the person's question be chosen anew."""
        with self._lock:
            if self.shared:
                self.session.refresh()
            result = self._written(act)
            held = self._leases.of(annotator)
            if held is not None and not self._chooser.alive(held):
                self._leases.release(annotator)
            self._plan(None)
            return result

    def drop(self, annotator: str) -> None:
        """Forget a person's question, so that the next one is chosen anew."""
        with self._lock:
            self._leases.release(annotator)

    def ahead(self, annotator: str) -> tuple[bool, list[int]]:
        """Whether what may follow the question is ready, and the items it would show."""
        with self._lock:
            asked = self.current(annotator)
            if asked is None:
                return True, []
            keys = [key for key, _, _ in what_next(self.session.seq, asked)]
            models = [self.keeper.get(key) for key in keys]
            shown = [m.proposal for m in models if m is not None and m.proposal is not None]
            items = [item for proposal in shown for item in (proposal.i, proposal.j)]
            newest = self.model()
            if newest is not None:
                near = self._stand_in.rivals(self.session.fold.state, newest, asked.item)
                items += [member for _, _, member in near[:3]]
        return None not in models, list(dict.fromkeys(items))

    def certain(self) -> NDArray[np.bool_]:
        """Whether answers have settled the group of an item."""
        model = self.model()
        with self._lock:
            if model is None:
                return np.zeros(len(self.data), dtype=bool)
            return self._stand_in.sets(self.session.fold.state, model).set_of >= 0

    def _expect(
        self, annotator: str, item: int, others: tuple[int, ...] | None, seq: int
    ) -> Asked | None:
        """Question that is being answered; StaleError when it is gone."""
        if self.shared:
            self.session.refresh()
        asked = self._leases.of(annotator)
        if asked is not None and (asked.seq, asked.item) == (seq, item):
            fits = others is None or asked.others == others
            if fits and self._chooser.alive(asked):
                return asked
        if asked is None and others is not None and len(others) == 1 and seq == self.session.seq:
            # Another tool may answer any pair, as long as it has seen all that is in the log.
            pair = (min(item, others[0]), max(item, others[0]))
            if pair not in self._leases.pairs():
                return None
        raise StaleError("This question is no longer the current one; here is the one that is.")

    # writing

    def _written(self, write: Callable[[], Any]) -> Any:
        """Write to the log; when another process was faster, look at its events and try again."""
        for _ in range(8):
            try:
                return write()
            except StaleError:
                raise
            except ConflictError:
                if not self.shared or not self.session.refresh():
                    raise
        return write()

    def _again(self, key: str, said: Any) -> Receipt | None:
        """Receipt that was given for this key before, if the same was said."""
        if key in self._implied:
            before, receipt = self._implied[key]
            if before != said:
                raise ConflictError("This key was used for another answer; draw a new one.")
            return receipt
        event = self.session.known_key(key)
        if event is None:
            return None
        if event.kind == "note":
            return Receipt(event.seq, event.hash)
        pair, answer = said
        return self.session.tell(answer, pair, annotator=event.annotator, key=key)

    def _remember(self, key: str, said: Any, receipt: Receipt) -> None:
        self._implied[key] = (said, receipt)
        while len(self._implied) > 10_000:
            self._implied.popitem(last=False)

    # computing ahead

    def _moved(self, followed: Hashable) -> None:
        """Something was answered: what was prepared for it is the model now."""
        self.keeper.rename(followed, self.session.seq)
        self._plan(None)

    def _plan(self, asked: Asked | None, annotator: str = "") -> None:
        wishes = [(self.session.seq, job(self.session, self.session.seq))]
        if asked is not None and asked.shape != "second" and len(self._leases) <= 1:
            wishes += followers(self.session, asked, annotator)
        self.keeper.want(wishes)
