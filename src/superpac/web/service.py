"""Where questions are given out and answers taken in: the page's core, without any HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from superpac.answers import acts
from superpac.answers.events import Draft
from superpac.answers.links import Link
from superpac.answers.log import Log
from superpac.data import Dataset
from superpac.errors import ConflictError, InputError, NotReadyError
from superpac.session.questions import NOT_RECORDED, Receipt
from superpac.store import Store
from superpac.strategies import Proposal
from superpac.web.model_cache import HUNG, ModelCache, Preparing
from superpac.web.open_questions import OpenQuestion, OpenQuestions, StaleError, strip_pairs
from superpac.web.page_session import PageSession
from superpac.web.second_opinions import choose_second, opine
from superpac.web.worker import STRIP, Job, Model

PATIENCE = 0.4  # seconds a person waits for the new model before the next-ranked question is asked
CHOSEN = 5.0  # seconds a person waits for a question about an item of their own choice
SETTLE = 6.0  # seconds that clusters are waited for: less than a server has when told to end
FEW = 5  # people for whom an answer waits at all: all others wait meanwhile
SPARE = 12  # questions ranked beyond those of the people: some seconds without a new model


@dataclass(frozen=True)
class Next:
    """What a person gets: a question, or none because nothing is left or it is not known yet."""

    question: OpenQuestion | None
    finished: bool = False


class LabelService:
    """Hands out questions, takes answers in and keeps the model up to date.

    Every question is one that the strategy proposed: the best after all the answers, or, while the
    model of the last answer is not ready, the next in rank of the model before.

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
        Passed on to the model cache.
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
        self.models = ModelCache(data, self.session.spec, hang_after=hang_after)
        self._lock = threading.RLock()
        self._open = OpenQuestions(log, shared)
        self._strips = False  # whether somebody wants groups to choose from

    def start(self) -> None:
        """Begin to compute."""
        self._plan()
        self.models.start()

    def stop(self) -> None:
        """Stop computing; the log stays as it is."""
        self.models.stop()

    @property
    def name(self) -> str:
        """What people call the session."""
        return self.session.log.info.name

    def status(self) -> Preparing:
        """How far the first computation is."""
        return self.models.status()

    @property
    def stopped(self) -> str:
        """Why nothing is computed any more, and what to do; empty while it is."""
        status = self.models.status()
        return status.message if status.phase in ("cancelled", "failed") else ""

    def model(self) -> Model | None:
        """Newest model of a state that the session was really in."""
        newest = self.models.newest
        if newest is not None and newest is not self.session.model:
            with self._lock:
                self.session.take_model(newest)
        return newest

    async def settle(self, timeout: float = SETTLE) -> bool:
        """Wait until the model follows from all the answers; False when that takes too long."""
        seq, end = self.session.seq, time.monotonic() + timeout
        if not self._follows(seq):
            self._plan()
        while not (ready := self._follows(seq)) and not self.stopped and time.monotonic() < end:
            await asyncio.sleep(0.05)
        return ready

    def _follows(self, seq: int) -> bool:
        """Whether the newest model has taken in the log up to an event."""
        newest = self.models.newest
        return newest is not None and isinstance(newest.key, int) and newest.key >= seq

    # questions

    def ask(
        self,
        annotator: str,
        shape: str = "pair",
        item: int | None = None,
        other: int | None = None,
    ) -> Next:
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
        Next
        """
        patience = PATIENCE if len(self._open) <= FEW else 0.0
        end = time.monotonic() + (patience if item is None else CHOSEN)
        with self._lock:
            first_strip = shape == "strip" and not self._strips
            if first_strip:  # from now on groups to choose from are worked out with every question
                self._strips = True
                self.models.forget()
            held = self._open.of(annotator)
            if held is not None:
                self._look()
            same = item is None and not first_strip
            if held is not None and same and held.alive(self.session):
                held = held.shaped(shape)
                if self._open.take(annotator, held):
                    return Next(held)
            self._open.release(annotator)
        for _ in range(20):
            with self._lock:
                left = end - time.monotonic()
                key, found = self._choose(annotator, item, other, late=left <= 0)
                if found is not None and found.question is not None:
                    question = found.question.shaped(shape)
                    if not self._open.take(annotator, question):
                        continue  # somebody asked through another server was faster
                    self._look()
                    if not question.alive(self.session):
                        # answered through another server before the pair was ours: a lease is no
                        # proof that nobody was asked before it
                        self._open.release(annotator)
                        continue
                    self._plan(question, annotator)
                    return Next(question)
                if found is not None:
                    if self._look():
                        continue  # what others wrote meanwhile may leave something to ask
                    self._open.leave(annotator)
                    return found
            # outside the lock: others go on meanwhile
            self.models.get(key, max(left, 0.0))
        self.drop(annotator)
        return Next(None)

    def _choose(
        self, annotator: str, item: int | None, other: int | None, *, late: bool
    ) -> tuple[Hashable, Next | None]:
        """Next question of a person, or the model to wait for; `late` takes what there is."""
        seq = self.session.seq
        if self.model() is None:
            raise NotReadyError("The first clustering is not ready yet; try again in a moment.")
        if item is not None and other is not None:
            return seq, Next(self._wanted(item, other))
        if item is not None:
            return self._about(item, late)
        if self.overlap > 0:
            second = choose_second(self.session, annotator, self.overlap, self._open.pairs())
            if second is not None:
                i, j = second.body["i"], second.body["j"]
                reason = "Somebody else has answered this; how do you see it?"
                return seq, Next(OpenQuestion("second", i, j, seq, reason, first=second.seq))
        others = self._open.items_of_others(annotator)
        model = self.models.get(seq)
        if model is not None:
            self.model()
            question = self._first(model, annotator, others)
            if question is not None:
                return seq, Next(question)
            if not others:
                return seq, Next(None, finished=True)
            return self._beside(annotator, others, late)
        self._plan()
        if not late:
            return seq, None
        newest = self.models.newest
        return seq, Next(None if newest is None else self._first(newest, annotator, others))

    def _first(self, model: Model, annotator: str, others: frozenset[int]) -> OpenQuestion | None:
        """Best question of a model that is still worth an answer and nobody else has.

        An answer in doubt is better checked by somebody else than the one who gave it, if somebody
        else is there.
        """
        usable = []
        for rank, one in enumerate(model.questions):
            question = self._opened(model, rank, one)
            if not {one.i, one.j} & others and question.alive(self.session):
                usable.append((bool(others) and annotator in one.not_by, rank, question))
        return min(usable)[2] if usable else None

    def _opened(self, model: Model, rank: int, one: Proposal) -> OpenQuestion:
        """A proposal as a person gets it."""
        late = isinstance(model.key, int) and model.key != self.session.seq
        return OpenQuestion(
            "pair",
            one.i,
            one.j,
            # a late question is idle once its pair was answered after the model was made
            model.key if late else self.session.seq,
            one.reason,
            {name: float(value) for name, value in one.numbers.items()},
            model.exemplars[rank] if rank < len(model.exemplars) else (),
            late=late,
            confirm=one.confirm,
        )

    def _beside(
        self, annotator: str, others: frozenset[int], late: bool
    ) -> tuple[Hashable, Next | None]:
        """Question while others have all that was ranked: more are ranked, without their items."""
        key = (self.session.seq, "beside", others)
        model = self.models.get(key)
        if model is None:
            self._wish(self._job(key, avoid=others))
            return key, Next(None) if late else None
        question = self._first(model, annotator, others)
        if question is None:
            raise NotReadyError("Others are answering what is left; look again in a moment.")
        return key, Next(question)

    def _about(self, item: int, late: bool) -> tuple[Hashable, Next | None]:
        """Question about an item that a person chose."""
        key = (self.session.seq, "about", item)
        model = self.models.get(key)
        if model is None:
            if late:
                raise NotReadyError("This takes longer than usual; try again in a moment.")
            self._wish(self._job(key, item=item))
            return key, None
        if not model.questions:
            raise InputError("Nothing is left to ask about this item.")
        return key, Next(self._opened(model, 0, model.questions[0]))

    def _wanted(self, item: int, other: int) -> OpenQuestion:
        """The pair that a person chose."""
        if not self.session.may_ask(item, other):
            raise InputError(
                "This pair is settled by earlier answers, or was answered unsure; "
                "take those back in History to ask it again."
            )
        reason = "You asked to be asked about this."
        return OpenQuestion("pair", item, other, self.session.seq, reason)

    def current(self, annotator: str) -> OpenQuestion | None:
        """Question a person has before them; changes nothing."""
        with self._lock:
            held = self._open.of(annotator)
            return held if held is not None and held.alive(self.session) else None

    def drop(self, annotator: str) -> None:
        """Forget a person's question, so that the next one is chosen anew."""
        with self._lock:
            self._open.leave(annotator)

    # answers

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
            done = self._done_before(key, acts.answered(*pair, answer), annotator)
            if done is not None:
                return done[0]
            asked = self._expect(annotator, pair[0], pair[1:], seq)
            who: dict[str, Any] = {"annotator": annotator, "key": key, "elapsed_ms": elapsed_ms}
            if asked is not None and asked.first is not None:
                first = self.session.history.event(asked.first)
                receipt: Receipt = self._written(lambda: opine(self.session, answer, first, **who))
                self._open.release(annotator)
                return receipt
            before = self.session.seq
            why = self._why(asked, pair)
            confirm = asked is not None and asked.confirm
            receipt = self._written(
                lambda: self.session.record(
                    answer, pair, why=why, asked=True, confirm=confirm, **who
                )
            )
            if receipt.recorded:
                self._moved((before, answer, *pair))
            self._open.release(annotator)
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
        told = strip_pairs(item, options, choice)
        with self._lock:
            done = self._done_before(key, acts.told(told), annotator)
            if done is not None:
                return done
            self._expect(annotator, item, options, seq)
            old = self.session.seq
            receipts: list[Receipt] = self._written(
                lambda: self.session.tell_many(
                    told, annotator=annotator, key=key, elapsed_ms=elapsed_ms, asked=True
                )
            )
            self._moved((old, "strip", item, choice))
            self._open.release(annotator)
            return receipts or [NOT_RECORDED]

    def skip(self, annotator: str, pair: tuple[int, int], *, seq: int, key: str) -> Receipt:
        """Postpone a pair."""
        body = {"i": pair[0], "j": pair[1]}
        said = acts.noted("skip", body)
        with self._lock:
            done = self._done_before(key, said, annotator)
            if done is not None:
                return done[0]
            asked = self._expect(annotator, pair[0], None, seq)
            second = asked is not None and asked.shape == "second"
            before = self.session.seq
            receipts = self._written(
                lambda: self.session.act(
                    said,
                    lambda: [] if second else [Draft("skip", body, annotator)],
                    annotator=annotator,
                    key=key,
                )
            )
            if receipts:
                self._moved((before, "skip", *pair))
            self._open.release(annotator)
            return receipts[0] if receipts else NOT_RECORDED

    def act(self, annotator: str, act: Callable[[], Any]) -> Any:
        """Run something that changes the log and let the person's question be chosen anew."""
        with self._lock:
            self._look()
            result = self._written(act)
            held = self._open.of(annotator)
            if held is not None and not held.alive(self.session):
                self._open.release(annotator)
            self._plan()
            return result

    def _expect(
        self, annotator: str, item: int, others: tuple[int, ...] | None, seq: int
    ) -> OpenQuestion | None:
        """Question that is being answered; StaleError when it is gone."""
        asked = self._open.of(annotator)
        if asked is not None and (asked.seq, asked.item) == (seq, item):
            fits = others is None or asked.others == others
            if fits and asked.alive(self.session):
                return asked
        if asked is None and others is not None and len(others) == 1 and seq == self.session.seq:
            # Another tool may answer any pair, as long as it has seen all that is in the log.
            pair = (min(item, others[0]), max(item, others[0]))
            if pair not in self._open.pairs():
                return None
        raise StaleError("This question is no longer the current one; here is the one that is.")

    def _why(self, asked: OpenQuestion | None, pair: tuple[int, int]) -> dict[str, Any]:
        """Figures kept with an answer: margin then, what the clusters said, whether it was late."""
        model = self.model()
        if model is None or max(pair) >= len(model.margins):  # the log refuses items there are not
            return {"expected": None}
        i, j = pair
        why: dict[str, Any] = {
            "margin": round(float(model.margins[i]), 6),
            "expected": "same" if model.shown[i] == model.shown[j] else "different",
        }
        if asked is not None and asked.late:
            why["late"] = True
        return why

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

    def _done_before(self, key: str, said: acts.Said, annotator: str) -> list[Receipt] | None:
        """Receipts that were given for this key before, if the same was said."""
        self._look()
        done = self.session.before(key, said, annotator)
        return [NOT_RECORDED] if done == [] else done

    def _look(self) -> bool:
        """See what other servers have written; True if they have."""
        return self.shared and self.session.refresh() > 0

    # computing, and computing ahead

    def ahead(self, annotator: str) -> tuple[bool, list[int]]:
        """Whether what may follow the question is ready, and the items it would show."""
        with self._lock:
            asked = self.current(annotator)
            if asked is None:
                return True, []
            models = [self.models.get(job.key) for job in self._followers(asked, annotator)]
        found = [model for model in models if model is not None]
        items = [item for m in found for one in m.questions[:1] for item in (one.i, one.j)]
        items += [item for m in found for item in (m.exemplars[0] if m.exemplars else ())]
        return len(found) == len(models), list(dict.fromkeys(items))

    def _moved(self, followed: Hashable) -> None:
        """Something was answered: what was prepared for it is the model now."""
        self.models.rename(followed, self.session.seq)
        self._plan()

    def _plan(self, asked: OpenQuestion | None = None, annotator: str = "") -> None:
        """Say what to compute: the state as it is, then those that the possible answers lead to."""
        wishes = [self._job(self.session.seq)]
        if asked is not None and len(self._open) <= 1:
            wishes += self._followers(asked, annotator)
        self.models.want(wishes)

    def _wish(self, job: Job) -> None:
        """Have one more thing computed right after the state as it is."""
        self.models.want([self._job(self.session.seq), job])

    def _followers(self, asked: OpenQuestion, annotator: str) -> list[Job]:
        """States that the possible answers lead to, the likeliest first."""
        session, seq, i = self.session, self.session.seq, asked.item
        if asked.shape == "second":
            return []
        if asked.shape == "strip":
            return [
                self._job(
                    (seq, "strip", i, choice),
                    told=session.news(
                        strip_pairs(i, asked.others, choice), asked=True, annotator=annotator
                    ),
                )
                for choice in (*asked.others[:4], None)
            ]
        jobs = []
        for answer in ("same", "different", "unsure"):
            confirm = asked.confirm and answer == "same"
            link = Link(seq + 1, i, asked.other, answer, annotator, confirm)
            jobs.append(self._job((seq, answer, *asked.pair), told=[link]))
        return [*jobs, self._job((seq, "skip", *asked.pair), skip=asked.pair)]

    def _job(
        self,
        key: Hashable,
        *,
        told: list[Link] | None = None,
        skip: tuple[int, int] | None = None,
        avoid: frozenset[int] = frozenset(),
        item: int | None = None,
    ) -> Job:
        """The state as it is now, with some answers told or a pair skipped on top."""
        state = self.session.state
        skipped = dict(state.skipped)
        if skip is not None:
            skipped[min(skip), max(skip)] = state.n_answers
        return Job(
            key,
            (*state.answers, *(told or ())),
            skipped,
            frozenset(state.bad),
            questions=SPARE + 2 * len(self._open),
            avoid=avoid,
            item=item,
            strips=self._strips,
        )
