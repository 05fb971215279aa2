"""Sets from votes: against a plain reading of the rule, and whatever order votes come in."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.strategies.superpac_b.vote_sets import held_together, odds_between, pair_odds

N = 9
votes = st.lists(
    st.tuples(
        st.integers(0, N - 1),
        st.integers(0, N - 1),
        st.sampled_from(["same", "same", "different", "unsure"]),
        st.sampled_from(["", "Ada", "Bob"]),
    ).filter(lambda vote: vote[0] != vote[1]),
    max_size=25,
)
RATES = {"Ada": 0.01, "Bob": 0.2}


def links(given_votes) -> list[Link]:
    return [Link(seq, *vote) for seq, vote in enumerate(given_votes)]


def joined_one_by_one(odds: dict) -> np.ndarray:
    """The two sets that the votes speak for most are joined, again and again."""
    parts = [{t} for t in range(N)]
    while True:
        best, pair = 1e-9, None
        for a, one in enumerate(parts):
            for b, other in enumerate(parts[a + 1 :], a + 1):
                total = sum(v for (i, j), v in odds.items() if {i, j} & one and {i, j} & other)
                if total > best + 1e-12:
                    best, pair = total, (a, b)
        if pair is None:
            break
        parts[pair[0]] |= parts.pop(pair[1])
        parts.sort(key=min)
    head = np.zeros(N, dtype=int)
    for part in parts:
        head[list(part)] = min(part)
    return head


@settings(max_examples=200)
@given(votes)
def test_sets_are_those_of_joining_the_clearest_pair_again_and_again(said):
    odds = pair_odds(links(said), RATES, 0.05)
    np.testing.assert_array_equal(held_together(N, odds), joined_one_by_one(odds))


@given(votes, st.randoms(use_true_random=False))
def test_any_order_of_the_votes_gives_the_same_odds(said, random):
    mixed = list(said)
    random.shuffle(mixed)
    turned = [(j, i, *rest) if random.random() < 0.5 else (i, j, *rest) for i, j, *rest in mixed]
    assert pair_odds(links(turned), RATES, 0.05) == pair_odds(links(said), RATES, 0.05)


def test_a_vote_against_is_undone_by_two_for():
    said = [Link(1, 0, 1, "same"), Link(2, 1, 2, "same"), Link(3, 0, 2, "different")]
    odds = pair_odds(said, {}, 0.01)
    assert len(set(held_together(3, odds).tolist())) == 2
    odds = pair_odds([*said, Link(4, 0, 2, "same"), Link(5, 0, 2, "same")], {}, 0.01)
    assert held_together(3, odds).tolist() == [0, 0, 0]


def test_odds_are_added_up_between_sets_and_of_free_items():
    place = np.array([0, 0, 1, 1, -1, -1])
    odds = {(0, 2): -1.0, (1, 3): -2.0, (0, 1): 5.0, (3, 4): -1.5, (2, 4): -1.5, (4, 5): -1.0}
    between, of_free = odds_between(odds, place)
    assert between == {(0, 1): -3.0}
    assert of_free == {4: {1: -3.0}}
