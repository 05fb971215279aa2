"""Points on a union of linear subspaces, drawn to order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from superpac.errors import InputError


def make_subspaces(
    n_per_cluster: int | Sequence[int],
    n_clusters: int,
    dim: int | Sequence[int],
    ambient: int,
    *,
    noise: float = 0.0,
    angle: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw points uniformly from the unit spheres of several linear subspaces.

    Parameters
    ----------
    n_per_cluster : int or sequence of int
        Points a subspace; one number for all or one each.
    n_clusters : int
        Number of subspaces.
    dim : int or sequence of int
        Dimension of the subspaces; one number for all or one each.
    ambient : int
        Dimension of the space around them.
    noise : float, default=0
        Expected length of the Gaussian noise vector added to each unit-length point.
    angle : float, optional
        Every principal angle between every two subspaces, in radians, in (0, pi/2]. Needs equal
        dimensions and ``ambient >= (n_clusters + 1) * dim`` (at pi/2: ``n_clusters * dim``).
        None draws the subspaces uniformly at random.
    seed : int, Generator or None
        Where the random numbers come from.

    Returns
    -------
    X : ndarray of shape (n_samples, ambient)
        Points, sorted by subspace.
    y : ndarray of shape (n_samples,)
        The subspace of each point.

    References
    ----------
    M. Soltanolkotabi and E. J. Candes, "A geometric analysis of subspace clustering with
    outliers", Annals of Statistics 40(4), 2012 (the semi-random model).

    Examples
    --------
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> X.shape, int(np.linalg.matrix_rank(X[y == 1]))
    ((60, 10), 2)
    """
    sizes = _one_each("n_per_cluster", n_per_cluster, n_clusters)
    dims = _one_each("dim", dim, n_clusters)
    if max(dims) > ambient:
        raise InputError(
            f"The subspace dimension must be at most ambient = {ambient}. Got {max(dims)} instead; "
            "lower dim or raise ambient."
        )
    if noise < 0:
        raise InputError(f"The noise must be 0 or more. Got {noise!r} instead.")
    rng = np.random.default_rng(seed)
    bases = (
        [_random_basis(rng, ambient, d) for d in dims]
        if angle is None
        else _bases_at_angle(rng, n_clusters, dims, ambient, angle)
    )
    blocks = []
    for size, basis in zip(sizes, bases, strict=True):
        coordinates = rng.standard_normal((size, basis.shape[1]))
        coordinates /= np.linalg.norm(coordinates, axis=1, keepdims=True)
        blocks.append(coordinates @ basis.T)
    X = np.concatenate(blocks)
    if noise > 0:
        X = X + rng.standard_normal(X.shape) * (noise / np.sqrt(ambient))
    return X, np.repeat(np.arange(n_clusters), sizes)


def _one_each(name: str, value: int | Sequence[int], n_clusters: int) -> list[int]:
    values = [value] * n_clusters if isinstance(value, (int, np.integer)) else list(value)
    if n_clusters < 1 or len(values) != n_clusters or min(values) < 1:
        raise InputError(
            f"The {name!r} argument must be a positive integer or one for each of the "
            f"{n_clusters} clusters. Got {value!r} instead."
        )
    return [int(v) for v in values]


def _random_basis(rng: np.random.Generator, ambient: int, dim: int) -> NDArray[np.float64]:
    return np.linalg.qr(rng.standard_normal((ambient, dim)))[0]


def _bases_at_angle(
    rng: np.random.Generator, n_clusters: int, dims: list[int], ambient: int, angle: float
) -> list[NDArray[np.float64]]:
    """Bases cos(phi) C + sin(phi) W_k with all of C, W_1.. orthonormal: U_i' U_j = cos(phi)^2 I."""
    dim = dims[0]
    if not 0 < angle <= np.pi / 2 + 1e-12:
        raise InputError(f"The angle must lie in (0, pi/2] radians. Got {angle!r} instead.")
    orthogonal = angle >= np.pi / 2 - 1e-12
    needed = (n_clusters + (0 if orthogonal else 1)) * dim
    if len(set(dims)) > 1 or ambient < needed:
        raise InputError(
            f"Subspaces at a given angle need one common dim and ambient of at least {needed}. "
            f"Got dim {sorted(set(dims))} and ambient {ambient} instead."
        )
    frame = _random_basis(rng, ambient, needed)
    own = [frame[:, k * dim : (k + 1) * dim] for k in range(n_clusters)]
    if orthogonal:
        return own
    phi = np.arccos(np.sqrt(np.cos(angle)))
    return [np.cos(phi) * frame[:, -dim:] + np.sin(phi) * W for W in own]
