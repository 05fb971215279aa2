"""Margins of noisy points of one subspace towards another: the model of the paper's theory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from superpac.array_types import FloatArray
from superpac.errors import InputError

AngleKinds = Mapping[str, Callable[[int], FloatArray]]

ANGLES: AngleKinds = {
    "one shared direction": lambda d: np.r_[0.0, np.full(d - 1, np.pi / 2)],
    "spread": lambda d: np.linspace(0.1, np.pi / 2, d),
    "close": lambda d: np.full(d, 0.3),
}
"""Principal angles of two d-dimensional subspaces, by name."""


def theorem_bounds(
    distance: ArrayLike, *, sigma: float, ambient: int, dim: int, epsilon: float
) -> tuple[FloatArray, FloatArray]:
    """Theorem 1's lower and upper bound on the margin of a noisy point.

    Parameters
    ----------
    distance : array-like
        Distance of the noiseless point of S_1 to S_2.
    sigma : float
        Standard deviation of the noise in each of the coordinates.
    ambient, dim : int
        Dimensions D and d of the space and of both subspaces.
    epsilon : float
        In (0, 1).

    Returns
    -------
    lower, upper : ndarray

    Examples
    --------
    >>> low, high = theorem_bounds(1.0, sigma=0.1, ambient=101, dim=1, epsilon=0.1)
    >>> print(f"{low:.3f} {high:.3f}")
    0.136 0.421
    """
    if not 0 < epsilon < 1:
        raise InputError(f"'epsilon' must be between 0 and 1. Got {epsilon!r} instead.")
    noise = sigma**2 * (ambient - dim)
    ratio = np.sqrt(noise / (noise + np.asarray(distance, dtype=np.float64) ** 2))
    stretch = (1 + epsilon) / (1 - epsilon)
    return 1 - stretch * ratio, 1 - ratio / stretch


def simulate_margins(
    points: ArrayLike,
    angles: ArrayLike,
    *,
    sigma: float,
    ambient: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw noise for points of S_1 and give the margins mu(y) between S_1 and S_2.

    Only the planes of the principal vectors are drawn: what is orthogonal to both subspaces adds
    the same chi-squared term to both squared distances. The distribution is exact.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Coordinates of the noiseless points along the principal vectors of S_1.
    angles : array-like of shape (d,)
        Principal angles in radians.
    sigma : float
        Standard deviation of the noise in each coordinate.
    ambient : int
        Dimension D of the space, at least 2 d.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray of shape (n,)
        ``1 - dist(y, S_1) / dist(y, S_2)``; negative where noise carried y nearer to S_2.

    Examples
    --------
    >>> mu = simulate_margins([[0.0], [1.0]], [np.pi / 2], sigma=1e-9, ambient=50,
    ...                       rng=np.random.default_rng(0))
    >>> bool(abs(mu[0]) < 0.5), bool(mu[1] > 0.99)
    (True, True)
    """
    x, phi = np.atleast_2d(np.asarray(points, dtype=np.float64)), np.asarray(angles)
    n, d = x.shape
    if phi.shape != (d,):
        raise InputError(f"Points with {d} coordinates need {d} angles. Got {phi.size}.")
    if ambient < 2 * d:
        raise InputError(f"The space must have at least 2 d = {2 * d} dimensions. Got {ambient}.")
    if not sigma > 0:
        raise InputError(f"'sigma' must be positive. Got {sigma!r} instead.")
    across = sigma * rng.standard_normal((n, d))
    moved = np.cos(phi) * across - np.sin(phi) * (x + sigma * rng.standard_normal((n, d)))
    rest = sigma**2 * rng.chisquare(ambient - 2 * d, n) if ambient > 2 * d else np.zeros(n)
    own = np.einsum("ij,ij->i", across, across) + rest
    other = np.einsum("ij,ij->i", moved, moved) + rest
    return 1 - np.sqrt(own / other)
