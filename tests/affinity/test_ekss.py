"""EKSS: counting who was together, against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from superpac.affinity.ekss import EKSS, top_together
from superpac.affinity.ksubspaces import run_seeds, side_by_side
from superpac.data.synthetic import make_subspaces


def nothing(done: int, total: int) -> None:
    """No progress wanted."""


@settings(max_examples=60)
@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(2, 20), st.integers(1, 9)),
               elements=st.integers(0, 3)),
    st.integers(1, 6),
)  # fmt: skip
def test_counts_match_the_definition(table: np.ndarray, q: int) -> None:
    q = min(q, len(table) - 1)
    indices, counts = top_together(table, q)
    together = (table[:, None, :] == table[None, :, :]).sum(axis=2)
    np.fill_diagonal(together, 0)
    np.testing.assert_array_equal(counts, -np.sort(-together, axis=1)[:, :q])
    for i, row in enumerate(indices):
        real = row[row >= 0]
        assert len(set(real)) == len(real)
        np.testing.assert_array_equal(together[i, real], counts[i][row >= 0])
        assert np.all(counts[i][row < 0] == 0)


def test_ties_are_spread_over_the_points() -> None:
    indices, _ = top_together(np.zeros((300, 4), dtype=np.uint8), 5)
    assert np.bincount(indices.ravel(), minlength=300).max() < 25


def test_affinity_is_the_share_of_runs() -> None:
    X, _ = make_subspaces(12, 2, 2, 8, noise=0.3, seed=0)
    A = EKSS(2, dim=2, n_runs=15, n_iter=2, q=23, random_state=3).affinity(X).toarray()
    starts = [("random", int(s)) for s in run_seeds(3, 15)]
    from superpac.affinity.base import unit_rows

    runs = np.stack([r[0] for r in side_by_side(unit_rows(X), [2, 2], starts, 2, nothing)])
    share = (runs[:, :, None] == runs[:, None, :]).mean(axis=0)
    np.fill_diagonal(share, 0.0)
    np.testing.assert_allclose(A, share, atol=1e-12)


def test_more_than_256_clusters_are_counted_right() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    A = EKSS(280, dim=1, n_runs=2, n_iter=1, random_state=0).affinity(X)
    assert A.nnz / 2 < 300
