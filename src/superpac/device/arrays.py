"""Arrays of either library, and the few things that the array API leaves open.

Code that follows an array's own namespace runs on both: ``xp = namespace(X)`` is NumPy for NumPy's
arrays and the array API's PyTorch (array-api-compat) for tensors, so that there is one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any
"""A NumPy array or a PyTorch tensor."""


PINNED_FROM = 1_000_000
"""Bytes from which a transfer is worth memory of its own."""


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
    if is_host(array):
        return array
    if array.device.type != "cuda" or array.nbytes < PINNED_FROM:
        return array.detach().cpu().numpy()
    import torch

    # into memory that stays where it is the transfer is several times as fast
    there = torch.empty(array.shape, dtype=array.dtype, pin_memory=True)
    return there.copy_(array).numpy()


def indices_to_host(array: Array) -> NDArray[np.intp]:
    """Give indices as NumPy's; as half as many bytes they come from a graphics processor sooner.

    Examples
    --------
    >>> indices_to_host(np.array([3, 1]))
    array([3, 1])
    """
    return to_host(array if is_host(array) else array.int()).astype(np.intp, copy=False)


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


def ratio(above: Array, below: Array) -> Array:
    """Divide, giving 0 where the divisor is not positive.

    Examples
    --------
    >>> ratio(1.0, np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    if is_host(below):
        shape = np.broadcast_shapes(np.shape(above), below.shape)
        return np.divide(above, below, out=np.zeros(shape, below.dtype), where=below > 0)
    nothing = ~(below > 0)  # this and filling in hand over less than choosing does
    return (above / below.masked_fill(nothing, 1.0)).masked_fill_(nothing, 0.0)


class SideBySide:
    """Columns beside each other in one array, of which few change from one use to the next.

    Examples
    --------
    >>> one, two, beside = np.zeros(2), np.ones(2), SideBySide()
    >>> beside.array([one, two]).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    >>> beside.array([two, two]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self) -> None:
        self._columns: list[Array] = []
        self._beside: Array = None

    def array(self, columns: Sequence[Array]) -> Array:
        """Give columns as one array, which holds until the next call.

        A column that was in the same place the last time is not copied again, so none may be
        changed in place.
        """
        old = self._columns
        moved = [k for k, column in enumerate(columns) if k >= len(old) or column is not old[k]]
        if len(columns) != len(old) or 2 * len(moved) > len(columns):
            self._beside = namespace(columns[0]).stack(columns, axis=1)
        else:
            for k in moved:
                self._beside[:, k] = columns[k]
        self._columns = list(columns)
        return self._beside


def where_true(mask: Array) -> Array:
    """Indices at which a mask holds, ascending.

    Examples
    --------
    >>> where_true(np.array([True, False, True])).tolist()
    [0, 2]
    """
    return np.flatnonzero(mask) if is_host(mask) else namespace(mask).nonzero(mask)[0]


def median(values: Array) -> float:
    """Middle of some numbers, the mean of two where their number is even.

    Examples
    --------
    >>> median(np.array([3.0, 1.0, 2.0, 9.0]))
    2.5
    """
    if is_host(values):
        return float(np.median(values))
    count = values.shape[0]
    ranked = values.sort().values  # sooner on a graphics processor than a search for the middle
    return float((ranked[(count - 1) // 2] + ranked[count // 2]) / 2)


def filled(shape: int | tuple[int, ...], value: Any, beside: Array, dtype: str) -> Array:
    """Give an array of one value where another one lives.

    Examples
    --------
    >>> filled(2, 7, np.zeros(3), "float64")
    array([7., 7.])
    """
    if is_host(beside):
        return np.full(shape, value, dtype=dtype)
    xp = namespace(beside)
    return xp.full(shape, value, dtype=getattr(xp, dtype), device=beside.device)
