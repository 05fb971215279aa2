"""docs/faults.md is true: every test named there exists, and every fault test is named there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "faults.md").read_text()
ENTRIES = {
    int(part[0]): part[1] for part in re.findall(r"^### (\d+)\. (.*?)(?=^##|\Z)", PAGE, re.M | re.S)
}
NAMED = re.compile(r"`(tests/\S+\.py)::(test_\w+)`(?: \(ordinary (\d+), full (\d+)\))?")
FAULTS = 64


@cache
def defined_in(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def counts(test: ast.FunctionDef) -> set[tuple[str, str]]:
    """Counts of an ordinary and of a full run, as the test asks `fault_count` for them."""
    return {
        tuple(ast.unparse(given).replace("_", "") for given in call.args)
        for call in ast.walk(test)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "fault_count"
    }


def test_every_fault_has_an_entry():
    assert sorted(ENTRIES) == list(range(1, FAULTS + 1))
    for entry in ENTRIES.values():
        assert "What happens:" in entry
        assert "What the program does:" in entry


@pytest.mark.parametrize("number", sorted(ENTRIES))
def test_its_tests_exist_with_the_counts_told(number):
    named = NAMED.findall(ENTRIES[number])
    assert named
    for path, name, ordinary, full in named:
        assert name in defined_in(path), f"{path} has no {name}"
        told = {(ordinary, full)} if ordinary else set()
        assert counts(defined_in(path)[name]) == told, f"{name} asks for other counts"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "faults").glob("test_*.py")), ids=lambda p: p.stem
)
def test_every_fault_test_is_named_in_its_own_entry(path):
    number = re.fullmatch(r"test_fault_(\d\d)_[a-z_]+\.py", path.name)
    assert number, "a fault's test file is called test_fault_NN_words.py"
    place = path.relative_to(ROOT).as_posix()
    there = {name for file, name, *_ in NAMED.findall(ENTRIES[int(number[1])]) if file == place}
    assert there == {name for name in defined_in(place) if name.startswith("test_")}
