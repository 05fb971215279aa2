from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from superpac import metrics
from superpac.errors import InputError
from superpac.metrics import (
    adjusted_rand,
    align_labels,
    clustering_error,
    connectivity,
    contingency,
    normalized_mutual_info,
    subspace_preserving_error,
)


@st.composite
def two_labellings(draw, most=5):
    n = draw(st.integers(1, 40))
    labels = st.lists(st.integers(-2, most - 3), min_size=n, max_size=n)
    return np.array(draw(labels)), np.array(draw(labels))


def brute_force_error(y_true, y_pred):
    classes, clusters = list(np.unique(y_true)), list(np.unique(y_pred))
    width = max(len(classes), len(clusters))
    names = classes + [None] * (width - len(classes))
    best = 0
    for order in itertools.permutations(names):
        right = sum(
            np.sum((y_pred == cluster) & (y_true == name))
            for cluster, name in zip(clusters, order, strict=False)
            if name is not None
        )
        best = max(best, int(right))
    return 1 - best / len(y_true)


@given(two_labellings())
@settings(max_examples=80)
def test_error_is_the_best_over_all_permutations(pair):
    y_true, y_pred = pair
    assert clustering_error(y_true, y_pred) == pytest.approx(brute_force_error(y_true, y_pred))


@given(two_labellings(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_renaming_clusters_and_shuffling_points_changes_nothing(pair, random):
    y_true, y_pred = pair
    names = list(range(100, 110))
    random.shuffle(names)
    renamed = np.array([names[label + 2] for label in y_pred])
    order = np.array(random.sample(range(y_true.size), y_true.size))
    for measure in (clustering_error, adjusted_rand, normalized_mutual_info):
        assert measure(y_true[order], renamed[order]) == pytest.approx(measure(y_true, y_pred))


@given(two_labellings())
@settings(max_examples=80)
def test_bounds_symmetry_and_agreement_with_scikit_learn(pair):
    y_true, y_pred = pair
    assert 0 <= clustering_error(y_true, y_pred) < 1
    assert clustering_error(y_true, y_pred) == clustering_error(y_pred, y_true)
    assert adjusted_rand(y_true, y_pred) == pytest.approx(adjusted_rand_score(y_true, y_pred))
    expected = normalized_mutual_info_score(y_true, y_pred)
    assert normalized_mutual_info(y_true, y_pred) == pytest.approx(expected, abs=1e-9)
    assert 0 <= normalized_mutual_info(y_true, y_pred) <= 1


@given(two_labellings())
@settings(max_examples=80)
def test_aligned_labels_keep_the_partition_and_reach_the_error(pair):
    y_true, y_pred = pair
    aligned = align_labels(y_pred, y_true)
    assert np.mean(aligned != y_true) == pytest.approx(clustering_error(y_true, y_pred))
    assert clustering_error(y_pred, aligned) == 0
    assert np.unique(aligned).size == np.unique(y_pred).size


def test_a_cluster_without_a_partner_takes_the_lowest_free_name():
    before = [0, 0, 1, 1, 3, 3]
    assert align_labels([5, 5, 6, 6, 7, 8], before).tolist() in (
        [0, 0, 1, 1, 3, 2],
        [0, 0, 1, 1, 2, 3],
    )


def test_perfect_is_exactly_zero_and_one():
    y = np.repeat(np.arange(7), [3, 5, 7, 11, 13, 17, 19])
    assert clustering_error(y, 6 - y) == 0.0
    assert adjusted_rand(y, 6 - y) == 1.0
    assert normalized_mutual_info(y, 6 - y) == pytest.approx(1.0, abs=1e-12)


def test_rectangular_tables_count_the_unmatched_as_wrong():
    assert clustering_error([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]) == pytest.approx(2 / 6)
    assert clustering_error([0, 0, 1, 1, 2, 2], [5] * 6) == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "b", "c"]),
        np.array([2.5, 1.0, 2.5, 9.0]),
        np.array([True, False, True, False]),
        np.array([10**12, -(10**12), 10**12, 0]),
        np.array([200, 3, 200, 255], dtype=np.uint8),
        np.array(["x", "y", "x", "z"], dtype=object),
    ],
)
def test_labels_of_any_kind(labels):
    _, codes = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(contingency(labels, codes), np.diag(np.bincount(codes)))
    assert clustering_error(labels, codes) == 0


