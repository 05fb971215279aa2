"""The largest inner products of each row, nearly all of them, without looking at every pair.

Points are projected on their leading directions, where an inverted file (faiss) finds candidates;
their products are then taken in full. How many of the true neighbours this finds depends on the
data, so it is measured on some rows before all are searched, and the search widened until it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.affinity._kernels.top_k import gathered, ranked_products, top_inner_products
from superpac.array_types import FloatArray, IntArray
from superpac.system.optional import require
from superpac.system.progress import Progress, no_progress
from superpac.system.row_blocks import HERE, RowBlocks, blocks_of

SAMPLE = 256  # rows on which the search is measured
BLOCK = 8192  # rows projected, and searched, at a time
ROUNDS = 4  # times that the search is widened before all pairs are looked at
TRAINED_ON = 64  # points per list that the lists' centres are fitted to
PREPARING = 0.3  # of the time is spent before rows are searched: so far is progress by then
TIE = 1e-6  # products that differ by less are equally good neighbours


@dataclass(frozen=True)
class Reach:
    """How widely is searched: leading directions, lists visited, candidates per row."""

    directions: int
    visits: int
    candidates: int


def approximate_top_inner_products(
    X: FloatArray,
    kept: int,
    *,
    floor: float = 0.0,
    recall: float = 0.99,
    seed: int = 0,
    progress: Progress = no_progress,
    where: RowBlocks = HERE,
) -> tuple[NDArray[np.int64], FloatArray, float]:
    """Nearly each row's largest absolute inner products with other rows: columns, values, recall.

    As :func:`superpac.affinity._kernels.top_k.top_inner_products`, of which at least a share of
    `recall` is found, as measured on a sample of the rows; where no reach gives that, all pairs
    are looked at.
    """
    require("large", "An approximate search for neighbours")
    n = X.shape[0]
    rows = np.sort(np.random.default_rng([seed, 31]).permutation(n)[:SAMPLE])

    def prepared(share: float) -> None:
        progress(int(share * PREPARING * n), n)

    def searched(done: int, total: int) -> None:
        progress(n if done == total else int((PREPARING + (1 - PREPARING) * done / total) * n), n)

    least = _least_kept(X, rows, kept)
    for search in _searches(X, kept, prepared):
        found = search.top(rows, kept, floor)[1]
        share = float(np.mean(found >= least - TIE))
        if share >= recall:
            given = search, kept, floor
            return *gathered(_near_rows, given, kept, BLOCK, searched, where), share
    return *top_inner_products(X, kept, floor=floor, progress=searched, where=where), 1.0


def _near_rows(
    search: _Search, kept: int, floor: float, start: int, stop: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """Neighbours of some rows."""
    return search.top(np.arange(start, stop), kept, floor)


def _searches(X: FloatArray, kept: int, prepared: Callable[[float], None]) -> Iterator[_Search]:
    """Searches that reach further and further."""
    prepared(0.1)
    single = np.ascontiguousarray(X, np.float32)
    directions = np.linalg.eigh((single.T @ single).astype(np.float64))[1][:, ::-1]
    prepared(0.4)
    signed = bool(single.min(initial=0.0) < 0)
    index, lists = None, max(1, round(4 * np.sqrt(X.shape[0])))
    for step in range(ROUNDS):
        wide = 2**step
        reach = Reach(
            min(96 * wide, X.shape[1]), min(32 * wide, lists), min((4 * kept + 20) * wide, 1000)
        )
        if index is None or index.d < reach.directions:
            points = _projected(single, directions[:, : reach.directions])
            prepared(0.5)
            index = _index(points, lists)
        prepared(1.0)
        yield _Search(X, points, index, reach, signed)


def _projected(single: NDArray[np.float32], directions: FloatArray) -> NDArray[np.float32]:
    """Points on some directions, multiplied in double precision block by block."""
    points = np.empty((single.shape[0], directions.shape[1]), np.float32)
    for block in blocks_of(single.shape[0], BLOCK):
        points[block.start : block.stop] = single[block.start : block.stop] @ directions
    return points


def _index(points: NDArray[np.float32], lists: int) -> Any:
    """Inverted file of points in lists, each around a centre."""
    import faiss

    n, directions = points.shape
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(directions), directions, lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter = 10
    index.cp.min_points_per_centroid = 1  # fewer are no mistake here, and it would be printed
    index.cp.max_points_per_centroid = TRAINED_ON
    index.train(points)
    index.add(points)
    return index


@dataclass(frozen=True)
class _Search:
    """Points, their projection in an index, how widely to look there, and for which sign."""

    X: FloatArray
    points: NDArray[np.float32]
    index: Any
    reach: Reach
    signed: bool

    def __len__(self) -> int:
        return self.X.shape[0]

    def __getstate__(self) -> dict[str, Any]:
        """To go to another process: an index is not pickled as it is."""
        import faiss

        return {**self.__dict__, "index": faiss.serialize_index(self.index)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import faiss

        self.__dict__.update(state, index=faiss.deserialize_index(state["index"]))

    def top(self, rows: IntArray, kept: int, floor: float) -> tuple[NDArray[np.int64], FloatArray]:
        """Largest products of some rows among the candidates for them."""
        self.index.nprobe = self.reach.visits
        wanted = min(self.reach.candidates + 1, self.X.shape[0])  # a row finds itself, too
        found = self.index.search(self.points[rows], wanted)[1]
        if self.signed:  # a product far below zero is a near neighbour, too
            opposite = self.index.search(-self.points[rows], wanted)[1]
            found = np.concatenate([found, opposite], axis=1)
        found = np.sort(found, axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
        found[found == rows[:, None]] = -1
        return ranked_products(self.X, rows, found, kept, floor)


def _least_kept(X: FloatArray, rows: IntArray, kept: int) -> FloatArray:
    """Smallest of the `kept` largest absolute products of some rows, as a column; all pairs."""
    single = np.ascontiguousarray(X, np.float32)
    best = np.zeros((rows.size, kept), np.float32)
    for left in range(0, X.shape[0], BLOCK):
        tile = np.abs(single[rows] @ single[left : left + BLOCK].T)
        own = np.flatnonzero((rows >= left) & (rows < left + BLOCK))
        tile[own, rows[own] - left] = 0.0
        both = np.concatenate([best, tile], axis=1)
        best = np.partition(both, both.shape[1] - kept, axis=1)[:, -kept:]
    return best.min(axis=1)[:, None].astype(np.float64)
