"""How far ARPACK is."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from superpac.graph.cluster_count import guess_count
from superpac.graph.kmeans import kmeans
from superpac.graph.lanczos_progress import CountedProducts
from superpac.graph.spectral import (
    arpack_basis,
    check_affinity,
    normalized_affinity,
    spectral_embedding,
)


def ring_of_groups(groups, size, seed=0):
    """Random groups, each joined to the next by a few edges."""
    rng = np.random.default_rng(seed)
    rows = np.arange(groups * size)
    near = rows[:, None] // size * size + rng.integers(0, size, (rows.size, 6))
    some = rng.permutation(rows)[: rows.size // 20]
    A = sparse.lil_array((rows.size, rows.size))
    A[np.repeat(rows, 6), near.ravel()] = 1.0
    A[some, (some + size) % rows.size] = 1.0
    return check_affinity(sparse.csr_array(A + A.T))


@pytest.mark.parametrize("wanted", [2, 8, 16])
def test_eigenvectors_are_the_same_with_and_without_progress(wanted):
    A, told = ring_of_groups(8, 150), []
    found = spectral_embedding(
        A, wanted, random_state=0, progress=lambda done, total: told.append((done, total))
    )
    plain = spectral_embedding(A, wanted, random_state=0)
    assert np.array_equal(found.vectors, plain.vectors)
    done = [at for at, _ in told]
    assert done == sorted(done)
    assert told[-1][0] == told[-1][1]
    assert len(told) > 10


def test_what_is_expected_is_near_what_it_takes():

    S, told = normalized_affinity(ring_of_groups(8, 300)), []
    counted = CountedProducts(S.__matmul__, 8, arpack_basis(2400, 8), lambda *at: told.append(at))
    eigsh(LinearOperator(S.shape, counted, dtype=float), k=8, ncv=40, v0=np.ones(2400))
    after_first_sweep = told[41][1]
    assert 1 / 2 < after_first_sweep / len(told) < 2


def test_runs_of_k_means_are_counted_and_the_same():
    rows, told = np.random.default_rng(0).normal(size=(500, 4)), []
    one = kmeans(rows, 5, n_init=7, rng=np.random.RandomState(0), start=rows[:5])
    other = kmeans(
        rows,
        5,
        n_init=7,
        rng=np.random.RandomState(0),
        start=rows[:5],
        progress=lambda *at: told.append(at),
    )
    assert np.array_equal(one, other)
    assert told[-1] == (8, 8)
    assert told == sorted(told)


def test_counting_clusters_tells_how_far_it_is():
    A, told = ring_of_groups(6, 100), []
    found = guess_count(A, progress=lambda *at: told.append(at))
    assert found == guess_count(A)
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
