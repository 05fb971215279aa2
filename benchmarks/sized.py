"""Data of any size: MNIST cut short or grown by small affine changes, and made unions of subspaces.

No result depends on the truth of these labels but errors and adjusted Rand indices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import affine_transform

from common import Draw
from superpac import Dataset, load
from superpac.data.synthetic import make_subspaces

CLUSTERS = 10


@dataclass(frozen=True)
class Sized(Draw):
    """So many `points` of "mnist", or of "subspaces": 10 of dimension 6 in 100, with noise."""

    points: int = 1000

    def whole(self) -> Dataset:
        """All points of this size; the same ones whatever the seed of the draw."""
        make = {"mnist": _mnist, "subspaces": _subspaces}[self.data]
        X, y = make(self.points)
        return Dataset(X, y=y, name=f"{self.data}, {self.points} points")


def _mnist(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Digits in a drawn order; beyond 70,000 each again, turned, scaled and moved a little."""
    items = load("mnist70k")
    rng = np.random.default_rng([count, 3])
    order = rng.permutation(len(items))
    rows = np.resize(order, count)
    X, y = items.X[rows], items.y[rows]
    for i in range(len(items), count):
        X[i] = _changed(X[i].reshape(28, 28), rng).ravel()
    return X, y


def _changed(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An image turned by up to 8 degrees, scaled by up to 8% and moved by up to one pixel."""
    angle, scale = np.deg2rad(rng.uniform(-8, 8)), rng.uniform(0.92, 1.08)
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = (np.array(image.shape) - 1) / 2
    offset = middle - turn @ middle + rng.uniform(-1, 1, 2)
    return affine_transform(image, turn, offset, order=1)


def _subspaces(count: int) -> tuple[np.ndarray, np.ndarray]:
    sizes = [len(part) for part in np.array_split(np.arange(count), CLUSTERS)]
    X, y = make_subspaces(sizes, CLUSTERS, 6, 100, noise=0.3, seed=count)
    return X.astype(np.float32), y
