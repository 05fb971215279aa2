"""How likely two sets are one, which pair is asked about first, how many clusters there are."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.strategies.superpac_d.merge_chances import (
    chance_of_count,
    changing,
    hidden,
    learned,
    merge_chances,
    part_chances,
    regrouped,
    telling,
    walk_chances,
)
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


def random_sets(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chances of pairs of sets, which are known to differ, and how many points each holds."""
    rng = np.random.default_rng(seed)
    chances = np.triu(rng.random((count, count)), 1)
    differ = np.triu(rng.random((count, count)) < 0.3, 1)
    return chances + chances.T, differ | differ.T, rng.random(count) * 10


def test_walks_make_two_sets_likelier_to_be_one_and_answers_against_it_count():
    lift = np.array([[9.0, 2.0, 0.5], [2.0, 9.0, 0.0], [0.5, 0.0, 9.0]])
    differ = np.zeros((3, 3), dtype=bool)
    numbers = Settings(merge_odds=0.5, merge_odds_assumed=2.0)
    apart = walk_chances(lift, np.arange(3), differ, None, 0.01, numbers)
    assert apart[0, 1] == apart[1, 0] == pytest.approx(0.5)
    assert apart[0, 1] > apart[0, 2] > apart[1, 2] == 0
    assert walk_chances(lift, np.zeros(3), differ, None, 0.01, numbers)[0, 1] == pytest.approx(0.8)
    differ[0, 1] = differ[1, 0] = True
    assert walk_chances(lift, np.arange(3), differ, None, 0.01, numbers)[0, 1] == 0
    once = np.zeros((3, 3))
    once[0, 1] = 1.0
    doubted = walk_chances(lift, np.arange(3), differ, once, 0.01, numbers)[0, 1]
    assert 0 < doubted < 0.02


def test_answers_correct_the_chances_of_pairs_of_their_kind():
    chances, _, _ = random_sets(6, 0)
    standing = np.array([0, 0, 0, 1, 1, 1])
    within = standing[:, None] == standing
    np.testing.assert_allclose(learned(chances, standing, []), chances)
    lower = learned(chances, standing, [(False, 0.4, False)] * 5)
    assert (lower < chances)[~within].all()
    np.testing.assert_allclose(lower[within], chances[within])
    higher = learned(chances, standing, [(True, 0.4, True)] * 5)
    inside = within & ~np.eye(6, dtype=bool)
    assert (higher > chances)[inside].all()
    np.testing.assert_allclose(higher[~within], chances[~within])


def test_answers_as_foretold_change_nothing():
    chances, _, _ = random_sets(5, 1)
    told = [(False, 0.25, False)] * 3 + [(False, 0.25, True)]
    np.testing.assert_allclose(learned(chances, np.arange(5), told), chances)


def test_a_small_group_is_likelier_to_be_a_part_of_another():
    mass, no = np.array([50.0, 50, 50, 25, 5]), np.zeros((5, 5), dtype=bool)
    found = part_chances(np.arange(5), mass, np.ones((5, 5)), no)
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()
    assert found[0, 4] > found[0, 3] > found[0, 1] > 0
    # what a group is a part of is one of the others: the usual one in 20 is such a part
    np.testing.assert_allclose(found[0, 1] * 4, 0.05)
    np.testing.assert_allclose(found[:4, 4].sum(), 20**-0.1)
    like = np.zeros((5, 5))
    like[1, 4] = like[4, 1] = 0.5
    by_likeness = part_chances(np.arange(5), mass, like, no)
    assert by_likeness[1, 4] > by_likeness[0, 4] > 0
    np.testing.assert_allclose(by_likeness[:4, 4].sum(), 20**-0.1)


def test_every_group_that_a_part_differs_from_makes_it_less_of_a_part():
    mass, like = np.array([50.0, 50, 50, 5]), np.ones((4, 4))
    differ, left = np.zeros((4, 4), dtype=bool), []
    for other in range(3):
        left.append(part_chances(np.arange(4), mass, like, differ)[:, 3])
        differ[other, 3] = differ[3, other] = True
    assert left[0].sum() > left[1].sum() > left[2].sum()
    assert left[2][2] > left[0][2]  # what is ruled out makes the rest likelier
    assert not part_chances(np.arange(4), mass, like, differ)[:, 3].any()
    assert part_chances(np.zeros(1, int), mass[:1], like[:1, :1], differ[:1, :1]) == 0


def test_sets_of_one_group_share_its_chances_and_have_none_between_them():
    group, mass = np.array([0, 0, 2, 3]), np.array([30.0, 20, 50, 5])
    found = part_chances(group, mass, np.ones((4, 4)), np.zeros((4, 4), dtype=bool))
    assert found[0, 1] == 0
    np.testing.assert_array_equal(found[0], [0, 0, found[1, 2], found[1, 3]])


def test_a_cluster_without_a_group_hides_in_the_largest_that_answers_have_not_looked_into():
    mass, size = np.array([80.0, 60, 40, 1]), np.array([5, 1, 1, 1])
    assert hidden(np.arange(4), mass, size, 4) == 30
    assert hidden(np.arange(4), mass, np.ones(4, int), 4) == 40
    assert hidden(np.arange(4), mass, size, 3) == 0
    # two groups of some size for four clusters: two are missing
    assert hidden(np.array([0, 0, 2, 3]), mass, np.ones(4, int), 4) == 45.25 + 20


def test_what_may_change_the_groups_is_a_cut_within_and_a_merge_between():
    chances, _, _ = random_sets(4, 2)
    standing = np.array([0, 0, 2, 2])
    found = changing(chances, standing)
    assert found[0, 1] == 1 - chances[0, 1]
    assert found[1, 2] == chances[1, 2]


def test_points_that_may_change_group_against_every_pair_of_groups_and_every_part():
    chances, differ, mass = random_sets(7, 3)
    group = np.array([0, 0, 0, 3, 3, 5, 6])
    found, spread = regrouped(chances, group, differ, mass)
    moves = []
    for a in np.unique(group):
        parts = [k for k in range(7) if group[k] == a]
        largest = max(parts, key=lambda k: mass[k])
        for k in set(parts) - {largest}:
            stays = max(chances[k, m] for m in parts if m != k)
            moves.append((1 - stays, mass[k]))
        for b in np.unique(group):
            others = [k for k in range(7) if group[k] == b]
            if b < a and not any(differ[k, m] for k in parts for m in others):
                likeliest = max(chances[k, m] for k in parts for m in others)
                moves.append((likeliest, min(mass[parts].sum(), mass[others].sum())))
    assert found == pytest.approx(sum(chance * points for chance, points in moves))
    assert spread**2 == pytest.approx(sum(c * (1 - c) * points**2 for c, points in moves))
