"""Which pair of sets is asked about first."""

from __future__ import annotations

import numpy as np

from superpac.strategies.superpac_d.merge_chances import telling


def test_within_a_group_the_open_link_is_asked_about_first():
    chances = np.triu(np.array([[0, 0.95, 0.5], [0, 0, 0.2], [0, 0, 0]]), 1)
    within = telling(chances, np.array([0, 0, 0]))
    assert divmod(int(within.argmax()), 3) == (0, 2)
    across = telling(chances, np.array([0, 1, 2]))
    np.testing.assert_array_equal(across, chances)
