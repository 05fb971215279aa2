"""The numbers of SUPERPAC-B: documented, read, and few."""

from __future__ import annotations

import re
from dataclasses import Field, fields
from pathlib import Path

import pytest

from superpac.strategies.superpac_b import settings
from superpac.strategies.superpac_b.settings import Settings

METHOD = Path(__file__).parents[3] / "docs" / "method-b.md"
FOLDER = Path(settings.__file__).parent


def row(field: Field) -> str:
    """Line of a field in the table of `docs/method-b.md`."""
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


def test_the_code_stays_small():
    assert sum(len(path.read_text().splitlines()) for path in FOLDER.glob("*.py")) <= 1000
