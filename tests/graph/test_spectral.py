from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphics import torch_device
from superpac.errors import DisconnectedGraphWarning, InputError
from superpac.graph import spectral


def random_graph(n: int, density: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return A + A.T


def block_graph(sizes: list[int], seed: int = 0) -> np.ndarray:
    """Dense blocks, nothing between them: one component each."""
    blocks = [random_graph(s, 1.0, seed + i) + 0.1 * (1 - np.eye(s)) for i, s in enumerate(sizes)]
    return sparse.block_diag(blocks).toarray()


@settings(max_examples=40)
@given(n=st.integers(5, 40), density=st.floats(0.02, 0.9), seed=st.integers(0, 999))
def test_eigenvalues_match_a_dense_solver_on_any_graph(n, density, seed):
    A = random_graph(n, density, seed)
    k = min(4, n)
    E = spectral.spectral_embedding(A, k, random_state=0)
    S = spectral.normalized_affinity(sparse.csr_array(A)).toarray()
    alone = A.sum(axis=1) == 0  # set aside: an empty row of S, and of the embedding
    want = np.sort(np.linalg.eigvalsh(S[~alone][:, ~alone]))[::-1][:k]
    if E.n_components - alone.sum() <= k <= n - alone.sum():
        assert not E.vectors[alone].any()
        np.testing.assert_allclose(E.values, want, atol=1e-8)
        np.testing.assert_allclose(S @ E.vectors, E.vectors * E.values, atol=1e-7)
        np.testing.assert_allclose(E.vectors.T @ E.vectors, np.eye(k), atol=1e-8)


def test_large_disconnected_graph_gives_every_copy_of_the_eigenvalue_one():
    sizes = [400, 350, 310, 320, 330]
    A = block_graph(sizes)
    E = spectral.spectral_embedding(A, 8, random_state=0)
    assert E.n_components == 5
    assert np.sum(np.abs(E.values - 1) < 1e-10) == 5
    labels = spectral.spectral_clustering(A, 5, random_state=0)
    truth = np.repeat(np.arange(5), sizes)
    assert all(len(set(labels[truth == c])) == 1 for c in range(5))
    assert len(set(labels)) == 5


@pytest.mark.parametrize("sizes", [[500], [400, 350], [60, 500]])
def test_a_graphics_processor_finds_the_same_eigenvectors(monkeypatch, sizes):
    monkeypatch.setattr(spectral, "THERE_FROM", 100)
    blocks = [random_graph(size, 0.05, seed) for seed, size in enumerate(sizes)]
    A = sparse.csr_array(sparse.block_diag(blocks))
    here, there = (
        spectral.spectral_embedding(A, 5, random_state=0, device=device)
        for device in (spectral.HOST, torch_device())
    )
    np.testing.assert_allclose(here.values, there.values, atol=1e-9)
    np.testing.assert_allclose(
        here.vectors @ here.vectors.T, there.vectors @ there.vectors.T, atol=1e-4
    )
    labels = [found.cluster(5, np.random.RandomState(0)) for found in (here, there)]
    np.testing.assert_array_equal(*labels)


def test_more_components_than_clusters_warns_and_ignores_the_crumbs():
    A = block_graph([60, 60, 1, 1, 2])
    with pytest.warns(DisconnectedGraphWarning, match="5 connected components for 2 clusters"):
        labels = spectral.spectral_clustering(A, 2, random_state=0)
    assert len(set(labels[:60])) == 1
    assert len(set(labels[60:120])) == 1
    assert labels[0] != labels[60]


@pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")
def test_points_without_neighbours_take_no_cluster():
    A = random_graph(80, 0.0, 0)
    A[:76, :76] = block_graph([40, 36]) + 0.001 * (1 - np.eye(76))
    labels = spectral.spectral_clustering(A, 2 + 3, random_state=0)
    assert len(set(labels[:76])) == 5
    two = spectral.spectral_clustering(A, 2, random_state=0)
    assert len(set(two[:40])) == len(set(two[40:76])) == 1


@pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")
def test_no_edges_at_all_is_survived():
    labels = spectral.spectral_clustering(np.zeros((6, 6)), 3, random_state=0)
    assert labels.shape == (6,)
    assert labels.min() >= 0


def test_same_seed_same_labels():
    A = random_graph(400, 0.05, 1)
    first = spectral.spectral_clustering(A, 5, random_state=3)
    np.testing.assert_array_equal(first, spectral.spectral_clustering(A, 5, random_state=3))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(4), "square"),
        ("text", "square"),
        ([[0.0, 1.0], [1.0]], "rows of different lengths"),
        (np.array([[0, -1.0], [-1, 0]]), "negative"),
        (np.array([[0, np.nan], [np.nan, 0]]), "finite"),
        (np.array([[np.inf, 1.0], [1.0, 0]]), "finite"),
        (np.array([[0, 1.0], [1 + 1e-5, 0]]), "symmetric"),
        (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
        (np.array([[0, 1j], [1j, 0]]), "real numbers"),
    ],
)
def test_bad_affinities_are_refused_in_one_sentence(bad, words):
    with pytest.raises(InputError, match=words):
        spectral.spectral_clustering(bad, 2)


