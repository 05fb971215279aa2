"""PyTorch on the processor, in the place of a graphics processor: the same program, no driver."""

from __future__ import annotations

from importlib.util import find_spec

from postgres import unavailable
from superpac.device.choice import Torch


def torch_device() -> Torch:
    """Give the device, or skip the test by name where PyTorch is not installed."""
    for library in ("torch", "array_api_compat"):
        if find_spec(library) is None:
            unavailable(f"{library} is not installed; make test installs it")
    return Torch("cpu")
