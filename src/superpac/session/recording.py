"""Writing to a session's log and reading what it says; knows nothing of models or questions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from superpac.answers.events import Draft, Event
from superpac.answers.links import Link
from superpac.answers.log import Log
from superpac.answers.state import UNDOABLE, Fold
from superpac.errors import ConflictError, ContradictionError, InputError
from superpac.session.questions import Receipt


class Recorder:
    """A log and what it says, kept together; the session is built on it.

    Parameters
    ----------
    log : Log
        The answers.
    names : sequence of str
        What people call the items.
    evidence : bool
        Whether an answer may contradict earlier ones and a pair may be answered again.

    Examples
    --------
    >>> from superpac.answers.events import SessionInfo
    >>> from superpac.answers.log import MemoryLog
    >>> info = SessionInfo("a1", "five", "", "f00d", 5)
    >>> kept = Recorder(MemoryLog(info), list("abcde"), evidence=False)
    >>> kept.set_aside(3).seq, sorted(kept.fold.state.bad)
    (1, [3])
    >>> kept.undo(), kept.redo()
    ([1], [1])
    """

    def __init__(self, log: Log, names: Sequence[str], *, evidence: bool) -> None:
        self.log = log
        self.evidence = evidence
        self._fold = Fold(len(names), names)
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
        return self._fold.seq

    @property
    def events(self) -> Sequence[Event]:
        """Every event so far, those taken back included."""
        return self._fold.events

    @property
    def fold(self) -> Fold:
        """What the log says."""
        return self._fold

    def refresh(self) -> int:
        """Take in what others have added to the log; gives the number of new events."""
        with self._lock:
            new = self.log.events(after=self._fold.seq)
            self._take(new)
            return len(new)

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
            state = self._fold.state
            trial = state.constraints.copy()
            weighed = self.evidence and asked
            before = {frozenset((a.i, a.j)) for a in state.answers if weighed}
            drafts: list[Draft] = []
            for n, (i, j, answer) in enumerate(answers):
                if f"{key}/{n}" in self._keys:
                    event = self._fold.event(self._keys[f"{key}/{n}"])
                    return [
                        Receipt(e.seq, e.hash)
                        for e in self._fold.events
                        if e.body.get("group") == event.body.get("group")
                    ]
                try:
                    trial.check(i, j, answer)
                except ContradictionError:
                    if not weighed:
                        raise
                if trial.implied(i, j) != answer or frozenset((i, j)) in before:
                    trial.take(Link(self.seq + n + 1, i, j, answer))
                    body = {"i": int(i), "j": int(j), "answer": answer, "group": key}
                    took = elapsed_ms if not drafts else 0
                    drafts.append(Draft("answer", body, annotator, f"{key}/{n}", took))
            if not drafts:
                self._expect(expected_seq)
                return []
            expected = self.seq if expected_seq is None else expected_seq
            events = self.log.append_many(drafts, expected_seq=expected)
            self._take(events)
            return [Receipt(e.seq, e.hash) for e in events]

    def set_aside(self, item: int, *, back: bool = False, **who: Any) -> Receipt:
        """Take an item that is blank or damaged out of the questions, or put it back."""
        return self._note("good" if back else "bad", {"i": int(item)}, **who)

    def rename(
        self, name: str, *, cluster: int | None = None, item: int | None = None, **who: Any
    ) -> Receipt:
        """Give a cluster or an item a name."""
        target = {"cluster": cluster} if cluster is not None else {"item": item}
        return self._note("name", {"name": name, **target}, **who)

    def undo(self, seq: int | None = None, **who: Any) -> list[int]:
        """Take back the last act, or event number `seq`; any depth.

        Parameters
        ----------
        seq : int, optional
            A particular event.
        **who
            ``annotator``, ``key``.

        Returns
        -------
        list of int
            The events taken back; empty when there is nothing left to undo.
        """
        with self._lock:
            if seq is None:
                target = self._fold.undoable()
            else:
                event = self._fold.event(seq)
                if event.kind not in UNDOABLE or seq in self._fold.retracted:
                    raise InputError(
                        f"Event #{seq} cannot be taken back: it is "
                        f"{'taken back already' if seq in self._fold.retracted else event.kind}."
                    )
                target = [seq]
            return self._mark("retract", target, **who)

    def redo(self, **who: Any) -> list[int]:
        """Put back what was undone last; empty when there is nothing to redo."""
        with self._lock:
            target = self._fold.redoable()
            for seq in target:
                event = self._fold.event(seq)
                if event.kind == "answer" and not self.evidence:
                    body = event.body
                    self._fold.state.constraints.check(body["i"], body["j"], body["answer"])
            return self._mark("restore", list(target), **who)

    def _note(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        annotator: str = "",
        key: str | None = None,
        expected_seq: int | None = None,
    ) -> Receipt:
        with self._lock:
            expected = self.seq if expected_seq is None else expected_seq
            if key is not None and key in self._keys:
                expected = None  # type: ignore[assignment]
            event = self.log.append(kind, body, annotator=annotator, key=key, expected_seq=expected)
            if event.seq > self.seq:
                self._take([event])
            return Receipt(event.seq, event.hash)

    def _mark(
        self, kind: str, target: list[int], *, annotator: str = "", key: str | None = None
    ) -> list[int]:
        if not target:
            return []
        names = [None if key is None else f"{key}/{n}" for n in range(len(target))]
        drafts = [
            Draft(kind, {"seq": seq}, annotator, name)
            for seq, name in zip(target, names, strict=True)
        ]
        if names[0] is not None and names[0] in self._keys:
            return target
        self._take(self.log.append_many(drafts, expected_seq=self.seq))
        return target

    def _body(self, answer: str, pair: tuple[int, int] | None, key: str) -> dict[str, Any]:
        """Body of a repeated answer, so that the log can compare it with the first."""
        body = dict(self._fold.event(self._keys[key]).body)
        if pair is not None:
            body["i"], body["j"] = int(pair[0]), int(pair[1])
        body["answer"] = answer
        return body

    def _expect(self, expected_seq: int | None) -> None:
        if expected_seq is not None and expected_seq != self.seq:
            raise ConflictError(
                f"This was meant to follow event {expected_seq}, but the log is at event "
                f"{self.seq}; look at the current question and answer that."
            )

    def _take(self, events: Sequence[Event]) -> None:
        self._fold.take_all(events)
        for event in events:
            self._keys[event.key] = event.seq
