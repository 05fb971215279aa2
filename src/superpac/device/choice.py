"""Which device computes: the processor, or a graphics processor if there is one that can be used.

NumPy and Numba serve the processor. A graphics processor is reached through PyTorch, which the
extra ``gpu`` brings; without it, or without a driver, "auto" is the processor.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superpac.device.arrays import Array
from superpac.errors import InputError
from superpac.system.memory import free_bytes
from superpac.system.optional import is_installed, require

DEVICES = ("auto", "cpu", "cuda")
SETTING = "SUPERPAC_DEVICE"
WORTH_FROM = 5_000
"""Points from which "auto" takes a graphics processor; below, starting its work takes longer."""


class Device(ABC):
    """Where arrays live and are computed.

    Attributes
    ----------
    name : str
        "cpu", "cuda", or "torch" for PyTorch on the processor, which tests compare with the rest.
    """

    name: str

    @abstractmethod
    def array(self, values: Any, dtype: str | None = None) -> Array:
        """Bring values of the processor's memory to this device, as a type such as "float32"."""

    @abstractmethod
    def free(self) -> int:
        """Bytes of memory that can still be taken."""

    def check_room(self, wanted: float, purpose: str) -> None:
        """Refuse work that needs more memory than is free, before anything long begins.

        Parameters
        ----------
        wanted : float
            Bytes.
        purpose : str
            What needs them, to begin a sentence with.
        """
        free = self.free()
        if wanted > free:
            raise InputError(
                f"{purpose} needs about {wanted / 1e9:.1f} GB on the device {self.name}, and "
                f"{free / 1e9:.1f} GB are free; take fewer points or another device."
            )


class Processor(Device):
    """NumPy and Numba.

    Examples
    --------
    >>> HOST.array([1, 2], "float32")
    array([1., 2.], dtype=float32)
    """

    name = "cpu"

    def array(self, values: Any, dtype: str | None = None) -> NDArray[Any]:
        """Give values as an array; no copy where they are one."""
        return np.asarray(values, dtype=dtype)

    def free(self) -> int:
        """Bytes that this process may still take."""
        return free_bytes()

    def __reduce__(self) -> str:
        return "HOST"  # a copy, and what another process is sent, is the one there is


class Torch(Device):
    """PyTorch, on a graphics processor or on the processor.

    Parameters
    ----------
    where : str
        As PyTorch names it: "cuda" or "cpu".
    """

    def __init__(self, where: str = "cuda") -> None:
        require("gpu", f"The device {where}", "torch", "array_api_compat")
        import torch

        self.where = torch.device(where)
        self.name = "torch" if where == "cpu" else where

    def array(self, values: Any, dtype: str | None = None) -> Array:
        """Copy values to the device."""
        import torch

        if isinstance(values, torch.Tensor):
            found = values.to(self.where)
        else:
            values = np.ascontiguousarray(values)
            if not values.flags.writeable and self.name != "cuda":  # PyTorch has no such arrays
                values = values.copy()
            with warnings.catch_warnings():  # of these it is only read
                warnings.filterwarnings("ignore", message=".*not writable", category=UserWarning)
                found = torch.from_numpy(values).to(self.where)
        return found if dtype is None else found.to(getattr(torch, dtype))

    def graph(self, A: sparse.csr_array) -> Array:
        """Copy a sparse matrix to the device, in its own type."""
        import torch

        index = "int32" if A.nnz < np.iinfo(np.int32).max else "int64"
        parts = self.array(A.indptr, index), self.array(A.indices, index), self.array(A.data)
        with quiet_about_sparse():
            return torch.sparse_csr_tensor(*parts, size=A.shape)

    def free(self) -> int:
        """Bytes of its memory that are free or held back for the next array."""
        if self.name == "torch":
            return free_bytes()
        import torch

        held = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return int(torch.cuda.mem_get_info()[0]) + int(held)


HOST = Processor()


@contextmanager
def quiet_about_sparse() -> Iterator[None]:
    """Keep PyTorch from saying that its compressed sparse matrices are new."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Ss]parse.*", category=UserWarning)
        yield


def choose_device(name: str = "auto", points: int | None = None) -> Device:
    """Give the device of a name.

    Parameters
    ----------
    name : {"auto", "cpu", "cuda"}
        "cuda" is a graphics processor of Nvidia's. "auto" is what the environment variable
        SUPERPAC_DEVICE says; where it says nothing, a graphics processor if there is one, PyTorch
        is installed and the points are many.
    points : int, optional
        How many points the work is on; None means many.

    Returns
    -------
    Device

    Raises
    ------
    InputError
        For another name, and for "cuda" where there is none.

    Examples
    --------
    >>> choose_device("cpu").name
    'cpu'
    """
    if name not in DEVICES:
        raise InputError(f"The device must be one of {', '.join(DEVICES)}. Got {name!r} instead.")
    if name == "auto" and os.environ.get(SETTING, "auto") != "auto":
        name = os.environ[SETTING]
        if name not in DEVICES:
            raise InputError(f"{SETTING} must be one of {', '.join(DEVICES)}. Got {name!r}.")
    if name == "cpu":
        return HOST
    if name == "auto":
        few = points is not None and points < WORTH_FROM
        return HOST if few or not (is_installed("gpu") and _usable()) else _cuda()
    require("gpu", "The device cuda", "torch", "array_api_compat")
    if graphics_processors() == 0:
        raise InputError(
            "The device cuda needs a graphics processor of Nvidia's with its driver, and none is "
            "found here; take auto or cpu."
        )
    if not _usable():
        raise InputError(
            "The PyTorch that is installed cannot use this machine's graphics processor; install "
            "a build with CUDA for its driver, or take cpu."
        )
    return _cuda()


@lru_cache(maxsize=1)
def _cuda() -> Torch:
    return Torch("cuda")


@lru_cache(maxsize=1)
def graphics_processors() -> int:
    """How many graphics processors the driver finds; asked without PyTorch, which loads slowly."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        try:
            driver = ctypes.CDLL(library)
        except OSError:
            continue
        count = ctypes.c_int(0)
        if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0:
            return count.value
    return 0


@lru_cache(maxsize=1)
def _usable() -> bool:
    """Whether PyTorch can use one of them."""
    if graphics_processors() == 0:
        return False
    import torch

    return bool(torch.cuda.is_available())
