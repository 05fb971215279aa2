"""The events of a log: which of them stand, what undo and redo would take, names people gave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from superpac.answers import acts
from superpac.answers.events import NOTE, Event
from superpac.answers.growth import BACK, GONE, changes_facts, numbers_in
from superpac.answers.links import Link, ordered
from superpac.answers.state import State
from superpac.errors import InputError

UNDOABLE = ("answer", "skip", "bad", "good", "name")


class History:
    """A log read event by event, with the state that its standing events lead to.

    Parameters
    ----------
    n : int
        Number of items.
    names : sequence, optional
        What people call the items.

    Attributes
    ----------
    state : State
        What the standing answers say; the same object as long as the history lives.
    events : list of Event
        The whole log so far.
    seq : int
        Number of the last event taken in.
    retracted : set of int
        Numbers of the events that were taken back.
    cluster_names, item_names : dict
        Names that people gave.
    gone : set of int
        Items that are not there at present; like those set aside they are not asked about.

    Examples
    --------
    >>> history = History(10)
    >>> history.take(Event(1, "answer", {"i": 3, "j": 4, "answer": "same"}, "", "k", "", None, ""))
    >>> history.state.constraints.implied(4, 3)
    'same'
    >>> history.take(Event(2, "retract", {"seq": 1}, "", "k2", "", None, ""))
    >>> history.state.n_answers, history.redoable()
    (0, [1])
    """

    def __init__(self, n: int, names: Sequence[Any] | None = None) -> None:
        self.state = State(n, names)
        self.events: list[Event] = []
        self.seq = 0
        self.retracted: set[int] = set()
        self.cluster_names: dict[int, str] = {}
        self.item_names: dict[int, str] = {}
        self.gone: set[int] = set()
        self._aside: set[int] = set()  # by people, whether the item is there or not

    def take(self, event: Event) -> None:
        """Take in the next event."""
        self.take_all([event])

    def take_all(self, events: Iterable[Event]) -> None:
        """Take in many events; with something taken back or put back among them, read all anew."""
        new = list(events)
        if not new:
            return
        self.events += new
        self.seq = new[-1].seq
        turned = [event for event in new if event.kind in ("retract", "restore")]
        for event in turned:
            change = self.retracted.add if event.kind == "retract" else self.retracted.discard
            change(event.body["seq"])
        if turned:
            self.state.restart([link_of(event) for event in self.standing()])
            self.cluster_names, self.item_names = {}, {}
            self.gone, self._aside = set(), set()
            self._apply(self.events, count=0)
        else:
            answered = self.state.n_answers
            self.state.hear_all(link_of(event) for event in new if event.kind == "answer")
            self._apply(new, count=answered)

    def standing(self, kinds: Sequence[str] = ("answer",)) -> list[Event]:
        """Events of some kinds that have not been taken back, in order."""
        return [e for e in self.events if e.kind in kinds and e.seq not in self.retracted]

    def event(self, seq: int) -> Event:
        """Event number `seq`."""
        if not 1 <= seq <= len(self.events):
            has = f"#1 to #{len(self.events)}" if self.events else "none yet"
            raise InputError(f"There is no event #{seq}; the log has {has}.")
        return self.events[seq - 1]

    def undoable(self, by: str | None = None) -> list[int]:
        """Sequence numbers that one undo takes back: the last act, with all events of its group.

        Parameters
        ----------
        by : str, optional
            The annotator whose acts count; everybody's by default.
        """
        for event in reversed(self.events):
            mine = by is None or event.annotator == by
            if mine and self.stands(event):
                return self.act_of(event)
        return []

    def stands(self, event: Event) -> bool:
        """Whether something can be taken back: an answer or the like, or an act's retraction."""
        if event.kind in UNDOABLE:
            return event.seq not in self.retracted
        inside = event.kind == "retract" and group_of(event) is not None
        return inside and event.body["seq"] in self.retracted

    def act_of(self, event: Event) -> list[int]:
        """Standing events that were one act together with this one: all that it wrote."""
        return [seq for seq in self.whole_act(event) if self.stands(self.events[seq - 1])]

    def whole_act(self, event: Event) -> list[int]:
        """The same with what was taken back since."""
        group = group_of(event)
        if group is None:
            return [event.seq]
        first = last = event.seq  # an act is one append, so its events lie side by side
        while first > 1 and group_of(self.events[first - 2]) == group:
            first -= 1
        while last < len(self.events) and group_of(self.events[last]) == group:
            last += 1
        return list(range(first, last + 1))

    def redoable(self, by: str | None = None) -> list[int]:
        """Sequence numbers that one redo puts back: what was taken back last and nothing since.

        Parameters
        ----------
        by : str, optional
            The annotator whose acts count; everybody's by default.
        """
        stack: list[list[int]] = []
        for event in self.events:
            if by is not None and event.annotator != by:
                continue
            if event.kind in ("retract", "restore") and acts.goes_along(event):
                continue  # comes and goes with an act
            if event.kind == "retract":
                seq = event.body["seq"]
                group = self._group(seq)
                if stack and group is not None and self._group(stack[-1][0]) == group:
                    stack[-1].append(seq)
                else:
                    stack.append([seq])
            elif event.kind == "restore":
                seq = event.body["seq"]
                stack = [left for entry in stack if (left := [s for s in entry if s != seq])]
            elif event.kind in UNDOABLE:
                stack.clear()
        # somebody else may have put back what stands on top
        still = ([seq for seq in entry if seq in self.retracted] for entry in reversed(stack))
        return next((entry for entry in still if entry), [])

    def _group(self, seq: int) -> object:
        """Key of the act that an event was part of."""
        return group_of(self.events[seq - 1])

    def _apply(self, events: Iterable[Event], count: int) -> None:
        """Take in what is no answer; `count` answers stood before these events."""
        state = self.state
        for event in events:
            if event.seq in self.retracted:
                continue
            body, kind = event.body, event.kind
            if kind == "answer":
                count += 1
            elif kind == "skip":
                state.skipped[ordered(body["i"], body["j"])] = count
            elif kind == "bad":
                self._aside.add(body["i"])
                state.bad.add(body["i"])
            elif kind == "good":
                self._aside.discard(body["i"])
                state.bad = self._aside | self.gone
            elif kind == NOTE and changes_facts(event):
                self.gone |= set(numbers_in(event, GONE, state.n))
                self.gone -= set(numbers_in(event, BACK, state.n))
                state.bad = self._aside | self.gone
            elif kind == "name" and "cluster" in body:
                self.cluster_names[body["cluster"]] = body["name"]
            elif kind == "name":
                self.item_names[body["item"]] = body["name"]


def group_of(event: Event) -> object:
    """Key of the act that an event is part of; None where it is one by itself.

    Examples
    --------
    >>> group_of(Event(1, "bad", {"i": 3, "why": {"group": "k"}}, "", "k/0", "", None, ""))
    'k'
    """
    return event.body.get("group") or acts.reasons(event).get("group")


def link_of(event: Event) -> Link:
    """An answer's event as a link."""
    body = event.body
    known = bool(acts.reasons(event).get(acts.KNOWN, False))
    return Link(
        event.seq,
        body["i"],
        body["j"],
        body["answer"],
        event.annotator,
        confirm=bool(body.get("confirm", False)),
        unasked=known or acts.named(event) is not None,
        known=known,
    )
