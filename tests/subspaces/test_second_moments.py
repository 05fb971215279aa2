from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from superpac.subspaces.second_moments import SecondMoment


@given(seed=st.integers(0, 9999), share=st.floats(0, 1))
def test_following_equals_summing_afresh(seed, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    inside = rng.random(30) < 0.6
    moment = SecondMoment.of(X, np.flatnonzero(inside))
    for _ in range(5):
        new = np.where(rng.random(30) < share, ~inside, inside)
        before = moment.matrix.copy()
        later = moment.after(
            X, np.flatnonzero(new), np.flatnonzero(new & ~inside), np.flatnonzero(inside & ~new)
        )
        np.testing.assert_array_equal(moment.matrix, before)
        np.testing.assert_allclose(later.matrix, X[new].T @ X[new], atol=1e-9)
        assert later.updates in (0, moment.updates + 1)
        inside, moment = new, later
