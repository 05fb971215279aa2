"""How likely two sets are one, which pair is asked about first, how many clusters there are."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.strategies.superpac_d.merge_chances import chance_of_count, merge_chances, telling
from superpac.strategies.superpac_d.settings import Settings


def test_within_a_group_the_open_link_is_asked_about_first():
    chances = np.triu(np.array([[0, 0.95, 0.5], [0, 0, 0.2], [0, 0, 0]]), 1)
    within = telling(chances, np.array([0, 0, 0]))
    assert divmod(int(within.argmax()), 3) == (0, 2)
    across = telling(chances, np.array([0, 1, 2]))
    np.testing.assert_array_equal(across, chances)


def test_chances_against_one_pair_at_a_time():
    rng = np.random.default_rng(3)
    S = 7
    mutual = rng.random((S, S))
    mutual = mutual + mutual.T
    np.fill_diagonal(mutual, 0.0)
    differ = np.triu(rng.random((S, S)) < 0.3, 1)
    differ = differ | differ.T
    cuts = np.where(differ, 1.0, 0.0) / 2
    mass = rng.random(S) * 10
    small = mass < 2
    # other numbers than the default ones, so that each is seen to be used
    numbers = Settings(
        duplicates_small=0.97, duplicates_least=0.1, duplicates_most=0.8, duplicates_excess=1.2
    )
    found = merge_chances(mutual, differ, cuts, small, mass, 5, 0.01, numbers)

    def of(a: int, b: int) -> float:
        share = 0.97 if small[a] else max(0.1, min(0.8, 1.2 * (S - 5) / S))
        open_ = [mutual[a, c] * (0.01 if differ[a, c] else 1.0) for c in range(S)]
        return share * open_[b] / (share * sum(open_) + 1 - share)

    for a in range(S):
        for b in range(S):
            if a != b:
                expected = min(of(a, b), of(b, a))
                if small[a] or small[b]:
                    expected = of(a, b) if mass[a] < mass[b] else of(b, a)
                assert found[a, b] == pytest.approx(expected)


def test_more_placed_points_make_the_number_surer():
    apart = ~np.eye(3, dtype=bool)
    none = np.zeros(3, dtype=bool)
    sure = [chance_of_count(np.zeros((3, 3)), np.arange(3), apart, none, m) for m in (0, 5, 50)]
    assert sure == sorted(sure)
    assert chance_of_count(np.zeros((3, 3)), np.arange(3), apart, none, 50, found=20) < sure[-1]
