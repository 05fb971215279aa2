"""Forms of question beyond pairs, made of what a strategy believes.

The strategy says what is due: to check an answer, to join two groups, or to place an item. This
module says how that is best put to a person: as the form whose expected gain per second of their
time is largest. The gain is the expected number of items whose label is mended.

- Comparing item t with its likeliest group mends it where the runner-up is right, with chance p2;
  a slip, at the rate r of the answers so far, spoils it where it was right, with chance p1. So the
  gain is (p2 (1 - r) - p1 r) w, with w for what it tells about others (`Outlook.reach`).
- A pair asks that of one item. A strip offers other groups as well: p2 becomes the sum of theirs.
- A wall asks it of many items of one group: the gains add up. Items are added while gain per second
  grows, each at the cost of looking at it, and of a click where it does not belong.
- A board asks of many sets of items whether each is one with the first: the gain of a set is what
  the strategy expects to be mended by that question. Sets are added in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from superpac.answers.forms import BOARD, MOST, PAIR, STRIP, WALL, Costs
from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.strategies.base import Outlook, Proposal, Strategy

FORMS = (PAIR, STRIP, WALL, BOARD)

_LOOKED_AT = 96  # items of a group that a wall is chosen from
_BOARDS = 8  # questions about two sets that boards are made of
_PARTS = 8  # members looked at for each group that is offered: a group may be of several sets


@dataclass(frozen=True)
class FormProposal:
    """A question in one of the forms, and what it is expected to bring.

    Attributes
    ----------
    form : {"pair", "strip", "wall", "board"}
        How it is put.
    item : int
        The item to be placed; on a wall and a board the one that stands for its group.
    options : tuple of int
        What it is shown beside.
    reason : str
        One sentence for a person.
    gain : float
        Items whose label it is expected to mend.
    seconds : float
        Of a person's time that it is expected to take.
    question : Proposal
        The strategy's own question, of which this was made.
    confirm : frozenset of int
        Options of which a "same" counts only once a second answer agrees.
    """

    form: str
    item: int
    options: tuple[int, ...]
    reason: str
    gain: float
    seconds: float
    question: Proposal
    confirm: frozenset[int] = frozenset()

    @property
    def per_second(self) -> float:
        """Gain per second."""
        return self.gain / self.seconds


def propose_forms(
    strategy: Strategy,
    state: State,
    costs: Costs | None = None,
    forms: Sequence[str] = FORMS,
    avoid: frozenset[int] = frozenset(),
) -> list[FormProposal]:
    """Put what is due next in each form that fits, the one with most gain per second first.

    Parameters
    ----------
    strategy : Strategy
        Who says what is due.
    state : State
        What is known.
    costs : Costs, optional
        Seconds of a person's time.
    forms : sequence of str
        Forms that may be used; a pair is used where none of them fits.
    avoid : frozenset of int
        Items that others are being asked about now.

    Returns
    -------
    list of FormProposal
        Empty when nothing is left to ask.
    """
    found = strategy.propose(state, 1, avoid)
    return put_in_forms(strategy, state, found[0], costs, forms, avoid) if found else []


def put_in_forms(
    strategy: Strategy,
    state: State,
    question: Proposal,
    costs: Costs | None = None,
    forms: Sequence[str] = FORMS,
    avoid: frozenset[int] = frozenset(),
) -> list[FormProposal]:
    """Put a strategy's question in each form that fits, the one with most gain per second first.

    Parameters are those of :func:`propose_forms`, and the question.
    """
    costs = costs or Costs()
    outlook = strategy.outlook(state)
    pair = FormProposal(
        PAIR, question.i, (question.j,), question.reason, 0.0, costs.pair, question,
        frozenset([question.j] if question.confirm else []),
    )  # fmt: skip
    if question.numbers.get("again"):
        return [pair]  # a doubtful answer is checked as the strategy wants it checked
    if outlook is None:
        return [pair]
    maker = _Maker(strategy, state, question, outlook, costs, avoid)
    made = maker.boards() if maker.joins else [*maker.strips(), *maker.walls()]
    gain = maker.join_gain() if maker.joins else maker.place_gain()
    whole = [replace(pair, gain=gain), *made]
    allowed = [one for one in whole if one.form in forms] or whole[:1]
    return sorted(allowed, key=_by_gain)


def all_forms(
    strategy: Strategy,
    state: State,
    questions: Sequence[Proposal],
    costs: Costs | None = None,
    avoid: frozenset[int] = frozenset(),
) -> tuple[list[FormProposal], list[FormProposal]]:
    """Put the first of some questions in every form, and find what else fits a wall or a board.

    Parameters
    ----------
    strategy : Strategy
        Who knows the groups.
    state : State
        What is known.
    questions : sequence of Proposal
        The strategy's questions, the best first.
    costs : Costs, optional
        Seconds of a person's time.
    avoid : frozenset of int
        Items that others are being asked about now.

    Returns
    -------
    due : list of FormProposal
        As :func:`put_in_forms` gives them for the first question.
    rest : list of FormProposal
        For those who want walls or boards whatever is due: the best of either first.
    """
    outlook = strategy.outlook(state)
    if not questions or outlook is None:
        return [], []
    due = put_in_forms(strategy, state, questions[0], costs, FORMS, avoid)
    makers = [_Maker(strategy, state, one, outlook, costs or Costs(), avoid) for one in questions]
    rest = [] if any(one.form == WALL for one in due) else makers[0].walls()
    joins = [maker for maker in makers[1:] if maker.joins][:_BOARDS]
    rest += [board for maker in joins for board in maker.boards()]
    return due, sorted(rest, key=_by_gain)


def _by_gain(one: FormProposal) -> float:
    """Order by gain per second, the largest first."""
    return -one.per_second


@dataclass(frozen=True)
class _Maker:
    """Makes the forms of one question."""

    strategy: Strategy
    state: State
    question: Proposal
    outlook: Outlook
    costs: Costs
    avoid: frozenset[int]

    @property
    def joins(self) -> bool:
        """Whether the question is about two sets."""
        sets = self.outlook.set_of[[self.question.i, self.question.j]]
        return bool(sets.min() >= 0 and not self.question.numbers.get("again"))

    def place_gain(self) -> float:
        """Expected gain of the pair that places an item."""
        return float(_mended(self.outlook, np.array([self.question.i]))[0])

    def join_gain(self) -> float:
        """Expected gain of the pair that joins two sets."""
        a, b = self.outlook.set_of[[self.question.i, self.question.j]]
        return float(self.outlook.mends[a, b])

    def strips(self) -> list[FormProposal]:
        """Offer the item's likeliest groups."""
        question, look = self.question, self.outlook
        labels = self.strategy.labels(self.state)
        options = groups_to_choose(self.strategy, self.state, question, labels)
        if len(options) < 2:
            return []
        columns = [k for k in map(int, labels[list(options)]) if k < look.chances.shape[1]]
        chances = look.chances[question.i]
        likeliest = float(chances.max())
        others = float(chances[columns].sum()) - (likeliest if chances.argmax() in columns else 0)
        gain = (others * (1 - look.rate) - likeliest * look.rate) * look.reach[question.i]
        first = question.reason.split(";")[0].rstrip(".")
        reason = f"{first}; beside it are the groups it may belong to, nearest first."
        return [
            FormProposal(
                STRIP, question.i, options, reason, float(gain), self.costs.strip, question
            )
        ]

    def walls(self) -> list[FormProposal]:
        """Show the items of one group whose label is in most doubt: a wall for each group."""
        look, labels = self.outlook, self.strategy.labels(self.state)
        open_ = np.flatnonzero(look.free)
        open_ = open_[~np.isin(open_, list(self.avoid))]
        found = []
        for group, face in enumerate(look.faces.tolist()):
            items = open_[labels[open_] == group]
            if face < 0 or items.size == 0:
                continue
            gain, click = _mended(look, items), 1.0 - look.chances[items, group]
            order = np.argsort(-gain / (self.costs.item + self.costs.click * click), kind="stable")
            some = items[[n for n in order[:_LOOKED_AT] if self._may(int(items[n]), face)]]
            gain, click = _mended(look, some), 1.0 - look.chances[some, group]
            shown, total, seconds = _most_per_second(gain, click, look.told(some), self.costs, WALL)
            if len(shown) < 2:
                continue
            found.append(
                FormProposal(
                    WALL,
                    face,
                    tuple(some[shown].tolist()),
                    "These are believed to be one group; which of them are not?",
                    total,
                    seconds,
                    self.question,
                )
            )
        return sorted(found, key=_by_gain)

    def boards(self) -> list[FormProposal]:
        """Show sets that may be one with either set of the question."""
        look, found = self.outlook, []
        for anchor, other in (
            (self.question.j, self.question.i),
            (self.question.i, self.question.j),
        ):
            a, b = int(look.set_of[anchor]), int(look.set_of[other])
            gain, chance = look.mends[a], look.one[a]
            order = np.argsort(
                -gain / (self.costs.group + self.costs.click * chance), kind="stable"
            )
            some = [
                b,
                *(k for k in order.tolist() if k != b and gain[k] > 0 and self._joins(k, anchor)),
            ]
            faces = look.set_faces.copy()
            faces[b] = other
            apart = np.zeros((len(some), len(some)))
            taken, total, seconds = _most_per_second(
                gain[some], chance[some], apart, self.costs, BOARD, given=1
            )
            if len(taken) < 2:
                continue
            options = tuple(faces[[some[n] for n in taken]].tolist())
            made = FormProposal(
                BOARD,
                anchor,
                options,
                "These groups may be one with the first; which of them are?",
                total,
                seconds,
                self.question,
                frozenset(o for o in options if self.strategy.must_confirm(self.state, o, anchor)),
            )
            found.append(made)
        return sorted(found, key=_by_gain)[:1]

    def _joins(self, k: int, anchor: int) -> bool:
        """Whether the face of a set may be compared with another's."""
        face = int(self.outlook.set_faces[k])
        return face >= 0 and face not in self.avoid and self._may(face, anchor)

    def _may(self, i: int, j: int) -> bool:
        """Whether a pair may be asked now and has not been asked yet."""
        return i != j and self.state.askable(i, j) and not self.state.asked(i, j)


