"""Votes on pairs: what is believed of each, when it changes, and who is believed more."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.answers.reliability import Reliability
from superpac.answers.votes import Votes, chance_wrong

WORDS = {True: "same", False: "different"}
PAIRS = [(i, j) for i in range(3) for j in range(3, 6)]

votes_of = st.lists(
    st.tuples(st.sampled_from(PAIRS), st.booleans(), st.sampled_from("abc"), st.booleans()),
    max_size=40,
)


def believed(votes: Votes) -> dict[tuple[int, int], str]:
    return {(link.i, link.j): link.answer for link in votes.believed()}


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(PAIRS), st.booleans()), max_size=30))
def test_what_one_person_says_most_often_is_believed(said):
    votes = Votes()
    count: dict[tuple[int, int], int] = {}
    for seq, ((i, j), same) in enumerate(said):
        votes.take(Link(seq, i, j, WORDS[same]))
        count[i, j] = count.get((i, j), 0) + (1 if same else -1)
    assert believed(votes) == {pair: WORDS[net > 0] for pair, net in count.items() if net}
    assert {(a.i, a.j) for a in votes.ties()} == {p for p, net in count.items() if net == 0}
    assert 0 < votes.rate < 1


@settings(max_examples=60)
@given(votes_of)
def test_take_says_when_a_belief_about_an_earlier_pair_changed(said):
    votes = Votes()
    for seq, ((i, j), same, who, confirm) in enumerate(said):
        before = believed(votes)
        asked = [pair for pair in PAIRS if votes.asked(*pair)]
        changed = votes.take(Link(seq, i, j, WORDS[same], who, confirm and same))
        after = believed(votes)
        assert changed == any(before.get(pair) != after.get(pair) for pair in asked)
        for pair in PAIRS:
            net = votes.net(*pair)
            assert {"same": 1, "different": -1}.get(after.get(pair), 0) == np.sign(net)


@settings(max_examples=60)
@given(votes_of, st.randoms(use_true_random=False))
def test_what_is_believed_does_not_depend_on_the_order_of_the_votes(said, random):
    links = [Link(seq, i, j, WORDS[same], who) for seq, ((i, j), same, who, _) in enumerate(said)]
    shuffled = random.sample(links, len(links))
    one, other = Votes(), Votes()
    for link in links:
        one.take(link)
    for link in shuffled:
        other.take(link)
    assert believed(one) == believed(other)
    assert one.rate == other.rate
    assert one.wrong == other.wrong
    assert one.all() == other.all()


def test_one_annotator_under_any_name_is_believed_by_majority():
    rng = np.random.default_rng(3)
    plain, named = Votes(), Votes()
    for seq in range(300):
        i, word = int(rng.integers(5)), WORDS[bool(rng.random() < 0.7)]
        assert plain.take(Link(seq, i, 9, word)) == named.take(Link(seq, i, 9, word, "Ada"))
        assert plain.rate == named.rate
    strip = [link._replace(annotator="") for link in named.believed()]
    assert strip == plain.believed()


def test_a_reliable_person_outweighs_a_careless_one():
    votes = Votes()
    seq = 0
    for pair in range(120):  # Bob is outvoted again and again
        for word, who in (("different", "Bob"), ("same", "Ada"), ("same", "Cy")):
            seq += 1
            votes.take(Link(seq, pair, 500, word, who))
    votes.take(Link(seq + 1, 300, 500, "different", "Bob"))
    assert votes.take(Link(seq + 2, 300, 500, "same", "Ada"))
    assert votes.net(300, 500) == 1  # one against one, and yet no tie
    assert votes.rate_of("Ada") < votes.rate < votes.rate_of("Bob")
    assert votes.odds(300, 500) > 0
    assert votes.doubt(300, 500) < 0.5


def test_a_belief_is_cited_under_the_number_of_a_vote_that_says_so():
    votes = Votes()
    for seq, (word, who) in enumerate([("same", "Ada"), ("different", "Bob"), ("different", "Cy")]):
        votes.take(Link(seq, 7, 3, word, who))
    assert votes.believed() == [Link(1, 7, 3, "different", "Bob")]
    assert votes.mistaken() == [Link(0, 7, 3, "same", "Ada")]


def test_an_answer_to_be_confirmed_is_believed_once_a_second_agrees():
    votes = Votes()
    assert not votes.take(Link(1, 1, 2, "same", confirm=True))
    assert votes.waits(2, 1)
    assert votes.net(1, 2) == 0
    assert [link.seq for link in votes.ties()] == [1]
    assert votes.take(Link(2, 1, 2, "same"))
    assert not votes.waits(1, 2)
    assert votes.net(1, 2) == 2
    assert not list(votes.ties())


def test_an_answer_to_be_confirmed_that_is_denied_is_open():
    votes = Votes()
    votes.take(Link(1, 1, 2, "same", confirm=True))
    assert not votes.take(Link(2, 1, 2, "different"))
    assert [link.seq for link in votes.ties()] == [1]
    assert votes.take(Link(3, 1, 2, "different"))
    assert votes.believed()[0].answer == "different"


def test_learned_rates_last_until_the_next_answer():
    votes = Votes()
    votes.take(Link(1, 0, 1, "same", "Ada"))
    counted = votes.rate
    votes.learned = Reliability(0.2, {"Ada": 0.3})
    assert (votes.rate, votes.rate_of("Ada"), votes.rate_of("Bob")) == (0.2, 0.3, 0.2)
    assert votes.counted_rate == counted
    votes.take(Link(2, 0, 2, "same", "Ada"))
    assert votes.learned is None
    assert votes.rate < counted


def test_an_answer_that_nothing_speaks_against_is_as_wrong_as_answers_are():
    assert chance_wrong(0.5, 0.01) == 0.01
    assert chance_wrong(0.0, 0.01) == 1.0
