"""Fault 19: odd data give one sentence or a working session, never a label that is no number."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from superpac.data import Dataset
from superpac.errors import DisconnectedGraphWarning, SuperpacError
from superpac.session.session import Session
from superpac.session.spec import Spec

AFFINITIES = ["tsc:q=2", "knn", "rbf", "ssc-omp:k=2", "ensc:gamma=5"]


@st.composite
def odd_points(draw: st.DrawFn) -> np.ndarray:
    """Few points with what real files have wrong with them."""
    n, features = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, features))
    if draw(st.booleans()):  # all on one line, so that no subspace has its full dimension
        X = X[:, :1] @ rng.normal(size=(1, features))
    if draw(st.booleans()):  # two groups with nothing between them
        X[: n // 2, : features // 2], X[n // 2 :, features // 2 :] = 0, 0
    some = rng.random(n) < draw(st.floats(0, 1))
    X[some] = draw(st.sampled_from([0.0, 1.0, X[0]])) if draw(st.booleans()) else X[some]
    worst = draw(st.sampled_from([1.0, 1.0, 1.0, np.nan, np.inf, 1e-300, 1e300]))
    with np.errstate(over="ignore", invalid="ignore"):
        X[rng.integers(n), rng.integers(features)] *= worst
        return X.astype(draw(st.sampled_from([np.float64, np.float32, np.float16])))


def test_a_session_on_odd_data_works_or_says_why_not(fault_count):
    @settings(
        max_examples=fault_count(40, 10_000),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(
        X=odd_points(),
        clusters=st.integers(1, 4),
        affinity=st.sampled_from(AFFINITIES),
        answers=st.lists(st.sampled_from(["same", "different", "unsure"]), max_size=6),
    )
    def check(X, clusters, affinity, answers):
        try:
            session = Session.create(Dataset(X), Spec(clusters, affinity))
            session.ask()  # a session computes nothing before it is asked
        except (SuperpacError, ValueError) as error:
            text = str(error)
            assert "\n" not in text
            assert not np.isfinite(X).all() or len(X) < clusters, text
            return
        for answer in answers:
            if session.ask() is None:
                break
            session.tell(answer)
        labels = session.labels()
        assert labels.shape == (len(X),)
        assert labels.dtype.kind == "i"
        assert labels.min() >= 0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        check()
