"""From data and a spec to the problem that a strategy works on."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from superpac.affinity.base import Progress, no_progress, unit_rows
from superpac.affinity.registry import affinity_names, make_affinity, of_distances
from superpac.array_types import FloatArray
from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.errors import InputError
from superpac.graph.diffusion import Diffusion
from superpac.graph.piece_count import guess_pieces
from superpac.graph.spectral import check_affinity, spectral_clustering
from superpac.session.spec import AUTO, Spec
from superpac.strategies.base import Problem
from superpac.strategies.superpac_d.settings import DEFAULT
from superpac.subspaces.geometry import choose_dim

# methods whose graph may depend on the number of clusters
NEED_COUNT = ("tsc", "gsc", "ekss", "ksubspaces")


def build_problem(
    data: Dataset,
    spec: Spec,
    *,
    affinity: sparse.csr_array | None = None,
    progress: Progress | None = None,
    cache: DiskCache | None = None,
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
    cache : DiskCache, optional
        Where the affinity, and what a strategy makes of it, is kept between runs. A ready affinity
        is not kept.

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
    X = unit_rows(points) if scaled else _in_range(points)
    method = spec.affinity.partition(":")[0]
    if affinity is not None or method not in affinity_names():
        cache = None  # a matrix from elsewhere may be another one tomorrow

    def make() -> sparse.csr_array:
        maker = make_affinity(spec.affinity, min(clusters, len(data)), random_state=spec.seed)
        # from the points as they are: a method for subspaces scales them itself, a graph of
        # distances must not
        return maker.affinity(points, progress=progress or no_progress)

    used = clusters if method in NEED_COUNT else 0
    about = f"{data.fingerprint} {spec.affinity} {used} {spec.seed}"
    if affinity is None:
        affinity = make() if cache is None else cache.sparse(f"{about}: affinity", make)
    affinity = check_affinity(affinity)
    if affinity.shape[0] != len(data):
        raise InputError(
            f"The affinity is for {affinity.shape[0]} points, but the data has {len(data)}."
        )

    def settle() -> dict[str, Any]:
        count, dim = clusters, spec.dim or data.default_dim
        if auto:
            pieces = guess_pieces(Diffusion(affinity).graph, seed=spec.seed)
            count = max(1, round(pieces / DEFAULT.pieces))
        if dim is None:
            first = spectral_clustering(affinity, count, random_state=spec.seed)
            dim = choose_dim(X, first, count, max_dim=min(20, X.shape[1]), seed=spec.seed)
        return {"count": count, "dim": list(dim) if isinstance(dim, tuple) else int(dim)}

    asked = f"{spec.n_clusters} {spec.dim} {scaled}"
    found = settle() if cache is None else cache.get_or_make(f"{about} {asked}: count, dim", settle)
    count, dim = found["count"], found["dim"]
    memory = None if cache is None else cache.part(f"{about} {asked} {count} {dim}")
    return Problem(
        X, affinity, count, tuple(dim) if isinstance(dim, list) else dim, spec.seed, auto, memory
    )


def _in_range(points: FloatArray) -> FloatArray:
    """Give points as they are, or shrunk or grown together where squares would leave the range."""
    largest = float(np.abs(points).max(initial=0.0))
    return points if largest == 0 or 1e-100 < largest < 1e100 else points / largest