def test_pair_counts_do_not_overflow():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300_000)
    other = np.where(rng.random(y.size) < 0.2, rng.integers(0, 3, y.size), y)
    assert adjusted_rand(y, other) == pytest.approx(adjusted_rand_score(y, other))


@pytest.mark.parametrize(
    ("y_true", "y_pred", "said"),
    [
        ([0, 1], [0, 1, 1], "2 and 3"),
        ([], [], "non-empty"),
        ([[0, 1]], [[0, 1]], "one-dimensional"),
        ([0.0, np.nan], [0, 1], "NaN"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_words(y_true, y_pred, said):
    with pytest.raises(InputError, match=said):
        clustering_error(y_true, y_pred)


def test_aligning_asks_for_numbers():
    with pytest.raises(InputError, match="whole-number"):
        align_labels(["a", "b"], [0, 1])
    with pytest.raises(InputError, match="labels and reference must label the same points"):
        align_labels([0, 1], [0, 1, 1])


def random_graph(rng, n, density):
    upper = sparse.triu(sparse.random_array((n, n), density=density, rng=rng), k=1)
    return sparse.csr_array(upper + upper.T)


def naive_connectivity(dense):
    degree = dense.sum(axis=1)
    laplacian = np.eye(len(dense)) - dense / np.sqrt(np.outer(degree, degree))
    return np.linalg.eigvalsh(laplacian)[1]


def test_connectivity_matches_the_definition():
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 90, 0.3)
    y = np.repeat(["b", "a"], [50, 40])
    found = connectivity(graph, y)
    dense = graph.toarray()
    expected = [naive_connectivity(dense[50:, 50:]), naive_connectivity(dense[:50, :50])]
    np.testing.assert_allclose(found.classes, expected, atol=1e-10)
    assert found.minimum == pytest.approx(min(expected))
    assert found.mean == pytest.approx(np.mean(expected))


def test_sparse_solver_agrees_with_the_dense_one(monkeypatch):
    rng = np.random.default_rng(4)
    # A ring with a few chords: the top eigenvalues crowd near 1.
    n = 400
    ring = sparse.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    graph = sparse.csr_array(ring + ring.T + random_graph(rng, n, 0.002))
    dense = connectivity(graph, np.zeros(n)).minimum
    monkeypatch.setattr(metrics, "_DENSE_LIMIT", 10)
    assert connectivity(graph, np.zeros(n)).minimum == pytest.approx(dense, abs=1e-7)
    complete = np.ones((50, 50)) - np.eye(50)
    assert connectivity(complete, np.zeros(50)).minimum == pytest.approx(50 / 49)


def test_a_class_in_two_pieces_has_connectivity_zero():
    block = np.ones((3, 3)) - np.eye(3)
    graph = np.kron(np.eye(3), block)
    found = connectivity(graph, [0] * 6 + [1] * 3)
    assert found.classes[0] == 0
    assert found.minimum == 0
    assert found.classes[1] == pytest.approx(1.5)


def test_classes_of_one_point_are_left_out():
    graph = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0.0]])
    found = connectivity(graph, [0, 0, 1])
    assert np.isnan(found.classes[1])
    assert found.minimum == found.mean == pytest.approx(2.0)
    assert np.isnan(connectivity(graph, [0, 1, 2]).minimum)


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=30)
def test_subspace_preserving_error_matches_a_loop(seed, as_sparse):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((12, 12)) * (rng.random((12, 12)) < 0.3)
    y = rng.integers(0, 3, 12)
    shares = [np.abs(C[i][y != y[i]]).sum() / np.abs(C[i]).sum() for i in range(12) if np.any(C[i])]
    found = subspace_preserving_error(sparse.csc_array(C) if as_sparse else C, y)
    assert found == pytest.approx(np.mean(shares), abs=1e-12)


def test_subspace_preserving_error_at_its_ends():
    same = np.kron(np.eye(2), np.ones((3, 3)))
    y = [0, 0, 0, 1, 1, 1]
    assert subspace_preserving_error(same, y) == 0
    assert subspace_preserving_error(1 - same, y) == 1
    assert np.isnan(subspace_preserving_error(np.zeros((6, 6)), y))


def test_matrices_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="square"):
        connectivity(np.ones((2, 3)), [0, 1])
    with pytest.raises(InputError, match="one label per point"):
        subspace_preserving_error(np.ones((3, 3)), [0, 1])
