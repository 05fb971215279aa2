"""The page's scripts and styles: readable lines, imports that lead somewhere, safe to keep."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import superpac
from labelling import LabelServer

STATIC = Path(superpac.__file__).parent / "web" / "static"
FILES = sorted(path for path in STATIC.iterdir() if path.suffix in (".js", ".css"))
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
LONGEST = 120


def imported(path: Path) -> list[str]:
    """Return what a module names after `from` or in a bare or dynamic import, types included."""
    text = path.read_text("utf-8")
    return re.findall(r'(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"', text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_line_is_too_long(path: Path):
    lines = path.read_text("utf-8").splitlines()
    long = {n: len(line) for n, line in enumerate(lines, 1) if len(line) > LONGEST}
    assert not long, f"{path.name}: lines above {LONGEST} characters: {long}"


def test_every_import_is_a_neighbour_that_exists():
    for path in SCRIPTS:
        for name in imported(path):
            assert re.fullmatch(r"\./\w+\.js", name), f"{path.name} imports {name}"
            assert (STATIC / name).is_file(), f"{path.name} imports {name}, which is not there"


def test_every_script_is_reached_from_the_page():
    reached, new = set(), {"page.js"}
    while new:
        reached |= new
        new = {name.removeprefix("./") for one in new for name in imported(STATIC / one)} - reached
    assert reached == {path.name for path in SCRIPTS}


def test_the_page_names_every_file_and_each_is_served_as_what_it_is(label_server: LabelServer):
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    named = label_server.static()
    assert {Path(path).name for path in named} == {path.name for path in STATIC.iterdir()}
    with label_server.client() as client:
        for path in named:
            reply = client.get(path)
            assert reply.status_code == 200
            assert reply.headers["content-type"].split(";")[0] == kinds[Path(path).suffix]
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert "script-src 'self'" in reply.headers["content-security-policy"]
            assert reply.content == (STATIC / Path(path).name).read_bytes()


def test_files_may_be_kept_because_a_new_version_has_new_addresses(label_server: LabelServer):
    with label_server.client() as client:
        for path in label_server.static():
            _, static, stamp, name = path.split("/")
            assert "immutable" in client.get(path).headers["cache-control"]
            for other in (f"/{static}/{name}", f"/{static}/{stamp[::-1]}/{name}"):
                reply = client.get(other)
                assert reply.status_code == 404
                assert "immutable" not in reply.headers["cache-control"]
