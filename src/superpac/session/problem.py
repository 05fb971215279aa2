"""From data and a spec to the problem that a strategy works on."""

from __future__ import annotations

from scipy import sparse

from superpac.affinity.base import Progress, no_progress, unit_rows
from superpac.affinity.registry import make_affinity, of_distances
from superpac.data import Dataset
from superpac.errors import InputError
from superpac.graph.diffusion import Diffusion
from superpac.graph.piece_count import guess_pieces
from superpac.graph.spectral import check_affinity, spectral_clustering
from superpac.session.spec import AUTO, Spec
from superpac.strategies.base import Problem
from superpac.strategies.superpac_d.starting_points import PIECES
from superpac.subspaces.geometry import choose_dim


def build_problem(
    data: Dataset,
    spec: Spec,
    *,
    affinity: sparse.csr_array | None = None,
    progress: Progress | None = None,
) -> Problem:
    """Scale the points, build the affinity and settle the dimension.

    Parameters
    ----------
    data : Dataset
        The points.
    spec : Spec
        What to do with them.
    affinity : sparse array, optional
        A ready affinity, instead of the one that the spec names.
    progress : callable, optional
        Called as ``progress(done, total)`` while the affinity is built.

    Returns
    -------
    Problem
    """
    points = data.points()
    auto = spec.n_clusters == AUTO
    clusters = spec.clusters
    if clusters > len(data) and not auto:
        raise InputError(
            f"{clusters} clusters were asked for, but there are {len(data)} items; ask for fewer."
        )
    scaled = not of_distances(spec.affinity) if spec.normalize is None else spec.normalize
    X = unit_rows(points) if scaled else points
    if affinity is None:
        maker = make_affinity(spec.affinity, min(clusters, len(data)), random_state=spec.seed)
        # from the points as they are: a method for subspaces scales them itself, a graph of
        # distances must not
        affinity = maker.affinity(points, progress=progress or no_progress)
    affinity = check_affinity(affinity)
    if affinity.shape[0] != len(data):
        raise InputError(
            f"The affinity is for {affinity.shape[0]} points, but the data has {len(data)}."
        )
    if auto:
        clusters = max(1, round(guess_pieces(Diffusion(affinity).graph, seed=spec.seed) / PIECES))
    dim = spec.dim or data.default_dim
    if dim is None:
        first = spectral_clustering(affinity, clusters, random_state=spec.seed)
        dim = choose_dim(X, first, clusters, max_dim=min(20, X.shape[1]), seed=spec.seed)
    return Problem(X, affinity, clusters, dim, spec.seed, auto)
