"""What a question about a point is worth: what it mends there, and what it tells about others."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from superpac.array_types import FloatArray, IntArray
from superpac.device.arrays import Array, filled, is_host, namespace
from superpac.strategies.superpac_d.settings import DEFAULT, Settings


def worth_of_points(
    groups: Array, among: Array, walk: Array, settings: Settings = DEFAULT
) -> Array:
    """Worth of asking about each of some points.

    The next question compares a point with its likeliest group, and mends its label if it is the
    runner-up that is right. It tells the more the more doubt there is within a few steps of a walk.

    Parameters
    ----------
    groups : array of shape (n, G)
        Posterior of every point.
    among : array of int of shape (m,)
        The points that may be asked about.
    walk : sparse array of shape (n, n)
        Normalised affinity.
    settings : Settings
        How many steps.

    Returns
    -------
    array of shape (m,)

    Examples
    --------
    >>> groups = np.array([[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.4, 0.3, 0.3]])
    >>> apart = sparse.csr_array((3, 3))
    >>> worth_of_points(groups, np.arange(3), apart).argmax()
    np.int64(1)
    """
    reach = doubt_in_reach(groups, among, walk, settings)
    return runner_up(groups[among]) * namespace(reach).sqrt(reach)


def doubt_in_reach(groups: Array, among: Array, walk: Array, settings: Settings = DEFAULT) -> Array:
    """How much doubt there is within a few steps of a walk from each of some points."""
    unsure = filled(groups.shape[0], 0.0, groups, "float64")
    unsure[among] = 1 - namespace(groups).max(groups[among], axis=1)
    reach, step = unsure, unsure
    for _ in range(settings.walk_steps):
        step = walk @ step
        reach = reach + step
    return reach[among]


def told_by(
    some: IntArray, others: IntArray, walk: sparse.csr_array, settings: Settings = DEFAULT
) -> FloatArray:
    """How much answers about some points tell about others: the share of a walk that goes there.

    Parameters
    ----------
    some, others : ndarray of int
        The points asked about, and those that this may tell of.
    walk : sparse array of shape (n, n)
        Normalised affinity.
    settings : Settings
        How many steps.

    Returns
    -------
    ndarray of shape (some, others)
        From 0 to 1; a point tells nothing about itself here.

    Examples
    --------
    >>> walk = sparse.csr_array(np.array([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]))
    >>> told_by(np.array([0]), np.arange(3), walk)
    array([[0.   , 0.625, 0.   ]])
    """
    step = walk[some]
    found = step[:, others].toarray()
    for _ in range(settings.walk_steps - 1):
        step = step @ walk
        found += step[:, others].toarray()
    found[some[:, None] == others] = 0.0
    return np.minimum(found, 1.0)


def runner_up(P: Array) -> Array:
    """Second largest entry of every row; what is missing to 1 where there is one column.

    Examples
    --------
    >>> runner_up(np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]]))
    array([0.3, 0. ])
    """
    if P.shape[1] < 2:
        return 1.0 - P[:, 0]
    if not is_host(P):  # without the largest; a search for two takes several times as long
        first = P.argmax(dim=1, keepdim=True)
        return P.scatter(1, first, float("-inf")).amax(dim=1)
    return np.partition(P, P.shape[1] - 2, axis=1)[:, -2]
