"""Sparse matrices put together on a graphics processor, by sorting, and given to the processor."""

from __future__ import annotations

import torch
from scipy import sparse
from torch import Tensor

from superpac.device.choice import Torch


def csr(rows: Tensor, columns: Tensor, values: Tensor, n: int) -> sparse.csr_array:
    """Sparse n x n matrix of entries in any order, none twice."""
    order = (rows * n + columns).argsort()
    return _matrix(rows[order], columns[order], values[order], n)


def symmetric(rows: Tensor, columns: Tensor, values: Tensor, n: int) -> sparse.csr_array:
    """Z + Z' of a sparse matrix Z of entries in any order, none twice; zeros are not stored."""
    good = values != 0
    rows, columns, values = rows[good], columns[good], values[good].double()
    key, order = torch.cat([rows * n + columns, columns * n + rows]).sort()
    values = torch.cat([values, values])[order]
    key, place = key.unique_consecutive(return_inverse=True)
    # two at most meet in one place, so that their order changes nothing
    sums = torch.zeros(len(key), dtype=torch.float64, device=key.device)
    sums.index_add_(0, place, values)
    return _matrix(key // n, key % n, sums, n)


def affinity(C: sparse.csr_array, how: str, device: Torch) -> sparse.csr_array:
    """``|C| + |C|'`` with rows scaled as "unit", "max" or "raw" say.

    As :func:`superpac.affinity.self_expressive.affinity_from_coefficients`.
    """
    n = C.shape[0]
    values = device.array(C.data, "float64").abs()
    columns = device.array(C.indices, "int64")
    starts = device.array(C.indptr, "int64")
    rows = torch.repeat_interleave(torch.arange(n, device=values.device), starts.diff())
    if how != "raw":
        values = values / _of_rows(values, starts, "max")[rows]
    if how == "unit":
        values = values / _of_rows(values**2, starts, "sum").sqrt()[rows]
    return symmetric(rows, columns, values, n)


def _of_rows(values: Tensor, starts: Tensor, what: str) -> Tensor:
    """Sum or maximum of the entries of each row; the same in every run."""
    return torch.segment_reduce(values, what, offsets=starts, initial=0.0)


def _matrix(rows: Tensor, columns: Tensor, values: Tensor, n: int) -> sparse.csr_array:
    """Sparse matrix of entries in the order of rows and columns."""
    starts = torch.searchsorted(rows, torch.arange(n + 1, device=rows.device))
    small = max(n, len(rows)) < 2**31 - 1
    index = torch.int32 if small else torch.int64
    parts = values.double(), columns.to(index), starts.to(index)
    return sparse.csr_array(tuple(each.cpu().numpy() for each in parts), shape=(n, n))
