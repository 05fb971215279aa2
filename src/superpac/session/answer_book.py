"""Writing to a session's log and reading what it says, without data, models or questions."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from superpac.answers.events import Draft, Event
from superpac.answers.history import UNDOABLE, History
from superpac.answers.links import SAME, UNSURE, Link, ordered
from superpac.answers.log import Log
from superpac.answers.state import State
from superpac.errors import ConflictError, ContradictionError, InputError
from superpac.session.questions import Receipt


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
        self.history = History(log.info.n_items, names)
        self._keys: dict[str, int] = {}
        self._lock = threading.RLock()
        self.refresh()

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
            return len(new)

    def known_key(self, key: str) -> Event | None:
        """Event that was made under a client's key."""
        seq = self._keys.get(key)
        return None if seq is None else self.history.event(seq)

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
        with self._lock:
            if key is not None and key in self._keys:
                body = {**self.history.event(self._keys[key]).body, "answer": answer}
                body["i"], body["j"] = int(pair[0]), int(pair[1])
                event = self.log.append("answer", body, annotator=annotator, key=key)
                return Receipt(event.seq, event.hash)
            i, j = int(pair[0]), int(pair[1])
            known = self.state.constraints
            if not (self.weighs_answers and asked):
                known.check(i, j, answer)
                if known.implied(i, j) is not None and answer != UNSURE:
                    self._expect(expected_seq)
                    return Receipt(0, "", recorded=False)
            body = {"i": i, "j": j, "answer": answer}
            if why:
                body["why"] = dict(why)
            if confirm and answer == SAME:
                body["confirm"] = True
            event = self.log.append(
                "answer",
                body,
                annotator=annotator,
                key=key,
                expected_seq=self.seq if expected_seq is None else expected_seq,
                elapsed_ms=elapsed_ms,
            )
            self._take([event])
            return Receipt(event.seq, event.hash)

    def tell_many(
        self,
        answers: Sequence[tuple[int, int, str]],
        *,
        annotator: str = "",
        key: str,
        expected_seq: int | None = None,
        elapsed_ms: int | None = None,
        asked: bool = False,
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

        Returns
        -------
        list of Receipt
        """
        with self._lock:
            first = self.known_key(f"{key}/0")
            if first is not None:
                group = first.body.get("group")
                same = [e for e in self.events if e.body.get("group") == group]
                return [Receipt(e.seq, e.hash) for e in same]
            drafts: list[Draft] = []
            for link in self.news(answers, asked=asked):
                body = {"i": link.i, "j": link.j, "answer": link.answer, "group": key}
                took = elapsed_ms if not drafts else 0
                drafts.append(Draft("answer", body, annotator, f"{key}/{len(drafts)}", took))
            if not drafts:
                self._expect(expected_seq)
                return []
            expected = self.seq if expected_seq is None else expected_seq
            events = self.log.append_many(drafts, expected_seq=expected)
            self._take(events)
            return [Receipt(e.seq, e.hash) for e in events]

    def news(
        self, answers: Sequence[tuple[int, int, str]], *, asked: bool, annotator: str = ""
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
                link = Link(self.seq + len(found) + 1, int(i), int(j), answer, annotator)
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
        """Give a cluster or an item a name."""
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
        with self._lock:
            done = self._marked_before(key)
            if done:
                return done
            if seq is None:
                return self._mark("retract", self.history.undoable(by), annotator, key)
            event, back = self.history.event(seq), seq in self.history.retracted
            if event.kind not in UNDOABLE or back:
                raise InputError(
                    f"Event #{seq} cannot be taken back: it is "
                    f"{'taken back already' if back else event.kind}."
                )
            return self._mark("retract", [seq], annotator, key)

    def redo(
        self, *, by: str | None = None, annotator: str = "", key: str | None = None
    ) -> list[int]:
        """Put back what was undone last; empty when there is nothing to redo."""
        with self._lock:
            done = self._marked_before(key)
            if done:
                return done
            target = self.history.redoable(by)
            if not self.weighs_answers:
                trial = self.state.constraints.copy()
                for event in map(self.history.event, target):
                    if event.kind == "answer":
                        body = event.body
                        trial.add(body["i"], body["j"], body["answer"], event.seq)
            return self._mark("restore", target, annotator, key)

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
        with self._lock:
            expected: int | None = self.seq if expected_seq is None else expected_seq
            if key is not None and key in self._keys:
                expected = None
            event = self.log.append(kind, body, annotator=annotator, key=key, expected_seq=expected)
            if event.seq > self.seq:
                self._take([event])
            return Receipt(event.seq, event.hash)

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

    def _marked_before(self, key: str | None) -> list[int]:
        """Events that an earlier request with this key took back or put back."""
        found: list[int] = []
        while key is not None and (event := self.known_key(f"{key}/{len(found)}")) is not None:
            found.append(int(event.body["seq"]))
        return found

    def _mark(self, kind: str, target: list[int], annotator: str, key: str | None) -> list[int]:
        """Take events back or put them back, all at once."""
        if target:
            drafts = [
                Draft(kind, {"seq": seq}, annotator, None if key is None else f"{key}/{n}")
                for n, seq in enumerate(target)
            ]
            self._take(self.log.append_many(drafts, expected_seq=self.seq))
        return target

    def _expect(self, expected_seq: int | None) -> None:
        if expected_seq is not None and expected_seq != self.seq:
            raise ConflictError(
                f"This was meant to follow event {expected_seq}, but the log is at event "
                f"{self.seq}; look at the current question and answer that."
            )

    def _take(self, events: Sequence[Event]) -> None:
        self.history.take_all(events)
        for event in events:
            self._keys[event.key] = event.seq
