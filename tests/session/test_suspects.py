"""Contradictions, their chains and cheapest cuts against brute force; doubts; people by name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.answers.reliability import Reliability
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.session.suspects import Suspects, contradictions_of, find_suspects

WORDS = {True: "same", False: "different"}


def broken(answers: list[Link], n: int = 8) -> list[Link]:
    """Contradicting "different" answers, by naive closure."""
    group = list(range(n))
    for link in answers:
        if link.answer == "same":
            old, new = group[link.i], group[link.j]
            group = [new if g == old else g for g in group]
    return [a for a in answers if a.answer == "different" and group[a.i] == group[a.j]]


def cost(links: list[Link], chances: dict[int, float]) -> float:
    return sum(np.log((1 - chances[link.seq]) / chances[link.seq]) for link in links)


def cheapest(answers: list[Link], chances: dict[int, float]) -> float:
    """Least cost of answers without which nothing contradicts, by trying all."""
    best = np.inf
    for size in range(len(answers) + 1):
        for cut in itertools.combinations(answers, size):
            gone = {link.seq for link in cut}
            if cost(list(cut), chances) < best and not broken(
                [a for a in answers if a.seq not in gone]
            ):
                best = cost(list(cut), chances)
    return best


logs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans(), st.floats(0.01, 0.45)),
    min_size=1,
    max_size=9,
).map(
    lambda said: (
        [Link(n, i, j, WORDS[same]) for n, (i, j, same, _) in enumerate(said) if i != j],
        {n: chance for n, (_, _, _, chance) in enumerate(said)},
    )
)


@settings(max_examples=150)
@given(logs)
def test_cuts_resolve_everything_and_one_contradiction_most_cheaply(log):
    answers, chances = log
    wrong = broken(answers)
    found = contradictions_of(answers, Reliability(wrong=chances))
    named = [s for c in found for s in (c.answer.seq, *c.resolves)]
    assert sorted(named) == [a.seq for a in wrong]
    gone = {link.seq for c in found for link in c.cut}
    assert not broken([a for a in answers if a.seq not in gone])
    for c in found:
        assert c.cost == pytest.approx(cost(list(c.cut), chances))
        points = [c.answer.i, *(link.j for link in c.chain)]
        assert points[-1] == c.answer.j
        assert all(link.answer == "same" for link in c.chain)
        assert [link.i for link in c.chain] == points[:-1]
    if wrong:
        least = cheapest(answers, chances)
        total = sum(c.cost for c in found)
        assert least - 1e-9 <= total <= len(wrong) * least + 0.01
        if len({frozenset((a.i, a.j)) for a in wrong}) == 1:
            assert total == pytest.approx(least, abs=0.01)


def test_a_wrong_same_between_two_groups_is_one_cut_for_many_contradictions():
    answers = [Link(n, 0, n, "same", "Ada") for n in range(1, 5)]
    answers += [Link(n, 5, n, "same", "Ada") for n in range(6, 10)]
    answers += [Link(20 + n, n, 5 + n, "different", "Ada") for n in range(1, 5)]
    answers.append(Link(30, 0, 5, "same", "Bob"))
    found = contradictions_of(answers, Reliability(0.01, {"Ada": 0.01, "Bob": 0.02}))
    assert len(found) == 1
    assert [link.seq for link in found[0].cut] == [30]
    assert len(found[0].resolves) == 3
    assert "0 = 5 (#30, Bob)" in found[0].words
    assert found[0].words.endswith("Ada said different (#21)")


@pytest.fixture
def session():
    X, y = make_subspaces(30, 3, 2, 12, noise=0.05, seed=0)
    return Session.create(Dataset(X, y=y), Spec(3, "tsc:q=4", "superpac-d", dim=2))


def suspects(session: Session) -> Suspects:
    return find_suspects(session.state, session.strategy.reliability(session.state))


def tell(session: Session, i: int, j: int, lie: bool = False, who: str = "Ada") -> int:
    same = bool(session.data.y[i] == session.data.y[j]) != lie
    return session.tell(WORDS[same], (i, j), annotator=who, why={"again": 1}).seq


def test_a_lie_is_doubted_by_name_and_taking_it_back_clears_it(session):
    y = session.data.y
    for _ in range(25):
        question = session.ask()
        tell(session, question.i, question.j)
    assert not suspects(session).contradictions
    assert not suspects(session).doubts
    sets = session.strategy.sets
    free = int(np.flatnonzero(sets.set_of < 0)[0])
    member = next(m for points in sets.members.values() for m in points if y[m] != y[free])
    lie = tell(session, free, member, lie=True, who="Bob")
    found = suspects(session)
    assert [d.answer.seq for d in found.doubts] == [lie]
    assert found.doubts[0].words.startswith("Bob said that")
    assert found.people["Bob"][1] > found.people["Ada"][1]
    assert found.to_dict()["doubts"][0]["answer"]["annotator"] == "Bob"
    session.undo(lie)
    assert not suspects(session).doubts


def test_contradictions_of_a_session_and_the_cut_that_mends_them(session):
    y = session.data.y
    a, b = (np.flatnonzero(y == k) for k in (0, 1))
    for n in range(1, 4):
        tell(session, int(a[n]), int(a[0]))
        tell(session, int(b[n]), int(b[0]))
        tell(session, int(a[n]), int(b[n]))
    lie = tell(session, int(a[0]), int(b[0]), lie=True, who="Bob")
    found = suspects(session).contradictions
    assert [[link.seq for link in c.cut] for c in found] == [[lie]]
    for seq in (link.seq for c in found for link in c.cut):
        session.undo(seq)
    assert not suspects(session).contradictions


def test_a_strategy_that_refuses_contradictions_has_no_suspects():
    X, y = make_subspaces(15, 2, 2, 8, seed=0)
    session = Session.create(Dataset(X, y=y), Spec(2, "tsc:q=4", "superpac", dim=2))
    for _ in range(8):
        question = session.ask()
        tell(session, question.i, question.j)
    found = suspects(session)
    assert (found.contradictions, found.doubts) == ((), ())
    assert found.people["Ada"][0] == 8
