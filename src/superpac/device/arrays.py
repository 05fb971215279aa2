"""Arrays of either library, and the few things that the array API leaves open.

Code that follows an array's own namespace runs on both: ``xp = namespace(X)`` is NumPy for NumPy's
arrays and the array API's PyTorch (array-api-compat) for tensors, so that there is one program.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any
"""A NumPy array or a PyTorch tensor."""


def is_host(array: Array) -> bool:
    """Whether an array is NumPy's.

    Examples
    --------
    >>> is_host(np.zeros(3))
    True
    """
    return isinstance(array, (np.ndarray, np.generic))


def namespace(array: Array) -> ModuleType:
    """Functions of the library that an array belongs to.

    Examples
    --------
    >>> namespace(np.zeros(3)).__name__
    'numpy'
    """
    if is_host(array):
        return np
    import array_api_compat.torch

    return array_api_compat.torch


def to_host(array: Array) -> NDArray[Any]:
    """Give an array as NumPy's, copied from a graphics processor if it is there.

    Examples
    --------
    >>> to_host(np.arange(3))
    array([0, 1, 2])
    """
    return array if is_host(array) else array.detach().cpu().numpy()


def like(values: Any, array: Array, dtype: Any = None) -> Array:
    """Give values of the processor's memory as an array beside another, in its library.

    Examples
    --------
    >>> like([1, 2], np.zeros(3))
    array([1, 2])
    """
    if is_host(array):
        return np.asarray(values, dtype=dtype)
    import torch

    found = torch.from_numpy(np.ascontiguousarray(values)).to(array.device)
    return found if dtype is None else found.to(dtype)
