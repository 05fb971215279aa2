"""Three views of the sets, each with a score for every point and set: which set is it in?

Diffusion says how much of a point each set claims over the graph. The other two follow a labelling,
of certain and estimated members: the residual to each set's subspace, and a kernel vote. All leave
out what a point says about itself: a wrong point must not vouch for itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import cholesky, eigh, solve_triangular

from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.device.arrays import (
    Array,
    SideBySide,
    filled,
    is_host,
    like,
    median,
    namespace,
    ratio,
    to_host,
    where_true,
)
from superpac.device.choice import HOST, Device
from superpac.strategies.superpac_d.settings import DEFAULT, Settings
from superpac.subspaces.geometry import leading_there, top_directions
from superpac.system.progress import Progress, no_progress, parts_of


def diffusion_shares(
    raw: Array, own: Array, place: Array, size: Array, first: Array, settings: Settings
) -> tuple[Array, Array]:
    """Claims of the sets on every point on one scale, and their shares in it, which sum to 1.

    From the `raw` claims by diffusion, what those on a point in a set owe to the point itself
    (`own`), the set of each point (`place`, -1 for none), and how many members sets have (`size`).

    Examples
    --------
    >>> raw = np.array([[9.0, 0], [2, 1], [1, 2], [0, 9]])
    >>> claims, shares = diffusion_shares(
    ...     raw, np.array([9.0, 0, 0, 9]), np.array([0, -1, -1, 1]), np.ones(2, int), np.ones(2),
    ...     Settings(),
    ... )  # fmt: skip
    >>> shares.round(3).tolist()
    [[0.5, 0.5], [0.667, 0.333], [0.333, 0.667], [0.5, 0.5]]
    """
    rows, free = where_true(place >= 0), place < 0
    taken, count = rows.shape[0], place.shape[0]
    # where few are free, what is left of a difference may be rounding
    few = taken > count // 2
    outside = raw[free].sum(axis=0) if few else raw.sum(axis=0) - raw[rows].sum(axis=0)
    column = namespace(raw).clip(outside if taken < count else raw.sum(axis=0), 1e-12, None)
    share = raw / column
    claims = share * first
    share[rows, place[rows]] -= own[rows] / column[place[rows]]
    masses = shared_masses(share, free, size, first, settings)
    return claims, shares_of(share * masses, settings.diffusion_floor)


def first_masses(
    size: IntArray, seeded: BoolArray, n_clusters: int, settings: Settings
) -> FloatArray:
    """One mass for all sets, but less for a late and lonely one beyond the clusters.

    A set that holds a starting point (`seeded`) stands for a piece of the graph, whatever its size.

    Examples
    --------
    >>> first_masses(np.array([4, 4, 1, 1]), np.array([True, True, True, False]), 2, Settings())
    array([1.  , 1.  , 1.  , 0.25])
    """
    mass = np.ones(size.size)
    if size.size > n_clusters:
        rank = np.argsort(np.argsort(-size, kind="stable"), kind="stable")
        late = (rank >= n_clusters) & ~seeded
        usual = np.median(size[rank < n_clusters])
        mass[late] = np.clip(size[late] / usual, settings.mass_least, 1.0)
    return mass


def room_left(raw: FloatArray, own: FloatArray, place: IntArray) -> FloatArray:
    """Share of every set's claims that falls on free points, its members' own parts left out.

    Where people brought labels along, or said of a whole wall that it is one, a set may hold nearly
    all of its cluster. Claims on free points alone, of one mass for all sets, would let it take its
    neighbours' points.

    Examples
    --------
    >>> raw = np.array([[9.0, 0], [2, 1], [1, 2], [0, 9]])
    >>> room_left(raw, np.array([9.0, 0, 0, 9]), np.array([0, -1, -1, 1])).tolist()
    [1.0, 1.0]
    >>> room_left(raw, np.array([8.0, 0, 0, 9]), np.array([0, 0, -1, 1])).tolist()
    [0.25, 0.6666666666666666]
    """
    members, free = np.flatnonzero(place >= 0), place < 0
    if not free.any():
        return np.ones(raw.shape[1])
    themselves = np.bincount(place[members], weights=own[members], minlength=raw.shape[1])
    return raw[free].sum(axis=0) / np.maximum(raw.sum(axis=0) - themselves, 1e-12)


def near_labels(
    raw: FloatArray, own: FloatArray, place: IntArray, known: Sequence[int]
) -> FloatArray:
    """How far every set lies among the points of a label: 1 for the label's own set, 0 far off.

    The share of a set's claims that falls on the points of the label which it claims most, over
    that of the label's own set: within one cluster both are alike, however many labels there are.

    Examples
    --------
    >>> raw = np.array([[9.0, 3, 0], [3, 9, 0], [3, 3, 1], [0, 1, 9]])
    >>> place, known = np.array([0, 0, 1, 2]), [0, 1]
    >>> near_labels(raw, np.array([6.0, 6, 1, 8]), place, known).round(2).tolist()
    [1.0, 1.0, 0.0]
    """
    members, points = np.flatnonzero(place >= 0), np.asarray(known, dtype=np.intp)
    themselves = np.bincount(place[members], weights=own[members], minlength=raw.shape[1])
    total = np.maximum(raw.sum(axis=0) - themselves, 1e-12)
    sets = np.unique(place[points])
    within = np.stack([raw[points[place[points] == k]].sum(axis=0) for k in sets]) / total
    rows = np.arange(sets.size)
    own_labels = np.bincount(place[points], weights=own[points], minlength=raw.shape[1])
    within[rows, sets] -= (own_labels / total)[sets]
    best = within.argmax(axis=0)
    near = within.max(axis=0) / np.maximum(within[best, sets[best]], 1e-12)
    near = np.minimum(near, 1.0 - 1e-9)
    near[sets] = 1.0
    return near


def shared_masses(
    claims: Array, free: Array, size: Array, first: Array, settings: Settings
) -> Array:
    """Masses by which the sets share out the points between them.

    One mass for all lets a cluster of few points take those of its neighbours, and a cluster with
    two sets take twice its share; the mass that claims alone would give runs away to the largest.
    In between, a set has the square root of what it would hold. `claims` have columns of one mass
    each; `first` masses are those to start from.

    Examples
    --------
    >>> claims = np.array([[0.8, 0.2]] * 9 + [[0.2, 0.8]])
    >>> mass = shared_masses(claims, np.ones(10, bool), np.ones(2, int), np.ones(2), Settings())
    >>> bool(mass[0] > mass[1])
    True
    """
    among = namespace(claims).clip(claims, 0.0, None)
    among[~free] = 0.0  # no copy of the rest
    mass = first
    for _ in range(settings.mass_rounds):
        part = ratio(1.0, among @ mass)
        held = mass * (part @ among) + size + settings.mass_extra
        mass = first * (held / held.mean()) ** settings.mass_power
    return mass


class View(ABC):
    """Columns, one per set, that follow a labelling.

    Only sets whose members changed are refreshed. Which these are is settled by the members alone;
    a column is computed when it is read, so going through many answers computes few.
    """

    def __init__(self, n: int, settings: Settings) -> None:
        self.n, self.settings = n, settings
        self.clear()

    def clear(self) -> None:
        """Drop all sets."""
        self._columns: dict[int, Array] = {}
        self._masks: dict[int, Array] = {}
        self._sums: dict[int, Any] = {}
        self._beside = SideBySide()

    def save(self) -> tuple[dict[int, Any], ...]:
        """What :meth:`restore` takes; no array is changed in place, so they are shared."""
        return dict(self._columns), dict(self._masks), dict(self._sums)

    def restore(self, saved: tuple[dict[int, Any], ...]) -> None:
        """Go back to what was saved."""
        self._columns, self._masks, self._sums = (dict(part) for part in saved)

    def update(
        self, labels: Array, keys: Sequence[int], limit: int, progress: Progress = no_progress
    ) -> None:
        """Follow points labelled by set: new sets, and the `limit` that changed most, at most."""
        for key in self._masks.keys() - set(keys):
            del self._masks[key]
            self._columns.pop(key, None)
            self._sums.pop(key, None)
        found = labels == like(np.asarray(keys), labels)[:, None]
        masks = dict(zip(keys, found, strict=True))
        changes = self._changes(masks)
        stale = sorted((-changes[key], place, key) for place, key in enumerate(keys))
        for rank, (less, _, key) in enumerate(stale):
            if less == 0 or (rank >= limit and less >= -self.n):
                break  # the rest stays a little behind until its turn comes
            mask, old = masks[key], self._masks.get(key)
            came = where_true(mask if old is None else mask & ~old)
            left = where_true(~mask & old) if old is not None else came[:0]
            self._add_up(key, mask, came, left)
            # of its own: what is kept must not hold on to the masks of all sets
            self._masks[key] = namespace(mask).asarray(mask, copy=True)
            self._columns.pop(key, None)
            progress(rank + 1, len(stale))

    def _changes(self, masks: dict[int, Array]) -> dict[int, int]:
        """How many points came to or left each set; more than all for one that is new."""
        old = {key: self._masks[key] for key in masks if key in self._masks}
        found = dict.fromkeys(masks, self.n + 1)
        if old:
            # numbers that are asked for together come from a graphics processor at once
            xp = namespace(next(iter(old.values())))
            now = xp.stack([masks[key] for key in old])
            told = to_host((now != xp.stack(list(old.values()))).sum(axis=1))
            found.update(zip(old, told.tolist(), strict=True))
        return found

    def matrix(self, keys: Sequence[int], progress: Progress = no_progress) -> Array:
        """Columns in the order of `keys`, as one array that holds until the next call."""
        columns = []
        for key in keys:
            columns.append(self.column(key))
            progress(len(columns), len(keys))
        return self._beside.array(columns)

    def column(self, key: int) -> Array:
        """Column of one set; not to be changed."""
        if key not in self._columns:
            self._columns[key] = self._column(key, self._masks[key])
        return self._columns[key]

    def comparable(self, keys: Sequence[int], progress: Progress = no_progress) -> Array:
        """Columns in the form that :meth:`scores` takes, all points together."""
        return self.matrix(keys, progress)

    @abstractmethod
    def scores(self, columns: Array) -> Array:
        """Logarithms of how likely each set is, but for a constant, by some rows of the columns."""

    @abstractmethod
    def _add_up(self, key: int, mask: Array, came: Array, left: Array) -> None:
        """Keep the sums over a set's members in step with what changed."""

    @abstractmethod
    def _column(self, key: int, mask: Array) -> Array:
        """Column of one set from its members and their sums."""


