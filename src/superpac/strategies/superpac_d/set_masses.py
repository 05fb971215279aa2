"""How many points each set is taken to hold when sets share out the points between them.

Claims by diffusion are compared after every set was given its mass. One mass for all lets a cluster
of few points take those of its neighbours, and a cluster with two sets take twice its share; the
mass that claims alone would give runs away to the largest. In between, a set has the square root of
what it would hold.
"""

from __future__ import annotations

import numpy as np

from superpac.array_types import BoolArray, FloatArray, IntArray

LIGHT = 0.05
POWER = 0.5  # 0 is one mass for all, 1 what the sets would hold
ROUNDS = 2


def first_masses(size: IntArray, seeded: BoolArray, n_clusters: int) -> FloatArray:
    """One mass for all, but less for a late and lonely set beyond the clusters.

    Parameters
    ----------
    size : ndarray of int of shape (S,)
        Members of each set.
    seeded : ndarray of bool of shape (S,)
        Sets that hold a starting point: each stands for a piece of the graph, whatever its size.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (S,)

    Examples
    --------
    >>> import numpy as np
    >>> first_masses(np.array([4, 4, 1, 1]), np.array([True, True, True, False]), 2)
    array([1.  , 1.  , 1.  , 0.25])
    """
    mass = np.ones(size.size)
    if size.size > n_clusters:
        rank = np.argsort(np.argsort(-size, kind="stable"), kind="stable")
        late = (rank >= n_clusters) & ~seeded
        mass[late] = np.clip(size[late] / np.median(size[rank < n_clusters]), LIGHT, 1.0)
    return mass


def shared_masses(
    claims: FloatArray, free: BoolArray, size: IntArray, first: FloatArray
) -> FloatArray:
    """Masses by the points that the sets would hold.

    Parameters
    ----------
    claims : ndarray of shape (n, S)
        Claims of the sets, every column of one mass.
    free : ndarray of bool of shape (n,)
        Points in no set.
    size : ndarray of int of shape (S,)
        Members of each set.
    first : ndarray of shape (S,)
        Masses to start from.

    Returns
    -------
    ndarray of shape (S,)

    Examples
    --------
    >>> import numpy as np
    >>> claims = np.array([[0.8, 0.2]] * 9 + [[0.2, 0.8]])
    >>> mass = shared_masses(claims, np.ones(10, bool), np.ones(2, int), np.ones(2))
    >>> bool(mass[0] > mass[1])
    True
    """
    among = np.maximum(claims[free], 0.0)
    mass = first
    for _ in range(ROUNDS):
        total = among @ mass
        part = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        held = mass * (part @ among) + size + 1.0
        mass = first * (held / held.mean()) ** POWER
    return mass
