"""From the log to what is known: events folded into a state, one at a time or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from superpac.answers.constraints import Constraints
from superpac.answers.events import Event
from superpac.answers.links import SAME, UNSURE, Link
from superpac.errors import InputError

UNDOABLE = ("answer", "skip", "bad", "good", "name")
POSTPONED = 20  # a skipped pair comes back after this many further answers


@dataclass
class State:
    """What is known so far: a function of the log alone.

    Attributes
    ----------
    constraints : Constraints
        The answers folded.
    answers : list of Link
        Standing answers in order, "unsure" included.
    skipped : dict
        Pair to the number of answers there were when it was skipped.
    bad : set of int
        Items set aside.
    revision : int
        Grows whenever an answer is taken back or put back: what was derived must be derived anew.
    """

    constraints: Constraints
    answers: list[Link] = field(default_factory=list)
    skipped: dict[tuple[int, int], int] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)
    revision: int = 0

    @property
    def n_answers(self) -> int:
        """Questions answered so far."""
        return len(self.answers)

    def askable(self, i: int, j: int) -> bool:
        """Whether a pair may be asked now: nothing implied, not unsure, not skipped just now."""
        if i == j or i in self.bad or j in self.bad:
            return False
        return self.constraints.implied(i, j) is None and not self.put_off(i, j)

    def put_off(self, i: int, j: int) -> bool:
        """Whether nobody could tell a pair, or it was skipped just now."""
        at = self.skipped.get((min(i, j), max(i, j)))
        skipped = at is not None and self.n_answers - at < POSTPONED
        return skipped or self.constraints.is_unsure(i, j)


class Fold:
    """What a log says, kept up to date.

    Parameters
    ----------
    n : int
        Number of items.
    names : sequence of str, optional
        What people call the items.

    Attributes
    ----------
    state : State
        What is known: standing answers, skipped pairs, items set aside.
    events : list of Event
        The whole log so far.
    cluster_names, item_names : dict
        Names that people gave.

    Examples
    --------
    >>> fold = Fold(10)
    >>> fold.take(Event(1, "answer", {"i": 3, "j": 4, "answer": "same"}, "", "k", "", None, ""))
    >>> fold.state.constraints.implied(4, 3)
    'same'
    >>> fold.take(Event(2, "retract", {"seq": 1}, "", "k2", "", None, ""))
    >>> fold.state.n_answers, fold.redoable()
    (0, [1])
    """

    def __init__(self, n: int, names: Sequence[str] | None = None) -> None:
        self.n = n
        self.names = names
        self.events: list[Event] = []
        self.retracted: set[int] = set()
        self._undone: list[list[int]] = []  # what redo would put back, last first to come
        self.cluster_names: dict[int, str] = {}
        self.item_names: dict[int, str] = {}
        self.state = State(Constraints(n, names))

    @property
    def seq(self) -> int:
        """Sequence number of the last event taken in."""
        return self.events[-1].seq if self.events else 0

    def take_all(self, events: Iterable[Event]) -> None:
        """Take in many events; answers are folded together at the end."""
        new = list(events)
        if not any(e.kind in ("retract", "restore") for e in new) and len(new) < 50:
            for event in new:
                self.take(event)
            return
        for event in new:
            self.events.append(event)
            self._note_history(event)
        self._rebuild()

    def take(self, event: Event) -> None:
        """Take in the next event."""
        self.events.append(event)
        self._note_history(event)
        if event.kind in ("retract", "restore"):
            self._rebuild()
        else:
            self._apply(event)

    def standing(self, kinds: Sequence[str] = ("answer",)) -> list[Event]:
        """Events of some kinds that have not been taken back, in order."""
        return [e for e in self.events if e.kind in kinds and e.seq not in self.retracted]

    def undoable(self) -> list[int]:
        """Sequence numbers that one undo takes back: the last act, with all pairs of its group."""
        for event in reversed(self.events):
            if event.kind in UNDOABLE and event.seq not in self.retracted:
                return self._group(event)
        return []

    def redoable(self) -> list[int]:
        """Sequence numbers that one redo puts back."""
        return self._undone[-1] if self._undone else []

    def event(self, seq: int) -> Event:
        """Event number `seq`."""
        if not 1 <= seq <= len(self.events):
            raise InputError(f"There is no event #{seq}; the log has #1 to #{len(self.events)}.")
        return self.events[seq - 1]

    def _group(self, event: Event) -> list[int]:
        group = event.body.get("group")
        if group is None:
            return [event.seq]
        near = self.events[max(0, event.seq - 64) : event.seq]
        return [e.seq for e in near if e.body.get("group") == group and e.seq not in self.retracted]

    def _note_history(self, event: Event) -> None:
        if event.kind == "retract":
            seq = event.body["seq"]
            self.retracted.add(seq)
            group = self.events[seq - 1].body.get("group")
            last = self._undone[-1] if self._undone else None
            if group is not None and last and self._same_group(last[0], group):
                last.append(seq)
            else:
                self._undone.append([seq])
        elif event.kind == "restore":
            seq = event.body["seq"]
            self.retracted.discard(seq)
            for entry in self._undone:
                if seq in entry:
                    entry.remove(seq)
            self._undone = [entry for entry in self._undone if entry]
        elif event.kind in UNDOABLE:
            self._undone.clear()

    def _same_group(self, seq: int, group: object) -> bool:
        return self.events[seq - 1].body.get("group") == group

    def _rebuild(self) -> None:
        revision = self.state.revision + 1
        answers = [_link(event) for event in self.standing()]
        self.state = State(self._known(answers), answers, revision=revision)
        self.cluster_names, self.item_names = {}, {}
        count = 0
        for event in self.events:
            if event.seq in self.retracted:
                continue
            if event.kind == "answer":
                count += 1
            else:
                self._apply_other(event, count)

    def _apply(self, event: Event) -> None:
        if event.kind != "answer":
            self._apply_other(event, self.state.n_answers)
            return
        link = _link(event)
        self.state.answers.append(link)
        if link.answer != UNSURE and self.state.constraints.answered(link.i, link.j):
            self.state.constraints = self._known(self.state.answers)
        else:
            self.state.constraints.take(link)

    def _known(self, answers: Sequence[Link]) -> Constraints:
        constraints = Constraints(self.n, self.names)
        for answer in by_majority(answers):
            constraints.take(answer)
        return constraints

    def _apply_other(self, event: Event, n_answers: int) -> None:
        state, body = self.state, event.body
        if event.kind == "skip":
            i, j = body["i"], body["j"]
            state.skipped[min(i, j), max(i, j)] = n_answers
        elif event.kind == "bad":
            state.bad.add(body["i"])
        elif event.kind == "good":
            state.bad.discard(body["i"])
        elif event.kind == "name":
            if "cluster" in body:
                self.cluster_names[body["cluster"]] = body["name"]
            if "item" in body:
                self.item_names[body["item"]] = body["name"]


def _link(event: Event) -> Link:
    body = event.body
    return Link(event.seq, body["i"], body["j"], body["answer"], event.annotator)


def by_majority(answers: Sequence[Link]) -> Sequence[Link]:
    """Answers with each pair once: what most of its votes say, the first where they are even.

    Only a strategy that weighs answers as evidence asks a pair again. Each stands where the pair
    was first answered, under the number of the first vote that says the same.

    Examples
    --------
    >>> votes = [Link(n, 3, 7, word) for n, word in enumerate(["same", "different", "different"])]
    >>> by_majority(votes[:2])
    [Link(seq=0, i=3, j=7, answer='same', annotator='')]
    >>> by_majority(votes)
    [Link(seq=1, i=3, j=7, answer='different', annotator='')]
    """
    pairs = [(min(a.i, a.j), max(a.i, a.j)) for a in answers if a.answer != UNSURE]
    if len(set(pairs)) == len(pairs):
        return answers
    votes: dict[tuple[int, int], list[Link]] = {}
    order: list[Link] = []
    for answer in answers:
        pair = (min(answer.i, answer.j), max(answer.i, answer.j))
        if answer.answer == UNSURE or pair not in votes:
            order.append(answer)
        if answer.answer != UNSURE:
            votes.setdefault(pair, []).append(answer)
    found = []
    for first in order:
        several = [first]
        if first.answer != UNSURE:
            several = votes[min(first.i, first.j), max(first.i, first.j)]
        agreeing = [vote for vote in several if vote.answer == first.answer]
        overruled = 2 * len(agreeing) < len(several)
        found.append(next(v for v in several if v.answer != first.answer) if overruled else first)
    return found


def counts(answers: Sequence[Link]) -> dict[str, int]:
    """How many answers of each kind there are."""
    same = sum(a.answer == SAME for a in answers)
    unsure = sum(a.answer == UNSURE for a in answers)
    return {"same": same, "different": len(answers) - same - unsure, "unsure": unsure}
