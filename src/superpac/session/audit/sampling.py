"""An audit: a random sample that says, without bias, how many items are in the wrong cluster.

The clusters are frozen when it starts. Every cluster is represented by a clear member of its
largest certain set. What earlier answers say about an item and its representative needs no
question; from the other items a uniform sample is drawn without replacement and each is compared
with its representative. The interval is exact for a finite population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.events import ITEMS, Event
from superpac.answers.history import History
from superpac.answers.links import DIFFERENT, SAME, ordered
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.errors import ConflictError, InputError
from superpac.session.audit.exemplars import at_stake, likely_pairs, representatives
from superpac.session.audit.interval import AuditResult, fewest_wrong, wrong_items
from superpac.session.questions import Question, Receipt
from superpac.session.session import Session, labels_for_people
from superpac.strategies import make_strategy

SAMPLE = 50
SEED = 4242  # keeps the audit's draws apart from the strategies'


class Audit:
    """An audit under way: ask, tell, result. What it needs is in the log, so it can be resumed.

    Parameters
    ----------
    session : Session
        What is audited.
    started : Event
        The note in the log that began it; :func:`start` makes one.
    labels : ndarray of shape (n,)
        The clusters when it began.
    """

    def __init__(self, session: Session, started: Event, labels: IntArray) -> None:
        self.session = session
        self.started = started
        self.labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
        facts = started.body["audit"]
        self.sample, self.pairs = int(facts["sample"]), int(facts["pairs"])
        then = _state_at(session, started.seq)
        self._good = np.ones(labels.size, dtype=np.bool_)
        self._good[list(then.bad)] = False
        self._sizes = np.bincount(self.labels[self._good], minlength=int(self.labels.max()) + 1)
        self.speakers = representatives(self.labels, then, session.problem.affinity)
        self._order = self._draw()
        known = then.constraints
        speaks = self.speakers[self.labels].tolist()
        unknown = [i != r and known.implied(i, r) is None for i, r in enumerate(speaks)]
        self._unknown = np.array(unknown) & self._good
        self._between = likely_pairs(self.labels, session.problem.affinity)

    def ask(self) -> Question | None:
        """Give the next pair to compare; None when the audit is complete."""
        state = self.session.state
        if self._spent_on_pairs() < self.pairs:
            for a, b in self._unchecked():
                i, j = int(self.speakers[a]), int(self.speakers[b])
                if ordered(i, j) not in state.unsure and not {i, j} & state.bad:
                    words = "An audit: two clusters by their clearest items; are they one?"
                    return Question(i, j, self.session.seq, words, {"audit": 1.0})
        for i, verdict in self._drawn():
            if verdict is None:
                words = "An audit: an item drawn at random, and the clearest one of its cluster."
                return Question(i, self._speaker(i), self.session.seq, words, {"audit": 1.0})
        return None

    def tell(self, answer: str, pair: tuple[int, int] | None = None, **who: Any) -> Receipt:
        """Record an answer to the current question in the session's log.

        Parameters
        ----------
        answer : {"same", "different", "unsure"}
            What the person said.
        pair : (int, int), optional
            The items compared; the current question's by default.
        **who
            ``annotator``, ``key``, ``expected_seq``, ``elapsed_ms`` as in :meth:`Session.tell`.

        Returns
        -------
        Receipt
        """
        if pair is None:
            question = self.ask()
            if question is None:
                raise InputError("There is no question to answer: the audit is complete.")
            pair = (question.i, question.j)
        i, j = int(pair[0]), int(pair[1])
        about = "clusters" if {i, j} <= set(self.speakers.tolist()) else "item"
        why = {"audit": self.started.seq, "about": about}
        return self.session.tell(answer, (i, j), why=why, **who)

    def result(self) -> AuditResult:
        """What is known so far; complete once :meth:`ask` gives None."""
        drawn = list(self._drawn())
        judged = [(i, verdict) for i, verdict in drawn if isinstance(verdict, bool)]
        wrong, decided = sum(verdict for _, verdict in judged), len(judged)
        lost = self._lost()
        unknown = self._population(lost)
        population, items = int(unknown.sum()), int(self._good.sum())
        settled = np.flatnonzero(self._good & ~unknown)
        known = np.array([bool(self._verdict(int(i), lost)) for i in settled], dtype=np.bool_)
        known_wrong = int(known.sum())
        low = fewest_wrong(
            self._by_cluster([i for i, verdict in judged if verdict]),
            self._by_cluster([i for i, _ in judged]),
            self._by_cluster(settled[~known]),
            self._by_cluster([i for i in settled[known] if int(self.labels[i]) not in lost]),
            population,
        )
        high = known_wrong + wrong_items(wrong, decided, population)[1]
        share = wrong / decided if decided else 0.5
        unchecked = self._unchecked()
        return AuditResult(
            estimate=(known_wrong + share * population) / max(items, 1),
            low=low / max(items, 1),
            high=high / max(items, 1),
            items=items,
            settled=settled.size,
            population=population,
            sampled=decided,
            wrong=wrong,
            unsure=sum(verdict == "unsure" for _, verdict in drawn),
            known_wrong=known_wrong,
            questions=sum(self._mine(e) for e in self.session.history.standing()),
            unchecked=len(unchecked),
            at_stake=at_stake(unchecked, self._sizes),
            finished=self.ask() is None,
            started=self.started.seq,
        )

    def _by_cluster(self, items: Sequence[int] | IntArray) -> IntArray:
        of = self.labels[np.asarray(items, dtype=np.intp)]
        return np.bincount(of, minlength=self.speakers.size)

    def _draw(self) -> IntArray:
        """All items in the order in which they are drawn."""
        key = [self.session.spec.seed, self.started.seq, SEED]
        return np.random.default_rng(key).permutation(self.labels.size).astype(np.intp)

    def _drawn(self) -> Iterator[tuple[int, bool | str | None]]:
        """Items drawn so far and whether they are wrong, "unsure", or None for the one to ask."""
        decided, lost = 0, self._lost()
        unknown = self._population(lost)
        for i in self._order[unknown[self._order]].tolist():
            if decided == self.sample:
                return
            verdict: bool | str | None = self._verdict(i, lost)
            if verdict is None and self._undecidable(i):
                verdict = "unsure"
            yield i, verdict
            if verdict is None:
                return
            decided += verdict != "unsure"

    def _population(self, lost: set[int]) -> NDArray[np.bool_]:
        """Items that nothing was known about when the audit began, clusters that are lost aside."""
        return self._unknown & ~np.isin(self.labels, list(lost))

    def _mine(self, event: Event) -> bool:
        return (event.body.get("why") or {}).get("audit") == self.started.seq

    def _spent_on_pairs(self) -> int:
        mine = (e for e in self.session.history.standing() if self._mine(e))
        return sum(e.body["why"]["about"] == "clusters" for e in mine)

    def _speaker(self, i: int) -> int:
        return int(self.speakers[self.labels[i]])

    def _undecidable(self, i: int) -> bool:
        state = self.session.state
        speaker = self._speaker(i)
        return ordered(i, speaker) in state.unsure or bool({i, speaker} & state.bad)

    def _verdict(self, i: int, lost: set[int]) -> bool | None:
        """Whether an item is wrong; None while nobody knows."""
        if int(self.labels[i]) in lost:
            return True
        speaker = self._speaker(i)
        if i == speaker:
            return False
        said = self.session.state.constraints.implied(i, speaker)
        return None if said is None else said == DIFFERENT

    def _lost(self) -> set[int]:
        """Clusters that are part of another, larger one: all their items count as wrong."""
        known = self.session.state.constraints
        lost: set[int] = set()
        heads: list[int] = []
        for c in np.argsort(-self._sizes, kind="stable").tolist():
            speaker = int(self.speakers[c])
            if any(known.implied(speaker, h) == SAME for h in heads):
                lost.add(c)
            else:
                heads.append(speaker)
        return lost

    def _unchecked(self) -> list[tuple[int, int]]:
        """Pairs of clusters that may be one."""
        known, lost = self.session.state.constraints, self._lost()
        return [
            (a, b)
            for a, b in self._between
            if not {a, b} & lost
            and known.implied(int(self.speakers[a]), int(self.speakers[b])) is None
        ]


def start(
    session: Session, sample: int = SAMPLE, *, pairs: int | None = None, fresh: bool = False
) -> Audit:
    """Begin an audit, or go on with the one that was interrupted.

    Parameters
    ----------
    session : Session
        What to audit; its clusters are frozen now.
    sample : int, default=50
        Items to draw.
    pairs : int, optional
        At most so many questions on whether two clusters are one; as many as `sample` by default.
    fresh : bool, default=False
        Begin anew even if an audit was interrupted.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.simulation.oracles import TruthOracle
    >>> from superpac.session.spec import Spec
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    >>> audit = start(session, sample=5)
    >>> person = TruthOracle(y)
    >>> while (question := audit.ask()) is not None:
    ...     receipt = audit.tell(person(question))
    >>> audit.result().wrong
    0
    """
    if sample < 1:
        raise InputError(f"An audit's sample must be at least 1 item. Got {sample!r}.")
    if not fresh:
        # one that began before items were added is about other clusters
        marks = (e for e in reversed(session.events) if _begins_audit(e) or e.kind == ITEMS)
        last = next(marks, None)
        if last is not None and last.kind != ITEMS:
            found = _resume(session, last)
            if found.ask() is not None:
                return found
    labels = session.labels()
    facts = {
        "sample": int(sample),
        "pairs": int(sample if pairs is None else pairs),
        "labels": _digest(labels),
    }
    session.note("note", {"audit": facts})
    return Audit(session, session.history.event(session.seq), labels)


def run_audit(
    session: Session,
    oracle: Callable[[Question], str | None],
    sample: int = SAMPLE,
    *,
    pairs: int | None = None,
) -> AuditResult:
    """Let an oracle answer a whole audit.

    Parameters
    ----------
    session : Session
        What to audit.
    oracle : Oracle
        Who answers; it may give None to stop.
    sample, pairs
        As in :func:`start`.

    Returns
    -------
    AuditResult
    """
    audit = start(session, sample, pairs=pairs)
    while (question := audit.ask()) is not None:
        answer = oracle(question)
        if answer is None:
            break
        audit.tell(answer, (question.i, question.j), expected_seq=question.seq)
    return audit.result()


def _digest(labels: IntArray) -> str:
    return sha256(np.asarray(labels, dtype="<i8").tobytes()).hexdigest()[:16]


def _begins_audit(event: Event) -> bool:
    return event.kind == "note" and "audit" in event.body


def _state_at(session: Session, seq: int) -> State:
    """What was known after event `seq`."""
    history = History(session.state.n, session.state.names)
    history.take_all([e for e in session.events if e.seq <= seq])
    return history.state


def _resume(session: Session, started: Event) -> Audit:
    """Build an interrupted audit again: its clusters follow from the log as it was then."""
    state = _state_at(session, started.seq)
    strategy = make_strategy(session.spec.strategy, session.problem, **session.spec.options)
    labels = labels_for_people(strategy, state, strategy.labels(state))
    if _digest(labels) != started.body["audit"]["labels"]:
        raise ConflictError(
            f"The clusters that the audit of event #{started.seq} began with cannot be computed "
            "again by this version; begin a new audit with --fresh."
        )
    return Audit(session, started, labels)
