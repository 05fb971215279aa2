"""A small data set that several faults happen to."""

from __future__ import annotations

import pytest

from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.spec import Spec


@pytest.fixture(scope="session")
def planes() -> Dataset:
    X, y = make_subspaces(40, 5, 2, 12, noise=0.25, seed=4)
    return Dataset(X, y=y, name="planes")


@pytest.fixture(scope="session")
def planes_spec() -> Spec:
    return Spec(5, affinity="tsc:q=4", dim=2, seed=2)
