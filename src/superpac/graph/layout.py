"""A map of all items: groups as discs that do not overlap, alike ones side by side.

Two eigenvectors show two groups. On a graph in pieces nearly all points lie on a line then. Here
every group gets a disc of its size. Discs are placed by how much affinity joins them (classical
scaling [1]_) and pushed apart until none overlaps. Within its disc, a point lies the further out
the more of its affinity goes to other groups, on the side of the one that it is nearest to.

References
----------
.. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superpac.array_types import FloatArray, IntArray

GOLDEN = np.pi * (3.0 - np.sqrt(5.0))
ROUNDS = 300  # of pushing discs apart
AIR = 1.15  # distance of two discs that touch, in sums of their radii


def lay_out(affinity: sparse.csr_array, labels: IntArray, rows: FloatArray) -> FloatArray:
    """Give every point a place in the plane.

    Parameters
    ----------
    affinity : sparse array of shape (n, n)
        How alike points are.
    labels : ndarray of shape (n,)
        Their groups.
    rows : ndarray of shape (n, width)
        Spectral embedding: turns points within a disc so that alike ones lie together.

    Returns
    -------
    ndarray of shape (n, 2)
        The same for the same input, always.

    Examples
    --------
    >>> A = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)))
    >>> labels = np.repeat([0, 1], 3)
    >>> places = lay_out(A, labels, np.repeat(np.eye(2), 3, axis=0))
    >>> places.shape, len(np.unique(places.round(6), axis=0))
    ((6, 2), 6)
    """
    groups, member = np.unique(labels, return_inverse=True)
    sizes = np.bincount(member, minlength=groups.size)
    one = sparse.csr_array(
        (np.ones(member.size), (np.arange(member.size), member)), (member.size, groups.size)
    )
    reach = np.asarray((affinity @ one).todense(), dtype=np.float64)  # (n, groups)
    radii = np.sqrt(sizes / np.pi)
    centres = _apart(_by_likeness(np.asarray(one.T @ reach), sizes), radii)
    return centres[member] + _within(member, reach, rows, centres, radii)


def _by_likeness(joined: FloatArray, sizes: IntArray) -> FloatArray:
    """Places of groups by classical scaling of how little joins them."""
    count = sizes.size
    if count == 1:
        return np.zeros((1, 2))
    scale = np.sqrt(np.maximum(np.diag(joined), 1e-12))
    alike = joined / scale[:, None] / scale[None, :]
    np.fill_diagonal(alike, 1.0)
    gaps = 1.0 / (0.05 + np.clip(alike, 0.0, 1.0)) - 1.0 / 1.05
    middle = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * middle @ (0.5 * (gaps + gaps.T)) ** 2 @ middle)
    top = np.argsort(-values)[:2]
    places = vectors[:, top] * np.sqrt(np.maximum(values[top], 0.0))
    places *= np.where(places[np.abs(places).argmax(axis=0), np.arange(places.shape[1])] < 0, -1, 1)
    # groups that nothing joins would all lie on one spot: a small turn for each breaks the tie
    turn = GOLDEN * np.arange(count)
    spread = np.sqrt(np.arange(count) / count)[:, None] * np.c_[np.cos(turn), np.sin(turn)]
    flat = np.zeros((count, 2))
    flat[:, : places.shape[1]] = places
    return flat / max(np.abs(flat).max(), 1e-12) + 0.3 * spread


def _apart(places: FloatArray, radii: FloatArray) -> FloatArray:
    """Push discs apart until none overlaps, and hold them together otherwise."""
    found = places * np.sqrt((radii**2).sum()) * 1.5
    need = AIR * (radii[:, None] + radii[None, :])
    np.fill_diagonal(need, 0.0)
    rounds = ROUNDS if radii.size <= 300 else 60
    for step in range(rounds):
        if step < rounds - 60:
            found *= 0.985  # towards the middle
        delta = found[:, None, :] - found[None, :, :]
        gap = np.sqrt((delta**2).sum(axis=2))
        lack = np.maximum(need - gap, 0.0)
        if step >= rounds - 60 and not lack.any():
            break
        push = delta / np.maximum(gap, 1e-9)[:, :, None] * (0.5 * lack)[:, :, None]
        weight = radii[None, :] ** 2 / (radii[:, None] ** 2 + radii[None, :] ** 2)
        found += (push * (2.0 * weight)[:, :, None]).sum(axis=1) / max(1.0, 0.25 * radii.size)
    return found


def _within(
    member: IntArray, reach: FloatArray, rows: FloatArray, centres: FloatArray, radii: FloatArray
) -> FloatArray:
    """Places of points within their discs, from the discs' centres."""
    n = member.size
    own = reach[np.arange(n), member]
    others = reach.copy()
    others[np.arange(n), member] = 0.0
    rival = others.argmax(axis=1)
    share = others.max(axis=1) / np.maximum(own + others.sum(axis=1), 1e-12)
    found = np.zeros((n, 2))
    for g in range(centres.shape[0]):
        inside = np.flatnonzero(member == g)
        turn = _turns(rows[inside])
        order = np.lexsort((inside, turn, -own[inside], share[inside]))
        out = np.empty(inside.size)
        out[order] = np.sqrt((np.arange(inside.size) + 0.5) / inside.size)
        towards = centres[rival[inside]] - centres[g]
        side = np.arctan2(towards[:, 1], towards[:, 0])
        pulled = share[inside] > 0.05
        turn = np.where(pulled, side + 0.5 * (turn - np.pi) * (1.0 - share[inside]), turn)
        distance = radii[g] * out
        found[inside] = np.c_[distance * np.cos(turn), distance * np.sin(turn)]
    return found


def _turns(rows: FloatArray) -> NDArray[np.float64]:
    """Angle of each point by the two leading axes of its group; spread evenly where it has none."""
    count = rows.shape[0]
    spread = (GOLDEN * np.arange(count)) % (2 * np.pi)
    if count < 3 or rows.shape[1] < 2:
        return spread
    centred = rows - rows.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    if values[-2] <= 1e-12 * max(values[-1], 1e-300) or values[-1] <= 1e-12:
        return spread
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)
    flat = centred @ axes[:, -2:] / np.sqrt(values[-2:])
    angle: NDArray[np.float64] = np.arctan2(flat[:, 1], flat[:, 0]) % (2 * np.pi)
    # evenly: the rank decides, so that no side of a disc stays empty
    even = np.empty(count)
    even[np.argsort(angle, kind="stable")] = 2 * np.pi * np.arange(count) / count
    return even
