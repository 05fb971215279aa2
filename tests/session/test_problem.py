"""What a strategy works on: the points as its authors meant them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import superpac.session.problem as problem_module
from graphics import torch_device
from superpac.affinity.base import unit_rows
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.session.problem import build_problem
from superpac.session.spec import Spec
from superpac.strategies import AS_THEY_ARE, STRATEGIES


@pytest.fixture(scope="module")
def points() -> Dataset:
    X, y = make_subspaces(15, 3, 2, 8, noise=0.1, seed=0)
    lengths = np.random.default_rng(0).uniform(0.5, 9.0, len(X))
    return Dataset(lengths[:, None] * X, y=y)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_the_papers_strategies_see_points_as_they_are(points, strategy):
    X = points.points()
    expected = X if strategy in AS_THEY_ARE else unit_rows(X)
    found = build_problem(points, Spec(3, "tsc:q=3", strategy, dim=2))
    np.testing.assert_array_equal(found.X, expected)


@pytest.mark.parametrize("strategy", ["superpac", "superpac-d"])
def test_scaling_can_be_switched_either_way(points, strategy):
    X = points.points()
    scaled = build_problem(points, Spec(3, "tsc:q=3", strategy, dim=2, normalize=True))
    as_is = build_problem(points, Spec(3, "tsc:q=3", strategy, dim=2, normalize=False))
    np.testing.assert_array_equal(scaled.X, unit_rows(X))
    np.testing.assert_array_equal(as_is.X, X)
    # the affinity scales by itself, as its authors do
    assert (scaled.affinity != as_is.affinity).nnz == 0


def test_beside_a_graph_of_distances_length_counts(points):
    found = build_problem(points, Spec(3, "knn", "superpac-d", dim=2))
    np.testing.assert_array_equal(found.X, points.points())


def test_a_graphics_processor_without_room_is_told_before_the_affinity(monkeypatch):
    device = torch_device()
    monkeypatch.setattr(problem_module, "choose_device", lambda *_: device)
    monkeypatch.setattr(problem_module, "build_affinity", lambda *_, **__: pytest.fail("too late"))
    monkeypatch.setattr(device, "free", lambda: 1000)
    X, _ = make_subspaces(20, 3, 2, 12, seed=0)
    with pytest.raises(InputError, match="A session of 60 items needs about .* GB on the device"):
        build_problem(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))


def test_a_graph_in_parts_is_no_reason_to_warn_while_a_dimension_is_chosen():
    far = np.kron(np.eye(6), np.ones((12, 3)))
    X = far + 0.01 * np.random.default_rng(0).normal(size=far.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build_problem(Dataset(X), Spec(2, "tsc:q=3")).n_clusters == 2