class SubspaceView(View):
    """Squared residual of every point to the subspace of every set, relative to its length.

    A member's residual is enlarged by its leverage h on the basis, ``r / (1 - h)^2``, the
    leave-one-out residual of least squares (Cook & Weisberg, "Residuals and Influence in
    Regression", 1982): with few points a basis bends towards each of them. In a set of less than
    twice the dimension the basis holds its members nearly whole; there each is left out in turn.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    dim : int
        Subspace dimension.
    settings : Settings
        How members are left out.
    device : Device, default=HOST
        Where columns are computed and kept.

    Examples
    --------
    >>> view = SubspaceView(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), 1, Settings())
    >>> view.update(np.array([0, 0, 1, 1]), [0, 1], limit=9)
    >>> view.matrix([0, 1])
    array([[0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    """

    def __init__(self, X: FloatArray, dim: int, settings: Settings, device: Device = HOST) -> None:
        super().__init__(X.shape[0], settings)
        self.X, self.dim = X, dim
        # all points are read for every column, and reading is what takes long
        short = X.size > settings.single_precision
        self._short: Array = device.array(X, "float32" if short else "float64")
        self._squared = (
            np.einsum("ij,ij->i", X, X, dtype=np.float64)
            if device is HOST
            else _row_squares(self._short)
        )
        self._scale = namespace(self._squared).where(self._squared > 0, self._squared, 1.0)

    def points_there(self) -> Array:
        """All points where columns are computed, if they lose nothing there; else None."""
        return self._short if self.X.dtype == np.float32 else None

    def comparable(self, keys: Sequence[int], progress: Progress = no_progress) -> Array:
        """Residuals over a typical one, the median of what points have to their nearest set."""
        residual = self.matrix(keys, progress)
        typical = median(namespace(residual).min(residual, axis=1))
        return residual / max(typical, self.settings.residual_typical_least)

    def scores(self, columns: Array) -> Array:
        """Logarithms of the ratios: residuals are compared as ratios, as in margins."""
        near, power = self.settings.residual_near, self.settings.residual_power
        return -power * namespace(columns).log(columns + near)

    def _add_up(self, key: int, mask: Array, came: Array, left: Array) -> None:
        members = where_true(mask)
        count = members.shape[0]
        moment = self._sums.pop(key, None)
        if count <= self.X.shape[1]:
            return
        if moment is None or came.shape[0] + left.shape[0] > count // 2:
            self._sums[key] = self._moment(members)
        else:
            self._sums[key] = moment + self._moment(came) - self._moment(left)

    def _points(self, members: Array) -> FloatArray:
        """Few points, in double precision."""
        return self.X[to_host(members)].astype(np.float64, copy=False)

    def _moment(self, members: Array) -> Array:
        """Sum of squares and products over some points."""
        points = self._short[members]
        # of one array: half the products suffice
        return _as_type(points.T @ points, self._squared)

    def _column(self, key: int, mask: Array) -> Array:
        xp = namespace(mask)
        members = where_true(mask)
        count = members.shape[0]
        basis = self._basis(key, members)
        # few directions first: BLAS is a quarter faster so than with as many columns
        power = _as_type(basis.T @ self._short.T, self._squared) ** 2
        residual = xp.clip(self._squared - power.sum(axis=0), 0.0, None) / self._scale
        if 1 < count <= self.settings.leave_out_exactly * self.dim:
            left_out = left_out_residuals(self._points(members), self.dim)
            residual[members] = like(left_out, residual) / self._scale[members]
        elif count > 1:
            mine = power[:, members]
            shares = ratio(mine, mine.sum(axis=1)[:, None])
            leverage = xp.clip(shares.sum(axis=0), None, self.settings.leverage_most)
            residual[members] = xp.clip(residual[members] / (1 - leverage) ** 2, None, 1.0)
        return residual

    def _basis(self, key: int, members: Array) -> Array:
        """Leading directions of a set, in the precision of the points."""
        ambient, count = self.X.shape[1], members.shape[0]
        if count <= ambient:
            found = top_directions(self._points(members), self.dim)
            return like(found, self._short, self._short.dtype)
        moment = _as_type(self._sums[key], self._short)
        if is_host(moment):
            top = [max(ambient - self.dim, 0), ambient - 1]
            return eigh(moment, subset_by_index=top, check_finite=False)[1]
        return leading_there(moment, self.dim)


