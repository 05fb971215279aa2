"""The largest inner products of each row, on a graphics processor."""

from __future__ import annotations

import torch
from torch import Tensor

from superpac.affinity._kernels.torch_search import Search, by_blocks
from superpac.system.progress import Progress, no_progress


def top_rows(
    search: Search, kept: int, *, floor: float = 0.0, progress: Progress = no_progress
) -> tuple[Tensor, Tensor]:
    """Each point's largest absolute inner products with other ones: columns (-1: none) and values.

    As :func:`superpac.affinity._kernels.top_k.top_inner_products`, of points on a device. Products
    that are no more than `floor` or the rounding of their precision are not kept.
    """
    kept = min(kept, max(search.n - 1, 1))
    floor = max(floor, 8 * search.eps)

    def work(index: Tensor) -> tuple[Tensor, Tensor]:
        return search.look(search.taken(index), index[:, None]).best(kept, floor)

    columns, values = zip(*by_blocks(search, work, progress), strict=True)
    return torch.cat(columns), torch.cat(values)
