"""Advice from the points alone: right on made data of either kind, and never from labels."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from typer import Typer
from typer.testing import CliRunner

from superpac.cli.advise import advise as command
from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.research.advise import (
    advise,
    balance,
    confirmed_by_neighbours,
    confirmed_by_subspaces,
    modularity,
    uneven_columns,
)

FEW = ("tsc", "ensc:gamma=5", "rbf", "knn")


@pytest.mark.parametrize("seed", range(3))
def test_subspaces_are_recognised_with_their_dimension(seed):
    X, y = make_subspaces(50, 4, 3, 25, seed=seed)
    found = advise(Dataset(X, y=y), 4, affinities=FEW, seed=seed)
    assert found.structure == "union of subspaces"
    assert found.dim == 3
    assert found.reasons


@pytest.mark.parametrize("seed", range(3))
def test_round_clusters_are_recognised(seed):
    # Around points of a sphere: no cluster spans more than a direction, all lie near each other.
    X, y = make_blobs(200, 6, centers=4, cluster_std=0.6, center_box=(2, 6), random_state=seed)
    found = advise(Dataset(X, y=y), 4, affinities=("ssc-omp", "lrr", "rbf", "knn"), seed=seed)
    assert found.structure == "ordinary clusters"


def test_labels_are_never_looked_at():
    data = load("digits").sample_classes(3, 30, 0)
    rng = np.random.default_rng(0)
    told = [
        advise(each, 3, affinities=FEW)
        for each in (data, replace(data, y=rng.permutation(data.y)), replace(data, y=None))
    ]
    assert len({repr([(c.affinity, c.score) for c in t.candidates]) for t in told}) == 1


def test_the_best_score_is_chosen_and_the_sample_is_kept():
    data = load("digits").sample_classes(4, 60, 1)
    found = advise(data, 4, affinities=FEW, sample=100)
    scores = [c.score for c in found.candidates]
    assert scores == sorted(scores, reverse=True)
    assert (found.n_used, found.n) == (100, 240)
    assert found.affinity == found.candidates[0].affinity


def test_uneven_columns_are_scaled_and_said():
    X, _ = make_blobs(120, 4, centers=3, cluster_std=0.3, random_state=0)
    X[:, 0] *= 1000
    assert uneven_columns(Dataset(X))
    found = advise(Dataset(X), 3, affinities=("rbf", "knn"))
    assert found.standardise
    assert "very different units" in found.reasons[0]
    assert not uneven_columns(load("digits"))


def test_neighbours_against_a_naive_count():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 5)), rng.integers(3, size=60)
    right = 0
    for i in range(60):
        distance = np.linalg.norm(X - X[i], axis=1)
        distance[i] = np.inf
        votes = np.bincount(labels[np.argsort(distance)[:5]], minlength=3)
        right += votes.argmax() == labels[i]
    assert confirmed_by_neighbours(X, labels) == pytest.approx(right / 60)


def test_subspaces_confirm_the_truth_and_not_chance():
    X, y = make_subspaces(40, 3, 2, 20, seed=0)
    assert confirmed_by_subspaces(X, y, 3, 2) == 1.0
    assert confirmed_by_subspaces(X, np.random.default_rng(0).permutation(y), 3, 2) < 0.6


def test_modularity_against_the_textbook_sum():
    rng = np.random.default_rng(0)
    A = rng.random((12, 12)) * (rng.random((12, 12)) < 0.4)
    A = A + A.T
    labels = rng.integers(3, size=12)
    degree, total = A.sum(axis=1), A.sum()
    expected = sum(
        A[i, j] - degree[i] * degree[j] / total
        for i in range(12)
        for j in range(12)
        if labels[i] == labels[j]
    )
    found = modularity(sparse.csr_array(A), labels, 3)
    assert found == pytest.approx(expected / total)


def test_a_lump_has_little_balance():
    assert balance(np.array([0] * 98 + [1, 2]), 3) < 0.15


@pytest.mark.parametrize("k", [1, 40])
def test_impossible_numbers_of_clusters_are_refused(k):
    with pytest.raises(InputError, match="at least 2 clusters"):
        advise(Dataset(np.eye(30)), k)


def test_command(tmp_path):
    X, _ = make_subspaces(20, 3, 2, 12, seed=0)
    np.save(tmp_path / "points.npy", X)
    app = Typer()
    app.command()(command)
    told = CliRunner().invoke(app, [str(tmp_path / "points.npy"), "-k", "3"])
    assert told.exit_code == 0, told.output
    assert "Union of subspaces" in told.output
    assert "superpac cluster" in told.output
    plain = CliRunner().invoke(app, [str(tmp_path / "points.npy"), "-k", "3", "--json"])
    found = json.loads(plain.output)
    assert found["structure"] == "union of subspaces"
    assert len(found["candidates"]) == 10
