"""Views as functions of the members alone: against plain formulas, each member left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from superpac.data.synthetic import make_subspaces
from superpac.strategies.base import Problem
from superpac.strategies.superpac_b import views
from superpac.strategies.superpac_b.views import KernelVote, NestedSubspaces

X, Y = make_subspaces(12, 2, 3, 30, noise=0.2, seed=1)
SETS = [np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)]


def plain_residuals(points: np.ndarray, others: np.ndarray, dim: int) -> np.ndarray:
    """Squared residuals to the leading directions of the members, relative to the length."""
    basis = np.linalg.svd(points, full_matrices=False)[2][:dim].T
    rest = others - others @ basis @ basis.T
    return (rest**2).sum(axis=1) / (others**2).sum(axis=1)


@pytest.mark.parametrize("gram", [views.GRAM, 0])
def test_residuals_of_items_outside_a_set_are_those_of_its_leading_directions(gram, monkeypatch):
    monkeypatch.setattr(views, "GRAM", gram)
    dims = [2, 4, 8]
    column = NestedSubspaces(X, dims)._column(SETS[0])
    for row, dim in zip(column, dims, strict=True):
        np.testing.assert_allclose(
            row[SETS[1]], plain_residuals(X[SETS[0]], X[SETS[1]], dim), atol=1e-9
        )


def test_a_member_of_a_small_set_is_left_out():
    members = SETS[0][:4]
    column = NestedSubspaces(X, [2])._column(members)
    for place, t in enumerate(members):
        others = np.delete(members, place)
        np.testing.assert_allclose(column[0, t], plain_residuals(X[others], X[[t]], 2), atol=1e-9)


def test_a_member_of_a_large_set_has_a_larger_residual_than_the_basis_with_it_gives():
    column = NestedSubspaces(X, [2, 4])._column(SETS[0])
    for row, dim in zip(column, (2, 4), strict=True):
        assert (row[SETS[0]] > plain_residuals(X[SETS[0]], X[SETS[0]], dim)).all()


@pytest.mark.parametrize("values", [5, 40])
def test_a_score_counts_less_the_more_of_its_residual_is_chance(values):
    """Drawn from noise alone, the logarithm of a residual varies the more the fewer are left."""
    points = np.random.default_rng(0).normal(size=(60, values))
    columns = np.random.default_rng(1).uniform(0.1, 1.0, (1, 60, 2))
    view = NestedSubspaces(points, [values - 2], 0.5)
    sure = NestedSubspaces(points, [values - 2], 1e9)
    noise = np.random.default_rng(2).normal(size=(200_000, 2))
    chance = np.log((noise**2).sum(axis=1)).var()
    found = view._compared(columns) / sure._compared(columns)
    np.testing.assert_allclose(found, 0.5 / (0.5 + chance), rtol=0.01)


def test_a_kernel_vote_does_not_hear_the_item_itself():
    """An item that joins a set changes what others hear, and not its own vote."""
    view = KernelVote(Problem(X, sparse.csr_array((60, 60)), 2, 3))
    t = int(SETS[1][0])
    without = view._column(SETS[0])
    joined = view._column(np.sort(np.append(SETS[0], t)))
    np.testing.assert_allclose(joined[t], without[t], atol=1e-4)
    assert np.abs(joined - without).max() > 1e-3


@pytest.mark.parametrize(
    "view",
    [NestedSubspaces(X, [3, 6]), KernelVote(Problem(X, sparse.csr_array((60, 60)), 2, 3))],
    ids=["subspaces", "kernel"],
)
def test_what_was_asked_before_changes_no_score(view, monkeypatch):
    monkeypatch.setattr(views, "KEPT", 3)
    first = view.scores(SETS)
    for size in range(2, 9):
        view.scores([SETS[0][:size], SETS[1][size:]])
    np.testing.assert_array_equal(view.scores(SETS), first)
    assert np.mean(first.argmax(axis=1) == Y) > 0.9
