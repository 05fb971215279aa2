"""The house plan holds: imports point one way; below the session nothing touches the world."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import superpac

ROOT = Path(superpac.__file__).parent

# Rooms from the ground up; a module may import from its own room and from those below it.
ROOMS = [
    {"errors", "array_types", "system", "device", "cache"},
    {"data", "answers", "metrics"},
    {"features"},
    {"affinity", "graph", "subspaces"},
    {"strategies"},
    {"session"},
    {"simulation", "estimator", "plots", "store"},
    {"research", "web"},
    {"cli"},
    {"__main__"},
]
BELOW_DATA = ("errors", "system")
LEVEL = {name: level for level, room in enumerate(ROOMS) for name in room}
FORBIDDEN_BELOW_SESSION = {"socket", "sqlite3", "sqlalchemy", "fastapi", "time", "random"}
TO_A_CLUSTER = ROOT / "system" / "cluster.py"  # the one way to other computers


def room(path: Path) -> str:
    part = path.relative_to(ROOT).parts[0]
    return part.removesuffix(".py")


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            if node.module == "superpac":
                found += [f"superpac.{alias.name}" for alias in node.names]
    return found


FILES = sorted(p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.name != "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    own = room(path)
    assert own in LEVEL, f"{own} has no place in the house plan (docs/architecture.md)"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "superpac" or len(parts) < 2:
            continue
        assert LEVEL[parts[1]] <= LEVEL[own], f"{own} imports {parts[1]}, which is above it"
        assert own != "data" or parts[1] in ("data", *BELOW_DATA)
    if LEVEL[own] < LEVEL["session"] and own not in ("data", "cache", "features"):
        outside = {name.split(".")[0] for name in imports(path)}
        allowed = {"socket"} if path == TO_A_CLUSTER else set()
        assert outside.isdisjoint(FORBIDDEN_BELOW_SESSION - allowed)


def test_no_global_random_state():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
                "np.random",
                "numpy.random",
            ):
                assert node.attr in (
                    "default_rng",
                    "Generator",
                    "RandomState",
                    "SeedSequence",
                ), f"{path.name}:{node.lineno} uses np.random.{node.attr}"


def test_no_assert_for_validation():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Assert), f"{path.name}:{node.lineno} asserts"


def test_public_names_exist():
    for name in superpac.__all__:
        assert hasattr(superpac, name)
    assert set(superpac._HOMES) == set(superpac.__all__)
    assert 10 <= len(superpac.__all__) <= 30
