from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.stats import binomtest, ks_2samp

from superpac.errors import InputError
from superpac.research.theory import (
    ANGLES,
    _corollary_limit,
    _interval,
    check_corollary,
    check_theorem,
    corollary_constants,
    draw,
    simulate_margins,
    theorem_bounds,
)
from superpac.subspaces.geometry import principal_angles, residuals


def subspaces_at(angles, ambient, rng):
    """Orthonormal bases, in a random position, whose principal vectors are at `angles`."""
    d = len(angles)
    frame = np.linalg.qr(rng.normal(size=(ambient, ambient)))[0]
    first = frame[:, :d]
    return first, first * np.cos(angles) + frame[:, d : 2 * d] * np.sin(angles)


@pytest.mark.parametrize("ambient", [8, 9, 30])
def test_margins_have_the_distribution_of_the_full_space(ambient):
    rng = np.random.default_rng(0)
    angles = np.array([0.1, 0.4, 0.9, 1.5])
    first, second = subspaces_at(angles, ambient, rng)
    np.testing.assert_allclose(principal_angles(first, second), angles, atol=1e-10)
    x = np.array([0.5, -0.3, 0.7, 0.4])
    n = 4000
    noisy = first @ x + 0.2 * rng.normal(size=(n, ambient))
    distances = residuals(noisy, [first, second])
    naive = 1 - distances[:, 0] / distances[:, 1]
    fast = simulate_margins(np.tile(x, (n, 1)), angles, sigma=0.2, ambient=ambient, rng=rng)
    assert ks_2samp(naive, fast).pvalue > 1e-3
    other = simulate_margins(np.tile(x, (n, 1)), angles, sigma=0.22, ambient=ambient, rng=rng)
    assert ks_2samp(naive, other).pvalue < 1e-3


@given(
    st.floats(0, 2),
    st.floats(0.01, 1),
    st.integers(1, 20),
    st.integers(1, 500),
    st.floats(0.01, 0.9),
)
@settings(max_examples=60)
def test_bounds_enclose_the_noiseless_ratio_and_widen_with_epsilon(
    distance, sigma, d, more, epsilon
):
    setting = {"sigma": sigma, "ambient": d + more, "dim": d}
    low, high = theorem_bounds(distance, epsilon=epsilon, **setting)
    noise = sigma * np.sqrt(more)
    middle = 1 - noise / np.hypot(noise, distance)
    assert low < middle < high
    wider = theorem_bounds(distance, epsilon=min(epsilon + 0.05, 0.99), **setting)
    assert wider[0] < low
    assert wider[1] > high
    farther = theorem_bounds(distance + 0.1, epsilon=epsilon, **setting)
    assert farther[0] > low
    assert farther[1] > high


def test_claim_c10_theorem_holds_and_the_simulation_could_have_said_otherwise():
    check = check_theorem(n_samples=4000)
    assert check.holds
    informative = check.table["bound"] > 0.5
    assert informative.sum() > 100
    assert 0.5 < check.c_low <= check.largest_c <= check.c_high
    # With a constant beyond the one found, the same simulation refutes the bound.
    assert not check_theorem(n_samples=4000, c=4 * check.largest_c).holds


def test_the_largest_c_is_where_a_share_meets_its_bound():
    check = check_theorem(ambient=[100], dim=[3], epsilon=[0.05, 0.1], n_samples=4000)
    again = check_theorem(
        ambient=[100], dim=[3], epsilon=[0.05, 0.1], n_samples=4000, c=check.largest_c
    )
    gap = again.table["inside"] - again.table["bound"]
    assert gap.min() == pytest.approx(0, abs=1e-9)


def test_claim_c10_corollary_holds_where_it_promises_something():
    kinds = {k: ANGLES[k] for k in ("one shared direction", "spread")}
    check = check_corollary(
        ambient=[60_000], dim=[1500], sigma=[0.002], angles=kinds, delta=[0, 0.6], n_samples=200
    )
    assert check.table["condition"].all()
    assert (check.table["bound"] > 0.8).all()
    assert check.holds
    assert check.least_ordered == 1.0


def test_corollary_at_ordinary_sizes():
    check = check_corollary(n_samples=3000)
    table = check.table
    assert check.holds
    # Nothing is promised here, yet near the intersection the order is nearly always right ...
    assert (table["bound"] < 0).all()
    near = table["condition"] & (table["delta"] == 0)
    assert (table["ordered"][near] > 0.85).all()
    # ... and for few dimensions and a large delta it is hardly better than a coin's.
    assert check.least_ordered < 0.6
    # Where all angles are equal no point is nearer to the intersection: the condition is not met.
    assert not table["condition"][table["angles"] == "close"].any()


def test_the_constants_of_the_proof():
    epsilon, xi = corollary_constants()
    assert ((1 - epsilon) / (1 + epsilon)) ** 4 == pytest.approx(5 / 6)
    assert (1 - xi) ** 2 == pytest.approx(6 / 7)
    assert epsilon > 1 / 50
    assert xi > 7 / 100


def test_condition_is_the_existence_of_tau():
    table = check_corollary(n_samples=2, delta=[0.0, 0.3, 0.6]).table
    tau = np.linspace(1.0001, 400, 400_000)
    for row in table.itertuples():
        smallest = np.sin(ANGLES[row.angles](row.dim)[0]) ** 2
        noise = row.sigma**2 * (row.ambient - row.dim) / 6
        exists = np.any((row.delta < 5 / 7 - 1 / tau) & (tau * (smallest + noise) < row.s))
        assert exists == row.condition


def test_intervals_are_clopper_pearson():
    count = np.array([0, 1, 50, 99, 100])
    low, high = _interval(count, 100, 0.99)
    for k, a, b in zip(count, low, high, strict=True):
        expected = binomtest(int(k), 100).proportion_ci(0.99, method="exact")
        assert (a, b) == pytest.approx((expected.low, expected.high))


@given(st.floats(1e-4, 1.0), st.floats(1e-3, 10), st.floats(1e-3, 10))
@settings(max_examples=60)
def test_corollary_limit_meets_the_bound(failing, near, far):
    c = _corollary_limit(failing, near, far)
    assert np.exp(-c * near) + 4 * np.exp(-c * far) == pytest.approx(failing, rel=1e-6)


def test_same_seed_same_result():
    few = {"ambient": [50], "dim": [3], "n_samples": 500}
    assert check_theorem(**few).table.equals(check_theorem(**few).table)
    assert check_corollary(**few).table.equals(check_corollary(**few).table)
    assert not check_corollary(**few).table.equals(check_corollary(seed=1, **few).table)


def test_the_picture_is_written(tmp_path):
    path = tmp_path / "theory.png"
    draw(path, n_samples=200)
    with Image.open(path) as picture:
        assert picture.size == (1800, 750)
        assert len(picture.convert("RGB").getcolors(2**20)) > 100


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: theorem_bounds(1, sigma=1, ambient=9, dim=1, epsilon=1.0), "'epsilon'"),
        (lambda: noisy(angles=[0.1]), "angles"),
        (lambda: noisy(ambient=3), "at least 2 d = 4"),
        (lambda: noisy(sigma=0.0), "'sigma'"),
    ],
)
def test_wrong_input_is_refused_in_words(call, said):
    with pytest.raises(InputError, match=said):
        call()


def noisy(angles=(0.1, 0.2), ambient=9, sigma=0.1):
    rng = np.random.default_rng(0)
    return simulate_margins([[1.0, 0.0]], angles, sigma=sigma, ambient=ambient, rng=rng)
