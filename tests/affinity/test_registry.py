"""Affinities by name: reading, checking and writing specs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.affinity import (
    EKSS,
    GSC,
    LRR,
    SSC,
    SSCOMP,
    TSC,
    EnSC,
    KNNGraph,
    KSubspaces,
    Precomputed,
    RBFGraph,
    affinity_names,
    describe,
    format_spec,
    make_affinity,
)
from superpac.affinity.registry import METHODS
from superpac.errors import InputError


@pytest.mark.parametrize(
    ("spec", "kind", "parameters"),
    [
        ("tsc", TSC, {"q": None}),
        ("tsc:q=5", TSC, {"q": 5, "device": "auto"}),
        ("tsc:q=5,device=cuda", TSC, {"q": 5, "device": "cuda"}),
        (" TSC : q = 5 ", TSC, {"q": 5}),
        ("ensc:gamma=10,tau=0.9", EnSC, {"gamma": 10, "tau": 0.9}),
        ("ssc:alpha=800,affine=true", SSC, {"alpha": 800, "affine": True}),
        ("ssc-omp:k=5", SSCOMP, {"n_nonzero": 5}),
        ("lrr:lambda=4", LRR, {"lam": 4}),
        ("lrr:lam=4e-1", LRR, {"lam": 0.4}),
        ("gsc:k=20,d=9", GSC, {"k": 20, "d_max": 9}),
        ("ksubspaces:d=3", KSubspaces, {"dim": 3}),
        ("ksubspaces:d=3/2/4", KSubspaces, {"dim": [3, 2, 4]}),
        ("ekss:B=50,T=2,q=7", EKSS, {"n_runs": 50, "n_iter": 2, "q": 7}),
        ("rbf:scale=5", RBFGraph, {"scale": 5}),
        ("knn:k=10,mutual=True", KNNGraph, {"k": 10, "mutual": True}),
        ("some/where.npz", Precomputed, {"matrix": "some/where.npz"}),
        ("mine.npy", Precomputed, {"matrix": "mine.npy"}),
    ],
)
def test_reads_specs(spec: str, kind: type, parameters: dict[str, object]) -> None:
    model = make_affinity(spec, 3, random_state=7, n_jobs=1)
    assert type(model) is kind
    given_back = model.get_params()
    assert given_back["n_clusters"] == 3
    assert given_back["random_state"] == 7
    assert given_back["n_jobs"] == 1
    for name, value in parameters.items():
        assert given_back[name] == value


def test_an_estimator_is_copied() -> None:
    mine = TSC(2, q=4)
    model = make_affinity(mine, 9, random_state=1)
    assert (model.q, model.n_clusters, mine.n_clusters) == (4, 9, 2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nonsense", "one of tsc, ssc, ssc-omp, .*'nonsense'"),
        ("", "one of tsc"),
        ("tsc:p=5", "name of q"),
        ("tsc:q", "name=value"),
        ("tsc:q=0", "'q' parameter of TSC must be None or an integer of at least 1"),
        ("tsc:q=many", "'q' parameter .*'many'"),
        ("tsc:q=3,q=4", "twice"),
        ("tsc:n_jobs=2", "name of q"),
        ("ensc:gamma=0.5", "'gamma' parameter of EnSC"),
        ("ensc:tau=nan", "'tau' parameter of EnSC"),
        ("ekss:dim=1/2", "one for each of the 3 clusters"),
        (5, "Got int instead"),
        (None, "Got NoneType instead"),
    ],
)
def test_refuses_in_one_sentence(spec: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_affinity(spec, 3)


@pytest.mark.parametrize("n_clusters", [0, -2, 2.5, "3"])
def test_refuses_a_bad_number_of_clusters(n_clusters: object) -> None:
    with pytest.raises(InputError, match="'n_clusters' parameter"):
        make_affinity("tsc", n_clusters)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", affinity_names())
def test_plain_names_round_trip(name: str) -> None:
    assert format_spec(make_affinity(name, 4)) == name


positive = st.floats(1.001, 1e6)
choices = {
    "tsc": {"q": st.integers(1, 99), "device": st.sampled_from(["auto", "cpu", "cuda"])},
    "ssc": {"alpha": positive, "affine": st.booleans(), "rho": st.floats(0.01, 1.0)},
    "ssc-omp": {"n_nonzero": st.integers(1, 50), "eps": st.floats(0, 1)},
    "ensc": {"gamma": positive, "tau": st.floats(0.01, 1.0)},
    "lrr": {"lam": positive, "noiseless": st.booleans(), "tol": st.floats(1e-12, 1.0)},
    "gsc": {"k": st.integers(1, 50), "tol": st.floats(0, 1), "recover": st.booleans()},
    "ksubspaces": {
        "dim": st.one_of(st.none(), st.integers(1, 9), st.lists(st.integers(1, 9), min_size=3,
                                                                max_size=3)),
        "init": st.sampled_from(["spread", "random"]),
    },
    "ekss": {"n_runs": st.integers(1, 500), "q": st.one_of(st.none(), st.integers(1, 50))},
    "rbf": {"k": st.integers(1, 50), "scale": st.integers(1, 50)},
    "knn": {"k": st.integers(1, 50), "standardize": st.booleans()},
}  # fmt: skip


@settings(max_examples=200)
@given(st.data())
def test_specs_round_trip(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(affinity_names()))
    values = {p: data.draw(s) for p, s in choices[name].items() if data.draw(st.booleans())}
    model = METHODS[name](n_clusters=3, **values)
    again = make_affinity(format_spec(model), 3)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert format_spec(again) == format_spec(model)


def test_a_matrix_has_no_spec_but_a_file_has() -> None:
    assert format_spec(Precomputed(2, matrix="mine.npz")) == "mine.npz"
    with pytest.raises(InputError, match="save it"):
        format_spec(Precomputed(2, matrix=np.eye(3)))


def test_every_method_describes_itself() -> None:
    described = describe()
    assert [d.name for d in described] == affinity_names()
    for each in described:
        assert len(each.summary) > 20
        assert not {"n_clusters", "random_state", "n_jobs"} & set(each.parameters)
        spec = f"{each.name}:" + ",".join(f"{p}={v}" for p, v in each.parameters.items())
        assert format_spec(make_affinity(spec, 3)) == each.name
    with pytest.raises(InputError, match="one of tsc"):
        describe("nonsense")


def test_published_settings_have_names_and_can_be_changed():
    faces = make_affinity("ssc-faces", 5)
    assert (faces.outliers, faces.normalize, faces.max_iter) == (True, False, 150)
    assert make_affinity("ssc-faces:max_iter=20", 5).max_iter == 20
    assert make_affinity("ssc-motion", 5).affine
