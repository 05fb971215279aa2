"""Theorem 1 and the Corollary of the paper, checked by simulation and drawn.

Source: J. Lipor and L. Balzano, "Leveraging union of subspace structure to improve constrained
clustering", ICML 2017. What reading the proofs closely showed:

- The constant c of both statements is absolute but not given. Gaussian concentration in its usual
  form, ``P(| |g| - E|g| | >= t) <= 2 exp(-t^2 / 2)``, suggests 1/2, which is the default here; the
  largest c that a simulation does not refute is reported beside it.
- The appendix writes mu without its "1 -", so its inequalities and its closing
  ``mu(y_1) > mu(y_2)`` are those for 1 - mu; the statement's ``mu(y_1) < mu(y_2)`` is right.
- ``1/50 < epsilon`` and ``7/100 < xi`` hold: see :func:`corollary_constants`.
- ``sin^2 phi_1 <= dist(x, S_2)^2 <= sin^2 phi_d`` needs x of unit length.
- The Corollary's bound says something only in high dimension: with c = 1/2 its two terms fall
  below one half at d s > 282 and D - d > 10,397, far beyond the paper's d of 3 to 15. There the
  condition can be met and the ordering be little better than a coin's (53% at d = 3 and
  delta = 0.6); near the intersection (delta below 0.1) it is seen at ordinary sizes too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import beta

from superpac.array_types import FloatArray
from superpac.errors import InputError
from superpac.plots import save_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # told apart without red and green

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


class Constants(NamedTuple):
    """The two constants in the proof of the Corollary, as returned by `corollary_constants`."""

    epsilon: float
    xi: float


@dataclass(frozen=True)
class TheoremCheck:
    """What :func:`check_theorem` found.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per setting and epsilon: ``ambient, dim, sigma, angles, distance, epsilon``, the
        share ``inside`` the bounds with its confidence interval ``low, high``, the promised
        ``bound``, and ``holds`` (the interval does not lie below the bound).
    holds : bool
        Whether every row holds.
    largest_c : float
        Largest c for which no observed share is below the bound.
    c_low, c_high : float
        The same from the two ends of the confidence interval at the deciding row.
    """

    table: pd.DataFrame
    holds: bool
    largest_c: float
    c_low: float
    c_high: float


@dataclass(frozen=True)
class CorollaryCheck:
    """What :func:`check_corollary` found.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per setting and delta: ``ambient, dim, sigma, angles, s, delta``, whether the
        ``condition`` of the Corollary is met, the share ``ordered`` of draws with
        mu(y_1) < mu(y_2) with its confidence interval ``low, high``, the promised ``bound``
        (negative where it says nothing), and ``holds``.
    holds : bool
        Whether every row that meets the condition holds.
    least_ordered : float
        Smallest share over the rows that meet the condition; nan if none does.
    largest_c : float
        Largest c for which no observed share is below the bound; inf if nothing limits it.
    """

    table: pd.DataFrame
    holds: bool
    least_ordered: float
    largest_c: float


def corollary_constants() -> Constants:
    """Give the epsilon and xi of the Corollary's proof.

    They solve ``((1 - epsilon) / (1 + epsilon))^4 = 5/6`` and ``(1 - xi)^2 = 6/7``. The paper
    bounds them below by 1/50 and 7/100, rightly.

    Examples
    --------
    >>> found = corollary_constants()
    >>> round(found.epsilon, 5), round(found.xi, 5)
    (0.02279, 0.07418)
    >>> found.epsilon > 1 / 50 and found.xi > 7 / 100
    True
    """
    ratio = (5 / 6) ** 0.25
    return Constants((1 - ratio) / (1 + ratio), 1 - (6 / 7) ** 0.5)


def check_theorem(
    *,
    ambient: Sequence[int] = (30, 100, 1000),
    dim: Sequence[int] = (1, 3, 9),
    sigma: Sequence[float] = (0.02, 0.1, 0.5),
    angles: AngleKinds = ANGLES,
    epsilon: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4),
    n_points: int = 3,
    n_samples: int = 10_000,
    c: float = 0.5,
    confidence: float = 0.999,
    seed: int = 0,
) -> TheoremCheck:
    """Count how often the margin of a noisy point lies within Theorem 1's bounds.

    Parameters
    ----------
    ambient, dim, sigma, epsilon : sequence
        Values of D, d, the noise and epsilon; all combinations with D >= 2 d are tried.
    angles : mapping of str to callable
        Principal angles for a given d.
    n_points : int, default=3
        Points x of unit length in S_1: the nearest to S_2 and random ones.
    n_samples : int, default=10_000
        Draws of noise for each point.
    c : float, default=0.5
        The theorem's constant.
    confidence : float, default=0.999
        Of the (Clopper-Pearson) intervals.
    seed : int, default=0
        Of the simulation.

    Returns
    -------
    TheoremCheck

    Examples
    --------
    >>> check = check_theorem(ambient=[100], dim=[3], n_samples=2000)
    >>> check.holds
    True
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = []
    for D, d, noise, (name, kind) in product(ambient, dim, sigma, angles.items()):
        if 2 * d > D:
            continue
        phi = kind(d)
        points = rng.standard_normal((n_points, d))
        points[0] = np.eye(d)[0]
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        distances = np.linalg.norm(points * np.sin(phi), axis=1)
        for x, distance in zip(points, distances, strict=True):
            x_again = np.broadcast_to(x, (n_samples, d))
            mu = simulate_margins(x_again, phi, sigma=noise, ambient=D, rng=rng)
            for e in epsilon:
                low, high = theorem_bounds(distance, sigma=noise, ambient=D, dim=d, epsilon=e)
                inside = int(np.sum((low <= mu) & (mu <= high)))
                rows.append((D, d, noise, name, distance, e, inside))
    columns = ["ambient", "dim", "sigma", "angles", "distance", "epsilon", "inside"]
    table = pd.DataFrame(rows, columns=columns)
    count = table["inside"].to_numpy()
    table["inside"] = count / n_samples
    table["low"], table["high"] = _interval(count, n_samples, confidence)
    exponent = (table["epsilon"] ** 2 * (table["ambient"] - table["dim"])).to_numpy()
    table["bound"] = 1 - 4 * np.exp(-c * exponent)
    table["holds"] = table["high"] >= table["bound"]
    limits = [_limit(1 - table[k].to_numpy(), exponent) for k in ("inside", "low", "high")]
    deciding = int(np.argmin(limits[0]))
    largest, c_low, c_high = (float(limit[deciding]) for limit in limits)
    return TheoremCheck(table, bool(table["holds"].all()), largest, c_low, c_high)


