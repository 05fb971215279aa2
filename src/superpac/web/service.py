"""Where questions are given out and answers taken in: the page's core, without any HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from superpac.answers import acts
from superpac.answers.acts import TESTED
from superpac.answers.events import Draft
from superpac.answers.forms import BOARD, MOST, PAIR, STRIP, WALL, pairs_answered
from superpac.answers.links import Link, Pair, ordered
from superpac.answers.log import Log
from superpac.data import Dataset
from superpac.errors import ConflictError, InputError, NotReadyError
from superpac.session.error_curve import LEFT
from superpac.session.questions import NOT_RECORDED, Receipt
from superpac.store import Store
from superpac.strategies import Proposal
from superpac.strategies.forms import FormProposal
from superpac.web.entry_test import EntryTest
from superpac.web.model_cache import HUNG, ModelCache, Preparing
from superpac.web.open_questions import BEST, OpenQuestion, OpenQuestions, StaleError
from superpac.web.page_session import PageSession
from superpac.web.second_opinions import choose_second, opine
from superpac.web.worker import Job, Model

PATIENCE = 0.4  # seconds a person waits for the new model before the next-ranked question is asked
CHOSEN = 5.0  # seconds a person waits for a question about an item of their own choice
SETTLE = 6.0  # seconds that clusters are waited for: less than a server has when told to end
GOAL = 0.01  # share of items in a wrong cluster at which the work is finished
KEPT = 500  # answered questions that an undo brings back as they were asked
FEW = 5  # people for whom an answer waits at all: all others wait meanwhile
SPARE = 12  # questions ranked beyond those of the people: some seconds without a new model


WORDS = {"face": "Same person?", "speaker": "Same speaker?"}  # by the encoder that made vectors


def asked_of(data: Dataset) -> str:
    """What is asked of two items of a data set, in words.

    Examples
    --------
    >>> asked_of(Dataset([[1.0, 2.0]])), asked_of(Dataset([[1.0, 2.0]], features="face"))
    ('Same or different?', 'Same person?')
    """
    return WORDS.get(data.features, "Same or different?")


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
    until : float
        Share of items in a wrong cluster at which the work is finished.
    question : str
        What is asked of two items, in words; empty for the usual ones.
    test : EntryTest, optional
        What everybody is asked before their answers count.
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
        until: float = GOAL,
        question: str = "",
        test: EntryTest | None = None,
        hang_after: float = HUNG,
    ) -> None:
        if not 0.0 <= overlap <= 1.0:
            raise InputError(f"The overlap must be a share from 0 to 1. Got {overlap!r} instead.")
        self.data, self.store, self.shared, self.overlap = data, store, shared, overlap
        self.until, self.question = until, question or asked_of(data)
        self.session = PageSession(data, log)
        self.models = ModelCache(data, self.session.spec, hang_after=hang_after)
        self.test = test
        self._passed: set[str] = set()  # the test, which nobody has to take twice
        self._lock = threading.RLock()
        self._open = OpenQuestions(log, shared)
        self._answered: dict[Pair, OpenQuestion] = {}  # the oldest first
        self._wished: set[str] = set()  # forms that somebody has wanted

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
        shape : {"pair", "strip", "wall", "board", "best"}
            How they want to be asked; a pair where that cannot be.
        item, other : int, optional
            What they want to be asked about.

        Returns
        -------
        Next
        """
        testing = self._testing(annotator)
        if testing is not None:
            return Next(testing)
        patience = PATIENCE if len(self._open) <= FEW else 0.0
        end = time.monotonic() + (patience if item is None else CHOSEN)
        with self._lock:
            new = shape != PAIR and shape not in self._wished
            if new:  # from now on what this form needs is worked out with every question
                self._wished.add(shape)
                self.models.forget()
            held = self._open.of(annotator)
            if held is not None:
                self._look()
            same = item is None and not new
            if held is not None and same and held.serves(shape) and held.alive(self.session):
                held = held.shaped(shape)
                if self._open.take(annotator, held):
                    return Next(held)
            self._open.release(annotator)
        for _ in range(20):
            with self._lock:
                left = end - time.monotonic()
                key, found = self._choose(annotator, shape, item, other, late=left <= 0)
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

    # the test before the first answer

    def _testing(self, annotator: str) -> OpenQuestion | None:
        """Test pair that a person has before them; None where they are through, or none is."""
        if self.test is None or annotator in self._passed:
            return None
        with self._lock:
            self._look()
            standing = self.test.standing(self.session.events, annotator)
            if standing.passed:
                self._passed.add(annotator)
                return None
            number, of = standing.answered, len(self.test.pairs)
            reason = "A pair whose answer is known: your answers count once enough are right."
            figures = {"number": number + 1.0, "of": float(of)}
            seq = self.session.seq
            return OpenQuestion("test", *self.test.pair(number), seq, reason, figures)

    def _tested(
        self, annotator: str, pair: tuple[int, int], answer: str, key: str, asked: OpenQuestion
    ) -> Receipt:
        """Note what a person says of a test pair."""
        if asked.pair != pair:
            raise StaleError("This question is no longer the current one; here is the one that is.")
        body = self.test.note(int(asked.numbers["number"]) - 1, answer)  # type: ignore[union-attr]
        receipt: Receipt = self._written(
            lambda: self.session.note("note", body, annotator=annotator, key=key)
        )
        return receipt

    def told_of_test(self, annotator: str, receipt: Receipt) -> str:
        """What a person is told whose answer has ended a test; empty for all others."""
        if self.test is None or not receipt.seq:
            return ""
        if TESTED not in self.session.history.event(receipt.seq).body:
            return ""
        standing = self.test.standing(self.session.events[: receipt.seq], annotator)
        return "" if standing.answered else self.test.told(standing)

    def _check_tested(self, annotator: str) -> None:
        """Refuse acts of somebody whose answers do not count yet."""
        if self._testing(annotator) is not None:
            raise InputError(
                "There is a short test first: answer its pairs under Ask, then what you do counts."
            )

    def _choose(
        self, annotator: str, shape: str, item: int | None, other: int | None, *, late: bool
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
            question = self._first(model, annotator, others, shape)
            if question is not None:
                return seq, Next(question)
            if not others:
                return seq, Next(None, finished=True)
            return self._beside(annotator, others, late, shape)
        self._plan()
        if not late:
            return seq, None
        newest = self.models.newest
        if newest is None:
            return seq, Next(None)
        return seq, Next(self._first(newest, annotator, others, shape))

    def _first(
        self, model: Model, annotator: str, others: frozenset[int], shape: str
    ) -> OpenQuestion | None:
        """Best question of a model that is still worth an answer and nobody else has.

        An answer in doubt is better checked by somebody else than the one who gave it, if somebody
        else is there.
        """
        large = self._large(model, others, shape)
        if large is not None:
            return large
        usable = []
        for rank, one in enumerate(model.questions):
            question = self._opened(model, rank, one)
            if not {one.i, one.j} & others and question.alive(self.session):
                usable.append((bool(others) and annotator in one.not_by, rank, question))
        return min(usable)[2] if usable else None

    def _large(self, model: Model, others: frozenset[int], shape: str) -> OpenQuestion | None:
        """Wall or board that a person gets: of the wanted form, or where it is the best form."""
        if shape not in (WALL, BOARD, BEST):
            return None
        wanted = model.forms[: model.due] if shape == BEST else model.forms
        late = isinstance(model.key, int) and model.key != self.session.seq
        for made in wanted:
            if shape == BEST and made.form in (PAIR, STRIP):
                return None if made.form == PAIR else self._made(model, made, late, others)
            if made.form == shape or shape == BEST:
                question = self._made(model, made, late, others)
                if question is not None:
                    return question
        return None

    def _made(
        self, model: Model, made: FormProposal, late: bool, others: frozenset[int]
    ) -> OpenQuestion | None:
        """A question in a form as a person gets it; None where others have a part of it."""
        question = OpenQuestion(
            made.form,
            made.item,
            made.question.j if made.form == STRIP else made.options[0],
            model.key if late else self.session.seq,
            made.reason,
            {"gain": made.gain, "seconds": made.seconds},
            made.options,
            late=late,
            confirmed=made.confirm,
        )
        free = not question.placing & others and question.alive(self.session)
        return question if free else None

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
        self, annotator: str, others: frozenset[int], late: bool, shape: str
    ) -> tuple[Hashable, Next | None]:
        """Question while others have all that was ranked: more are ranked, without their items."""
        key = (self.session.seq, "beside", others)
        model = self.models.get(key)
        if model is None:
            self._wish(self._job(key, avoid=others))
            return key, Next(None) if late else None
        question = self._first(model, annotator, others, shape)
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

    def ask_again(self, annotator: str, pair: tuple[int, int], shape: str) -> None:
        """Give a person the question back that they answered or skipped, as it was asked."""
        with self._lock:
            if not self.session.may_ask(*pair):
                return
            reason = "You took back what you said about this."
            seq = self.session.seq
            before = self._answered.get(ordered(*pair), OpenQuestion("pair", *pair, seq, reason))
            question = replace(before, seq=seq, late=False).shaped(shape)
            self._open.release(annotator)
            if self._open.take(annotator, question):
                self._plan(question, annotator)

    def _let_go(self, annotator: str, asked: OpenQuestion | None) -> None:
        """A question was answered or skipped: keep it for a while, in case that is taken back."""
        self._open.release(annotator)
        if asked is not None:
            self._answered.pop(ordered(*asked.pair), None)
            self._answered[ordered(*asked.pair)] = asked
            if len(self._answered) > KEPT:
                del self._answered[next(iter(self._answered))]

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
            testing = self._testing(annotator)
            if testing is not None:
                return self._tested(annotator, pair, answer, key, testing)
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
            self._let_go(annotator, asked)
            return receipt

    def choose(
        self,
        annotator: str,
        item: int,
        options: tuple[int, ...],
        marked: tuple[int, ...],
        *,
        form: str = STRIP,
        seq: int,
        key: str,
        elapsed_ms: int | None = None,
    ) -> list[Receipt]:
        """Record what was marked of a strip, a wall or a board, as the pairs that it answers.

        It is one act. Pairs that follow from the others are left out; so is, in a strip, a group
        that was left unmarked beside another: of that nothing was said.
        """
        told = pairs_answered(form, item, options, marked)
        with self._lock:
            done = self._done_before(key, acts.told(told), annotator)
            if done is not None:
                return done
            self._check_tested(annotator)
            asked = self._expect(annotator, item, options, seq, form)
            old = self.session.seq
            confirmed = frozenset() if asked is None else asked.confirmed
            why = {"form": form, **self._why(asked, (told[0][0], told[0][1]))}
            receipts: list[Receipt] = self._written(
                lambda: self.session.tell_many(
                    told,
                    annotator=annotator,
                    key=key,
                    elapsed_ms=elapsed_ms,
                    asked=True,
                    confirm={ordered(item, other) for other in confirmed},
                    why=why,
                )
            )
            self._moved((old, form, item, frozenset(marked)))
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
            self._check_tested(annotator)
            asked = self._expect(annotator, pair[0], None, seq)
            second = asked is not None and asked.shape == "second"
            large = asked.others[1:] if asked is not None and asked.large else ()
            bodies = [body, *({"i": pair[0], "j": other} for other in large)]
            before = self.session.seq
            receipts = self._written(
                lambda: self.session.act(
                    said,
                    lambda: [] if second else [Draft("skip", one, annotator) for one in bodies],
                    annotator=annotator,
                    key=key,
                )
            )
            if receipts:
                self._moved((before, "skip", *pair))
            self._let_go(annotator, asked)
            return receipts[0] if receipts else NOT_RECORDED

    def act(self, annotator: str, act: Callable[[], Any]) -> Any:
        """Run something that changes the log and let the person's question be chosen anew."""
        with self._lock:
            self._look()
            self._check_tested(annotator)
            result = self._written(act)
            held = self._open.of(annotator)
            if held is not None and not held.alive(self.session):
                self._open.release(annotator)
            self._plan()
            return result

    def _expect(
        self,
        annotator: str,
        item: int,
        others: tuple[int, ...] | None,
        seq: int,
        form: str | None = None,
    ) -> OpenQuestion | None:
        """Question that is being answered; StaleError when it is gone."""
        asked = self._open.of(annotator)
        if asked is not None and (asked.seq, asked.item) == (seq, item):
            fits = others is None or asked.others == others
            fits = fits and form in (None, asked.shape)
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
        left = model.error_left
        if left is not None and model.key == self.session.seq:
            why[LEFT] = [round(left[end], 5) for end in ("estimate", "low", "high")]
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
        items += [
            item for m in found for made in m.forms[:1] for item in (made.item, *made.options)
        ]
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
        if asked.shape in MOST:
            likely = () if asked.large else tuple((other,) for other in asked.others[:4])
            return [
                self._job(
                    (seq, asked.shape, i, frozenset(marked)),
                    told=session.news(
                        pairs_answered(asked.shape, i, asked.others, marked),
                        asked=True,
                        annotator=annotator,
                        confirm={ordered(i, other) for other in asked.confirmed},
                    ),
                )
                for marked in (*likely, ())
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
            strips=STRIP in self._wished,
            forms=bool(self._wished & {WALL, BOARD, BEST}),
        )
