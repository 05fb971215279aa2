"""A session whose model is computed in another process, and the acts that only the page has."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from superpac.answers.events import Event
from superpac.answers.log import Log
from superpac.answers.state import UNDOABLE
from superpac.data import Dataset
from superpac.errors import InputError
from superpac.session.session import Labelling, Receipt, Session
from superpac.session.spec import AUTO, Spec
from superpac.strategies import STRATEGIES, Count, Problem, Proposal, State, Strategy
from superpac.web.worker import IntArray, Model

SECOND, WITHDRAWN, DECIDED = "second", "withdrawn", "decided"


class Elsewhere(Strategy):
    """Stands for a strategy that runs in another process: gives the labels that came last.

    Parameters
    ----------
    problem : Problem
        Only its sizes are used.
    """

    name: ClassVar[str] = "elsewhere"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._labels: IntArray | None = None
        self.key: object = None
        self.error_left: dict[str, float] | None = None
        self.met: Count | None = None

    def take(self, model: Model) -> None:
        """Take a new model; clusters keep their numbers as far as possible."""
        self.key = model.key
        self.error_left = model.error_left
        self.met = model.count
        if self._labels is None:
            self._labels = model.shown
        elif not np.array_equal(model.shown, self._labels):
            self._labels = _align(model.shown, self._labels)

    def propose(self, state: State, avoid: frozenset[int] = frozenset()) -> Proposal | None:
        """Refuse: questions are chosen by the desk."""
        raise InputError("Questions of this session are chosen elsewhere.")

    def labels(self, state: State) -> IntArray:
        """Labels of the newest model."""
        if self._labels is None:
            raise InputError("The first clustering is not ready yet; try again in a moment.")
        return self._labels

    def count(self, state: State) -> Count | None:
        """Clusters that the newest model has met."""
        return self.met


def _align(labels: IntArray, last: IntArray) -> IntArray:
    size = int(max(labels.max(), last.max())) + 1
    table = np.zeros((size, size), dtype=np.intp)
    np.add.at(table, (labels, last), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    names = np.empty(size, dtype=np.intp)
    names[rows] = columns
    return names[labels]


class PageSession(Session):
    """A session for the page.

    Parameters
    ----------
    data : Dataset
        The items.
    log : Log
        The answers.
    """

    def __init__(self, data: Dataset, log: Log) -> None:
        if data.fingerprint != log.info.fingerprint:
            raise InputError(
                f"The session {log.info.name!r} began with data of fingerprint "
                f"{log.info.fingerprint[:12]}, but this data has {data.fingerprint[:12]}: values "
                "or row order have changed. Give the original data, or begin a new session."
            )
        spec = Spec.from_dict(log.info.spec)
        n = len(data)
        problem = Problem(
            np.empty((n, 0)),
            sparse.csr_array((n, n)),
            spec.clusters,
            1,
            spec.seed,
            spec.n_clusters == AUTO,
        )
        self.model = Elsewhere(problem)
        self.model.evidence = STRATEGIES[spec.strategy].evidence  # type: ignore[misc]
        super().__init__(data, spec, log, problem, self.model)

    def take_model(self, model: Model) -> None:
        """Take labels that came in."""
        with self._lock:
            self.model.take(model)
            self._labels = None

    def labels(self, kind: Labelling = "answers") -> IntArray:
        """Clusters for people; those of an older model are bent to the answers since."""
        with self._lock:
            if kind == "answers" and self.model.key == self.seq:
                return self.model.labels(self._fold.state).copy()
            return super().labels(kind)

    def _error_left(self) -> dict[str, float] | None:
        return self.model.error_left

    def known_key(self, key: str) -> Event | None:
        """Event that was made under a client's key."""
        seq = self._keys.get(key)
        return None if seq is None else self._fold.event(seq)

    def opine(
        self, answer: str, first: Event, *, annotator: str, key: str, elapsed_ms: int | None
    ) -> Receipt:
        """Record a second person's answer to a pair that another has answered; implies nothing."""
        body = {SECOND: first.seq, "i": first.body["i"], "j": first.body["j"], "answer": answer}
        if elapsed_ms is not None:
            body["elapsed_ms"] = elapsed_ms
        return self._note("note", body, annotator=annotator, key=key)

    def decide(self, second: int, keep: str, **who: Any) -> Receipt:
        """Settle a disagreement: keep the first answer, or put the second one in its place."""
        opinion = self._fold.event(second)
        if opinion.kind != "note" or SECOND not in opinion.body:
            raise InputError(f"Event #{second} is no second opinion; look at the list again.")
        with self._lock:
            receipt = self._note("note", {DECIDED: second, "keep": keep}, **who)
            first = opinion.body[SECOND]
            if keep == "second" and first not in self._fold.retracted:
                self.undo(first, annotator=who.get("annotator", ""))
                body = opinion.body
                pair, why = (body["i"], body["j"]), {DECIDED: second}
                self.tell(body["answer"], pair, annotator=opinion.annotator, why=why)
            return receipt

    def undo_own(self, annotator: str, key: str) -> list[int]:
        """Take back the last act of one person."""
        with self._lock:
            before = self.known_key(f"{key}/0")
            if before is not None:
                return [int(before.body.get("seq") or before.body[WITHDRAWN])]
            withdrawn = withdrawn_opinions(self._fold.events)
            for event in reversed(self._fold.events):
                if event.annotator != annotator:
                    continue
                if event.kind in UNDOABLE and event.seq not in self._fold.retracted:
                    group = self._fold._group(event)
                    return self._mark("retract", group, annotator=annotator, key=key)
                if SECOND in event.body and event.seq not in withdrawn:
                    body = {WITHDRAWN: event.seq}
                    self._note("note", body, annotator=annotator, key=f"{key}/0")
                    return [event.seq]
            return []

    def redo_own(self, annotator: str, key: str) -> list[int]:
        """Put back what one person undid last."""
        with self._lock:
            before = self.known_key(f"{key}/0")
            if before is not None:
                return [before.body["seq"]]
            target = self._undone_by(annotator)
            if not self.model.evidence:
                trial = self._fold.state.constraints.copy()
                for seq in target:
                    event = self._fold.event(seq)
                    if event.kind == "answer":
                        body = event.body
                        trial.add(body["i"], body["j"], body["answer"], seq)
            return self._mark("restore", target, annotator=annotator, key=key)

    def _undone_by(self, annotator: str) -> list[int]:
        stack: list[list[int]] = []
        for event in self._fold.events:
            if event.annotator != annotator:
                continue
            if event.kind == "retract":
                seq = event.body["seq"]
                group = self._fold.event(seq).body.get("group")
                top = stack[-1] if stack else []
                if group is not None and top and self._group_of(top[0]) == group:
                    top.append(seq)
                else:
                    stack.append([seq])
            elif event.kind == "restore":
                seq = event.body["seq"]
                stack = [left for g in stack if (left := [s for s in g if s != seq])]
            elif event.kind in UNDOABLE:
                stack.clear()
        return [s for s in stack[-1] if s in self._fold.retracted] if stack else []

    def _group_of(self, seq: int) -> object:
        return self._fold.event(seq).body.get("group")


def withdrawn_opinions(events: list[Event]) -> set[int]:
    """Second opinions that were taken back."""
    return {e.body[WITHDRAWN] for e in events if e.kind == "note" and WITHDRAWN in e.body}
