"""Answers that contradict each other or that the clusters speak against, for a person to check.

A "different" between two points that a chain of "same" joins is a contradiction: one of these
answers at least is wrong. What is cheapest to take back is a minimum cut between the two points,
each answer as dear as it is likely to be right, or the "different" itself. Where contradictions
share an answer, taking that back resolves all of them; cuts are chosen greedily, the least cost a
contradiction first (Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of
Operations Research 4, 1979).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from superpac.answers.links import DIFFERENT, SAME, Link, Pair, describe, pair_of
from superpac.answers.reliability import Reliability
from superpac.answers.state import State, counts

DOUBTFUL = 0.3  # an answer this likely to be wrong is shown
LIMIT = 60  # contradictions looked at
UNIT = 1000  # capacities are whole numbers
LEAST = 0.01  # cost of the least likely answer, in log odds


@dataclass(frozen=True)
class Contradiction:
    """Answers that cannot all be right.

    Attributes
    ----------
    answer : Link
        A "different".
    chain : tuple of Link
        Answers by which its two points are the same.
    cut : tuple of Link
        The answers to take back that are likeliest to be wrong.
    cost : float
        Log odds of the cut's answers being right.
    words : str
        The contradiction in a sentence.
    resolves : tuple of int
        Numbers of the other "different" answers that the cut puts right too.
    """

    answer: Link
    chain: tuple[Link, ...]
    cut: tuple[Link, ...]
    cost: float
    words: str
    resolves: tuple[int, ...] = ()


@dataclass(frozen=True)
class Doubt:
    """An answer that contradicts no other but that the clusters speak against.

    Attributes
    ----------
    answer : Link
        The answer.
    chance : float
        That it is wrong.
    words : str
        The doubt in a sentence.
    """

    answer: Link
    chance: float
    words: str


@dataclass(frozen=True)
class Dispute:
    """A pair that was answered both ways, as often as it is asked.

    Attributes
    ----------
    i, j : int
        The items.
    same, different : int
        How often each was said.
    words : str
        The dispute in a sentence.
    """

    i: int
    j: int
    same: int
    different: int
    words: str


@dataclass(frozen=True)
class Suspects:
    """What a person should look at again.

    Attributes
    ----------
    disputes : tuple of Dispute
        Pairs that are not asked any more.
    contradictions : tuple of Contradiction
        The cheapest to resolve first.
    doubts : tuple of Doubt
        The likeliest to be wrong first.
    people : dict of str to (int, float)
        Answers of each person and the share of them estimated to be wrong.
    rate : float
        The same share for all.
    """

    disputes: tuple[Dispute, ...]
    contradictions: tuple[Contradiction, ...]
    doubts: tuple[Doubt, ...]
    people: dict[str, tuple[int, float]]
    rate: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""

        def plain(link: Link) -> dict[str, Any]:
            return {name: value for name, value in link._asdict().items() if name != "confirm"}

        return {
            "disputes": [asdict(dispute) for dispute in self.disputes],
            "contradictions": [
                {
                    "words": c.words,
                    "answer": plain(c.answer),
                    "chain": [plain(link) for link in c.chain],
                    "cut": [plain(link) for link in c.cut],
                    "cost": round(c.cost, 4),
                    "resolves": list(c.resolves),
                }
                for c in self.contradictions
            ],
            "doubts": [
                {"words": d.words, "answer": plain(d.answer), "chance": round(d.chance, 4)}
                for d in self.doubts
            ],
            "people": [
                {"name": name, "answers": count, "wrong": round(rate, 4)}
                for name, (count, rate) in self.people.items()
            ],
            "rate": round(self.rate, 4),
        }


def find_suspects(state: State, reliability: Reliability) -> Suspects:
    """List contradictions among the standing answers, and answers in doubt.

    Parameters
    ----------
    state : State
        What the answers say.
    reliability : Reliability
        What is known about the people who gave them, such as ``strategy.reliability(state)``.

    Returns
    -------
    Suspects

    Examples
    --------
    >>> said = [(12, 4, "same"), (4, 7, "same"), (12, 7, "different")]
    >>> links = [Link(n + 1, i, j, word, "Ada") for n, (i, j, word) in enumerate(said)]
    >>> find_suspects(State.of(20, links), Reliability()).contradictions[0].words
    '12 = 4 (#1, Ada) and 4 = 7 (#2, Ada), so 12 = 7; Ada said different (#3)'
    """
    found = reliability
    names = state.names
    disputed = set(state.disputed())
    others = [link for link in state.answers if pair_of(link) not in disputed]
    contradictions = contradictions_of(others, found, names)
    involved = {link.seq for c in contradictions for link in (c.answer, *c.cut, *c.chain)}
    doubts = [
        Doubt(link, chance, _doubt(link, chance, names))
        for link in others
        if link.seq not in involved and (chance := found.wrong.get(link.seq, 0.0)) > DOUBTFUL
    ]
    return Suspects(
        tuple(_dispute(state, pair) for pair in sorted(disputed)),
        tuple(contradictions),
        tuple(sorted(doubts, key=lambda doubt: -doubt.chance)),
        people_of(state, found),
        found.rate,
    )


def people_of(state: State, reliability: Reliability) -> dict[str, tuple[int, float]]:
    """Answers of each annotator, and the share of them estimated to be wrong.

    Parameters
    ----------
    state : State
        What the answers say.
    reliability : Reliability
        What is known about those who gave them.

    Returns
    -------
    dict of str to (int, float)
        By name.

    Examples
    --------
    >>> people_of(State.of(3, [Link(1, 0, 1, "same", "Ada")]), Reliability(by={"Ada": 0.02}))
    {'Ada': (1, 0.02)}
    """
    count: dict[str, int] = {}
    for link in state.answers:
        count[link.annotator] = count.get(link.annotator, 0) + 1
    rates = reliability.by
    return {name: (count[name], rates.get(name, reliability.rate)) for name in sorted(count)}


def person_in_words(name: str, answers: int, wrong: float) -> str:
    """Say in a sentence how often somebody errs."""
    return f"{name or 'no name'}: {answers} answers, about {wrong:.1%} wrong."


def _dispute(state: State, pair: Pair) -> Dispute:
    said = counts([answer for answer in state.answers if pair_of(answer) == pair])
    i, j = pair
    first, second = (state.names[i], state.names[j]) if state.names is not None else pair
    words = (
        f"{first} and {second} were called the same {_times(said[SAME])} and different "
        f"{_times(said[DIFFERENT])}; they are not asked about any more"
    )
    return Dispute(i, j, said[SAME], said[DIFFERENT], words)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def contradictions_of(
    answers: Sequence[Link], reliability: Reliability, names: Sequence[Any] | None = None
) -> list[Contradiction]:
    """Find contradictions and the cheapest cuts that resolve all of them.

    Parameters
    ----------
    answers : sequence of Link
        Standing answers.
    reliability : Reliability
        How likely each is to be wrong.
    names : sequence, optional
        What to call the points.

    Returns
    -------
    list of Contradiction
        Without the cuts of all of them, nothing contradicts, if there were at most 60.

    Examples
    --------
    >>> said = [Link(1, 0, 1, "same"), Link(2, 1, 2, "same"), Link(3, 0, 2, "different")]
    >>> found = contradictions_of(said, Reliability(wrong={2: 0.4}))
    >>> [link.seq for link in found[0].cut]
    [2]
    """
    graph = _Graph(answers, reliability)
    open_ = [link for link in answers if link.answer == DIFFERENT and graph.joined(link)][:LIMIT]
    cuts: dict[tuple[int, ...], tuple[Link, ...]] = {}
    for link in open_:
        singles = ((graph.answer(step.seq),) for step in graph.chain(link))
        for cut in (graph.apart(link), graph.minimum_cut(link), *singles):
            cuts.setdefault(tuple(sorted(part.seq for part in cut)), cut)
    mends = {key: graph.mended(open_, set(key)) for key in cuts}
    price = {key: sum(graph.cost(link) for link in cut) for key, cut in cuts.items()}
    left = {link.seq: link for link in open_}
    found = []
    while left:
        useful = [key for key in cuts if mends[key] & left.keys()]
        best = min(useful, key=lambda key: (price[key] / len(mends[key] & left.keys()), key))
        mended = [left.pop(seq) for seq in sorted(mends[best] & left.keys())]
        first = min(mended, key=lambda link: (len(graph.chain(link)), link.seq))
        chain = graph.chain(first)
        others = tuple(link.seq for link in mended if link is not first)
        words = _words(first, chain, names)
        found.append(Contradiction(first, chain, cuts[best], price[best], words, others))
    return sorted(found, key=lambda c: (c.cost, c.answer.seq))


class _Graph:
    """Points joined by "same" answers, each with what it costs to take it back."""

    def __init__(self, answers: Sequence[Link], reliability: Reliability) -> None:
        self._reliability = reliability
        self._by_seq = {link.seq: link for link in answers}
        self._edges: dict[int, list[Link]] = {}
        self._cannot: dict[tuple[int, int], list[Link]] = {}
        for link in answers:
            if link.answer == SAME:
                self._edges.setdefault(link.i, []).append(link)
                self._edges.setdefault(link.j, []).append(link)
            elif link.answer == DIFFERENT:
                self._cannot.setdefault(_pair(link), []).append(link)
        self._component: dict[int, int] = {}
        for number, start in enumerate(self._edges):
            if start not in self._component:
                self._component |= dict.fromkeys(self._reach(start, set()), number)

    def cost(self, link: Link) -> float:
        chance = self._reliability.chance(link)
        chance = min(max(chance, 1e-6), 0.5)
        return max(log((1 - chance) / chance), LEAST)

    def joined(self, link: Link) -> bool:
        here, there = self._component.get(link.i, -1), self._component.get(link.j, -2)
        return here == there

    def apart(self, link: Link) -> tuple[Link, ...]:
        """All "different" answers on the pair."""
        return tuple(self._cannot[_pair(link)])

    def answer(self, seq: int) -> Link:
        return self._by_seq[seq]

    def mended(self, links: Sequence[Link], without: set[int]) -> set[int]:
        """Contradictions that taking some answers back resolves."""
        group: dict[int, int] = {}
        found = {link.seq for link in links if link.seq in without}
        for link in links:
            if link.i not in group:
                group |= dict.fromkeys(self._reach(link.i, without), link.i)
            if group.get(link.j) != group[link.i]:
                found.add(link.seq)
        return found

    def chain(self, link: Link) -> tuple[Link, ...]:
        """Shortest chain of "same" answers between the two points."""
        came = self._reach(link.i, set(), link.j)
        chain, point = [], link.j
        while point != link.i:
            step = came[point]
            before = step.i + step.j - point
            chain.append(step._replace(i=before, j=point))
            point = before
        return tuple(reversed(chain))

    def minimum_cut(self, link: Link) -> tuple[Link, ...]:
        """Cheapest "same" answers without which the two points are not joined any more."""
        points = list(self._reach(link.i, set()))
        number = {point: n for n, point in enumerate(points)}
        inside = {edge.seq: edge for point in points for edge in self._edges[point]}
        ends = np.array([(number[e.i], number[e.j]) for e in inside.values()])
        worth = [max(1, round(UNIT * self.cost(e))) for e in inside.values()]
        rows, columns = np.r_[ends[:, 0], ends[:, 1]], np.r_[ends[:, 1], ends[:, 0]]
        shape = (len(points), len(points))
        capacity = sparse.csr_array(
            (np.array(worth + worth, dtype=np.int32), (rows, columns)), shape=shape
        )
        capacity.sum_duplicates()
        source, sink = number[link.i], number[link.j]
        flow = maximum_flow(sparse.csr_matrix(capacity), source, sink).flow
        left = sparse.csr_array(capacity - flow)
        left.data[left.data < 0] = 0
        left.eliminate_zeros()
        side = sparse.csgraph.breadth_first_order(left, source, return_predecessors=False)
        near = {points[n] for n in side}
        return tuple(e for e in inside.values() if (e.i in near) != (e.j in near))

    def _reach(self, start: int, without: set[int], goal: int | None = None) -> dict[int, Link]:
        """Points that "same" answers lead to, each with the answer that led there."""
        came: dict[int, Link] = {start: Link(0, start, start, SAME)}
        queue = deque([start])
        while queue and goal not in came:
            point = queue.popleft()
            for edge in self._edges.get(point, ()):
                step = edge.i + edge.j - point
                if step not in came and edge.seq not in without:
                    came[step] = edge
                    queue.append(step)
        return came


def _pair(link: Link) -> tuple[int, int]:
    return min(link.i, link.j), max(link.i, link.j)


def _words(answer: Link, chain: Sequence[Link], names: Sequence[Any] | None) -> str:
    who = answer.annotator or "somebody"
    return f"{describe(chain, names, people=True)}; {who} said different (#{answer.seq})"


def _doubt(link: Link, chance: float, names: Sequence[Any] | None) -> str:
    who = link.annotator or "somebody"
    left, right = (link.i, link.j) if names is None else (names[link.i], names[link.j])
    return (
        f"{who} said that {left} and {right} are {_adjective(link)} "
        f"(#{link.seq}); the clusters speak against it, {chance:.0%} likely wrong"
    )


def _adjective(link: Link) -> str:
    return "the same" if link.answer == SAME else "different"
