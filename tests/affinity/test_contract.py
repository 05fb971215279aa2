"""What every registered affinity promises: a new one is tested here by being registered."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from superpac.affinity import Precomputed, affinity_names, make_affinity
from superpac.affinity.base import AffinityEstimator
from superpac.affinity.registry import COMMON, METHODS, PRESETS
from superpac.data import load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.metrics import clustering_error

pytestmark = pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")

NAMES = [*affinity_names(), *PRESETS]
DISTANCES = {"rbf", "knn"}  # they know nothing of subspaces, nor that a zero point has no direction
RANDOM = {"ksubspaces", "ekss"}


def make(name: str, n_clusters: int, **common: object) -> AffinityEstimator:
    """The method by name; EKSS with fewer runs, as these tests are not about its quality."""
    return make_affinity(f"{name}:n_runs=10" if name == "ekss" else name, n_clusters, **common)


@pytest.fixture(scope="module")
def digits() -> np.ndarray:
    """A few real points, with a trace of noise so that no two distances are equal."""
    X = load("digits").points()[:120]
    return X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)


def check_graph(A: object, n: int) -> None:
    assert isinstance(A, sparse.csr_array)
    assert A.shape == (n, n)
    assert A.dtype == np.float64
    assert A.indices.dtype == np.int32
    assert np.isfinite(A.data).all()
    assert A.nnz == 0 or A.data.min() > 0
    assert not A.diagonal().any()
    assert abs(A - A.T).nnz == 0


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


@pytest.mark.parametrize("name", NAMES)
def test_real_points_give_a_graph_and_labels(name: str, digits: np.ndarray) -> None:
    model = make(name, 10, random_state=0).fit(digits)
    check_graph(model.affinity_matrix_, 120)
    assert model.affinity_matrix_.nnz > 0
    assert model.labels_.shape == (120,)
    assert set(model.labels_) <= set(range(10))
    again = make(name, 10, random_state=0).affinity(digits)
    assert (model.affinity_matrix_ != again).nnz == 0


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", affinity_names())
def test_noiseless_subspaces_are_recovered(name: str, seed: int) -> None:
    if name in DISTANCES:  # dense circles, far apart
        X, y = make_subspaces(60, 3, 2, 12, angle=np.pi / 2, seed=seed)
    else:
        X, y = make_subspaces(40, 3, 3, 20, seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    spec = {"ksubspaces": "ksubspaces:dim=3", "ekss": "ekss:dim=3", "tsc": "tsc:q=6"}
    model = make_affinity(spec.get(name, name), 3, random_state=seed).fit(X[order])
    assert clustering_error(y[order], model.labels_) == 0


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_result_on_any_number_of_threads(name: str, digits: np.ndarray) -> None:
    one = make(name, 10, random_state=5, n_jobs=1).fit(digits)
    two = make(name, 10, random_state=5, n_jobs=2).fit(digits)
    np.testing.assert_allclose(
        one.affinity_matrix_.toarray(), two.affinity_matrix_.toarray(), atol=1e-10
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("name", sorted(RANDOM))
def test_another_seed_draws_anew(name: str, digits: np.ndarray) -> None:
    first, second = (make(name, 10, random_state=seed).affinity(digits) for seed in (0, 1))
    assert (first != second).nnz > 0


@pytest.mark.parametrize("name", NAMES)
def test_order_of_points_does_not_matter(name: str, digits: np.ndarray) -> None:
    if name in RANDOM:
        pytest.skip("draws depend on the order by design")
    order = np.random.default_rng(0).permutation(len(digits))
    A = make(name, 10).affinity(digits).toarray()
    B = make(name, 10).affinity(digits[order]).toarray()
    # an iteration that ends at a tolerance ends a little elsewhere when its sums are reordered
    np.testing.assert_allclose(B, A[np.ix_(order, order)], atol=2e-3 if "ssc" in name else 1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_is_taken_as_it_is(name: str, digits: np.ndarray) -> None:
    single = digits.astype(np.float32)
    A = make(name, 10, random_state=0).affinity(single)
    assert A.dtype == np.float64
    assert (make(name, 10, random_state=0).affinity(single.astype(np.float64)) != A).nnz == 0


@pytest.mark.parametrize("name", NAMES)
def test_zero_and_repeated_points(name: str, digits: np.ndarray) -> None:
    X = digits.copy()
    X[[3, 40]] = 0.0
    X[60:70] = X[59]
    model = make(name, 5, random_state=0).fit(X)
    check_graph(model.affinity_matrix_, 120)
    if name not in DISTANCES | RANDOM | {"ssc-motion"}:  # an affine sum may express zero
        assert model.affinity_matrix_[[3, 40]].nnz == 0  # no direction, so no neighbour


@pytest.mark.parametrize("name", NAMES)
def test_progress_reaches_the_end_and_can_cancel(name: str, digits: np.ndarray) -> None:
    seen: list[tuple[int, int]] = []
    make(name, 10, random_state=0).affinity(digits, progress=lambda *step: seen.append(step))
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert len(set(totals)) == 1
    assert done[-1] == totals[-1]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(name, 10).affinity(digits, progress=stop)


# Values that a parameter must refuse; every parameter of every method has to be here.
WORDS, FLAGS, WHOLE = ["best", 1, None], ["yes", 2, None], [0, -1, 2.5, True, "5"]
SHARE = [0.0, 1.5, "a", None]  # in (0, 1]
EXPRESSIVE = {"normalize": FLAGS, "to_affinity": WORDS, "rho": SHARE, "n_neighbors": WHOLE}
REFUSED: dict[str, dict[str, list[object]]] = {
    "tsc": {"q": WHOLE, "search": WORDS, "device": WORDS},
    "ssc": {
        "alpha": [0, -1.0, np.inf], "outliers": FLAGS, "affine": FLAGS, "diagonal": WORDS,
        "max_iter": WHOLE, "tol": [-1e-9, "a"], **EXPRESSIVE,
    },
    "ssc-omp": {"n_nonzero": WHOLE, "eps": [-1e-9, None], "device": WORDS, **EXPRESSIVE},
    "ensc": {
        "gamma": [1.0, np.inf, None], "tau": SHARE, "tol": [0, -1], "device": WORDS, **EXPRESSIVE,
    },
    "lrr": {
        "lam": [0, "a"], "noiseless": FLAGS, "mu": [0], "mu_factor": [1.0], "mu_max": [0],
        "tol": [0], "max_iter": WHOLE, "keep": WHOLE, "normalize": FLAGS,
    },
    "gsc": {
        "k": WHOLE, "d_max": WHOLE, "tol": [-1, 2.0], "recover": FLAGS, "epsilon": [0, 1.0],
    },
    "ksubspaces": {
        "dim": [0, 64, [1, 2, 3], "a", True], "n_init": WHOLE, "max_iter": WHOLE, "init": WORDS,
        "q": WHOLE,
    },
    "ekss": {"dim": [0, 64, [1, 2, 3], "a"], "n_runs": WHOLE, "n_iter": WHOLE, "q": WHOLE},
    "rbf": {"k": WHOLE, "scale": WHOLE, "standardize": FLAGS},
    "knn": {"k": WHOLE, "mutual": FLAGS, "standardize": FLAGS},
}  # fmt: skip


@pytest.mark.parametrize("name", affinity_names())
def test_every_parameter_is_checked_in_one_sentence(name: str, digits: np.ndarray) -> None:
    kind = METHODS[name]
    assert set(REFUSED[name]) == set(inspect.signature(kind).parameters) - set(COMMON)
    common = {"n_clusters": [0, "ten", 2.0, True], "n_jobs": [0, -2, 1.5, "all"]}
    for parameter, values in (REFUSED[name] | common).items():
        sentence = (
            rf"^The '{parameter}' parameter of {kind.__name__} must be .+\. Got .+ instead\.$"
        )
        for value in values:
            with pytest.raises(InputError) as refused:
                kind(**{"n_clusters": 10, parameter: value}).fit(digits)
            assert re.match(sentence, str(refused.value)), (parameter, value)


@pytest.mark.parametrize("name", NAMES)
def test_more_clusters_than_points_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"n_clusters' parameter .* at most n_samples = 4\. Got 5"):
        make(name, 5).fit(np.random.default_rng(0).normal(size=(4, 3)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_not_a_number_is_refused(name: str, bad: float) -> None:
    X = np.ones((6, 3))
    X[2, 1] = bad
    with pytest.raises(ValueError, match="NaN|infinity"):
        make(name, 2).fit(X)


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
@settings(max_examples=40)
@given(X=odd_data(), K=st.integers(1, 4))
def test_odd_data_gives_a_valid_graph(name: str, X: np.ndarray, K: int) -> None:
    model = make(name, K, random_state=0)
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


def test_unit_rows_by_blocks_are_those_of_single_rows(monkeypatch):
    from superpac.affinity import base

    monkeypatch.setattr(base, "UNIT_BLOCK", 3)
    X = np.random.default_rng(0).normal(size=(8, 4)) * 10.0 ** np.arange(-150, 250, 50)[:, None]
    X[5] = 0.0
    scaled = [row / max(abs(row).max(), 1e-300) for row in X]
    expected = [row / max(np.linalg.norm(row), 1e-300) for row in scaled]
    np.testing.assert_allclose(base.unit_rows(X), expected, rtol=1e-14)