def check_corollary(
    *,
    ambient: Sequence[int] = (30, 100, 1000),
    dim: Sequence[int] = (3, 9),
    sigma: Sequence[float] = (0.01, 0.03, 0.1),
    angles: AngleKinds = ANGLES,
    delta: Sequence[float] = (0.0, 0.1, 0.2, 0.4, 0.6),
    n_samples: int = 10_000,
    c: float = 0.5,
    confidence: float = 0.999,
    seed: int = 0,
) -> CorollaryCheck:
    """Count how often a point near the intersection has the smaller margin.

    x_1 is the unit vector between the first and last principal vector of S_1 that lies at
    ``dist^2 = sin^2 phi_1 + delta s`` from S_2; x_2 is random in S_1. A tau as the Corollary asks
    for exists exactly when ``sin^2 phi_1 + sigma^2 (D - d) / 6 < (5/7 - delta) s``.

    Parameters
    ----------
    ambient, dim, sigma, delta : sequence
        Values of D, d, the noise and delta; combinations with D < 2 d, or with a delta that no
        unit vector reaches, are left out.
    angles : mapping of str to callable
        Principal angles for a given d, ascending.
    n_samples : int, default=10_000
        Draws per setting.
    c : float, default=0.5
        The Corollary's constant.
    confidence : float, default=0.999
        Of the (Clopper-Pearson) intervals.
    seed : int, default=0
        Of the simulation.

    Returns
    -------
    CorollaryCheck

    Examples
    --------
    >>> check = check_corollary(ambient=[200], dim=[50], sigma=[0.01], delta=[0, 0.3])
    >>> check.holds, check.least_ordered > 0.99
    (True, True)
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = []
    for D, d, noise, (name, kind) in product(ambient, dim, sigma, angles.items()):
        phi = kind(d)
        squares = np.sin(phi) ** 2
        s, reach = squares.mean(), squares[-1] - squares[0]
        for value in delta:
            if 2 * d > D or value * s > reach:
                continue
            share = value * s / reach if reach > 0 else 0.0
            x1 = np.zeros((n_samples, d))
            x1[:, -1], x1[:, 0] = np.sqrt(share), np.sqrt(1 - share)
            x2 = rng.standard_normal((n_samples, d)) / np.sqrt(d)
            first = simulate_margins(x1, phi, sigma=noise, ambient=D, rng=rng)
            second = simulate_margins(x2, phi, sigma=noise, ambient=D, rng=rng)
            condition = squares[0] + noise**2 * (D - d) / 6 < (5 / 7 - value) * s
            ordered = int(np.sum(first < second))
            rows.append((D, d, noise, name, s, value, condition, ordered))
    columns = ["ambient", "dim", "sigma", "angles", "s", "delta", "condition", "ordered"]
    table = pd.DataFrame(rows, columns=columns)
    count = table["ordered"].to_numpy()
    table["ordered"] = count / n_samples
    table["low"], table["high"] = _interval(count, n_samples, confidence)
    near = 0.07**2 * (table["dim"] * table["s"]).to_numpy()
    far = 0.02**2 * (table["ambient"] - table["dim"]).to_numpy()
    table["bound"] = 1 - np.exp(-c * near) - 4 * np.exp(-c * far)
    table["holds"] = ~table["condition"] | (table["high"] >= table["bound"])
    met = table["condition"].to_numpy()
    limits = [
        _corollary_limit(1 - share, a, b)
        for share, a, b in zip(table["ordered"][met], near[met], far[met], strict=True)
    ]
    return CorollaryCheck(
        table,
        bool(table["holds"].all()),
        float(table["ordered"][met].min()) if met.any() else float("nan"),
        min(limits, default=np.inf),
    )


def draw(path: str | PathLike[str], *, n_samples: int = 3000, seed: int = 0) -> None:
    """Draw both statements beside their simulation.

    Left, margins of noisy points against their distance to the other subspace, with Theorem 1's
    bounds. Right, how often the point near the intersection has the smaller margin.

    Parameters
    ----------
    path : path-like
        Where to write the picture; the ending names the format (png, svg, pdf).
    n_samples : int, default=3000
        Draws per setting.
    seed : int, default=0
        Of the simulation.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     draw(Path(folder) / "theory.png", n_samples=100)
    ...     (Path(folder) / "theory.png").stat().st_size > 10_000
    True
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_theorem(left, n_samples, seed)
    _draw_corollary(right, n_samples, seed)
    save_figure(figure, Path(path), private=False, dpi=150)


