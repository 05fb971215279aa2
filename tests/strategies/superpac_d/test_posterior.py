"""How the views are weighed."""

from __future__ import annotations

import numpy as np

from superpac.strategies.superpac_d.posterior import fit_weights
from superpac.strategies.superpac_d.settings import Settings


def test_weights_follow_the_view_that_is_right():
    rng = np.random.default_rng(0)
    observed = []
    for _ in range(80):
        k = int(rng.integers(5))
        good, noise = rng.normal(size=5), rng.normal(size=5)
        good[k] += 3
        observed.append((np.stack([good, noise], axis=1), k))
    weights = fit_weights(observed, np.ones(2), Settings())
    assert weights[0] > 1
    assert weights[1] < weights[0] / 2
    np.testing.assert_array_equal(fit_weights([], np.ones(2), Settings()), np.ones(2))
