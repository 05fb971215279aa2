from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from graphics import torch_device
from superpac.graph import spectral
from superpac.graph.cluster_count import guess_count, stability, walk_lift


def blocks(
    clusters: int, size: int, outside: float, seed: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """A random graph with dense clusters, and the cluster of each point."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(clusters), size)
    A = (rng.random((y.size, y.size)) < np.where(y[:, None] == y, 0.5, outside)).astype(float)
    A = np.triu(A, 1)
    return sparse.csr_array(A + A.T), y


def naive_stability(A: np.ndarray, y: np.ndarray, steps: int) -> float:
    """By the definition: the walk's matrix to a power, and every pair of points."""
    degree = A.sum(axis=1)
    share = degree / degree.sum()
    walk = np.linalg.matrix_power(A / degree[:, None], steps)
    flow = share[:, None] * walk - np.outer(share, share)
    return float(flow[y[:, None] == y].sum())


@pytest.mark.parametrize("clusters", [2, 7, 30])
def test_dense_clusters_are_counted_to_within_a_tenth(clusters):
    graph, _ = blocks(clusters, 20, 0.03 / clusters, seed=0)
    assert abs(guess_count(graph) - clusters) <= clusters / 10


def test_clusters_made_of_clumps_are_counted_and_not_their_clumps():
    rng = np.random.default_rng(0)
    clump = np.repeat(np.arange(24), 10)  # three to a cluster
    near, far = clump[:, None] // 3 == clump // 3, clump[:, None] == clump
    A = np.triu(rng.random((240, 240)) < np.where(far, 0.9, np.where(near, 0.04, 0.0005)), 1)
    graph = sparse.csr_array((A | A.T).astype(float))
    assert guess_count(graph, steps=1) > 12  # one step sees the clumps
    assert guess_count(graph) == 8


def test_a_graph_in_many_pieces_may_have_more_or_fewer_clusters_than_pieces():
    graph, _ = blocks(12, 20, 0.0, seed=1)
    bridged = graph.tolil()
    for a in range(0, 240, 40):  # clusters in pairs, each pair a piece
        bridged[a, a + 20] = bridged[a + 20, a] = 1.0
    assert guess_count(sparse.csr_array(bridged)) == 12
    alone = sparse.block_diag([graph, sparse.csr_array((9, 9))], format="csr")
    assert guess_count(sparse.csr_array(alone)) == 12  # nine points without a neighbour


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_stability_is_what_its_definition_says(steps):
    graph, y = blocks(4, 12, 0.1, seed=2)
    found = stability(graph, y, 4, steps)
    assert found == pytest.approx(naive_stability(graph.toarray(), y, steps))


def test_lift_is_above_one_where_joining_makes_a_clustering_more_stable():
    graph, y = blocks(5, 16, 0.05, seed=3)
    split = np.where(y == 0, np.random.default_rng(0).integers(0, 2, y.size) * 5, y)
    lift = walk_lift(graph, np.eye(6)[split], 3)
    before = stability(graph, split, 6, 3)
    for a in range(6):
        for b in range(a):
            joined = np.where(split == a, b, split)
            assert (lift[a, b] > 1.0) == (stability(graph, joined, 6, 3) > before)
    assert lift[0, 5] > 1.0 > lift[1, 2]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_points_or_no_edges_are_no_obstacle(n):
    assert 1 <= guess_count(sparse.csr_array((n, n))) <= 2


def test_a_graphics_processor_guesses_the_same(monkeypatch):
    monkeypatch.setattr(spectral, "THERE_FROM", 100)
    graph, _ = blocks(5, 80, 0.02, seed=3)
    assert guess_count(graph, device=torch_device()) == guess_count(graph) == 5
