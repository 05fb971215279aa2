"""What the program says is so: commands that it names run, defaults are shown, lines are right."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import httpx
import numpy as np
import pytest

from command_line import superpac
from labelling import await_here, make_workspace
from superpac.cli import COMMANDS, load_command
from superpac.data import load
from superpac.data.synthetic import make_subspaces
from superpac.errors import DataError
from superpac.web.app import create_app

STORES = Path(__file__).parents[1] / "store" / "assets"


@pytest.mark.parametrize("folder", ["plain", "with space", "with 'quote'"])
def test_the_command_that_upgrades_a_store_is_the_one_that_is_told(tmp_path, folder):
    store = tmp_path / folder / "old.sqlite3"
    store.parent.mkdir()
    shutil.copyfile(STORES / "schema-0001.sqlite3", store)
    refused = superpac("sessions", "--store", store, check=False)
    assert refused.returncode == 2
    told = shlex.split(refused.stderr.strip().partition("upgrade it with: ")[2])
    assert told[0] == "superpac"
    assert "kept as" in superpac(*told[1:]).stdout
    assert "frozen" in superpac("sessions", "--store", store).stdout


def test_a_store_to_upgrade_may_be_named_without_the_option(tmp_path):
    store = tmp_path / "old.sqlite3"
    shutil.copyfile(STORES / "schema-0001.sqlite3", store)
    assert "kept as" in superpac("store", "upgrade", store).stdout
    assert "Up to date" in superpac("store", "upgrade", store, "--store", store).stdout
    assert superpac("store", "upgrade", store, "--store", "x", check=False).returncode == 2


def _commands():
    for name in COMMANDS:
        command = load_command(name)
        for sub, parser in getattr(command, "commands", {"": command}).items():
            yield f"{name} {sub}".strip(), parser


@pytest.mark.parametrize(("command", "parser"), list(_commands()), ids=lambda v: str(v)[:20])
@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_shows_every_default(command, parser, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    said = superpac(*command.split(), "--help").stdout
    told = "".join(re.sub(r"[│\s]", "", line) for line in said.splitlines())
    for option in parser.params:
        if option.default not in (None, False, True, "", ()):
            assert f"[default:{option.default}]" in told, option.name
    assert "[[" not in said


def test_a_line_that_is_not_utf8_is_named(tmp_path):
    """Also where it is far beyond the first piece that is decoded."""
    for before, end in ((0, b"\n"), (3, b"\n"), (3, b"\r\n"), (5, b"\r"), (40_000, b"\n")):
        path = tmp_path / f"{before}-{len(end)}-{end[0]}.csv"
        lines = [b"a,b", *[b"1,2"] * before, b"3,caf\xe9", *[b"5,6"] * 9_000]
        path.write_bytes(end.join(lines) + end)
        with pytest.raises(DataError, match=f"not UTF-8 text in line {before + 2};"):
            load(path)


@pytest.mark.parametrize("first", ["1_000,2", "1_000,2_000", "1'000,2", "+12_345.5,2"])
def test_a_number_with_marks_in_it_is_no_name_of_a_column(tmp_path, first):
    """It is meant as a value of the first point, so it is neither dropped nor guessed at."""
    (tmp_path / "a.csv").write_text(f"{first}\n3,4\n5,6\n")
    with pytest.raises(DataError, match=r"line 1, column '0' holds .*digits only, such as 1000"):
        load(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("first", "points"), [("2019_2020,x", 2), ("a_1,a_2", 2), ("1000,2", 3), ("x,2", 2)]
)
def test_names_with_underscores_stay_names(tmp_path, first, points):
    (tmp_path / "a.csv").write_text(f"{first}\n3,4\n5,6\n")
    assert len(load(tmp_path / "a.csv")) == points


def test_undo_on_an_empty_log_says_that_there_is_none(tmp_path):
    X, _ = make_subspaces(10, 3, 2, 6, seed=0)
    np.save(tmp_path / "x.npy", X)
    store = ("--store", tmp_path / "a.sqlite3")
    superpac("new", tmp_path / "x.npy", "-k", 3, "-a", "tsc:q=3", "--dim", 2, *store)
    done = superpac("undo", "x", "--seq", 5, *store, check=False)
    assert done.returncode == 2
    assert "There is no event #5; the log has none yet." in done.stderr


def test_a_stale_answer_before_the_first_clustering_is_told_as_stale(tmp_path):
    workspace = make_workspace(tmp_path)  # not started: its model never comes
    app = create_app(workspace)
    answer = {"i": 0, "j": 1, "answer": "same", "seq": 7, "key": "key-0001", "annotator": "Ada"}

    async def post(path: str, body: dict) -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post(path, json=body)

    assert await_here(post("/api/question", {"annotator": "Ada"})).status_code == 503
    reply = await_here(post("/api/answers", answer))
    assert reply.status_code == 409, reply.text
    assert reply.json()["question"] is None
    workspace.store.close()