def _as_type(values: Array, other: Array) -> Array:
    """Values in another array's precision; the same array if they have it."""
    if is_host(values):
        return values.astype(other.dtype, copy=False)
    return values.to(other.dtype)


def left_out_residuals(points: FloatArray, dim: int) -> FloatArray:
    """Squared residual of every point to the top directions of the other points."""
    count = points.shape[0]
    gram = points @ points.T
    others = np.array([np.delete(np.arange(count), i) for i in range(count)])
    values, vectors = np.linalg.eigh(gram[others[:, :, None], others[:, None, :]])
    top = slice(-min(dim, count - 1), None)
    cross = np.einsum("iom,io->im", vectors[:, :, top], gram[np.arange(count)[:, None], others])
    values = values[:, top]
    real = values > 1e-10 * max(float(gram.trace()), 1e-300)
    explained = np.divide(cross**2, values, out=np.zeros_like(cross), where=real).sum(axis=1)
    return np.maximum(gram.diagonal() - explained, 0.0)


class KernelView(View):
    """Leave-one-out vote of kernel ridge regression on the current labels.

    A Gaussian kernel on at most 1,000 landmarks (Nystroem), so memory is linear in the points; its
    width is the distance to the seventh neighbour, as in self-tuning clustering. With H the fixed
    hat matrix, the vote for set k at point i is ``(H y_k - H_ii y_ki) / (1 - H_ii)``.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    settings : Settings
        Landmarks, width, ridge.
    seed : int, default=0
        Draws the landmarks.
    remember : callable, optional
        ``remember(what, make)`` gives what was kept on disk, or makes it.
    device : Device, default=HOST
        Where columns are computed and kept.
    there : array of shape (n, D), optional
        The same points on the device, where they are there already.
    progress : callable, optional
        Called as ``progress(done, total)`` while the kernel is approximated.

    References
    ----------
    Williams & Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> view = KernelView(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), Settings())
    >>> view.update(np.array([0, 0, 0, 1, 1, 1]), [0, 1], limit=9)
    >>> view.matrix([0, 1]).argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        X: FloatArray,
        settings: Settings,
        *,
        seed: int = 0,
        remember: Callable[[str, Callable[[], Mapping[str, Any]]], Mapping[str, Any]] | None = None,
        device: Device = HOST,
        there: Array | None = None,
        progress: Progress = no_progress,
    ) -> None:
        super().__init__(X.shape[0], settings)

        def make() -> dict[str, Array]:
            return {"Z": _kernel_features(X, settings, seed, device, there, progress)}

        large = X.shape[0] * settings.landmarks * 4 > settings.kernel_keep
        if remember is None or large or device is not HOST:
            kept: Mapping[str, Any] = make()
        else:
            kept = remember(f"kernel {seed} {settings}", make)
        self.factor = kept["Z"]
        own = _row_squares(self.factor)
        self.own = namespace(own).clip(own, None, settings.own_vote_most)

    def scores(self, columns: Array) -> Array:
        """Logarithms of the votes' shares."""
        return log_shares(columns, self.settings.vote_floor)

    def _add_up(self, key: int, mask: Array, came: Array, left: Array) -> None:
        Z = self.factor
        total = self._sums.get(key)
        if total is None or came.shape[0] + left.shape[0] > self.settings.kernel_sum_anew:
            total = Z[mask].sum(axis=0)
        else:
            total = total + Z[came].sum(axis=0) - Z[left].sum(axis=0)
        self._sums[key] = total

    def _column(self, key: int, mask: Array) -> Array:
        vote = _as_type(self.factor @ self._sums[key], self.own)
        return (vote - self.own * mask) / (1 - self.own)


