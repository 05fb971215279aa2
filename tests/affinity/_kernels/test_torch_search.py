"""The search for what correlates most: as by looking at every product in full."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphics import torch_device
from superpac.affinity.base import unit_rows
from superpac.errors import InputError


@pytest.fixture(scope="module")
def device():
    return torch_device()


def made(device, X, **options):
    from superpac.affinity._kernels.torch_search import Search

    return Search.of(X, device, **{"unit": True, **options})


def look(search, queries, passed_over):
    import torch

    kind = search.precision
    queries = torch.as_tensor(np.asarray(queries), dtype=kind)
    return search.look(queries, torch.as_tensor(np.asarray(passed_over), dtype=torch.int64))


def odd_points(n, D, seed, *, copies=True):
    """Points of which some are zero, some the same, some opposite, and some nearly the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + rng.choice([0.0, 3.0])
    X[rng.random(n) < 0.1] = 0.0
    if copies:
        X[rng.random(n) < 0.2] = X[0]
        X[rng.random(n) < 0.1] = -X[0]
    near = rng.random(n) < 0.3
    X[near] = X[-1] + 10.0 ** rng.uniform(-9, -1) * rng.normal(size=(near.sum(), D))
    return X


def products(U, queries, passed_over):
    P = np.abs(queries @ U.T)
    np.put_along_axis(P, np.asarray(passed_over), 0.0, axis=1)
    return P


@settings(max_examples=60)
@given(
    n=st.integers(2, 300), D=st.integers(1, 12), kept=st.integers(1, 20),
    seed=st.integers(0, 2**31), length=st.sampled_from([1.0, 1e-3, 40.0]),
)  # fmt: skip
def test_the_best_are_those_of_all_products(device, n, D, kept, seed, length):
    U = unit_rows(odd_points(n, D, seed))
    rng = np.random.default_rng(seed + 1)
    queries = np.vstack([U[:20], rng.normal(size=(5, D)), np.zeros((1, D))]) * length
    passed_over = rng.integers(0, n, size=(len(queries), 3))
    kept = min(kept, n - 1)
    columns, values = look(made(device, U), queries, passed_over).best(kept)
    columns, values = columns.numpy(), values.numpy()
    P = products(U, queries, passed_over)
    np.testing.assert_allclose(values, -np.sort(-P, axis=1)[:, :kept], atol=1e-13 * length)
    given_, real = np.take_along_axis(P, np.maximum(columns, 0), axis=1), columns >= 0
    np.testing.assert_allclose(given_[real], values[real], atol=1e-13 * length)
    for row, of in zip(columns, passed_over, strict=True):
        found = row[row >= 0]
        assert len(set(found)) == len(found)
        assert not set(found) & set(of)


@pytest.mark.parametrize("n", [10, 64, 100, 900])
def test_of_copies_the_first_are_taken(device, n):
    X = np.tile(np.random.default_rng(0).normal(size=(1, 7)), (n, 1))
    columns, _ = look(made(device, X), unit_rows(X), np.arange(n)[:, None]).best(4)
    for j, row in enumerate(columns.numpy()):
        assert row.tolist() == [i for i in range(5) if i != j][:4]


def test_what_half_precision_cannot_tell_apart_is_told_apart(device):
    """Thousands of points in a plane: all neighbours differ by less than a step of float16."""
    angle = np.random.default_rng(0).uniform(0, np.pi, size=3000)
    U = np.column_stack([np.cos(angle), np.sin(angle)])
    own = np.arange(50)[:, None]
    columns, _ = look(made(device, U), U[:50], own).best(3)
    best = np.argsort(-products(U, U[:50], own), axis=1)[:, :3]
    np.testing.assert_array_equal(columns.numpy(), best)


@settings(max_examples=60)
@given(
    n=st.integers(2, 300), D=st.integers(1, 12), wanted=st.integers(1, 20),
    seed=st.integers(0, 2**31), nudge=st.sampled_from([0.0, 1e-12, -1e-12, 1e-5, -1e-5]),
)  # fmt: skip
def test_none_above_a_bar_is_missed(device, n, D, wanted, seed, nudge):
    import torch

    U = unit_rows(odd_points(n, D, seed))
    queries = 3.0 * np.random.default_rng(seed).normal(size=(12, D))
    passed_over = np.random.default_rng(seed).integers(0, n, size=(12, 2))
    P = products(U, queries, passed_over)
    bar = np.maximum(-np.sort(-P, axis=1)[:, min(2, n - 1)] + nudge, 0)  # about the third
    found = look(made(device, U), queries, passed_over).above(torch.as_tensor(bar), wanted).numpy()
    for row, values, low in zip(found, P, bar, strict=True):
        some = row[row >= 0]
        assert np.all(values[some] > low - 1e-13)
        assert some.size or not np.any(values > low + 1e-13)


def test_one_long_point_hides_no_short_ones(device):
    rng = np.random.default_rng(1)
    X = 1e-6 * rng.normal(size=(200, 10))
    X[7] = unit_rows(rng.normal(size=(1, 10)))
    own = np.arange(200)[:, None]
    columns, _ = look(made(device, X, unit=False), X, np.hstack([own, own * 0 + 7])).best(3)
    best = np.argsort(-products(X, X, np.hstack([own, own * 0 + 7])), axis=1)[:, :3]
    np.testing.assert_array_equal(columns.numpy(), best)


def test_points_in_half_precision_are_compared_in_single(device):
    import torch

    from superpac.affinity._kernels.torch_search import Search

    half = torch.from_numpy(unit_rows(np.random.default_rng(2).normal(size=(150, 13)))).half()
    search = Search(half, device)
    columns, values = search.look(search.taken(torch.arange(150)), torch.arange(150)[:, None]).best(
        4
    )
    exact = half.double().numpy()
    P = products(exact, exact, np.arange(150)[:, None])
    assert values.dtype == torch.float32
    np.testing.assert_array_equal(columns.numpy(), np.argsort(-P, axis=1)[:, :4])


@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_do_not_matter(device, monkeypatch, size):
    from superpac.affinity._kernels import torch_search
    from superpac.affinity._kernels.torch_top_k import top_rows

    X = odd_points(130, 6, 3)
    whole = [each.numpy() for each in top_rows(made(device, X), 5)]
    for name in ("BLOCK", "UPLOAD"):
        monkeypatch.setattr(torch_search, name, size)
    monkeypatch.setattr(torch_search, "PIECE", 4096)
    for one, other in zip(whole, top_rows(made(device, X), 5), strict=True):
        np.testing.assert_array_equal(one, other.numpy())


def test_what_does_not_fit_is_refused_before_anything_begins(device, monkeypatch):
    monkeypatch.setattr(device, "free", lambda: 10_000)
    with pytest.raises(InputError, match=r"300 points of 40 numbers needs about .* take fewer"):
        made(device, np.ones((300, 40)))
