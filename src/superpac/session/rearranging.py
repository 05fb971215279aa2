"""What an act on whole groups means, as answers: move, merge, split, join, exclude.

A person who puts items where they belong says many answers at once. They are chosen so that what
follows from them is what was done, and so that they are few: one "same" for each set of items that
answers have not tied to the target yet, one "different" for each group that was left.

A deliberate act wins over one's own earlier slips: own answers in its way are taken back with it.
What others said stays. It is contradicted on the very pair that they answered, so that both stand
in the list of answers to check, and that pair is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from superpac.answers.consistent_labels import tied
from superpac.answers.constraints import Constraints
from superpac.answers.events import Event, canonical
from superpac.answers.links import DIFFERENT, SAME, Link, Pair, ordered, pair_of
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.errors import InputError

Act = Literal["move", "merge", "split", "join", "exclude", "aside", "back"]
ACTS: tuple[Act, ...] = ("move", "merge", "split", "join", "exclude", "aside", "back")
"""To another group; whole groups into one; off as a new group; all one; not this group; set aside
as blank or damaged; and back from there."""

ROUNDS = 12  # of looking what stands in the way once something was taken out of it

Said = tuple[int, int, str]


@dataclass(frozen=True)
class Groups:
    """Groups as the person saw them.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Group of every item.
    state : State
        What the answers say.
    sure : ndarray of shape (n,), optional
        How sure each item is of its group: who stands for a group is taken from the surest.
    known : ndarray of bool of shape (n,), optional
        Items that the model holds to be members of its groups: one of them stands for a group.
    """

    labels: IntArray
    state: State
    sure: NDArray[np.floating] | None = None
    known: NDArray[np.bool_] | None = None

    def members(self, group: int, but: Iterable[int] = ()) -> IntArray:
        """Items of a group in order, less some and those set aside."""
        inside = self.labels == group
        inside[list(but)] = False
        inside[list(self.state.bad)] = False
        return np.flatnonzero(inside)

    def stands_for(self, members: IntArray) -> int:
        """The item that stands for some: surest of the largest set that answers have tied."""
        if not members.size:
            raise InputError("A group must hold at least one item that stays in it.")
        inside = np.zeros(self.labels.size, dtype=np.intp)
        inside[members] = 1
        core = tied(inside, self.state.constraints)[members]
        best = members[core] if core.any() else members
        if self.known is not None and self.known[best].any():
            best = best[self.known[best]]
        if self.sure is None:
            return int(best[0])
        return int(best[np.argmax(self.sure[best])])


@dataclass
class Plan:
    """Events that an act is written as.

    Attributes
    ----------
    said : list of (i, j, answer)
        New answers, the item to be placed first.
    taken_back : list of int
        Own earlier answers, and names that must not go along.
    names : list of (name, item)
        Names that stay with the groups that had them.
    against : list of (i, j, answer)
        Those of the new answers that contradict what others said.
    lost : list of (i, j, answer)
        What was meant and does not follow all the same, since others' answers weigh more.
    after : ndarray
        Groups as the act leaves them.
    """

    after: IntArray
    said: list[Said] = field(default_factory=list)
    taken_back: list[int] = field(default_factory=list)
    names: list[tuple[str, int]] = field(default_factory=list)
    against: list[Said] = field(default_factory=list)
    lost: list[Said] = field(default_factory=list)


@dataclass(frozen=True)
class _Meaning:
    """What an act says: who is together, who is apart, and whom the items leave."""

    together: Sequence[Pair]  # (item, anchor)
    apart: Sequence[Pair]
    leaving: frozenset[int] = frozenset()  # they are tied no more to whom they leave
    left: frozenset[int] = frozenset()
    one: frozenset[int] = frozenset()  # no two of them may be different


def digest(act: str, items: Sequence[int], to: int | None, name: str | None) -> str:
    """Short name of what an act is about, by which a request that is sent again is known.

    Examples
    --------
    >>> digest("move", [3, 1], 7, None) == digest("move", [1, 3], 7, None)
    True
    """
    order = list(items) if act == "merge" else sorted(set(items))
    return sha256(canonical([act, order, to, name]).encode()).hexdigest()[:24]


def plan(
    act: Act,
    items: Sequence[int],
    groups: Groups,
    *,
    to: int | None = None,
    annotator: str = "",
    names: Sequence[Event] = (),
) -> Plan:
    """Find the answers that an act means.

    Parameters
    ----------
    act : {"move", "merge", "split", "join", "exclude"}
        What is done.
    items : sequence of int
        What it is done to; for "merge" one item of each group, the first of the one that stays.
    groups : Groups
        The groups as they are.
    to : int, optional
        For "move", an item of the group to move to.
    annotator : str
        Who does it.
    names : sequence of Event
        Standing events by which items were named, in order.

    Returns
    -------
    Plan

    Examples
    --------
    >>> state = State.of(6, [Link(1, 0, 1, "same", "Ada"), Link(2, 4, 5, "same", "Ada")])
    >>> groups = Groups(np.array([0, 0, 0, 1, 1, 1]), state)
    >>> found = plan("move", [1, 2], groups, to=4, annotator="Ada")
    >>> found.said, found.taken_back, found.after.tolist()
    ([(1, 4, 'same'), (2, 1, 'same'), (1, 0, 'different')], [1], [0, 1, 1, 1, 1, 1])
    """
    chosen = _checked(items, groups)
    meaning, after = _MEANINGS[act](chosen, groups, to)
    gone, contests = _cleared(groups.state, meaning, annotator)
    found = Plan(after, taken_back=sorted(gone))
    trial = _trial(groups.state, gone, contests, annotator)
    seq = trial.answers[-1].seq if trial.answers else 0
    for i, j, answer in contests:
        found.said.append((i, j, answer))
    found.against = list(found.said)
    wishes = [(i, j, SAME) for i, j in meaning.together]
    wishes += [(i, j, DIFFERENT) for i, j in meaning.apart]
    contested = {ordered(i, j) for i, j, _ in contests}  # nobody votes twice in one act
    for i, j, answer in wishes:
        if i == j or ordered(i, j) in contested or trial.constraints.implied(i, j) == answer:
            continue
        seq += 1
        trial.hear(Link(seq, i, j, answer, annotator))
        found.said.append((i, j, answer))
    known = trial.constraints
    found.lost = [w for w in wishes if w[0] != w[1] and known.implied(w[0], w[1]) != w[2]]
    _keep_names(found, act, groups, names)
    return found


def _checked(items: Sequence[int], groups: Groups) -> IntArray:
    """Items in the order given, each once."""
    n = groups.labels.size
    chosen = list(dict.fromkeys(int(i) for i in items))
    if not chosen:
        raise InputError("Select at least one item first.")
    for i in chosen:
        if not 0 <= i < n:
            raise InputError(f"There is no item {i}; items are numbered 0 to {n - 1}.")
    return np.array(chosen, dtype=np.intp)


def _target(groups: Groups, to: int | None) -> int:
    """Group that an item stands for."""
    if to is None:
        raise InputError("Say where to: an item of the group that is meant.")
    return int(groups.labels[_checked([to], groups)[0]])


def _leave(
    chosen: IntArray, groups: Groups, stays: int | None = None
) -> tuple[list[Pair], frozenset[int]]:
    """One "different" for each group that items leave, and all whom they are tied to no more."""
    apart, left = [], []
    labels = groups.labels[chosen]
    for c in dict.fromkeys(labels.tolist()):
        rest = groups.members(c, chosen.tolist())
        if c == stays or not rest.size:
            continue
        apart.append((int(chosen[labels == c][0]), groups.stands_for(rest)))
        left.append(rest)
    return apart, frozenset(int(i) for rest in left for i in rest)


def _move(chosen: IntArray, groups: Groups, to: int | None) -> tuple[_Meaning, IntArray]:
    goal = _target(groups, to)
    there = groups.members(goal, chosen.tolist())
    if not there.size:
        raise InputError("All items of that group are selected; choose another group to move to.")
    anchor = groups.stands_for(there)
    apart, left = _leave(chosen, groups, goal)
    after = groups.labels.copy()
    after[chosen] = goal
    # tied to each other and by one answer to the group: what is moved again is moved as one
    first = groups.stands_for(chosen)
    pairs = [(first, anchor), *((int(i), first) for i in chosen)]
    return _Meaning(pairs, apart, frozenset(chosen.tolist()), left), after


def _merge(chosen: IntArray, groups: Groups, to: int | None) -> tuple[_Meaning, IntArray]:
    goal, *others = dict.fromkeys(groups.labels[chosen].tolist())
    if not others:
        raise InputError("These are one group already; choose one item of each group to merge.")
    anchor = groups.stands_for(groups.members(goal))
    after, pairs = groups.labels.copy(), []
    sets = groups.state.constraints.sets()
    for c in others:
        members = groups.members(c)
        pairs.append((groups.stands_for(members), anchor))
        own = set(members.tolist())
        # what answers have tied comes along as a whole; the rest is for the model to place
        pairs += [(int(s[0]), anchor) for s in sets if int(s[0]) in own]
        after[members] = goal
    whole = np.isin(groups.labels, [goal, *others])
    return _Meaning(pairs, (), one=frozenset(np.flatnonzero(whole).tolist())), after


def _split(chosen: IntArray, groups: Groups, to: int | None) -> tuple[_Meaning, IntArray]:
    anchor = groups.stands_for(chosen)
    _, left = _leave(chosen, groups)
    apart = []
    for c in np.unique(groups.labels).tolist():
        rest = groups.members(c, chosen.tolist())
        if rest.size:
            apart.append((anchor, groups.stands_for(rest)))
    after = groups.labels.copy()
    after[chosen] = int(after.max()) + 1
    # a group of its own is tied to nobody else, whatever group they are shown in
    others = frozenset(range(groups.labels.size)) - frozenset(chosen.tolist())
    pairs = [(int(i), anchor) for i in chosen]
    return _Meaning(pairs, apart, frozenset(chosen.tolist()), left | others), after


def _join(chosen: IntArray, groups: Groups, to: int | None) -> tuple[_Meaning, IntArray]:
    if chosen.size < 2:
        raise InputError("Select at least two items that are one.")
    counts = np.bincount(groups.labels[chosen])
    goal = int(np.argmax(counts))
    anchor = groups.stands_for(chosen[groups.labels[chosen] == goal])
    after = groups.labels.copy()
    after[chosen] = goal
    return _Meaning([(int(i), anchor) for i in chosen], ()), after


def _exclude(chosen: IntArray, groups: Groups, to: int | None) -> tuple[_Meaning, IntArray]:
    _, left = _leave(chosen, groups)
    apart = []
    for i in chosen.tolist():
        rest = groups.members(int(groups.labels[i]), chosen.tolist())
        if not rest.size:
            raise InputError("All items of the group are selected, so there is nothing to leave.")
        apart.append((i, groups.stands_for(rest)))
    # where else it belongs nobody said: groups stay until the model has placed it
    return _Meaning((), apart, frozenset(chosen.tolist()), left), groups.labels.copy()


_MEANINGS = {
    "move": _move,
    "merge": _merge,
    "split": _split,
    "join": _join,
    "exclude": _exclude,
}


def _cleared(state: State, meaning: _Meaning, annotator: str) -> tuple[set[int], list[Said]]:
    """Own answers that stand in the way, and contradictions to what others said."""
    gone: set[int] = set()
    contests: dict[Pair, Said] = {}
    for _ in range(ROUNDS):
        trial = _trial(state, gone, contests.values(), annotator)
        blocking = [link for link in _blocking(trial, meaning) if pair_of(link) not in contests]
        if not blocking:
            break
        for link in blocking:
            votes = [v for v in trial.votes.said(link.i, link.j) if v.answer == link.answer]
            gone.update(v.seq for v in votes if v.annotator == annotator)
            if any(v.annotator != annotator for v in votes):
                opposite = DIFFERENT if link.answer == SAME else SAME
                contests[pair_of(link)] = (link.i, link.j, opposite)
    return gone, list(contests.values())


def _trial(state: State, gone: set[int], new: Iterable[Said], annotator: str) -> State:
    """State without some answers and with some new ones."""
    said = list(new)
    if not gone and not said:
        kept = state.answers
    else:
        kept = [answer for answer in state.answers if answer.seq not in gone]
    end = state.answers[-1].seq if state.answers else 0
    more = [Link(end + n, i, j, word, annotator) for n, (i, j, word) in enumerate(said, 1)]
    return State.of(state.n, [*kept, *more], names=state.names)


def _blocking(state: State, meaning: _Meaning) -> list[Link]:
    """Answers as believed that say the opposite of what is meant."""
    found = []
    known: Constraints = state.constraints
    pool = {*meaning.one, *(i for pair in meaning.together for i in pair)}
    roots = {known.root(i) for i in pool}
    for link in state.links:
        if link.answer == SAME:
            ends = (link.i, link.j), (link.j, link.i)
            if any(a in meaning.leaving and b in meaning.left for a, b in ends):
                found.append(link)
        elif link.answer == DIFFERENT and {known.root(link.i), known.root(link.j)} <= roots:
            found.append(link)
    return found


def _keep_names(found: Plan, act: Act, groups: Groups, names: Sequence[Event]) -> None:
    """Let names stay with their groups: a name is kept with an item, and that may have moved."""
    before = names_by_group(names, groups.labels)
    moved = groups.labels != found.after
    if act != "merge":
        own = [e for e in names if "item" in e.body and moved[e.body["item"]]]
        found.taken_back += [event.seq for event in own]
        names = [event for event in names if event not in own]
    now = names_by_group(names, found.after)
    for group, name in before.items():
        members = np.flatnonzero(found.after == group)
        if members.size and now.get(group) != name:
            found.names.append((name, groups.stands_for(members)))


def put_where_said(
    labels: IntArray, links: Sequence[Link], acts: Mapping[int, tuple[str, object]]
) -> IntArray:
    """Change groups as acts did, before a model has followed.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Groups before the acts.
    links : sequence of Link
        All that is believed, in order.
    acts : mapping of int to (str, object)
        By the number of an answer, the act since then that it is part of, and the act's key.

    Returns
    -------
    ndarray of shape (n,)
        Groups after; to be bent to the answers still, see
        :func:`superpac.answers.consistent_labels.respect_answers`.

    Examples
    --------
    >>> moved = [Link(1, 2, 1, "same"), Link(2, 2, 3, "same")]
    >>> put_where_said(np.array([0, 0, 0, 1, 1]), moved, {2: ("move", "k")}).tolist()
    [0, 1, 1, 1, 1]
    """
    found, known = labels.copy(), Constraints(labels.size)
    opened: set[object] = set()
    for link in links:
        act, key = acts.get(link.seq, ("", None))
        same = link.answer == SAME
        i, j = link.i, link.j
        if act == "split" and key not in opened:
            opened.add(key)
            found[known.members(j if same else i)] = int(found.max()) + 1
        if act == "merge" and same:
            found[found == found[i]] = found[j]
        elif act in ("move", "split", "join") and same:
            found[known.members(i)] = found[j]
        elif act == "exclude" and not same and found[i] == found[j]:
            found[known.members(i)] = int(found.max()) + 1  # until a model places it
        known.take(link)
    return found


def names_by_group(names: Sequence[Event], labels: IntArray) -> dict[int, str]:
    """Name of each group by the events that named items in it; the last one wins."""
    found: dict[int, str] = {}
    for event in names:
        if "item" in event.body:
            found[int(labels[event.body["item"]])] = event.body["name"]
    return found