def _row_squares(Z: Array, at_once: int = DEFAULT.kernel_block) -> Array:
    """Squared length of every row, in double precision."""
    if is_host(Z):
        return np.einsum("ij,ij->i", Z, Z).astype(np.float64)
    # by blocks: of all rows there would be a copy in double precision
    return namespace(Z).concat([(rows.double() ** 2).sum(dim=1) for rows in Z.split(at_once)])


def kernel_work(n: int, ambient: int, settings: Settings) -> list[float]:
    """Nanoseconds of both passes over the points, about, to tell progress by."""
    marks = min(n, settings.landmarks)
    return [0.032 * n * marks * 2 * (ambient + marks), 0.01 * n * marks * marks]


def _kernel_features(
    X: FloatArray,
    settings: Settings,
    seed: int,
    device: Device = HOST,
    there: Array | None = None,
    progress: Progress = no_progress,
) -> Array:
    """Factor Z of the hat matrix Z Z'; single precision is ample for a vote."""
    rng = np.random.default_rng([seed, 77])  # a stream that no other draw takes from
    marks = X[np.sort(rng.permutation(X.shape[0])[: settings.landmarks])].astype(np.float64)
    between = _squared_distances(marks, marks)
    rank = min(settings.kernel_neighbour, marks.shape[0] - 1)
    width = float(np.median(np.partition(between, rank, axis=1)[:, rank]))
    rounding = 1e-12 * float(np.einsum("ij,ij->i", marks, marks).max())
    if width <= rounding:  # most points are the same
        apart = between[between > rounding]
        width = float(apart.mean()) if apart.size else 1.0
    inner = np.exp(-between / width)
    inner[np.diag_indices_from(inner)] += settings.kernel_jitter
    L = device.array(cholesky(inner, lower=True))
    landmarks = device.array(marks)
    # block by block: with many points, whole matrices of distances would take most of the memory
    step = settings.kernel_block
    blocks = [slice(start, start + step) for start in range(0, X.shape[0], step)]
    short = X.size > settings.single_precision
    shape = X.shape[0], marks.shape[0]
    features = filled(shape, 0.0, L, "float32" if short else "float64")
    second = device.array(np.diag(np.full(marks.shape[0], settings.ridge)))
    xp, points = namespace(L), X if there is None else there
    first, last = parts_of(progress, kernel_work(X.shape[0], X.shape[1], settings))
    for at, block in enumerate(blocks, 1):
        distances = _squared_distances(device.array(points[block], "float64"), landmarks)
        first(3 * at - 2, 3 * len(blocks))
        part = _solved(L, xp.exp(-distances / width).T)
        first(3 * at - 1, 3 * len(blocks))
        second += part @ part.T
        features[block] = _as_type(part.T, features)
        first(3 * at, 3 * len(blocks))
    R = xp.linalg.cholesky(second)
    Z = features if short else filled(shape, 0.0, L, "float32")
    for at, block in enumerate(blocks, 1):
        Z[block] = _as_type(_solved(R, features[block].T).T, Z)
        last(at, len(blocks))
    return Z


