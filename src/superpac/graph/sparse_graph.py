"""Building a sparse affinity: from lists of neighbours to a tidy matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superpac.array_types import FloatArray


def rows_to_matrix(indices: NDArray[np.int64], weights: FloatArray, n: int) -> sparse.csr_array:
    """Sparse n x n matrix from per-row lists of columns (-1: none) and weights."""
    rows = np.repeat(np.arange(indices.shape[0]), indices.shape[1])
    columns, data = indices.ravel(), np.asarray(weights, dtype=np.float64).ravel()
    good = (columns >= 0) & (data > 0)
    return sparse.coo_array((data[good], (rows[good], columns[good])), shape=(n, n)).tocsr()


def tidy(A: sparse.sparray) -> sparse.csr_array:
    """CSR with sorted indices, no stored zeros and nothing on the diagonal; `A` stays as it is."""
    A = sparse.coo_array(A)
    off = (A.row != A.col) & (A.data != 0)
    out = sparse.coo_array((A.data[off], (A.row[off], A.col[off])), shape=A.shape).tocsr()
    out.sort_indices()
    return out
