"""Drawn subspaces have the dimension, angles and noise that were asked for."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.subspaces.geometry import fit_bases, principal_angles


@pytest.mark.parametrize("angle", [0.2, np.pi / 4, np.pi / 2])
def test_every_principal_angle_is_the_one_asked_for(angle: float) -> None:
    X, y = make_subspaces(20, 3, 2, 8, angle=angle, seed=0)
    bases = fit_bases(X, y, 3, 2)
    for i in range(3):
        for j in range(i):
            np.testing.assert_allclose(principal_angles(bases[i], bases[j]), angle, atol=1e-8)


def test_sizes_dimensions_and_unit_length() -> None:
    X, y = make_subspaces([5, 9], 2, [1, 3], 6, seed=1)
    assert np.bincount(y).tolist() == [5, 9]
    assert [int(np.linalg.matrix_rank(X[y == k])) for k in (0, 1)] == [1, 3]
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)


def test_noise_has_the_expected_length_and_seed_repeats() -> None:
    clean, _ = make_subspaces(2000, 1, 3, 50, seed=2)
    noisy, _ = make_subspaces(2000, 1, 3, 50, noise=0.3, seed=2)
    assert np.linalg.norm(noisy - clean, axis=1).mean() == pytest.approx(0.3, rel=0.02)
    np.testing.assert_array_equal(noisy, make_subspaces(2000, 1, 3, 50, noise=0.3, seed=2)[0])


@pytest.mark.parametrize(
    ("arguments", "extra", "words"),
    [
        ((5, 2, 9, 4), {}, "at most ambient = 4"),
        ((0, 2, 1, 4), {}, "n_per_cluster"),
        ((5, 2, [1], 4), {}, "'dim' argument"),
        ((5, 2, 1, 4), {"noise": -1.0}, "noise"),
        ((5, 2, 1, 4), {"angle": 2.0}, "angle"),
        ((5, 2, 2, 4), {"angle": 0.5}, "at least 6"),
    ],
)
def test_refuses_in_one_sentence(arguments: tuple, extra: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_subspaces(*arguments, **extra)
