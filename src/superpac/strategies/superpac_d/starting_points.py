"""Where a strategy starts without a question: the centres of the pieces of the graph."""

from __future__ import annotations

import warnings

import numpy as np

from superpac.array_types import FloatArray
from superpac.device.arrays import filled, like, to_host
from superpac.errors import DisconnectedGraphWarning
from superpac.graph.diffusion import Diffusion, solve_work
from superpac.graph.spectral import RUNS, clustering_work, embedding_work, spectral_embedding
from superpac.system.progress import Progress, no_progress, parts_of


def starting_work(diffusion: Diffusion, count: int) -> list[float]:
    """Nanoseconds that its parts are likely to take, about, to tell progress by."""
    n, nnz = diffusion.n, diffusion.graph.nnz
    pieces = [embedding_work(n, nnz, count), clustering_work(n, count, RUNS)]
    return [*pieces, solve_work(nnz, count)]


def starting_points(
    diffusion: Diffusion, count: int, seed: int, progress: Progress = no_progress
) -> tuple[list[int], FloatArray]:
    """Point of each piece that a walk from within the piece visits most.

    Parameters
    ----------
    diffusion : Diffusion
        Solver on the affinity.
    count : int
        Pieces.
    seed : int
        Of the spectral clustering.
    progress : callable, optional
        Called as ``progress(done, total)`` with the share of the time; raising from it cancels.

    Returns
    -------
    points : list of int
        One per piece.
    vectors : ndarray of shape (n, count)
        The leading eigenvectors behind the pieces, with which the solver is quicker from now on.

    Examples
    --------
    >>> from scipy import sparse
    >>> path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    >>> len(starting_points(Diffusion(sparse.csr_array(path)), 2, 0)[0])
    2
    """
    n, rng = diffusion.n, np.random.RandomState(seed)
    finding, placing, visiting = parts_of(progress, starting_work(diffusion, count))
    embedding = spectral_embedding(
        diffusion.graph,
        count,
        random_state=rng,
        check_input=False,
        device=diffusion.device,
        progress=finding,
    )
    diffusion.quicken(diffusion.device.array(embedding.vectors))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        pieces = embedding.cluster(count, rng, progress=placing)
    place = diffusion.device.array(pieces)
    right = filled((count, n), 0.0, place, "float64").T
    every = like(np.arange(n), place)
    right[every, place] = 1.0
    visits = to_host(diffusion.solve(right, progress=visiting)[every, place])
    inside = (np.flatnonzero(pieces == k) for k in range(count))
    points = [int(members[np.argmax(visits[members])]) for members in inside if members.size]
    return points, embedding.vectors
