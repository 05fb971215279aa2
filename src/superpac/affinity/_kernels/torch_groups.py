"""The largest magnitude of every 64 neighbouring columns."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType

import torch
from torch import Tensor

from superpac.affinity._kernels import triton_kernels

GROUP = 64


def largest(products: Tensor) -> Tensor:
    """Largest magnitude of each group of columns of each row; whole groups, rows in one piece."""
    rows, columns = products.shape
    kernels = compiled() if products.is_cuda else None
    if kernels is not None:
        return kernels.largest(products, GROUP)
    # without a copy of all magnitudes
    low, high = products.view(rows, columns // GROUP, GROUP).aminmax(dim=2)
    return high.maximum(-low)


@lru_cache(maxsize=1)
def compiled() -> ModuleType | None:
    """Kernels written in Triton, where they can be compiled for a graphics processor; else None."""
    if triton_kernels.triton is None or not torch.cuda.is_available():
        return None
    try:  # Triton calls the system's C compiler, which may be missing
        triton_kernels.largest(torch.ones((1, GROUP), device="cuda"), GROUP)
    except Exception:
        return None
    return triton_kernels
