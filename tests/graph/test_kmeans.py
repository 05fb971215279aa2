from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from graphics import torch_device
from superpac.graph.kmeans import kmeans


def inertia(rows: np.ndarray, labels: np.ndarray) -> float:
    return sum(
        float(((rows[labels == c] - rows[labels == c].mean(axis=0)) ** 2).sum())
        for c in np.unique(labels)
    )


@pytest.mark.parametrize(("n", "k"), [(200, 3), (400, 10), (300, 25)])
def test_inertia_is_as_low_as_scikit_learns(n, k):
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(n, k)) + 3 * np.eye(k)[rng.integers(0, k, n)]
    ours = inertia(rows, kmeans(rows, k, n_init=20, rng=np.random.RandomState(0)))
    theirs = KMeans(k, n_init=20, random_state=0).fit(rows).inertia_
    assert ours <= 1.01 * theirs


@settings(max_examples=60)
@given(n=st.integers(1, 30), k=st.integers(1, 8), seed=st.integers(0, 99), flat=st.booleans())
def test_labels_are_valid_and_nearest_to_their_centre(n, k, seed, flat):
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, 2)) if flat else rng.normal(size=(n, 2))
    labels = kmeans(rows, k, n_init=3, rng=np.random.RandomState(seed))
    assert labels.shape == (n,)
    assert labels.min() >= 0
    assert labels.max() < k
    if not flat and n >= k:
        assert len(set(labels.tolist())) == k
        centres = np.stack([rows[labels == c].mean(axis=0) for c in range(k)])
        away = ((rows[:, None] - centres) ** 2).sum(axis=2)
        np.testing.assert_allclose(away[np.arange(n), labels], away.min(axis=1), atol=1e-9)


@settings(max_examples=40)
@given(n=st.integers(8, 60), k=st.integers(2, 8), seed=st.integers(0, 99))
def test_pytorch_gives_the_same_labels(n, k, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3))
    start = rng.normal(size=(k, rows.shape[1])) if seed % 2 else None
    here, there = (
        kmeans(points, k, n_init=3, rng=np.random.RandomState(seed), start=start)
        for points in (rows, torch_device().array(rows))
    )
    np.testing.assert_array_equal(here, there)


def test_a_good_start_is_kept():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(30, 2)) + c for c in ([0, 0], [9, 0], [0, 9])])
    truth = np.repeat([2, 0, 1], 30)
    start = np.stack([rows[truth == c].mean(axis=0) for c in range(3)])
    labels = kmeans(rows, 3, n_init=2, rng=np.random.RandomState(0), start=start)
    np.testing.assert_array_equal(labels, truth)


def test_same_seed_same_labels():
    rows = np.random.default_rng(1).normal(size=(500, 6))
    first = kmeans(rows, 6, n_init=4, rng=np.random.RandomState(5))
    np.testing.assert_array_equal(first, kmeans(rows, 6, n_init=4, rng=np.random.RandomState(5)))


def naive_lloyd(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Every distance of every row, until nothing moves."""
    while True:
        away = ((rows[:, None] - centres) ** 2).sum(axis=2)
        labels = away.argmin(axis=1)
        after = np.stack([rows[labels == c].mean(axis=0) for c in range(len(centres))])
        if np.allclose(after, centres, atol=1e-12):
            return labels
        centres = after


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 7, 20])
def test_distances_that_are_spared_change_nothing(k, spread):
    rng = np.random.default_rng(k)
    middle = rng.normal(size=(k, 5))
    rows = np.repeat(middle, 15, axis=0) + spread * rng.normal(size=(15 * k, 5))
    start = np.stack([rows[c::k].mean(axis=0) for c in range(k)]) + 0.5 * middle
    want = naive_lloyd(rows, start)
    got = kmeans(rows, k, n_init=0, rng=np.random.RandomState(0), start=start)
    assert inertia(rows, got) <= inertia(rows, want) * (1 + 1e-3)
    assert (got == want).mean() > 0.97  # ours ends a little earlier, within its tolerance
