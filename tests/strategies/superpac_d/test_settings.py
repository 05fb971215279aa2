"""The numbers of SUPERPAC-D: documented, and fixed."""

from __future__ import annotations

import re
from dataclasses import Field, FrozenInstanceError, fields, replace
from pathlib import Path

import pytest

from superpac.strategies.superpac_d import settings
from superpac.strategies.superpac_d.settings import Settings

METHOD = Path(__file__).parents[3] / "docs" / "method.md"
FOLDER = Path(settings.__file__).parent


def row(field: Field) -> str:
    """Line of a field in the table of `docs/method.md`."""
    return f"| `{field.name}` | {field.default} | {field.metadata['meaning']} |"


def test_the_table_in_the_page_on_the_method_is_true():
    lines = METHOD.read_text().splitlines()
    table = [line for line in lines if line.startswith("| `") and line.count("|") == 4]
    assert table == [row(field) for field in fields(Settings)]


@pytest.mark.parametrize("module", sorted(path.stem for path in FOLDER.glob("[a-z]*.py")))
def test_the_page_on_the_method_names_every_module(module):
    assert re.search(rf"`{module}(\.\w+)?`", METHOD.read_text())


def test_every_number_is_read():
    code = "".join(path.read_text() for path in FOLDER.glob("*.py") if path.stem != "settings")
    unread = [f.name for f in fields(Settings) if not re.search(rf"settings\.{f.name}\b", code)]
    assert unread == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_no_module_has_numbers_of_its_own(path):
    assert re.findall(r"^[A-Z][A-Z_]* *(?::[^=]*)?= *[-\d.(].*", path.read_text(), re.M) == []


def test_they_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        Settings().pieces = 1.0  # type: ignore[misc]
    assert replace(Settings(), pieces=1.0) != Settings()
