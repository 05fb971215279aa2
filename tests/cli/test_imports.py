"""What each command loads: help needs no library, reading a log no data and no compiler."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from command_line import superpac
from superpac.cli import COMMANDS, load_command
from superpac.cli.audit import SAMPLE
from superpac.data.synthetic import make_subspaces
from superpac.session import audit

SLOW = {"numba", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "h5py", "alembic"}
STORE, WEB = {"sqlalchemy", "psycopg"}, {"fastapi", "uvicorn", "jinja2"}
RUN = """
import sys
from superpac.cli import main
try:
    main()
finally:
    sys.stderr.write(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def loaded(*words: object) -> set[str]:
    """Run a command in a process of its own; gives the packages that it has imported."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_load_no_library_of_numbers(word):
    assert loaded(word).isdisjoint(SLOW | STORE | WEB | {"numpy"})


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_loads_no_compiler(command):
    assert loaded(command, "--help").isdisjoint(SLOW | STORE | WEB)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_table_says_what_the_command_says(command):
    assert load_command(command).help.partition("\n")[0] == COMMANDS[command][1]


def test_defaults_in_help_are_those_of_the_library():
    assert SAMPLE == audit.SAMPLE


def test_commands_on_the_log_need_neither_data_nor_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    X, _ = make_subspaces(20, 3, 2, 10, seed=0)
    names = [f"item {k}" for k in range(60)]
    data = tmp_path / "planes.npz"
    np.savez(data, X=X, ids=np.array(names))
    superpac("new", data, "-k", 3, "-a", "tsc:q=4", "-d", 2, "--name", "planes")
    superpac("ask", "planes", stdin="s\nd\nd\nq\n")
    data.unlink()
    answers = tmp_path / "answers.jsonl"
    for words in (
        ("status", "planes"),
        ("sessions",),
        ("verify", "planes"),
        ("store", "backup"),
        ("undo", "planes"),
        ("undo", "planes", "--redo"),
        ("export", "planes", "-o", answers, "--format", "answers"),
        ("export", "planes", "-o", tmp_path / "planes.zip"),
    ):
        assert loaded(*words).isdisjoint(SLOW | WEB | {"psycopg"}), words
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    assert len(rows) == 3
    assert all(row["item_i"] == names[row["i"]] for row in rows)
    lost = superpac("ask", "planes", check=False)
    assert lost.returncode == 2
    assert "planes.npz" in lost.stderr


def test_status_needs_the_data_only_for_the_model(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    X, _ = make_subspaces(20, 3, 2, 10, seed=0)
    np.savez(tmp_path / "planes.npz", X=X)
    superpac("new", tmp_path / "planes.npz", "-k", "auto", "-a", "tsc:q=4", "--name", "planes")
    short = json.loads(superpac("status", "planes", "--json").stdout)
    long = json.loads(superpac("status", "planes", "--model", "--json").stdout)
    assert set(long) - set(short) == {"error_left", "clusters_sure", "people"}
    assert short["clusters"] is None
    assert {"error_left", "clusters_sure"}.isdisjoint(superpac("status", "planes").stdout.split())
    assert "superpac status planes --model" in superpac("status", "planes").stdout
    assert "in a wrong cluster" in superpac("status", "planes", "--model").stdout
    (tmp_path / "planes.npz").unlink()
    assert superpac("status", "planes").returncode == 0
    assert superpac("status", "planes", "--model", check=False).returncode == 2
