"""Which starting sets are taken for one cluster before any answer says so.

There are more starting sets than clusters. At the start they are linked until as many groups are
left as there are clusters. From then on only answers change the groups: "same" joins, "different"
breaks a link. Nothing is linked anew to keep the number, so an answer that splits a group does not
make two true clusters fall together: more answers do not make the labels worse. Labels that people
bring along are the exception: they make sets of their own beside those that the clusters had
before, so that after them all sets are linked as at the start.

Below, `mutual` says how much sets claim each other, `mass` how many points each set would hold,
`place` gives the set of each point (-1 for none), `differ` the sets known to differ, and links are
pairs of points, strongest first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.strategies.superpac_d.settings import Settings


def assumed_links(
    mutual: FloatArray, mass: FloatArray, n_groups: int, differ: BoolArray | None = None
) -> list[tuple[int, int]]:
    """Links that join sets into `n_groups` groups, likeliest and least consequential first.

    Average linkage on mutual claims, divided by the smaller side's mass: a small piece is absorbed
    before two large ones are joined. Sets that are known to differ are never in one group, which
    may leave more groups.

    Examples
    --------
    >>> assumed_links(np.array([[0, .9, .1], [.9, 0, .2], [.1, .2, 0]]), np.ones(3), 1)
    [(0, 1), (1, 2)]
    >>> apart = np.array([[False, True, False], [True, False, False], [False, False, False]])
    >>> assumed_links(np.array([[0, .9, .1], [.9, 0, .2], [.1, .2, 0]]), np.ones(3), 1, apart)
    [(1, 2)]
    """
    count = mutual.shape[0]
    W = mutual.copy()
    np.fill_diagonal(W, -np.inf)
    if differ is not None:
        W[differ] = -np.inf  # as every mean with it will be
    size = np.ones(count)
    mass = mass / max(float(mass.mean()), 1e-12) + 1e-6
    inside = [[k] for k in range(count)]
    links = []
    for _ in range(count - n_groups):
        a, b = divmod(int(np.argmax(W / np.minimum(mass, mass[:, None]))), count)
        if not np.isfinite(W[a, b]):
            break
        a, b = min(a, b), max(a, b)
        part = mutual[np.ix_(inside[a], inside[b])]
        i, j = divmod(int(np.argmax(part)), part.shape[1])
        links.append((inside[a][i], inside[b][j]))
        W[a] = (W[a] * size[a] + W[b] * size[b]) / (size[a] + size[b])
        W[a, a] = -np.inf
        W[:, a] = W[a]
        W[b], W[:, b] = -np.inf, -np.inf
        size[a] += size[b]
        mass[a] += mass[b]
        inside[a] += inside[b]
    return links


def standing_groups(
    links: Sequence[tuple[int, int]], place: IntArray, differ: BoolArray
) -> IntArray:
    """For every set the first set of its group, by the links that no answer speaks against.

    Examples
    --------
    >>> differ = np.zeros((3, 3), bool)
    >>> standing_groups([(0, 1), (1, 2)], np.arange(3), differ)
    array([0, 0, 0])
    >>> differ[0, 2] = differ[2, 0] = True
    >>> standing_groups([(0, 1), (1, 2)], np.arange(3), differ)
    array([0, 0, 2])
    """
    group = np.arange(differ.shape[0])
    for i, j in links:
        _link(group, int(place[i]), int(place[j]), differ)
    return group


def links_left(
    links: Sequence[tuple[int, int]],
    place: IntArray,
    differ: BoolArray,
    counted: BoolArray,
    n_groups: int,
) -> list[tuple[int, int]]:
    """Links that leave at least `n_groups` groups of the sets that are `counted` as clusters.

    The weakest fall once answers have joined so many sets that fewer groups than clusters would be
    left: two clusters would share one. What has fallen stays so, or the labels would go to and fro.

    Examples
    --------
    >>> links_left([(0, 1), (1, 2)], np.arange(3), np.zeros((3, 3), bool), np.ones(3, bool), 2)
    [(0, 1)]
    """
    group = np.arange(differ.shape[0])
    for count, (i, j) in enumerate(links):
        if np.unique(group[counted]).size <= n_groups:
            return list(links[:count])
        _link(group, int(place[i]), int(place[j]), differ)
    return list(links)


def _link(group: IntArray, a: int, b: int, differ: BoolArray) -> None:
    """Join the groups of two sets, unless sets of them are known to differ."""
    if a < 0 or b < 0 or group[a] == group[b]:
        return
    one, other = np.flatnonzero(group == group[a]), np.flatnonzero(group == group[b])
    if not differ[np.ix_(one, other)].any():
        group[other] = group[one] = min(group[a], group[b])


def hosted(
    group: IntArray, belief: FloatArray, mass: FloatArray, differ: BoolArray, n_groups: int,
    settings: Settings,
) -> IntArray:  # fmt: skip
    """Groups with the small ones beyond `n_groups` joined to their likeliest hosts.

    With the number of clusters known, a small group beyond it is part of another. It takes the
    label of the one that it most likely belongs to by `belief` (how likely the members of a set
    are in every set), of those that no answer keeps it apart from; where there is none it stays by
    itself.

    Examples
    --------
    >>> belief = np.array([[.9, .1, 0], [.1, .9, 0], [.2, .3, .5]])
    >>> differ = np.zeros((3, 3), bool)
    >>> hosted(np.arange(3), belief, np.array([7.0, 7, 1]), differ, 2, Settings())
    array([0, 1, 1])
    >>> differ[1, 2] = differ[2, 1] = True
    >>> hosted(np.arange(3), belief, np.array([7.0, 7, 1]), differ, 2, Settings())
    array([0, 1, 0])
    """
    names, where = np.unique(group, return_inverse=True)
    weight = np.bincount(where, weights=mass)
    order = np.argsort(-weight, kind="stable")
    if order.size <= n_groups:
        return group
    inside = np.zeros((names.size, group.size))
    inside[where, np.arange(group.size)] = 1.0
    claim = inside @ (belief * mass[:, None]) @ inside.T
    apart = inside @ differ @ inside.T > 0
    out = group.copy()
    large = order[:n_groups]
    small = settings.small_group * weight.sum() / n_groups
    for g in order[n_groups:][weight[order[n_groups:]] < small]:
        open_to = large[~apart[g, large]]
        if open_to.size:
            out[where == g] = names[open_to[np.argmax(claim[g, open_to])]]
    return out