def _mended(look: Outlook, items: IntArray) -> FloatArray:
    """Expected gain of comparing each of some items with its likeliest group."""
    chances = np.sort(look.chances[items], axis=1)
    first = chances[:, -1]
    second = chances[:, -2] if chances.shape[1] > 1 else 1.0 - first
    found: FloatArray = (second * (1.0 - look.rate) - first * look.rate) * look.reach[items]
    return found


def _most_per_second(
    gain: FloatArray,
    marked: FloatArray,
    told: FloatArray,
    costs: Costs,
    form: str,
    given: int = 0,
) -> tuple[list[int], float, float]:
    """Choose what to show for most gain per second: places, gain and expected seconds.

    They are taken one by one; what is taken lessens the gain of the others by what it tells of
    them, and it ends where another would lower the gain per second. The first `given` are taken in
    any case.
    """
    each = costs.seconds(form, 1) - costs.seconds(form, 0) + costs.click * marked
    left = gain.astype(np.float64)
    shown: list[int] = []
    total, seconds = 0.0, costs.seconds(form, 0)
    while len(shown) < min(gain.size, MOST[form]):
        rate = np.where(left > 0, left / each, 0.0)
        rate[shown] = 0.0
        best = len(shown) if len(shown) < given else int(rate.argmax())
        lowers = (total + left[best]) / (seconds + each[best]) < total / seconds
        if len(shown) >= given and (rate[best] <= 0 or lowers):
            break
        total, seconds = total + float(left[best]), seconds + float(each[best])
        shown.append(best)
        left = left * (1.0 - told[best])
    return shown, total, seconds


def groups_to_choose(
    strategy: Strategy, state: State, question: Proposal, labels: IntArray
) -> tuple[int, ...]:
    """Give a member of each group that an item may belong to, the likeliest group first.

    Parameters
    ----------
    strategy : Strategy
        Who knows the groups.
    state : State
        What is known.
    question : Proposal
        About the item; what it is compared with stands for its group.
    labels : ndarray of shape (n,)
        The strategy's labels: items with one label are believed to be one group, and are offered
        once.

    Returns
    -------
    tuple of int
    """
    by_group: dict[int, int] = {}
    for member in strategy.exemplars(state, question.i, _PARTS * MOST[STRIP]):
        by_group.setdefault(int(labels[member]), member)
    own = int(labels[question.j])
    if own not in by_group:
        by_group = {own: question.j, **by_group}
    by_group[own] = question.j
    found = list(by_group.values())[: MOST[STRIP]]
    return tuple(found if question.j in found else [question.j, *found[:-1]])
