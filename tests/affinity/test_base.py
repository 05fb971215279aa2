"""Where an affinity is computed: the same on a device as on the processor, or one sentence."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from graphics import torch_device
from superpac.affinity import base
from superpac.affinity.registry import make_affinity
from superpac.data.synthetic import make_subspaces
from superpac.device import choice
from superpac.errors import InputError
from superpac.system.row_blocks import Here
from superpac.system.threads import limit_threads

SPECS = ["tsc", "tsc:q=4,search=exact", "ensc:gamma=10", "ssc-omp:k=3"]
WAYS = ["to_affinity=max", "to_affinity=raw", "to_affinity=knn", "rho=0.8", "normalize=false"]
ALL = SPECS + [f"{name},{way}" for name in SPECS[2:] for way in WAYS]
# copies of a point share a coefficient: rounding alone decides which of them is kept by these
RANKED = ("ensc:gamma=10,rho=0.8", "ensc:gamma=10,to_affinity=knn")


@pytest.fixture
def points():
    X = 3.0 * make_subspaces(60, 3, 3, 15, noise=0.05, seed=2)[0]
    X[[4, 90]] = 0.0
    X[100:104] = X[99]
    return X


@pytest.fixture
def asked(monkeypatch):
    """Give PyTorch on the processor whatever is asked for, and note what that was."""
    seen = []
    device = torch_device()
    monkeypatch.setattr(base, "choose_device", lambda *given: seen.append(given) or device)
    return seen


@pytest.mark.parametrize("spec", ALL)
def test_a_device_gives_the_same_affinity(spec, points, asked):
    if spec in RANKED:
        points = np.delete(points, slice(100, 104), axis=0)
    there = make_affinity(spec, 3)
    A = there.affinity(points)
    assert set(asked) == {("auto", len(points))}
    here = make_affinity(spec + (",device=cpu" if ":" in spec else ":device=cpu"), 3)
    asked.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "choose_device", choice.choose_device)
        B = here.affinity(points)
    # coefficients of EnSC are as near as its tolerance allows
    difference = abs(A - B).max()
    assert difference <= (2e-3 if spec.startswith("ensc") else 1e-7)
    assert A.dtype == np.float64
    assert A.has_sorted_indices
    assert A.indices.dtype == np.int32
    assert (A != A.T).nnz == 0
    assert not A.diagonal().any()
    for name in ("q_", "recall_"):
        assert getattr(there, name, None) == getattr(here, name, None)


@pytest.mark.parametrize("spec", SPECS)
def test_progress_on_a_device_can_cancel(spec, points, asked):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_affinity(spec, 3).affinity(points, progress=stop)


def test_an_approximate_search_stays_on_the_processor_unless_a_device_is_named(points, asked):
    pytest.importorskip("faiss")
    make_affinity("tsc:q=4,search=approximate", 3).affinity(points)
    assert asked == []
    model = make_affinity("tsc:q=4,search=approximate,device=cuda", 3)
    model.affinity(points)
    assert set(asked) == {("cuda", 180)}
    assert model.recall_ == 1.0


@pytest.mark.parametrize("spec", ["tsc", "ensc", "ssc-omp"])
def test_a_machine_without_a_graphics_processor_says_so(spec, points, monkeypatch):
    torch_device()
    monkeypatch.setattr(choice, "graphics_processors", lambda: 0)
    with pytest.raises(InputError, match="device cuda needs a graphics processor"):
        make_affinity(f"{spec}:device=cuda", 3).affinity(points)


@pytest.mark.parametrize("spec", ["tsc", "ensc", "ssc-omp"])
def test_another_name_is_refused_when_it_is_given(spec):
    with pytest.raises(
        InputError, match=r"'device' parameter .* one of auto, cpu, cuda. Got 'gpu'"
    ):
        make_affinity(f"{spec}:device=gpu", 3)


@pytest.mark.parametrize("spec", ["lrr", "knn", "ssc", "gsc"])
def test_other_methods_know_no_device(spec, points, asked):
    with pytest.raises(InputError, match="must be written as name=value with a name of"):
        make_affinity(f"{spec}:device=cpu", 3)
    make_affinity(spec, 3).affinity(points[:20])
    assert asked == []


@pytest.mark.parametrize("spec", ["tsc", "ensc", "ssc-omp"])
def test_blocks_on_a_cluster_are_the_processors(spec, points, asked):
    make_affinity(spec, 3).affinity(points, where=Here())
    assert asked == []
    with pytest.raises(InputError, match="leave out --dask or device=cuda"):
        make_affinity(f"{spec}:device=cuda", 3).affinity(points, where=Here())


def test_pytorch_is_loaded_only_where_it_computes():
    program = (
        "import sys, numpy as np, superpac.affinity as a\n"
        "X = np.random.default_rng(0).normal(size=(30, 4))\n"
        "for kind in (a.TSC, a.EnSC, a.SSCOMP): kind(2, device='cpu').affinity(X)\n"
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.strip() == "False", ran.stderr


def test_much_data_is_scaled_by_several_threads_to_the_same(monkeypatch):
    X = np.random.default_rng(0).normal(size=(2000, 7)).astype(np.float32)
    X[5] = 0.0
    expected = base.unit_rows(X, np.float32)
    monkeypatch.setattr(base, "SINGLE_FROM", 10)
    with limit_threads(2):
        np.testing.assert_array_equal(base.unit_rows(X, np.float32), expected)
