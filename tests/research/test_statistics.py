"""Intervals and what is read off curves, against naive references."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from superpac.research import statistics as st


def test_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for k in range(60):
        found = st.mean_of(rng.normal(0.3, 0.1, size=40), seed=k)
        hits += found.low <= 0.3 <= found.high
    assert 50 <= hits <= 60


def test_one_trial_has_no_interval():
    found = st.mean_of(np.array([0.2]))
    assert found.value == 0.2
    assert np.isnan(found.low)
    assert "1 trial" in found.text()


def test_the_median_with_trials_that_never_got_there():
    found = st.median_of(np.array([10.0, 20.0, np.inf]))
    assert found.value == 20.0
    assert found.low == 10.0
    assert np.isinf(found.high)


@given(
    arrays(float, (3, 12), elements=some.sampled_from([0.0, 0.01, 0.1, 0.3, np.nan])),
    some.sampled_from([0.0, 0.01, 0.2]),
)
def test_questions_to_is_the_first_time(curves, level):
    for curve, found in zip(curves, st.questions_to(curves, level), strict=True):
        naive = next((q for q, e in enumerate(curve) if e <= level), np.inf)
        assert found == naive


def test_the_same_seed_gives_the_same_interval():
    values = np.random.default_rng(1).random(15)
    assert st.mean_of(values) == st.mean_of(values)
    assert st.mean_of(values).value == pytest.approx(values.mean())
