"""What holds for every affinity method alike."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from superpac.affinity import Precomputed, affinity_names, make_affinity
from superpac.affinity.registry import METHODS
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.metrics import clustering_error

pytestmark = pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")

EUCLIDEAN = {"rbf", "knn"}
RANDOM = {"ksubspaces", "ekss"}


def check_graph(A: object, n: int) -> None:
    assert isinstance(A, sparse.csr_array)
    assert A.shape == (n, n)
    assert A.dtype == np.float64
    assert A.indices.dtype == np.int32
    assert np.isfinite(A.data).all()
    assert A.nnz == 0 or A.data.min() > 0
    assert A.diagonal().max(initial=0.0) == 0
    gap = abs(A - A.T)
    assert gap.nnz == 0 or gap.max() <= 1e-12 * A.data.max()


NOT_SQUARE = "the check passes points where an affinity matrix is due"
PLANE = "blobs in the plane: any two points span it, so which two express a point means nothing"
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "Precomputed": {"check_clustering": NOT_SQUARE},
    "SSCOMP": {"check_clustering": PLANE},
}


@parametrize_with_checks(
    [kind() for kind in METHODS.values()] + [Precomputed()],
    expected_failed_checks=lambda e: EXPECTED_FAILURES.get(type(e).__name__, {}),
)
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", affinity_names())
def test_noiseless_subspaces_are_recovered(name: str, seed: int) -> None:
    if name in EUCLIDEAN:  # they know nothing of subspaces: dense circles, far apart
        X, y = make_subspaces(60, 3, 2, 12, angle=np.pi / 2, seed=seed)
    else:
        X, y = make_subspaces(40, 3, 3, 20, seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    spec = {"ksubspaces": "ksubspaces:dim=3", "ekss": "ekss:dim=3", "tsc": "tsc:q=6"}.get(
        name, name
    )
    model = make_affinity(spec, 3, random_state=seed).fit(X[order])
    assert clustering_error(y[order], model.labels_) == 0
    check_graph(model.affinity_matrix_, len(y))


@pytest.mark.parametrize("name", affinity_names())
def test_same_seed_same_result_on_any_number_of_threads(name: str) -> None:
    X, _ = make_subspaces(25, 3, 3, 12, noise=0.2, seed=0)
    first = make_affinity(name, 3, random_state=5, n_jobs=1).fit(X)
    again = make_affinity(name, 3, random_state=5, n_jobs=2).fit(X)
    np.testing.assert_allclose(
        first.affinity_matrix_.toarray(), again.affinity_matrix_.toarray(), atol=1e-10
    )
    np.testing.assert_array_equal(first.labels_, again.labels_)


@pytest.mark.parametrize("name", affinity_names())
def test_order_of_points_does_not_matter(name: str) -> None:
    if name in RANDOM:
        pytest.skip("draws depend on the order by design")
    X, _ = make_subspaces(25, 3, 3, 12, noise=0.2, seed=1)
    order = np.random.default_rng(0).permutation(len(X))
    A = make_affinity(name, 3).affinity(X).toarray()
    B = make_affinity(name, 3).affinity(X[order]).toarray()
    np.testing.assert_allclose(B, A[np.ix_(order, order)], atol=2e-3 if name == "ssc" else 1e-5)


@pytest.mark.parametrize("name", affinity_names())
def test_more_clusters_than_points_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="n_clusters' parameter .* at most n_samples = 4"):
        make_affinity(name, 5).fit(np.random.default_rng(0).normal(size=(4, 3)))


@st.composite
def odd_data(draw: st.DrawFn) -> np.ndarray:
    """Small data with what real files have wrong with them."""
    n, D = draw(st.integers(2, 24)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, D))
    if draw(st.booleans()):  # rank below any dimension asked for
        X = X[:, :1] @ rng.normal(size=(1, D))
    if draw(st.booleans()):
        X[rng.random(n) < draw(st.floats(0, 1))] = 0.0
    if draw(st.booleans()):
        X[rng.random(n) < draw(st.floats(0, 1))] = X[0]
    if draw(st.booleans()):
        X[:] = draw(st.sampled_from([0.0, 1.0, -2.5]))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[rng.integers(n)] *= draw(st.sampled_from([1e-300, 1e-30, 1e30, 1e300]))
    with np.errstate(over="ignore"):
        X = X * draw(st.sampled_from([1.0, 1e-300, 1e-150, 1e150, 1e300]))
        if draw(st.booleans()):
            X = X.astype(draw(st.sampled_from([np.float16, np.float32])))
    return X


@pytest.mark.parametrize("name", affinity_names())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(X=odd_data(), K=st.integers(1, 4))
def test_odd_data_gives_a_valid_graph(name: str, X: np.ndarray, K: int) -> None:
    spec = f"{name}:n_runs=5" if name == "ekss" else name
    model = make_affinity(spec, K, random_state=0)
    if not np.isfinite(X).all() or len(X) < K:
        with pytest.raises(ValueError, match=r"infinity|too large|at most n_samples"):
            model.fit(X)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(X)
    check_graph(model.affinity_matrix_, len(X))
    assert model.labels_.shape == (len(X),)
    assert model.labels_.dtype.kind == "i"
    assert 0 <= model.labels_.min() <= model.labels_.max() < K


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", affinity_names())
def test_not_a_number_is_refused(name: str, bad: float) -> None:
    X = np.ones((6, 3))
    X[2, 1] = bad
    with pytest.raises(ValueError, match="NaN|infinity"):
        make_affinity(name, 2).fit(X)
