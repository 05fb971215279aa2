from __future__ import annotations

import numpy as np
from scipy import sparse

from superpac.graph.piece_count import guess_pieces, modularity


def test_modularity_of_the_true_pieces_is_largest():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(7), 20)
    A = (rng.random((140, 140)) < np.where(y[:, None] == y, 0.5, 0.01)).astype(float)
    A = np.triu(A, 1)
    graph = sparse.csr_array(A + A.T)
    assert guess_pieces(graph) in (6, 7, 8)
    split = np.where(y == 0, rng.integers(0, 2, 140) * 7, y)
    assert modularity(graph, y, 8) > modularity(graph, split, 8)
