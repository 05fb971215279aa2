"""Orthogonal matching pursuit of many points on all others, on a graphics processor.

As :mod:`superpac.affinity._kernels.omp`: all points of a block choose their next atom by one search
for what correlates most with their residuals; coefficients are fitted anew in double precision.
"""

from __future__ import annotations

import torch
from scipy import sparse
from torch import Tensor

from superpac.affinity._kernels.torch_graph import csr
from superpac.affinity._kernels.torch_search import Search, by_blocks
from superpac.system.progress import Progress, no_progress

# squared sine under which an atom counts as a combination of the chosen ones: about the rounding of
# points that are kept in double, single and half precision
_DEPENDENT = {torch.float64: 1e-14, torch.float32: 1e-11, torch.float16: 1e-6}
_TIE = 1e-12


def omp_rows(
    search: Search, k: int, eps: float, *, progress: Progress = no_progress
) -> sparse.csr_array:
    """Coefficients of points on a device on `k` others at most, chosen greedily."""
    k = min(k, search.n - 1)
    found = by_blocks(search, lambda index: _pursuits(search, index, k, eps), progress)
    rows, columns, values = (torch.cat(each) for each in zip(*found, strict=True))
    return csr(rows, columns, values, search.n)


def _pursuits(search: Search, index: Tensor, k: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Pursuits of some points: rows, columns and values of their coefficients."""
    device = index.device
    points = search.taken(index).double()
    lengths = torch.linalg.vector_norm(points, dim=1)
    residuals = points.clone()
    atoms = torch.full((len(index), k), -1, dtype=torch.int64, device=device)
    coefs = torch.zeros((len(index), k), dtype=torch.float64, device=device)
    # of each point the Gram matrix of its atoms, and their products with it
    G = torch.eye(k, dtype=torch.float64, device=device).repeat(len(index), 1, 1)
    b = torch.zeros_like(coefs)
    going = (lengths > 0).nonzero()[:, 0]
    tie = max(_TIE, 4 * search.eps)
    for size in range(k):
        far = torch.linalg.vector_norm(residuals[going], dim=1) > eps * lengths[going]
        going = going[far]
        if going.numel() == 0:
            break
        own, chosen = index[going, None], atoms[going, :size]
        seen = search.look(residuals[going].to(search.precision), torch.cat([own, chosen], 1))
        new = seen.best(1, tie=tie)[0][:, 0]
        going, chosen, new = going[new >= 0], chosen[new >= 0], new[new >= 0]
        point = search.taken(new).double()
        before = search.taken(chosen).double()
        shared = torch.bmm(before, point[:, :, None])[:, :, 0]
        square = point.square().sum(1)
        G[going, size, :size], G[going, :size, size] = shared, shared
        G[going, size, size] = square
        L, failed = torch.linalg.cholesky_ex(G[going, : size + 1, : size + 1])
        fresh = (failed == 0) & (L[:, size, size] ** 2 > _DEPENDENT[search.rows.dtype] * square)
        # a point whose next atom is a combination of its others is done
        going, new, L, point, before = (
            going[fresh],
            new[fresh],
            L[fresh],
            point[fresh],
            before[fresh],
        )
        atoms[going, size] = new
        b[going, size] = (point * points[going]).sum(1)
        c = torch.cholesky_solve(b[going, : size + 1, None], L)
        coefs[going, : size + 1] = c[:, :, 0]
        fitted = torch.bmm(c[:, :size].transpose(1, 2), before)[:, 0] + c[:, size] * point
        residuals[going] = points[going] - fitted
    used = atoms >= 0
    return index[:, None].expand(atoms.shape)[used], atoms[used], coefs[used]
