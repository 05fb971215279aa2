"""The points that correlate most with given vectors, found on a graphics processor.

All pairs are looked at in half precision, as the matrix units are fastest there: a block of rows of
products is written, and of every 64 neighbouring columns the largest magnitude alone is looked at
further. The few columns that lead are compared again by products in the precision of the points.
What was left out is bounded by its half-precision product and the rounding of that; a row for which
this bound does not settle the question is looked at more widely, at last in full precision. So
half precision decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from superpac.affinity._kernels import torch_groups
from superpac.affinity._kernels.torch_groups import GROUP
from superpac.device.choice import Torch

BLOCK = 8192  # queries that share a product, at most
PRODUCTS = 17 * 2**30  # bytes of a block of products, at most
PIECE = 2**31  # bytes of points gathered at a time, at most
SINGLE_UP_TO = 2 * 10**9  # numbers; larger sets of points are kept in half precision alone
UPLOAD = 32768  # rows brought to the device at a time
LEAST = 2.0**-17  # what a product may lose in adding up, and near zero


class Search:
    """Points on a device, twice: as they are compared at last, and in half precision.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Points of length at most one, in the precision that decides.
    device : Torch
        Where they are.
    """

    def __init__(self, rows: Tensor, device: Torch) -> None:
        self.rows, self.device = rows, device
        self.n, self.d = rows.shape
        self.on_gpu = rows.is_cuda
        self.precision = torch.float32 if rows.dtype == torch.float16 else rows.dtype
        self.eps = float(torch.finfo(self.precision).eps)
        width = -(-self.n // GROUP) * GROUP
        depth = -(-self.d // 8) * 8  # the matrix units take eight numbers at a time
        if rows.dtype == torch.float16 and rows.shape == (width, depth):
            self.coarse, self.rounded = rows, 0.0
        else:
            # PyTorch on a processor multiplies single precision only with any speed
            kind = torch.float16 if self.on_gpu else torch.float32
            self.coarse = torch.zeros((width, depth), dtype=kind, device=rows.device)
            worst = torch.zeros((), dtype=self.precision, device=rows.device)
            for start in range(0, self.n, UPLOAD):
                piece = rows[start : start + UPLOAD].to(self.precision)
                here = self.coarse[start : start + len(piece), : self.d]
                here.copy_(piece.half())
                worst = worst.maximum(torch.linalg.vector_norm(piece - here, dim=1).amax())
            self.rounded = float(worst)  # by how much rounding moved a point, at most
        self.piece = min(PIECE, device.free() // 32)
        room = min(PRODUCTS, device.free() // 3)
        size = max(1, min(BLOCK, room // (width * self.coarse.itemsize)))
        self.size = size if size < 128 else size // 128 * 128
        self._products = torch.empty(
            (self.size, width), dtype=self.coarse.dtype, device=rows.device
        )

    @classmethod
    def of(cls, X: NDArray, device: Torch, *, unit: bool) -> Search:
        """Bring points to a device, each scaled to unit length if so wanted."""
        n, d = X.shape
        # more than this in single precision leaves little room beside it on most devices
        if device.name == "torch":
            kind = torch.float64
        else:
            kind = torch.float32 if n * d <= SINGLE_UP_TO else torch.float16
        wanted = n * d * (kind.itemsize + 2) + min(n, 128) * 2 * n + 64 * n
        device.check_room(wanted, f"A search among {n} points of {d} numbers")
        rows = torch.empty((n, d), dtype=kind, device=device.where)
        for start in range(0, n, UPLOAD):
            piece = device.array(X[start : start + UPLOAD]).double()
            rows[start : start + UPLOAD] = (_unit(piece) if unit else piece).to(kind)
        return cls(rows, device)

    def blocks(self, size: int) -> Iterator[Tensor]:
        """Numbers of the points, in blocks of about a size."""
        parts = -(-self.n // size)
        return iter(torch.arange(self.n, device=self.rows.device).tensor_split(parts))

    def taken(self, index: Tensor) -> Tensor:
        """Points by number, in the precision that decides."""
        return self.rows[index].to(self.precision)

    def look(self, queries: Tensor, passed_over: Tensor) -> Seen:
        """Compare vectors with all points; the columns named for each row are passed over.

        What it gives holds until the next look: the products are written to the same place.
        """
        lengths = torch.linalg.vector_norm(queries, dim=1)
        unit = queries / torch.where(lengths > 0, lengths, 1.0)[:, None]
        products = self._products[: len(queries)]
        coarse = torch.zeros(
            (len(queries), self.coarse.shape[1]), dtype=self.coarse.dtype, device=queries.device
        )
        coarse[:, : self.d] = unit.half()
        # |<x, y> - <x', y'>| <= |y - y'| + |x - x'| for unit vectors, by Cauchy and Schwarz
        moved = torch.linalg.vector_norm(unit - coarse[:, : self.d], dim=1)
        noise = (1.001 * (moved + self.rounded) + LEAST) * lengths
        with _sums_in_single():
            torch.matmul(coarse, self.coarse.T, out=products)
        if not self.on_gpu:
            products.copy_(products.half())
        products.scatter_(1, passed_over, 0.0)
        return Seen(
            self, queries, passed_over, products, torch_groups.largest(products), lengths, noise
        )

    def exact(self, queries: Tensor, columns: Tensor) -> Tensor:
        """Magnitudes of the products of vectors with the points listed for each."""
        rows, listed = columns.shape
        out = torch.empty((rows, listed), dtype=self.precision, device=columns.device)
        step = max(1, self.piece // (listed * self.d * out.itemsize))
        for start in range(0, rows, step):
            part = slice(start, start + step)
            points = self.taken(columns[part])
            # summed row by row, so that copies of a point have the same product to the last bit
            out[part] = (points.mul_(queries[part, None, :])).sum(2).abs()
        return out

    def everywhere(self, queries: Tensor) -> Tensor:
        """Magnitudes of the products of vectors with all points, in the precision that decides."""
        if self.rows.dtype == self.precision:
            return (queries @ self.rows.T).abs_()
        out = torch.empty((len(queries), self.n), dtype=self.precision, device=queries.device)
        for start in range(0, self.n, UPLOAD):
            piece = self.rows[start : start + UPLOAD].to(self.precision)
            out[:, start : start + UPLOAD] = (queries @ piece.T).abs_()
        return out


@contextmanager
def _sums_in_single() -> Iterator[None]:
    """Keep PyTorch from adding up parts of a product in half precision, which is not bounded."""
    settings = torch.backends.cuda.matmul
    before = settings.allow_fp16_reduced_precision_reduction
    settings.allow_fp16_reduced_precision_reduction = False
    try:
        yield
    finally:
        settings.allow_fp16_reduced_precision_reduction = before


def _unit(rows: Tensor) -> Tensor:
    """Rows of unit length; zeros stay."""
    # first by the largest entry: 1e300 squared overflows
    for by in (rows.abs().amax(1, keepdim=True), None):
        scale = torch.linalg.vector_norm(rows, dim=1, keepdim=True) if by is None else by
        rows = rows / torch.where(scale > 0, scale, 1.0)
    return rows


@dataclass(frozen=True)
class Seen:
    """Products of some vectors with all points in half precision, and the largest of each group."""

    search: Search
    queries: Tensor
    passed_over: Tensor
    products: Tensor
    tops: Tensor
    lengths: Tensor
    noise: Tensor

    def best(self, kept: int, floor: float = 0.0, tie: float = 0.0) -> tuple[Tensor, Tensor]:
        """Each row's largest magnitudes, best first: columns (-1: none) and values above `floor`.

        Equal ones go to the lower column; so do those within a share of `tie` of the largest.
        """
        count, device = len(self.queries), self.queries.device
        columns = torch.full((count, kept), -1, dtype=torch.int64, device=device)
        values = torch.zeros((count, kept), dtype=self.search.precision, device=device)
        rows = torch.arange(count, device=device)
        for groups, listed in ((kept + 4, kept + 8), (kept + 64, kept + 248)):
            found, left = self._leading(rows, groups, listed)
            columns[rows], values[rows] = self._ranked(rows, found, kept, floor, tie)
            if left is None:
                return columns, values
            rows = rows[self._reach(rows, left) > values[rows, -1].clamp(min=floor)]
            if rows.numel() == 0:
                return columns, values
        for part in self._parts(rows):
            found = self._all(part, kept)
            columns[part], values[part] = self._ranked(part, found, kept, floor, tie)
        return columns, values

    def above(self, bar: Tensor, wanted: int) -> Tensor:
        """Columns of magnitude above each row's bar, some of the largest; -1 where no more is.

        A row of which none is given has none.
        """
        count, device = len(self.queries), self.queries.device
        columns = torch.full((count, wanted), -1, dtype=torch.int64, device=device)
        everyone = torch.arange(count, device=device)
        rows = everyone[self._reach(everyone, self.tops.amax(1)) > bar]
        for groups, listed in ((wanted, wanted), (wanted + 64, wanted + 224)):
            if rows.numel() == 0:
                return columns
            found, left = self._leading(rows, groups, listed)
            best = self._over(rows, found, bar, wanted)
            columns[rows, : best.shape[1]] = best
            if left is None:
                return columns
            rows = rows[(best[:, 0] < 0) & (self._reach(rows, left) > bar[rows])]
        for part in self._parts(rows):
            best = self._over(part, self._all(part, wanted), bar, wanted)
            columns[part, : best.shape[1]] = best
        return columns

    def candidates(self, wanted: int) -> Tensor:
        """Nearly each row's `wanted` largest, by half precision; -1 where no more is."""
        everyone = torch.arange(len(self.queries), device=self.queries.device)
        found, _ = self._leading(everyone, wanted, wanted)
        return found

    def _leading(self, rows: Tensor, groups: int, listed: int) -> tuple[Tensor, Tensor | None]:
        """Columns that lead in half precision (-1: none), and the largest product left out."""
        tops = self.tops[rows]
        taken = min(groups, tops.shape[1])
        best, at = tops.topk(min(taken + 1, tops.shape[1]), dim=1)
        at = at[:, :taken]
        grouped = self.products.view(len(self.products), -1, GROUP)
        values = grouped[rows[:, None], at].abs_().view(len(rows), -1)
        listed = min(listed, values.shape[1])
        top, place = values.topk(min(listed + 1, values.shape[1]), dim=1)
        left = [each[:, -1] for each, k in ((best, taken), (top, listed)) if each.shape[1] > k]
        place = place[:, :listed]
        columns = at.gather(1, place // GROUP) * GROUP + place % GROUP
        # zero here is what is passed over, and columns beyond the last; a product that is zero only
        # in half precision is within what was left out
        if left:
            columns = torch.where(top[:, :listed] > 0, columns, -1)
        else:
            columns = torch.where(columns < self.search.n, columns, -1)
            skipped = (columns[:, :, None] == self.passed_over[rows][:, None, :]).any(2)
            columns = torch.where(skipped, -1, columns)
        return columns, torch.stack(left).amax(0) if left else None

    def _reach(self, rows: Tensor, coarse: Tensor) -> Tensor:
        """The largest that a product may be which half precision gives as `coarse`."""
        coarse = coarse.to(self.search.precision)
        half_step = torch.ldexp(torch.ones_like(coarse), torch.frexp(coarse).exponent - 12)
        return (coarse + half_step) * self.lengths[rows] + self.noise[rows]

    def _magnitudes(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Products with the columns listed for each row; -1 where none is."""
        values = self.search.exact(self.queries[rows], columns.clamp(min=0))
        return torch.where(columns >= 0, values, -1.0)

    def _ranked(
        self, rows: Tensor, columns: Tensor, kept: int, floor: float, tie: float
    ) -> tuple[Tensor, Tensor]:
        """Columns in the order of their products, as many as are kept, and the products."""
        columns = columns.sort(1).values  # before a stable sort: equals stay by column
        values = self._magnitudes(rows, columns)
        best = values.amax(1, keepdim=True)
        rank = torch.where(values >= best * (1 - tie), best, values) if tie else values
        order = rank.sort(dim=1, descending=True, stable=True).indices[:, :kept]
        columns, values = columns.gather(1, order), values.gather(1, order)
        good = values > floor
        columns, values = torch.where(good, columns, -1), torch.where(good, values, 0.0)
        short = kept - columns.shape[1]
        if short > 0:
            columns = torch.nn.functional.pad(columns, (0, short), value=-1)
            values = torch.nn.functional.pad(values, (0, short))
        return columns, values

    def _over(self, rows: Tensor, columns: Tensor, bar: Tensor, wanted: int) -> Tensor:
        """Of the columns listed for each row those above the bar, largest first, then -1."""
        values = self._magnitudes(rows, columns)
        values, order = values.topk(min(wanted, values.shape[1]), dim=1)
        return torch.where(values > bar[rows, None], columns.gather(1, order), -1)

    def _parts(self, rows: Tensor) -> Iterator[Tensor]:
        """Rows that are compared with all points at a time."""
        return iter(rows.split(max(1, self.search.piece // (32 * self.search.n))))

    def _all(self, rows: Tensor, kept: int) -> Tensor:
        """Columns that lead by products in full, the lowest first of those that are equal."""
        n = self.search.n
        values = self.search.everywhere(self.queries[rows])
        passed_over = self.passed_over[rows]
        values.scatter_(1, passed_over, -1.0)
        wanted = min(kept, n)
        least = values.topk(wanted, dim=1).values[:, -1:]
        slack = 16 * self.search.eps * self.lengths[rows, None]
        sure, near = values > least + slack, (values >= least - slack) & (values >= 0)
        order = torch.arange(n, 0, -1, device=values.device)
        key = order * near + (n + 1) * sure
        top, columns = key.topk(min(kept + 8, n), dim=1)
        return torch.where(top > 0, columns, -1)


def by_blocks(
    search: Search,
    work: Callable[[Tensor], Any],
    progress: Callable[[int, int], None],
    size: int | None = None,
) -> list[Any]:
    """What some work gives for every block of points; they share a look if no size is given."""
    found = []
    for index in search.blocks(size or search.size):
        found.append(work(index))
        progress(int(index[-1]) + 1, search.n)
    return found
