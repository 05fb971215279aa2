"""Writing to a session's log and reading what it says, without data, models or questions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from superpac.answers import acts
from superpac.answers.events import ITEMS, Draft, Event, SessionInfo
from superpac.answers.growth import added, grown
from superpac.answers.history import UNDOABLE, History, group_of
from superpac.answers.links import SAME, UNSURE, Link, Pair, ordered
from superpac.answers.log import Log
from superpac.answers.state import State
from superpac.errors import ConflictError, ContradictionError, InputError
from superpac.session.questions import NOT_RECORDED, Receipt

_WORDS = {ITEMS: "one by which items were added, and answers about them follow"}
MOST_REMEMBERED = 10_000  # acts that wrote nothing: what they said is kept in memory only


class AnswerBook:
    """A log and what it says, kept together; a session and the page are built on it.

    Parameters
    ----------
    log : Log
        The answers.
    names : sequence, optional
        What people call the items.
    weighs_answers : bool
        Whether an answer may contradict earlier ones and a pair may be answered again, because
        the session's strategy takes answers as evidence.

    Attributes
    ----------
    history : History
        The events, what undo takes, and names that people gave.
    state : State
        What the answers say.
    info : SessionInfo
        What the session is, with the items that were added to it.

    Examples
    --------
    >>> from superpac.answers.events import SessionInfo
    >>> from superpac.answers.log import MemoryLog
    >>> info = SessionInfo("a1", "five", "", "f00d", 5)
    >>> book = AnswerBook(MemoryLog(info), list("abcde"))
    >>> book.set_aside(3).seq, sorted(book.state.bad)
    (1, [3])
    >>> book.undo(), book.redo()
    ([1], [1])
    """

    def __init__(
        self, log: Log, names: Sequence[Any] | None = None, *, weighs_answers: bool = False
    ) -> None:
        self.log = log
        self.weighs_answers = weighs_answers
        self._names = names
        begun = log.events()
        self.info = grown(log.info, begun)
        self.history = History(self.info.n_items, names)
        self._keys: dict[str, int] = {}
        self._wrote_nothing: OrderedDict[str, tuple[acts.Said, str]] = OrderedDict()
        self._in_doubt = False  # whether an append broke off and may have been written
        self._lock = threading.RLock()
        self._hear(begun)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    @property
    def seq(self) -> int:
        """Sequence number of the last event known here."""
        return self.history.seq

    @property
    def state(self) -> State:
        """What the answers say."""
        return self.history.state

    @property
    def events(self) -> Sequence[Event]:
        """Every event so far, those taken back included."""
        return self.history.events

    def refresh(self) -> int:
        """Take in what others have added to the log; gives the number of new events."""
        with self._lock:
            new = self.log.events(after=self.seq)
            self._take(new)
            self._in_doubt = False
            return len(new)

    def events_under(self, key: str | None) -> list[Event]:
        """Events of the act that was done under a client's key; none where it is new."""
        if key is None:
            return []
        if key in self._keys:
            return [self.history.event(self._keys[key])]
        found: list[Event] = []
        while (seq := self._keys.get(f"{key}/{len(found)}")) is not None:
            found.append(self.history.event(seq))
        return found

    def before(self, key: str | None, said: acts.Said, annotator: str) -> list[Receipt] | None:
        """Receipts of this very act, done before under its key; None where the key is new.

        Parameters
        ----------
        key : str or None
            The client's key.
        said : tuple
            What the act says, see :mod:`superpac.answers.acts`.
        annotator : str
            Who does it.

        Returns
        -------
        list of Receipt or None
            Empty where the act had nothing to write.

        Raises
        ------
        ConflictError
            When another act was done under the key.
        """
        with self._lock:
            if self._in_doubt:  # the last append may have been written all the same
                self.refresh()
            events = self.events_under(key)
            if events:
                earlier = (acts.said_in(events), events[0].annotator)
            elif key is not None and key in self._wrote_nothing:
                earlier = self._wrote_nothing[key]
            else:
                return None
            if earlier != (said, annotator):
                number = f" (#{events[0].seq})" if events else ""
                raise ConflictError(
                    f"The key {key!r} was used for something else{number}; draw a new one."
                )
            return [Receipt(e.seq, e.hash) for e in events]

    def act(
        self,
        said: acts.Said,
        make: Callable[[], Sequence[Draft]],
        *,
        annotator: str = "",
        key: str | None = None,
        expected_seq: int | None = None,
    ) -> list[Receipt]:
        """Do one act: all its events in one append, once, however often it is sent.

        Parameters
        ----------
        said : tuple
            What the act says, see :mod:`superpac.answers.acts`.
        make : callable
            Gives the events from the state as it is; none where nothing has to be written.
        annotator, key, expected_seq
            As for an answer.

        Returns
        -------
        list of Receipt
            Empty where nothing had to be written.
        """
        with self._lock:
            done = self.before(key, said, annotator)
            if done is not None:
                return done
            drafts = make()
            if not drafts:
                self._expect(expected_seq)
                self._remember(key, said, annotator)
                return []
            expected = self.seq if expected_seq is None else expected_seq
            self._in_doubt = True
            try:
                events = self.log.append_many(acts.keyed(drafts, key), expected_seq=expected)
            except (ConflictError, InputError):  # refused before anything was written
                self._in_doubt = False
                raise
            self._take(events)
            self._in_doubt = False
            return [Receipt(e.seq, e.hash) for e in events]

    def _remember(self, key: str | None, said: acts.Said, annotator: str) -> None:
        """Keep what an act said that wrote nothing, as the log does for others."""
        if key is not None:
            self._wrote_nothing[key] = (said, annotator)
            while len(self._wrote_nothing) > MOST_REMEMBERED:
                self._wrote_nothing.popitem(last=False)

    def record(
        self,
        answer: str,
        pair: tuple[int, int],
        *,
        annotator: str = "",
        key: str | None = None,
        expected_seq: int | None = None,
        elapsed_ms: int | None = None,
        why: Mapping[str, Any] | None = None,
        asked: bool = False,
        confirm: bool = False,
    ) -> Receipt:
        """Write an answer to the log; it is safe on disk when this returns.

        Parameters
        ----------
        answer : {"same", "different", "unsure"}
            What the person said.
        pair : (int, int)
            The items compared.
        annotator : str
            Who said it.
        key : str, optional
            The client's key: the same key again gives the same receipt and writes nothing.
        expected_seq : int, optional
            The question's number; refused with ConflictError when the log has moved on.
        elapsed_ms : int, optional
            How long the person took.
        why : mapping, optional
            Why it was asked, kept beside the answer.
        asked : bool, default=False
            Whether this answers a question of the session's. Where answers are weighed, such an
            answer is taken in even if it contradicts earlier ones.
        confirm : bool, default=False
            Whether a "same" counts only once a second vote agrees.

        Returns
        -------
        Receipt

        Raises
        ------
        ContradictionError
            When earlier answers imply the opposite; its text spells out the chain.
        """
        i, j = int(pair[0]), int(pair[1])

        def make() -> list[Draft]:
            known = self.state.constraints
            if not (self.weighs_answers and asked):
                known.check(i, j, answer)
                if known.implied(i, j) is not None and answer != UNSURE:
                    return []
            body: dict[str, Any] = {"i": i, "j": j, "answer": answer}
            if why:
                body["why"] = dict(why)
            if confirm and answer == SAME:
                body["confirm"] = True
            return [Draft("answer", body, annotator, elapsed_ms=elapsed_ms)]

        said = acts.answered(i, j, answer)
        done = self.act(said, make, annotator=annotator, key=key, expected_seq=expected_seq)
        return done[0] if done else NOT_RECORDED

    def tell_many(
        self,
        answers: Sequence[tuple[int, int, str]],
        *,
        annotator: str = "",
        key: str,
        expected_seq: int | None = None,
        elapsed_ms: int | None = None,
        asked: bool = False,
        confirm: Collection[Pair] = (),
        why: Mapping[str, Any] | None = None,
    ) -> list[Receipt]:
        """Record several answers given at once, all or none; undo takes them back together.

        Parameters
        ----------
        answers : sequence of (i, j, answer)
            What was said; pairs that are implied already are left out.
        annotator, expected_seq, elapsed_ms
            As for one answer.
        key : str
            The client's key.
        asked : bool, default=False
            Whether these answer questions of the session's. A strategy that weighs answers is then
            told of contradictions, and of pairs that were asked before.
        confirm : collection of (int, int)
            Pairs, the smaller item first, of which a "same" counts only once a second vote agrees.
        why : mapping, optional
            Why they were asked, kept beside the first.

        Returns
        -------
        list of Receipt
        """
        given = [(int(i), int(j), answer) for i, j, answer in answers]

        def make() -> list[Draft]:
            new = self.news(given, asked=asked, confirm=confirm)
            written = {(link.i, link.j) for link in new}
            implied = [pair for pair in given if pair[:2] not in written]
            drafts: list[Draft] = []
            for link in new:
                body: dict[str, Any] = {"i": link.i, "j": link.j, "answer": link.answer}
                body["group"] = key
                if link.confirm:
                    body["confirm"] = True
                if not drafts and (implied or why):
                    left_out = {acts.IMPLIED: implied} if implied else {}
                    body["why"] = {**(why or {}), **left_out}
                took = elapsed_ms if not drafts else 0
                drafts.append(Draft("answer", body, annotator, elapsed_ms=took))
            return drafts

        return self.act(
            acts.told(given), make, annotator=annotator, key=key, expected_seq=expected_seq
        )

    def news(
        self,
        answers: Sequence[tuple[int, int, str]],
        *,
        asked: bool,
        annotator: str = "",
        confirm: Collection[Pair] = (),
    ) -> list[Link]:
        """Answers of one act that would be written: those that no earlier answer implies.

        Parameters
        ----------
        answers : sequence of (i, j, answer)
            What would be said.
        asked : bool
            As in :meth:`tell_many`.
        annotator : str
            Who would say it.
        confirm : collection of (int, int)
            As in :meth:`tell_many`.

        Returns
        -------
        list of Link
            With the numbers that they would get.

        Raises
        ------
        ContradictionError
            Where an answer contradicts earlier ones and may not.
        """
        trial = self.state.constraints.copy()
        weighed = self.weighs_answers and asked
        found: list[Link] = []
        for i, j, answer in answers:
            try:
                trial.check(i, j, answer)
            except ContradictionError:
                if not weighed:
                    raise
            if trial.implied(i, j) != answer or (weighed and self.state.asked(i, j)):
                waits = answer == SAME and ordered(int(i), int(j)) in confirm
                link = Link(self.seq + len(found) + 1, int(i), int(j), answer, annotator, waits)
                if not waits:  # what waits for a second answer implies nothing yet
                    trial.take(link)
                found.append(link)
        return found

    def skip_pair(self, pair: tuple[int, int], **who: Any) -> Receipt:
        """Postpone a pair; it costs no question."""
        return self.note("skip", {"i": int(pair[0]), "j": int(pair[1])}, **who)

    def set_aside(self, item: int, *, back: bool = False, **who: Any) -> Receipt:
        """Take an item that is blank or damaged out of the questions, or put it back."""
        return self.note("good" if back else "bad", {"i": int(item)}, **who)

    def rename(
        self, name: str, *, cluster: int | None = None, item: int | None = None, **who: Any
    ) -> Receipt:
        """Give a cluster or an item a name; an empty one takes its name away."""
        target = {"cluster": cluster} if cluster is not None else {"item": item}
        return self.note("name", {"name": name, **target}, **who)

    def undo(
        self,
        seq: int | None = None,
        *,
        by: str | None = None,
        annotator: str = "",
        key: str | None = None,
    ) -> list[int]:
        """Take back the last act, or event number `seq`; any depth.

        Parameters
        ----------
        seq : int, optional
            A particular event.
        by : str, optional
            The annotator whose last act it is; everybody's by default.
        annotator, key : str
            Who takes it back, and the client's key.

        Returns
        -------
        list of int
            The events taken back; empty when there is nothing left to undo.
        """

        def make() -> list[Draft]:
            if seq is None:
                return self._taken_back(self.history.undoable(by), annotator)
            event, back = self.history.event(seq), seq in self.history.retracted
            if acts.named(event) and not back:  # nobody sees the parts of such an act
                return self._taken_back(self.history.act_of(event), annotator, chosen=seq)
            if event.kind not in UNDOABLE or back:
                raise InputError(
                    f"Event #{seq} cannot be taken back: it is "
                    f"{'taken back already' if back else _WORDS.get(event.kind, event.kind)}."
                )
            return [Draft("retract", {"seq": seq, "why": {acts.CHOSEN: True}}, annotator)]

        return self._marked(self.act(acts.took_back(seq), make, annotator=annotator, key=key))

    def redo(
        self, *, by: str | None = None, annotator: str = "", key: str | None = None
    ) -> list[int]:
        """Put back what was undone last; empty when there is nothing to redo."""

        def make() -> list[Draft]:
            target = self.history.redoable(by)
            if not self.weighs_answers:
                trial = self.state.constraints.copy()
                for event in map(self.history.event, target):
                    if event.kind == "answer":
                        body = event.body
                        trial.add(body["i"], body["j"], body["answer"], event.seq)
            again = [Draft("restore", {"seq": seq}, annotator) for seq in target]
            return [*again, *self._retracted_again(target, annotator)]

        return self._marked(self.act(acts.put_back(), make, annotator=annotator, key=key))

    def note(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        annotator: str = "",
        key: str | None = None,
        expected_seq: int | None = None,
    ) -> Receipt:
        """Write one event that is no answer.

        Parameters
        ----------
        kind : str
            One of :data:`superpac.answers.events.KINDS`.
        body : dict
            Its fields.
        annotator, key, expected_seq
            As for an answer.

        Returns
        -------
        Receipt
        """
        said = acts.said_in([Event(0, kind, dict(body), annotator, "", "", None, "")])
        done = self.act(
            said,
            lambda: [Draft(kind, body, annotator)],
            annotator=annotator,
            key=key,
            expected_seq=expected_seq,
        )
        return done[0]

    def may_ask(self, i: int, j: int) -> bool:
        """Whether a pair is worth asking: where answers are weighed, also what is implied."""
        if self.weighs_answers:
            state = self.state
            return i != j and not {i, j} & state.bad and not state.put_off(i, j)
        return self.state.askable(i, j)

    def answered_since(self, pairs: set[tuple[int, int]], seq: int) -> bool:
        """Whether one of some pairs was answered after event `seq`."""
        for answer in reversed(self.state.answers):
            if answer.seq <= seq:
                return False
            if ordered(answer.i, answer.j) in pairs:
                return True
        return False

    def _taken_back(
        self, target: Sequence[int], annotator: str, chosen: int | None = None
    ) -> list[Draft]:
        """Events that take an act back: what it wrote goes, what it took back stands again."""
        gone, back = [], []
        for event in map(self.history.event, target):
            if event.kind == "retract":
                why = {acts.ALONG: group_of(event)}
                back.append(Draft("restore", {"seq": event.body["seq"], "why": why}, annotator))
            else:
                gone.append(Draft("retract", {"seq": event.seq}, annotator))
        if chosen is not None and gone:
            why = {acts.CHOSEN: True, acts.WHOLE: chosen}
            gone[0] = Draft("retract", {**gone[0].body, "why": why}, annotator)
        return [*gone, *back]

    def _retracted_again(self, target: Sequence[int], annotator: str) -> list[Draft]:
        """Events that take back anew what an act took back, when it is put back."""
        seen: dict[int, Draft] = {}
        for event in map(self.history.event, target):
            for part in map(self.history.event, self.history.whole_act(event)):
                seq = int(part.body.get("seq", 0))
                if part.kind == "retract" and seq not in self.history.retracted:
                    why = {acts.ALONG: group_of(part)}
                    seen[seq] = Draft("retract", {"seq": seq, "why": why}, annotator)
            if group_of(event) is not None:
                break  # all of one act
        return list(seen.values())

    def _marked(self, receipts: Sequence[Receipt]) -> list[int]:
        """Numbers of the events that were taken back or put back, less what goes with an act."""
        events = [self.history.event(receipt.seq) for receipt in receipts]
        return [int(e.body["seq"]) for e in events if not acts.goes_along(e)]

    def _expect(self, expected_seq: int | None) -> None:
        if expected_seq is not None and expected_seq != self.seq:
            raise ConflictError(
                f"This was meant to follow event {expected_seq}, but the log is at event "
                f"{self.seq}; look at the current question and answer that."
            )

    def _take(self, events: Sequence[Event]) -> None:
        if events and events[0].seq != self.seq + 1:
            # an append that found itself written before: others may have written in between
            events = self.log.events(after=self.seq)
        if added(events):
            events = [*self.events, *events]
            self._grow(grown(self.log.info, events))
        self._hear(events)

    def _hear(self, events: Sequence[Event]) -> None:
        """Read events that are about no more items than are known."""
        self.history.take_all(events)
        for event in events:
            self._keys[event.key] = event.seq

    def _grow(self, info: SessionInfo) -> None:
        """Begin the history anew for more items; it is handed the whole log then."""
        self.info = info
        self.history = History(info.n_items, self._names)
