"""The largest magnitude of 64 neighbouring columns."""

from __future__ import annotations

import numpy as np

from graphics import torch_device


def test_it_is_the_largest_magnitude():
    device = torch_device()
    from superpac.affinity._kernels.torch_groups import GROUP, largest

    values = np.random.default_rng(0).normal(size=(9, 5 * GROUP)).astype(np.float32)
    found = largest(device.array(values)).numpy()
    np.testing.assert_array_equal(found, np.abs(values).reshape(9, 5, GROUP).max(axis=2))


def test_kernels_that_cannot_be_compiled_are_done_without(monkeypatch):
    torch_device()
    import torch

    from superpac.affinity._kernels import torch_groups, triton_kernels

    def no_compiler(*given):
        raise RuntimeError("Failed to find C compiler")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "ones", no_compiler)
    monkeypatch.setattr(triton_kernels, "triton", object())
    torch_groups.compiled.cache_clear()
    assert torch_groups.compiled() is None
    torch_groups.compiled.cache_clear()
