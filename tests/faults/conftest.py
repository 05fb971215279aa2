"""A small data set and a small disk that several faults happen to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import mounted_disk
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of 2 MB."""
    with mounted_disk(tmp_path / "disk") as place:
        yield place
