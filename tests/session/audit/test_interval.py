from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superpac.errors import InputError
from superpac.session.audit.exemplars import at_stake
from superpac.session.audit.interval import fewest_wrong, wrong_items


def naive(wrong, sampled, population, tail=0.025):
    """Every number of wrong items, tried one by one with exact fractions."""

    def chance(total, seen):
        return (
            comb(total, seen) * comb(population - total, sampled - seen) / comb(population, sampled)
        )

    fits = [
        total
        for total in range(population + 1)
        if sum(chance(total, k) for k in range(wrong, sampled + 1)) > tail
        and sum(chance(total, k) for k in range(wrong + 1)) > tail
    ]
    return fits[0], fits[-1]


@given(st.data())
def test_the_interval_is_the_one_that_trying_all_numbers_gives(data):
    population = data.draw(st.integers(1, 40))
    sampled = data.draw(st.integers(0, population))
    wrong = data.draw(st.integers(0, sampled))
    assert wrong_items(wrong, sampled, population) == naive(wrong, sampled, population)


@pytest.mark.parametrize("total", [0, 1, 7, 40, 150, 299, 300])
def test_samples_of_any_population_are_covered(total):
    rng = np.random.default_rng(total)
    truth = np.arange(300) < total
    inside = 0
    for _ in range(400):
        low, high = wrong_items(int(rng.choice(truth, 50, replace=False).sum()), 50, 300)
        inside += low <= total <= high
    assert inside >= 0.93 * 400


def test_a_sample_of_everything_is_exact_and_none_says_nothing():
    assert wrong_items(4, 20, 20) == (4, 4)
    assert wrong_items(0, 0, 20) == (0, 20)
    with pytest.raises(InputError, match="wrong <= sampled"):
        wrong_items(5, 4, 20)


@given(st.integers(0, 10_000))
def test_the_lower_end_holds_when_representatives_are_of_a_minority(seed):
    """Two classes a cluster: the fewer of both is what no naming can save."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(4), 50)
    unlike = rng.random(200) < rng.random(4)[clusters]
    fewest = sum(min(unlike[clusters == c].sum(), (~unlike[clusters == c]).sum()) for c in range(4))
    misses = 0
    for _ in range(10):
        drawn = rng.choice(200, 40, replace=False)
        none = np.zeros(4, dtype=np.intp)
        wrong = np.bincount(clusters[drawn[unlike[drawn]]], minlength=4)
        sampled = np.bincount(clusters[drawn], minlength=4)
        low = fewest_wrong(wrong, sampled, none, none, 200)
        misses += low > fewest
        assert low <= wrong_items(int(wrong.sum()), 40, 200)[0]
    assert misses <= 3


def test_clusters_that_may_be_one_put_all_but_the_largest_at_stake():
    sizes = np.array([10, 4, 7, 2])
    assert at_stake([], sizes) == 0
    assert at_stake([(0, 2)], sizes) == 7
    assert at_stake([(0, 1), (2, 3)], sizes) == 6
