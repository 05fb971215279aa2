"""Sets that are taken for one cluster until an answer speaks against it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.strategies.superpac_d.assumed_links import (
    assumed_links,
    hosted,
    links_left,
    standing_groups,
)
from superpac.strategies.superpac_d.settings import Settings


@settings(max_examples=50)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10_000))
def test_groups_hold_no_two_sets_that_differ_and_only_split(count, wanted, seed):
    rng = np.random.default_rng(seed)
    mutual = rng.random((count, count))
    mutual = mutual + mutual.T
    links = assumed_links(mutual, rng.random(count), wanted)
    place = np.arange(count)
    differ = np.zeros((count, count), dtype=bool)
    start = standing_groups(links, place, differ)
    assert np.unique(start).size == min(count, wanted)
    for _ in range(4):
        a, b = rng.choice(count, 2, replace=False)
        differ[a, b] = differ[b, a] = True
        group = standing_groups(links, place, differ)
        assert not differ[group[:, None] == group].any()
        for head in np.unique(group):
            assert np.unique(start[group == head]).size == 1


@settings(max_examples=50)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10_000))
def test_sets_that_differ_are_not_linked_through_others(count, wanted, seed):
    rng = np.random.default_rng(seed)
    mutual = rng.random((count, count))
    differ = np.triu(rng.random((count, count)) < 0.3, 1)
    differ = differ | differ.T
    links = assumed_links(mutual + mutual.T, rng.random(count), wanted, differ)
    group = standing_groups(links, np.arange(count), np.zeros((count, count), dtype=bool))
    assert not differ[group[:, None] == group].any()
    if np.unique(group).size > wanted:  # only because every two groups hold sets that differ
        heads = np.unique(group)
        for a, b in combinations(heads, 2):
            assert differ[np.ix_(group == a, group == b)].any()


def test_a_group_beyond_the_clusters_goes_to_a_host_it_may_be_in():
    rng = np.random.default_rng(0)
    for _ in range(50):
        S, K = 8, 4
        mass = np.r_[rng.random(K) * 10 + 20, rng.random(S - K)]
        belief = rng.random((S, S))
        differ = np.triu(rng.random((S, S)) < 0.4, 1)
        differ = differ | differ.T
        found = hosted(np.arange(S), belief, mass, differ, K, Settings())
        assert (found[:K] == np.arange(K)).all()
        for g in range(K, S):
            allowed = [h for h in range(K) if not differ[g, h]]
            expected = max(allowed, key=lambda h, g=g: belief[g, h]) if allowed else g
            assert found[g] == expected


def test_the_weakest_links_fall_when_answers_leave_too_few_groups():
    apart = np.zeros((3, 3), dtype=bool)
    links, place = [(0, 1), (2, 3)], np.array([0, 1, 1, 2])  # an answer has joined points 1 and 2
    assert standing_groups(links, place, apart).tolist() == [0, 0, 0]
    assert links_left(links, place, apart, np.ones(3, dtype=bool), 2) == [(0, 1)]
    few = np.array([True, True, False])  # a set of one point is no cluster
    assert links_left(links, place, apart, few, 2) == []


def test_a_fallen_link_stays_fallen():
    links, place = [(0, 1), (2, 3)], np.arange(4)
    differ, counted = np.zeros((4, 4), bool), np.ones(4, bool)
    left = links_left(links, place, differ, counted, 3)
    assert left == [(0, 1)]
    differ[0, 1] = differ[1, 0] = True
    assert links_left(left, place, differ, counted, 3) == left
    np.testing.assert_array_equal(standing_groups(left, place, differ), np.arange(4))
