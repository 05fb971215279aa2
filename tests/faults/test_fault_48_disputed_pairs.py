"""Fault 48: somebody answers now this, now that; no pair is asked for ever, it is shown instead."""

from __future__ import annotations

from collections import Counter

import pytest

from command_line import superpac
from superpac.answers.links import Link
from superpac.answers.reliability import Reliability
from superpac.answers.state import MOST_ASKED, State
from superpac.data import load
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.session.suspects import find_suspects
from superpac.store import open_store
from superpac.strategies import WEIGH_ANSWERS


@pytest.mark.parametrize("name", sorted(WEIGH_ANSWERS))
@pytest.mark.parametrize("period", [1, 2])
def test_no_pair_is_asked_more_than_a_few_times(name, period):
    part = load("digits").sample_classes(10, 30, seed=1)
    session = Session.create(part, Spec(10, "tsc:q=4", name, dim=3))
    times: Counter[tuple[int, int]] = Counter()
    for number in range(400):
        question = session.ask()
        if question is None:
            break
        times[min(question.i, question.j), max(question.i, question.j)] += 1
        session.tell(("same", "different")[number // period % 2])
    assert times.total() > 30
    assert max(times.values()) <= MOST_ASKED


def both_ways(times: int) -> list[Link]:
    return [Link(n + 1, 3, 9, ("same", "different")[n % 2], "Ada") for n in range(times)]


def test_what_was_answered_both_ways_is_listed_as_disputed():
    found = find_suspects(State.of(12, both_ways(MOST_ASKED)), Reliability())
    (dispute,) = found.disputes
    assert (dispute.i, dispute.j, dispute.same, dispute.different) == (3, 9, 3, 2)
    assert found.contradictions == ()
    assert found.to_dict()["disputes"][0]["different"] == 2
    assert find_suspects(State.of(12, both_ways(MOST_ASKED - 1)), Reliability()).disputes == ()
    agreed = [Link(n, 3, 9, "same") for n in range(MOST_ASKED)]
    assert find_suspects(State.of(12, agreed), Reliability()).disputes == ()


def test_the_command_line_tells_of_disputes(tmp_path):
    with open_store(tmp_path / "a.sqlite3") as store:
        session = Session.create(load("digits"), Spec(10, dim=3), store=store, name="digits")
        for link in both_ways(MOST_ASKED):
            session.record(link.answer, (link.i, link.j), asked=True)
    told = superpac(
        "suspects", "digits", "--data", "digits", "--store", tmp_path / "a.sqlite3"
    ).stdout
    assert "3 and 9 were called the same 3 times and different twice" in told
    assert "not asked about any more" in told
