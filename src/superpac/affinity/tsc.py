"""Thresholding-based subspace clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from superpac.affinity._kernels.approximate_top_k import approximate_top_inner_products
from superpac.affinity._kernels.top_k import top_inner_products
from superpac.affinity.base import SINGLE_FROM, AffinityEstimator, Progress, unit_rows
from superpac.affinity.parameters import choice, integer
from superpac.array_types import FloatArray
from superpac.device.choice import DEVICES, HOST, Device, Torch
from superpac.graph.sparse_graph import rows_to_matrix, tidy
from superpac.system.optional import is_installed

# Two unit vectors whose cosine is rounding noise share no direction, so they are no neighbours.
ORTHOGONAL = 1e-12
EXACT_UP_TO = 20_000  # points: looking at all pairs takes seconds here, and minutes soon after
RECALL = 0.99


@dataclass(repr=False, eq=False, kw_only=True)
class TSC(AffinityEstimator):
    """Thresholding-based subspace clustering (TSC).

    Each point is joined to the `q` others of largest ``|<x_i, x_j>|`` (unit-length points), with
    weight ``exp(-2 arccos |<x_i, x_j>|)``; the affinity is ``Z + Z'``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    q : int, optional
        Neighbours per point. None: ``max(3, ceil(n_samples / (20 n_clusters)))``, at most 20, the
        rule used for handwritten digits (5 for 100 points per cluster).
    search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found: by looking at all pairs, or nearly all of them by an inverted file
        (needs the extra ``large``), widened until 99% are found on a sample of the points. "auto"
        is exact up to 20,000 points, and beyond where the extra is not installed.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where neighbours are looked for. "cuda" is a graphics processor (needs the extra ``gpu``),
        which looks at all pairs whatever `search` says; products decide in single precision there.
        "auto" takes it from 5,000 points on where there is one, unless `search` is "approximate".
    random_state : int, RandomState or None
        Seed of the spectral step; the affinity itself is deterministic.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)
    q_ : int
        The number of neighbours used.
    recall_ : float
        Share of the true neighbours found: 1 by an exact search, else measured on a sample.

    References
    ----------
    R. Heckel and H. Boelcskei, "Robust subspace clustering via thresholding", IEEE Transactions
    on Information Theory 61(11), 2015.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(30, 3, 2, 12, seed=0)
    >>> A = TSC(n_clusters=3, q=4).affinity(X)
    >>> A.shape, bool(abs(A - A.T).max() == 0)
    ((90, 90), True)
    """

    by_rows = True

    q: int | None = integer(None, optional=True)
    search: str = choice("auto", ("auto", "exact", "approximate"))
    device: str = choice("auto", DEVICES)

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        n = X.shape[0]
        self.q_ = min(default_q(n, self.n_clusters) if self.q is None else int(self.q), n - 1)
        device = self._device(n)
        if isinstance(device, Torch):
            self.recall_ = 1.0
            return self._graph_on(device, X, progress)
        options: dict[str, Any] = {
            "floor": ORTHOGONAL,
            "progress": progress,
            "where": self._where,
        }
        if self._approximate(n):
            kind = np.float32 if X.size > SINGLE_FROM else np.float64
            indices, cosines, self.recall_ = approximate_top_inner_products(
                unit_rows(X, kind), self.q_, recall=RECALL, **options
            )
        else:
            indices, cosines = top_inner_products(unit_rows(X), self.q_, **options)
            self.recall_ = 1.0
        weights = np.exp(-2.0 * np.arccos(np.minimum(cosines, 1.0)))
        Z = rows_to_matrix(indices, weights, n)
        return tidy(Z + Z.T)

    def _approximate(self, points: int) -> bool:
        """Whether the processor looks for neighbours without looking at all pairs."""
        many = self.search == "auto" and points > EXACT_UP_TO and is_installed("large")
        return many or self.search == "approximate"

    def _by_blocks(self, points: int, numbers: int) -> bool:
        return self._approximate(points) or super()._by_blocks(points, numbers)

    def _device(self, points: int) -> Device:
        """The device; the processor for an approximate search, unless another is named."""
        if self.search == "approximate" and self.device != "cuda":
            return HOST
        return super()._device(points)

    def _graph_on(self, device: Torch, X: FloatArray, progress: Progress) -> sparse.csr_array:
        """The same on a graphics processor."""
        import torch

        from superpac.affinity._kernels.torch_graph import symmetric
        from superpac.affinity._kernels.torch_search import Search
        from superpac.affinity._kernels.torch_top_k import top_rows

        n = X.shape[0]
        search = Search.of(X, device, unit=True)
        columns, cosines = top_rows(search, self.q_, floor=ORTHOGONAL, progress=progress)
        weights = torch.exp(-2.0 * torch.arccos(cosines.double().clamp(max=1.0)))
        rows = torch.arange(n, device=columns.device)[:, None].expand(columns.shape)
        found = columns >= 0
        return symmetric(rows[found], columns[found], weights[found], n)


def default_q(n_samples: int, n_clusters: int) -> int:
    """Neighbours per point when none are named: a twentieth of a mean cluster, from 3 to 20."""
    return int(min(20, max(3, -(-n_samples // (20 * n_clusters)))))
