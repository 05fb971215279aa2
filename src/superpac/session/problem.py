"""From data and a spec to the problem that a strategy works on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from superpac.affinity.base import SINGLE_FROM, unit_rows
from superpac.affinity.registry import (
    PRESETS,
    affinity_names,
    make_affinity,
    of_distances,
)
from superpac.array_types import FloatArray
from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.device.choice import HOST, Device, choose_device
from superpac.errors import DisconnectedGraphWarning
from superpac.graph.cluster_count import counting_work, guess_count
from superpac.graph.diffusion import Diffusion
from superpac.graph.spectral import (
    RUNS,
    check_affinity,
    spectral_clustering,
    spectral_work,
)
from superpac.session.session import check_sizes
from superpac.session.spec import AUTO, Spec
from superpac.strategies import AS_THEY_ARE, USE_DEVICES
from superpac.strategies.base import Problem
from superpac.subspaces.geometry import choose_dim, dim_work
from superpac.system.progress import Progress, no_progress, parts_of, stage_of
from superpac.system.row_blocks import HERE, RowBlocks

LANDMARKS, COLUMNS = 1000, 14  # what a strategy keeps on a graphics processor, about

# methods whose graph may depend on the number of clusters
NEED_COUNT = ("tsc", "gsc", "ekss", "ksubspaces")


def build_affinity(
    data: Dataset,
    affinity: str,
    clusters: int,
    seed: int,
    *,
    progress: Progress | None = None,
    cache: DiskCache | None = None,
    where: RowBlocks = HERE,
    device: str = "auto",
) -> sparse.csr_array:
    """Build an affinity by its name, or read it where it is kept.

    Parameters
    ----------
    data : Dataset
        The points.
    affinity : str
        Method with parameters, such as ``tsc:q=5``, or a file with a matrix.
    clusters : int
        Number of clusters, for methods that need it.
    seed : int
        For methods that draw.
    progress : callable, optional
        Called as ``progress(done, total)``; its stage is ``affinity``.
    cache : DiskCache, optional
        Where it is kept between runs; a matrix from a file is not.
    where : RowBlocks, default=HERE
        Where blocks of rows are worked on, such as a cluster.
    device : {"auto", "cpu", "cuda"}, default="auto"
        What computes it, for methods that can use more than the processor and do not name it.

    Returns
    -------
    scipy.sparse.csr_array
    """

    def make() -> sparse.csr_array:
        maker = make_affinity(affinity, min(clusters, len(data)), random_state=seed)
        if getattr(maker, "device", None) == "auto":
            maker.device = device
        # from the points as they are: a method for subspaces scales them itself, a graph of
        # distances must not
        told = stage_of(progress or no_progress, "affinity")
        return maker.affinity(data.X, progress=told, where=where)

    if cache is None or not made_by_method(affinity):
        return make()
    return cache.sparse(f"{_about(data, affinity, clusters, seed)}: affinity", make)


def made_by_method(affinity: str) -> bool:
    """Whether an affinity is a method's: a matrix in a file may be another one tomorrow.

    Examples
    --------
    >>> made_by_method("tsc:q=5"), made_by_method("matrix.npz")
    (True, False)
    """
    return affinity.partition(":")[0] in (*affinity_names(), *PRESETS)


def _about(data: Dataset, affinity: str, clusters: int, seed: int) -> str:
    """Everything that an affinity depends on."""
    used = clusters if affinity.partition(":")[0] in NEED_COUNT else 0
    return f"{data.fingerprint} {affinity} {used} {seed}"


def estimate_count(
    affinity: sparse.csr_array,
    seed: int,
    device: Device = HOST,
    progress: Progress = no_progress,
) -> int:
    """Estimate the number of clusters from an affinity alone, before anything was asked.

    Parameters
    ----------
    affinity : sparse array
        As :func:`build_affinity` gives it.
    seed : int
        Of the spectral clusterings.
    device : Device, default=HOST
        Where it is computed.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Returns
    -------
    int
    """
    return guess_count(Diffusion(affinity).graph, seed=seed, device=device, progress=progress)


def build_problem(
    data: Dataset,
    spec: Spec,
    *,
    affinity: sparse.csr_array | None = None,
    progress: Progress | None = None,
    cache: DiskCache | None = None,
    device: str = "auto",
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
        Called as ``progress(done, total)``, from 0 again for each stage: ``affinity``; ``count``,
        the number of clusters and the dimension where they are found out; and what the strategy
        then does (:class:`~superpac.strategies.base.Problem`).
    cache : DiskCache, optional
        Where the affinity, and what a strategy makes of it, is kept between runs. A ready affinity
        is not kept.
    device : {"auto", "cpu", "cuda"}, default="auto"
        What computes, for methods and strategies that can use more than the processor.

    Returns
    -------
    Problem
    """
    chosen = choose_device(device, len(data))
    spec = spec.settled(data)
    auto = spec.n_clusters == AUTO
    clusters = spec.clusters
    if chosen is not HOST and spec.strategy in USE_DEVICES:
        # points and landmarks in single precision, and a score of columns per set of each view
        each = 4 * (data.X.shape[1] + LANDMARKS) + 8 * COLUMNS * 2 * clusters
        chosen.check_room(float(each * len(data)), f"A session of {len(data):,} items")
    check_sizes(data, spec, affinity)
    scaled = spec.normalize
    if scaled is None:
        scaled = spec.strategy not in AS_THEY_ARE and not of_distances(spec.affinity)
    if affinity is not None or not made_by_method(spec.affinity):
        cache = None
    about = _about(data, spec.affinity, clusters, spec.seed)
    if affinity is None:
        affinity = build_affinity(
            data,
            spec.affinity,
            clusters,
            spec.seed,
            progress=progress,
            cache=cache,
            device=device,
        )
    affinity = check_affinity(affinity)
    check_sizes(data, spec, affinity)  # a matrix from a file
    if scaled:
        # much data in single precision: half the memory, and lengths stay right to seven digits
        X = unit_rows(data.X, np.float32 if data.X.size > SINGLE_FROM else np.float64)
    else:
        X = _in_range(data.points())

    told = progress or no_progress

    def settle() -> dict[str, Any]:
        count, dim = clusters, spec.dim or data.default_dim
        finding = stage_of(told, "count") if auto or dim is None else no_progress
        first_work = sum(spectral_work(affinity, count, RUNS)), dim_work(X, count)
        work = [auto * counting_work(affinity), *((dim is None) * part for part in first_work)]
        counting, clustering, choosing = parts_of(finding, work)
        if auto:
            count = estimate_count(affinity, spec.seed, chosen, counting)
        if dim is None:
            with warnings.catch_warnings():  # rough clusters are enough to choose a dimension by
                warnings.simplefilter("ignore", DisconnectedGraphWarning)
                first = spectral_clustering(
                    affinity, count, random_state=spec.seed, device=chosen, progress=clustering
                )
            most = min(20, X.shape[1])
            dim = choose_dim(X, first, count, max_dim=most, seed=spec.seed, progress=choosing)
        return {"count": count, "dim": list(dim) if isinstance(dim, tuple) else int(dim)}

    asked = f"{spec.n_clusters} {spec.dim} {scaled}"
    found = settle() if cache is None else cache.get_or_make(f"{about} {asked}: count, dim", settle)
    count, dim = found["count"], found["dim"]
    memory = None if cache is None else cache.part(f"{about} {asked} {count} {dim}")
    return Problem(
        X,
        affinity,
        count,
        tuple(dim) if isinstance(dim, list) else dim,
        spec.seed,
        auto,
        memory,
        chosen if spec.strategy in USE_DEVICES else HOST,
        told,
    )


def _in_range(points: FloatArray) -> FloatArray:
    """Give points as they are, or shrunk or grown together where squares would leave the range."""
    largest = float(np.abs(points).max(initial=0.0))
    return points if largest == 0 or 1e-100 < largest < 1e100 else points / largest