def _draw_theorem(axes: Axes, n_samples: int, seed: int) -> None:
    D, d, sigma, c = 200, 5, 0.05, 0.5
    rng = np.random.default_rng(seed)
    distance = rng.random(n_samples)
    points = np.zeros((n_samples, d))
    points[:, 0], points[:, -1] = np.sqrt(1 - distance**2), distance
    phi = ANGLES["one shared direction"](d)
    mu = simulate_margins(points, phi, sigma=sigma, ambient=D, rng=rng)
    axes.plot(distance, mu, ".", color="0.6", ms=3, alpha=0.6, label="noisy points")
    grid = np.linspace(0, 1, 200)
    for epsilon, colour in zip((0.05, 0.1, 0.2), _COLOURS, strict=False):
        bounds = partial(theorem_bounds, sigma=sigma, ambient=D, dim=d, epsilon=epsilon)
        low, high = bounds(distance)
        inside = np.mean((low <= mu) & (mu <= high))
        promised = 1 - 4 * np.exp(-c * epsilon**2 * (D - d))
        said = f"{promised:.0%} promised" if promised > 0 else "nothing promised"
        label = f"ε = {epsilon:g}: {inside:.1%} inside, {said}"
        for k, bound in enumerate(bounds(grid)):
            axes.plot(grid, bound, color=colour, lw=1.8, label=label if k == 0 else None)
    axes.set(xlabel="distance of the noiseless point to the other subspace", ylabel="margin μ(y)")
    axes.set_title(f"Theorem 1 (D = {D}, d = {d}, σ = {sigma:g}, c = 1/2)")
    axes.legend(loc="lower right", fontsize=9)


