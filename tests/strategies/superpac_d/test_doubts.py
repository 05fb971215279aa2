"""Which pair checks an answer that is in doubt."""

from __future__ import annotations

import pytest

from superpac.answers.links import Link
from superpac.answers.state import State
from superpac.answers.votes import Votes
from superpac.strategies.superpac_d.doubts import ask_again


@pytest.fixture
def votes() -> Votes:
    votes = Votes()
    votes.take(Link(1, 5, 0, "same", "Ada"))
    return votes


LINK = Link(1, 5, 0, "same")


def anything(i: int, j: int) -> bool:
    return True


def test_another_representative_checks_an_answer_and_counts_as_a_vote_on_it():
    state = State.of(6, [Link(1, 1, 0, "same", "Ada"), Link(2, 2, 0, "same", "Ada")])
    state.hear(Link(3, 5, 0, "same", "Ada"))
    link, votes = Link(3, 5, 0, "same"), state.votes
    question = ask_again(link, votes, [0, 5, 1, 2], lambda i, j: j != 1, state.asked, 0.01)
    assert (question.i, question.j, question.not_by) == (5, 2, {"Ada"})
    state.hear(Link(4, 5, 2, "different", "Bob"))
    assert [tie.seq for tie in votes.ties()] == [3]
    # who was asked about once already is no new witness
    question = ask_again(link, votes, [0, 1, 2], anything, state.asked, 0.01)
    assert (question.i, question.j) == (5, 1)
    assert question.not_by == {"Ada", "Bob"}


def test_the_same_pair_is_asked_again_where_there_is_no_other(votes):
    question = ask_again(LINK, votes, [0], anything, votes.asked, 0.01)
    assert (question.i, question.j) == (5, 0)


def test_seen_from_the_other_end_the_pair_itself_is_asked(votes):
    """Another member's answer would not count for the pair."""
    assert ask_again(Link(1, 0, 5, "same"), votes, [3], anything, votes.asked, 0.01).j == 5


def test_nothing_is_asked_where_nothing_may_be(votes):
    assert ask_again(LINK, votes, [], lambda i, j: False, votes.asked, 0.01) is None