def _solved(lower: Array, right: Array) -> Array:
    """Solution of a lower triangular system, in the precision of the right-hand side."""
    if is_host(lower):
        return solve_triangular(lower, right, lower=True)
    import torch

    return torch.linalg.solve_triangular(lower.to(right.dtype), right, upper=False)


def _squared_distances(X: Array, Y: Array) -> Array:
    """Squared Euclidean distance of every row of X to every row of Y."""
    xp = namespace(X)
    squares = _row_squares(X)[:, None] + _row_squares(Y)[None]
    return xp.clip(squares - 2.0 * (X @ Y.T), 0.0, None)


def log_shares(values: Array, floor: float) -> Array:
    """Logarithms of rows made to sum to one, no entry below about the logarithm of `floor`."""
    return namespace(values).log(shares_of(values, floor))


def shares_of(values: Array, floor: float) -> Array:
    """Rows that sum to one, no entry below about `floor`."""
    if is_host(values):
        return _shares_of(values, floor)
    kept = values.clamp(min=0.0)
    total = kept.sum(dim=1, keepdim=True)  # where it is 0 so are all of the row
    kept.div_(total.masked_fill_(total <= 0, 1.0)).clamp_(min=floor)
    return kept.div_(kept.sum(dim=1, keepdim=True))


@njit(cache=True)
def _shares_of(values, floor):  # type: ignore[no-untyped-def]
    """The same in one pass over a large matrix."""
    out = np.empty(values.shape)
    for i in range(values.shape[0]):
        row, total, sum_ = out[i], 0.0, 0.0
        for k in range(row.size):
            row[k] = max(values[i, k], 0.0)
            total += row[k]
        for k in range(row.size):
            row[k] = max(row[k] / total if total > 0 else 0.0, floor)
            sum_ += row[k]
        for k in range(row.size):
            row[k] /= sum_
    return out
