"""Two small programs for graphics processors that PyTorch alone would do in many passes.

They are written in Triton, which comes with PyTorch's builds for such processors.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

_GROUPS = 64  # groups of columns that one program looks at

if triton is not None:

    @triton.jit
    def _largest(products, out, stride, groups, PER: tl.constexpr, SIZE: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        group = tl.program_id(1) * PER + tl.arange(0, PER)
        inside = group < groups
        at = row * stride + group[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
        values = tl.load(products + at, mask=inside[:, None], other=0.0)
        tl.store(out + row * groups + group, tl.max(tl.abs(values), axis=1), mask=inside)

    @triton.jit
    def _descend(Q, b, c, gamma, bound, tau, ridge, sweeps, M: tl.constexpr):
        problem = tl.program_id(0).to(tl.int64)
        at = tl.arange(0, M)
        gram = Q + problem * M * M
        slope = tl.load(b + problem * M + at)
        value = tl.load(c + problem * M + at)
        weight = tl.load(gamma + problem)
        tol = tl.load(bound + problem)
        diagonal = weight * tl.load(gram + at * (M + 1))
        sweep = 0
        worst = tol + 1.0
        while (sweep < sweeps) & (worst > tol):
            for i in range(M):
                here = at == i
                old = tl.sum(tl.where(here, value, 0.0), axis=0)
                push = tl.sum(tl.where(here, slope, 0.0), axis=0)
                if (old != 0.0) | (tl.abs(push) > tau):
                    curvature = tl.sum(tl.where(here, diagonal, 0.0), axis=0)
                    z = push + curvature * old
                    size = tl.maximum(tl.abs(z) - tau, 0.0) / (curvature + ridge)
                    new = tl.where(z > 0.0, size, -size)
                    row = tl.load(gram + i * M + at)
                    slope -= weight * (new - old) * row
                    value = tl.where(here, new, value)
            pull = tl.where(value > 0.0, tau, -tau) + ridge * value
            breach = tl.where(value != 0.0, tl.abs(slope - pull), tl.abs(slope) - tau)
            worst = tl.max(breach, axis=0)
            sweep += 1
        tl.store(b + problem * M + at, slope)
        tl.store(c + problem * M + at, value)


def largest(products: Tensor, size: int) -> Tensor:
    """Largest magnitude of every `size` neighbouring columns."""
    rows, columns = products.shape
    groups = columns // size
    out = torch.empty((rows, groups), dtype=products.dtype, device=products.device)
    _largest[(rows, triton.cdiv(groups, _GROUPS))](
        products, out, products.stride(0), groups, PER=_GROUPS, SIZE=size
    )
    return out


def descend(
    Q: Tensor,
    b: Tensor,
    c: Tensor,
    gamma: Tensor,
    bound: Tensor,
    tau: float,
    ridge: float,
    sweeps: int,
) -> None:
    """Sweeps of coordinate descent on each elastic net, in place, until its bound is kept."""
    _descend[(len(c),)](
        Q, b, c, gamma, bound, tau, ridge, sweeps, M=c.shape[1], num_warps=1
    )  # fmt: skip
