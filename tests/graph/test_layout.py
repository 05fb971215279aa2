from __future__ import annotations

import numpy as np
from scipy import sparse

from superpac.graph.layout import lay_out


def pieces(sizes, seed=0):
    """A graph in pieces, whose groups nothing joins."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    A = np.where(labels[:, None] == labels[None, :], rng.random((labels.size,) * 2), 0.0)
    np.fill_diagonal(A, 0.0)
    return sparse.csr_array((A + A.T) / 2), labels, np.eye(len(sizes))[labels]


def test_groups_of_a_graph_in_pieces_lie_apart_and_fill_the_plane():
    A, labels, rows = pieces([40, 10, 30, 20, 25, 5, 15])
    places = lay_out(A, labels, rows)
    centres = np.array([places[labels == c].mean(axis=0) for c in range(7)])
    reach = [np.sqrt(((places[labels == c] - centres[c]) ** 2).sum(axis=1)).max() for c in range(7)]
    for a in range(7):
        for b in range(a):
            assert np.linalg.norm(centres[a] - centres[b]) > 0.9 * (reach[a] + reach[b])
    # not on one line: both directions matter
    spread = np.linalg.svd(centres - centres.mean(axis=0), compute_uv=False)
    assert spread[1] > 0.3 * spread[0]


def test_groups_that_much_joins_are_neighbours():
    A, labels, rows = pieces([20] * 6)
    dense = A.toarray()
    dense[np.ix_(labels == 0, labels == 3)] = 0.4
    dense[np.ix_(labels == 3, labels == 0)] = 0.4
    places = lay_out(sparse.csr_array(dense), labels, rows)
    centres = np.array([places[labels == c].mean(axis=0) for c in range(6)])
    gaps = np.linalg.norm(centres - centres[0], axis=1)
    assert np.argsort(gaps)[1] == 3


def test_the_map_is_the_same_every_time_and_finite_on_odd_graphs():
    A, labels, rows = pieces([9, 3, 1, 1])
    assert (lay_out(A, labels, rows) == lay_out(A, labels, rows)).all()
    nothing = sparse.csr_array(A.shape)
    for graph, groups in ((nothing, labels), (A, np.zeros_like(labels)), (A, np.arange(14))):
        assert np.isfinite(lay_out(graph, groups, rows)).all()