def _draw_corollary(axes: Axes, n_samples: int, seed: int) -> None:
    settings = [(400, 3, 0.02), (400, 9, 0.02), (400, 50, 0.02), (60_000, 1500, 0.003)]
    kind = {"one shared direction": ANGLES["one shared direction"]}
    for (D, d, sigma), colour in zip(settings, _COLOURS, strict=False):
        found = check_corollary(
            ambient=[D],
            dim=[d],
            sigma=[sigma],
            angles=kind,
            delta=np.linspace(0, 1, 21).tolist(),
            n_samples=n_samples if d < 1000 else max(n_samples // 10, 20),
            confidence=0.95,
            seed=seed,
        ).table
        axes.fill_between(
            found["delta"], found["low"], found["high"], color=colour, alpha=0.2, lw=0
        )
        axes.plot(found["delta"], found["ordered"], color=colour, lw=1, alpha=0.7)
        met = found[found["condition"]]
        axes.plot(
            met["delta"], met["ordered"], "o", color=colour, ms=5, label=f"d = {d}, D = {D:,}"
        )
        if (met["bound"] > 0).any():
            axes.plot(
                met["delta"], met["bound"], "--", color=colour, label="promised there (c = 1/2)"
            )
    axes.axhline(0.5, color="0.5", lw=0.8, ls=":")
    axes.set(xlabel="δ: how far the first point is from the intersection", ylim=(0.3, 1.02))
    axes.set_ylabel("share of draws with μ(y₁) < μ(y₂)")
    axes.set_title("Corollary (dots where its condition is met)")
    axes.legend(loc="lower left", fontsize=9, title="at small d nothing is promised")


def _interval(count: NDArray, total: int, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Clopper-Pearson interval of a share."""
    tail = (1 - confidence) / 2
    low = np.where(count > 0, beta.ppf(tail, np.maximum(count, 1), total - count + 1), 0.0)
    left = np.maximum(total - count, 1)
    high = np.where(count < total, beta.ppf(1 - tail, count + 1, left), 1.0)
    return low, high


def _limit(failing: FloatArray, exponent: FloatArray) -> FloatArray:
    """Largest c with ``failing <= 4 exp(-c exponent)``."""
    with np.errstate(divide="ignore"):
        return np.log(4 / failing) / exponent


def _corollary_limit(failing: float, near: float, far: float) -> float:
    """Largest c with ``failing <= exp(-c near) + 4 exp(-c far)``."""
    if failing <= 0:
        return np.inf
    top = max(np.log(2 / failing) / near, np.log(8 / failing) / far) + 1.0
    return float(brentq(lambda c: np.exp(-c * near) + 4 * np.exp(-c * far) - failing, 0.0, top))
