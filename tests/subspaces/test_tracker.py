from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.subspaces.geometry import fit_bases, margins, residuals, subspace_cost
from superpac.subspaces.tracker import SubspaceTracker


@settings(max_examples=40)
@given(seed=st.integers(0, 9999), ambient=st.sampled_from([4, 30, 200]), k=st.integers(1, 4))
def test_following_equals_fitting_anew(seed, ambient, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, ambient))
    X[0] = 0
    tracker = SubspaceTracker(X, k, 3)
    labels = rng.integers(0, k, 60)
    for _ in range(8):
        tracker.update(labels)
        fresh = residuals(X, fit_bases(X, labels, k, 3))
        np.testing.assert_allclose(tracker.residuals, fresh, atol=1e-6)
        np.testing.assert_allclose(tracker.margins, margins(tracker.residuals))
        moved = rng.random(60) < rng.choice([0.02, 0.5])
        labels = np.where(moved, rng.integers(0, k, 60), labels)
    tracker.update(labels)
    assert tracker.cost() == pytest.approx(subspace_cost(tracker.residuals, labels))


def test_running_moments_are_summed_afresh_before_they_drift():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    tracker = SubspaceTracker(X, 2, 2)
    labels = rng.integers(0, 2, 200)
    for _ in range(300):
        labels = labels.copy()
        labels[rng.integers(200)] ^= 1
        tracker.update(labels)
    fresh = residuals(X, fit_bases(X, labels, 2, 2))
    np.testing.assert_allclose(tracker.residuals, fresh, atol=1e-9)
