"""What a session does with its data, where something was left open."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data import Dataset
from superpac.session.questions import describe
from superpac.session.session import Session
from superpac.session.spec import Spec


@pytest.mark.parametrize(
    ("features", "affinity"),
    [
        ("", "ensc:gamma=5"),
        ("pixels", "ensc:gamma=5"),
        ("text", "ensc:gamma=5"),
        ("sentence:all-MiniLM-L6-v2", "ensc:gamma=5"),
        ("speaker", "ensc:gamma=5"),
        ("image", "tsc:q=5"),
        ("text-plain", "tsc:q=5"),
        ("onnx:net.onnx", "tsc:q=5"),
        ("vectors.npz", "tsc:q=5"),
    ],
)
def test_the_affinity_goes_by_what_the_items_are_and_the_log_holds_it(features, affinity):
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(12, 3)), features=features)
    assert describe(data, Spec(2)).spec["affinity"] == affinity
    session = Session.create(data, Spec(2, dim=1))
    assert session.spec.affinity == affinity
    assert Session.open(data, session.log).spec.affinity == affinity


def test_what_is_named_stays():
    data = Dataset(np.eye(4), features="image")
    assert Spec(2, "knn:k=2").settled(data).affinity == "knn:k=2"
