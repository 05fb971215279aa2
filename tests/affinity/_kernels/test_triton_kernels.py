"""The kernels in Triton against what PyTorch does step by step, in Triton's own interpreter."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from graphics import torch_device

INTERPRETED = """
import torch
from superpac.affinity._kernels import torch_net, triton_kernels

torch.manual_seed(0)
values = torch.randn(5, 64 * 100)
assert torch.equal(triton_kernels.largest(values, 64), values.view(5, -1, 64).abs().amax(2))

A = torch.nn.functional.normalize(torch.randn(6, 32, 20), dim=2)
A[:, 28:] = 0  # no atoms
x = torch.nn.functional.normalize(torch.randn(6, 20), dim=1)
Q, q = A @ A.transpose(1, 2), (A @ x[:, :, None])[:, :, 0]
gamma, bound, c = torch.full((6,), 8.0), torch.full((6,), 1e-4), torch.zeros(6, 32)
triton_kernels.descend(Q, torch_net.slopes(Q, q, c, gamma), c, gamma, bound, 0.9, 0.1, 200)
assert (torch_net.breach(torch_net.slopes(Q, q, c, gamma), c, 0.9, 0.1) < 2e-4).all()
other = torch_net.elastic_nets(Q, q, torch.zeros(6, 32), gamma, bound, 0.9)
assert (c - other).abs().max() < 1e-3 and (c != 0).any()
"""


def test_they_do_the_same(monkeypatch):
    torch_device()
    if find_spec("triton") is None:
        pytest.skip("Triton comes with PyTorch's builds for graphics processors only")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    ran = subprocess.run([sys.executable, "-c", INTERPRETED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
