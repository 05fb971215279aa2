from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.consistent_labels import respect_answers
from superpac.answers.constraints import Constraints


def truthful(n: int, k: int, m: int, seed: int) -> tuple[Constraints, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    known = Constraints(n)
    for seq in range(1, m + 1):
        i, j = rng.choice(n, 2, replace=False)
        known.add(int(i), int(j), "same" if y[i] == y[j] else "different", seq)
    return known, y


@settings(max_examples=150)
@given(
    n=st.integers(2, 25),
    k=st.integers(1, 5),
    m=st.integers(0, 60),
    asked=st.integers(1, 5),
    seed=st.integers(0, 10_000),
    embedded=st.booleans(),
)
def test_no_answer_is_ever_broken(n, k, m, asked, seed, embedded):
    known, _ = truthful(n, k, m, seed)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, asked, n)
    rows = rng.normal(size=(n, 3)) if embedded else None
    got = respect_answers(labels, known, asked, rows)
    assert got.min() >= 0
    for i in range(n):
        for j in range(i):
            says = known.implied(i, j)
            if says == "same":
                assert got[i] == got[j]
            elif says == "different":
                assert got[i] != got[j]


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), m=st.integers(0, 60))
def test_right_labels_stay_as_they_are(seed, m):
    known, y = truthful(20, 3, m, seed)
    np.testing.assert_array_equal(respect_answers(y, known, 3), y)


def test_more_groups_than_clusters_open_new_ones():
    known = Constraints(4)
    for seq, (i, j) in enumerate([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)], 1):
        known.add(i, j, "different", seq)
    assert len(set(respect_answers([0, 0, 1, 1], known, 2))) == 4


def test_half_placed_point_leaves_the_cluster_it_was_told_apart_from():
    known = Constraints(6)
    known.add(0, 1, "same", 1)
    known.add(5, 0, "different", 2)
    got = respect_answers([0, 0, 0, 1, 1, 0], known, 2)
    assert got[5] != got[0]
    assert got[0] == got[1]


def test_free_points_follow_a_group_that_leaves_their_cluster():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 30)
    rows = np.eye(3)[truth] + 0.1 * rng.normal(size=(90, 3))
    merged = np.where(truth == 1, 0, truth)  # classes 0 and 1 in one cluster, 2 split in two
    merged[75:] = 1
    known = Constraints(90)
    for seq, (i, j) in enumerate([(0, 30), (0, 60), (30, 60)], 1):
        known.add(i, j, "different", seq)
    plain = respect_answers(merged, known, 3)
    led = respect_answers(merged, known, 3, rows)
    assert (plain[truth == 1] == plain[30]).mean() < 0.1
    assert all(len(set(led[truth == c])) == 1 for c in range(3))