@pytest.mark.parametrize("zero", [sparse.csr_array((6, 6)), sparse.coo_array((6, 6))])
def test_a_checked_affinity_is_tidy_and_a_copy(zero):
    A = sparse.csr_array(random_graph(30, 0.3, 0) + np.eye(30))
    before = A.copy()
    graph = spectral.check_affinity(A)
    assert (before != A).nnz == 0
    assert not np.shares_memory(graph.data, A.data)
    assert not graph.diagonal().any()
    assert graph.has_sorted_indices
    np.testing.assert_array_equal(graph.toarray(), A.toarray() - np.eye(30))
    assert spectral.check_affinity(zero).nnz == 0


def test_small_asymmetry_is_averaged():
    A = spectral.check_affinity([[0.0, 1.0], [1.0 + 1e-8, 0.0]]).toarray()
    assert A[0, 1] == A[1, 0] == pytest.approx(1.0 + 5e-9, abs=1e-12)


def test_whole_numbers_and_truth_values_are_numbers():
    assert spectral.check_affinity(np.array([[0, 1], [1, 0]], dtype=bool)).dtype == np.float64
    assert spectral.check_affinity(np.array([[0, 3], [3, 0]], dtype=np.int16))[0, 1] == 3.0


def test_an_embedding_made_before_gives_the_labels_of_one_call():
    A = sparse.csr_array(random_graph(400, 0.05, 1))
    rng = np.random.RandomState(3)
    embedding = spectral.spectral_embedding(A, 5, random_state=rng, check_input=False)
    np.testing.assert_array_equal(
        embedding.cluster(5, rng), spectral.spectral_clustering(A, 5, random_state=3)
    )


def test_too_many_clusters_is_refused():
    with pytest.raises(InputError, match="between 1 and n = 4"):
        spectral.spectral_clustering(random_graph(4, 1.0, 0), 9)


def test_one_cluster():
    assert set(spectral.spectral_clustering(random_graph(10, 0.5, 0), 1, random_state=0)) == {0}


def test_an_affinity_in_order_is_given_as_if_it_had_been_put_in_order(monkeypatch):
    rng = np.random.default_rng(0)
    W = sparse.csr_array(np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.1), 1))
    A = sparse.csr_array(W + W.T)
    A.sort_indices()
    crooked = A.copy()
    crooked.data[0] *= 1 + 1e-9
    looped = sparse.csr_array(A + sparse.eye_array(40))
    quick = [spectral.check_affinity(each) for each in (A, crooked, looped)]
    assert spectral._is_mirrored(A)
    assert not spectral._is_mirrored(crooked)
    assert not spectral._is_mirrored(looped)
    monkeypatch.setattr(spectral, "_is_mirrored", lambda graph: False)
    for one, each in zip(quick, (A, crooked, looped), strict=True):
        slow = spectral.check_affinity(each)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(one, part), getattr(slow, part))
            assert getattr(one, part).dtype == getattr(slow, part).dtype
    assert not np.shares_memory(quick[0].data, A.data)
