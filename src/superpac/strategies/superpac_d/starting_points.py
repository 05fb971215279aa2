"""Where a strategy starts without a question: the centres of the pieces of the graph."""

from __future__ import annotations

import warnings

import numpy as np

from superpac.errors import DisconnectedGraphWarning
from superpac.graph.diffusion import Diffusion
from superpac.graph.spectral import spectral_clustering


def starting_points(diffusion: Diffusion, count: int, seed: int) -> list[int]:
    """Point of each piece that a walk from within the piece visits most.

    Parameters
    ----------
    diffusion : Diffusion
        Solver on the affinity.
    count : int
        Pieces.
    seed : int
        Of the spectral clustering.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from scipy import sparse
    >>> path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    >>> len(starting_points(Diffusion(sparse.csr_array(path)), 2, 0))
    2
    """
    n = diffusion.n
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        pieces = spectral_clustering(diffusion.graph, count, random_state=seed)
    right = np.zeros((n, count))
    right[np.arange(n), pieces] = 1.0
    visits = diffusion.solve(right)[np.arange(n), pieces]
    inside = (np.flatnonzero(pieces == k) for k in range(count))
    return [int(points[np.argmax(visits[points])]) for points in inside if points.size]
