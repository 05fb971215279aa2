"""Diffusion against a dense inverse, and claims that follow any change of the sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import superpac.graph.diffusion as module
from graphics import torch_device
from superpac.device.arrays import to_host
from superpac.device.choice import HOST
from superpac.errors import InputError
from superpac.graph.diffusion import Claims, Diffusion


def graph(n: int, seed: int, isolated: int = 0) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < 4 / n)
    W = np.triu(W, 1)
    W[:isolated], W[:, :isolated] = 0, 0
    return sparse.csr_array(W + W.T)


def naive(A: sparse.csr_array, alpha: float, power: float) -> np.ndarray:
    W = A.toarray()
    W = (W / max(W.max(), 1e-300)) ** power
    degree = W.sum(axis=1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    return np.linalg.inv(np.eye(len(W)) - alpha * scale[:, None] * W * scale)


def test_leading_eigenvectors_change_the_work_and_not_the_solution(monkeypatch):
    monkeypatch.setattr(module, "DENSE", 0)
    A = sparse.csr_array(sparse.block_diag([graph(200, seed) for seed in range(4)]))
    expected = naive(A, module.ALPHA, module.POWER)[:, [3, 500]]
    off = {}
    for tol in (1e-10, 0.3):  # to the end, and stopped where little more than the start is there
        for kept in (0, 8):
            walk = Diffusion(A, tol=tol)
            if kept:
                S = module.normalized_affinity(walk.graph).toarray()
                walk.quicken(np.linalg.eigh(S)[1][:, -kept:] + 1e-3)  # they need not be exact
            off[tol, kept] = np.abs(walk.columns([3, 500]) - expected).max()
    assert max(off[1e-10, 0], off[1e-10, 8]) < 1e-7
    assert off[0.3, 8] < off[0.3, 0] / 2


@pytest.mark.parametrize("dense", [True, False])
def test_columns_are_those_of_the_inverse(monkeypatch, dense):
    A = graph(60, 0, isolated=2)
    if not dense:
        monkeypatch.setattr(module, "DENSE", 0)
    walk = Diffusion(A, alpha=0.97, power=1.5, tol=1e-10)
    expected = naive(A, 0.97, 1.5)
    np.testing.assert_allclose(walk.columns([3, 0, 40]), expected[:, [3, 0, 40]], atol=1e-7)
    np.testing.assert_allclose(walk.columns([7]), expected[:, [7]], atol=1e-7)
    assert walk.diagonal[40] == pytest.approx(expected[40, 40])


def test_a_warm_start_ends_at_the_same_place():
    A = graph(80, 1)
    walk = Diffusion(A, tol=1e-10)
    right = np.random.default_rng(0).random((80, 3))
    cold = walk.solve(right)
    np.testing.assert_allclose(walk.solve(right, start=cold + 0.1), cold, rtol=1e-6)


def test_unreached_mass_is_that_of_the_walk_that_ends_at_certain_points():
    A = graph(50, 2)
    walk = Diffusion(A, alpha=0.9, tol=1e-12)
    certain = np.zeros(50, dtype=bool)
    certain[[4, 9]] = True
    inverse = naive(A, 0.9, 2.0)
    M = np.linalg.inv(inverse)[np.ix_(~certain, ~certain)]
    h = walk.unreached(certain)
    np.testing.assert_allclose(h[~certain], np.linalg.solve(M, np.ones(48)), rtol=1e-3)
    assert (h[certain] == 0).all()


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(-1, 4), min_size=20, max_size=20), min_size=2, max_size=6))
def test_claims_follow_any_change_of_the_sets(history):
    """Points added, taken back, sets merged, split, renamed: always the sum over the members."""
    walk = Diffusion(graph(20, 3))
    claims = Claims(walk)
    for assignment in history:
        members = {
            key: [t for t, k in enumerate(assignment) if k == key]
            for key in sorted(set(assignment) - {-1})
        }
        claims.follow(members)
        assert set(claims.total) == set(members)
        for key, points in members.items():
            expected = walk.columns(points).sum(axis=1)
            np.testing.assert_allclose(claims.total[key], expected, atol=1e-9)


def test_a_graphics_processor_solves_the_same(monkeypatch):
    monkeypatch.setattr(module, "DENSE", 0)
    A, vectors = graph(90, 4, isolated=1), np.random.default_rng(1).normal(size=(90, 5))
    found = {}
    for device in (HOST, torch_device()):
        walk = Diffusion(A, tol=1e-11, device=device)
        plain = to_host(walk.columns([2, 30, 7]))
        walk.quicken(device.array(vectors))
        certain = device.array(np.arange(90) % 9 == 0)
        found[device.name] = [
            plain,
            to_host(walk.columns([2, 30, 7])),
            to_host(walk.columns([])),
            to_host(walk.unreached(certain)),
            to_host(walk.unreached(certain, walk.unreached(device.array(np.arange(90) < 5)))),
            to_host(walk.product(device.array(vectors))),
            np.array([walk.diagonal[t] for t in (2, 30, 7)]),
        ]
    for here, there in zip(*found.values(), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(found["cpu"][1], found["torch"][1], atol=1e-8)


def test_claims_follow_on_a_graphics_processor():
    device = torch_device()
    walk = Diffusion(graph(20, 3), device=device)
    claims, here = Claims(walk), Claims(Diffusion(graph(20, 3)))
    for members in ({0: [1, 2], 4: [7]}, {0: [1], 4: [7, 2, 9]}, {0: [1, 7, 2]}, {}):
        claims.follow(members)
        here.follow(members)
        keys = list(members)
        np.testing.assert_allclose(to_host(claims.matrix(keys)), here.matrix(keys), atol=1e-9)


def test_bad_parameters_are_refused():
    with pytest.raises(InputError, match="alpha"):
        Diffusion(graph(5, 0), alpha=1.0)
    with pytest.raises(InputError, match="power"):
        Diffusion(graph(5, 0), power=0)


def test_a_product_is_that_of_the_dense_matrix():
    rng = np.random.default_rng(0)
    S = sparse.random_array((30, 30), density=0.2, rng=rng, format="csr")  # some rows are empty
    v, out = rng.normal(size=30), np.empty(30)
    module._product(S.indptr.astype(np.int64), S.indices.astype(np.uint32), S.data, v, out)
    np.testing.assert_allclose(out, S.toarray() @ v, atol=1e-14)
