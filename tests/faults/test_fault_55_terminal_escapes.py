"""Fault 55: control characters in names and ids are shown by the terminal, never obeyed."""

from __future__ import annotations

import io
import logging
import re
import unicodedata
from pathlib import Path

import pytest
from rich.console import Console

from command_line import superpac
from superpac.answers.events import Draft
from superpac.cli.terminal import converse
from superpac.data import Dataset
from superpac.session.questions import Question
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.log_lines import PlainRecord

# clear the screen, set the title, ring, C1 (as CSI in one byte), turn the direction, begin a line
EVIL = "\x1b[2J\x1b]0;x\x07\x9b31m\u202e\u2066\x7f\x08\u2028"
SHOWN = r"\x1b[2J\x1b]0;x\x07\x9b31m\u202e\u2066\x7f\x08\u2028"
POINTS = [[1, 0], [1, 0.1], [0.9, 0], [1, 0.05], [0, 1], [0.1, 1], [0, 0.9], [0.05, 1]]


def check(text: str) -> str:
    for line in text.split("\n"):
        assert not {unicodedata.category(c) for c in line} & {"Cc", "Cf", "Cs", "Zl"}, ascii(line)
    return text


def run(*words: object, **more: object) -> str:
    """Everything that a command prints, whether it does its work or refuses."""
    done = superpac(*words, check=False, **more)
    return check(done.stdout) + check(done.stderr)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    monkeypatch.setenv("COLUMNS", "400")
    path = tmp_path / f"points{EVIL}.csv"
    rows = "".join(f"{n}{EVIL},{x},{y}\n" for n, (x, y) in enumerate(POINTS))
    path.write_text(f"id,a{EVIL},b\n{rows}", newline="")
    return path


@pytest.mark.parametrize("strategy", ["superpac", "superpac-d"])
def test_no_command_lets_data_or_people_control_the_terminal(strategy, table, tmp_path):
    ids = ("--ids", "id")
    assert SHOWN in run("data", "show", table, *ids)
    assert SHOWN in run("cluster", table, "-k", 2, *ids, "-a", "tsc:q=2", "-o", tmp_path / EVIL)
    options = ("-k", 2, "-a", "tsc:q=2", "-d", 1, "--strategy", strategy, "--name", "points")
    run("new", table, *ids, *options)
    who = f"Eve{EVIL}"
    asked = run("ask", "points", "--as", who, stdin="s\nd\nk\nz\n" + "d\n" * 30 + "q\n")
    assert SHOWN in asked
    with open_store(tmp_path / "store.sqlite3") as store:
        log = store.open("points")
        pairs = [(0, 1, "same"), (1, 2, "same"), (0, 2, "different"), (4, 5, "same")]
        log.append_many([Draft("answer", {"i": i, "j": j, "answer": a}, who) for i, j, a in pairs])
    for words in (
        ("suspects", "points"),
        ("status", "points", "--model"),
        ("sessions",),
        ("verify", "points"),
        ("undo", "points"),
        ("export", "points", "-o", tmp_path / f"{EVIL}.csv"),
        ("export", "points", "-o", tmp_path / EVIL / "x"),
    ):
        run(*words)
    assert run("audit", "points", "--sample", "2", "--as", who, stdin="s\n" * 40)
    assert SHOWN in run("suspects", "points")


@pytest.mark.parametrize(
    "words",
    [
        (EVIL,),
        ("status", EVIL),
        ("status", "points", EVIL),
        ("status", f"--{EVIL}"),
        ("label", "iris", "-k", EVIL),
        ("cluster", f"/nowhere/{EVIL}", "-k", 2),
        ("import", EVIL),
        ("ask", "points", "--store", EVIL),
    ],
)
def test_no_error_lets_a_name_control_the_terminal(words, table):
    run("new", table, "--ids", "id", "-k", 2, "-a", "tsc:q=2", "-d", 1, "--name", "points")
    shown = run(*words)
    assert "x1b[2J" in shown


def test_a_contradiction_is_told_without_control(planes, monkeypatch):
    ids = [f"{n}{EVIL}" for n in range(len(planes))]
    session = Session.create(Dataset(planes.X, ids=ids), Spec(5, "tsc:q=4", "superpac", dim=2))
    session.tell("same", (0, 1))
    session.tell("same", (1, 2))
    questions = iter([Question(0, 2, session.seq, f"why {EVIL}"), None])
    console = Console(record=True, width=400, file=io.StringIO())
    monkeypatch.setattr("sys.stdin", io.StringIO("d\n"))
    converse(
        session,
        lambda: next(questions),
        session.tell,
        console=console,
        annotator="",
        heading=lambda: "",
        go_on="",
    )
    shown = check(console.export_text())
    assert shown.count(SHOWN) > 4


def test_log_lines_of_the_server_are_plain():
    try:
        raise RuntimeError(f"two lines\n{EVIL}")
    except RuntimeError as error:
        caught = (RuntimeError, error, error.__traceback__)
    record = PlainRecord("superpac", logging.ERROR, "", 0, "GET %s\n", (f"/{EVIL}",), caught)
    lines = check(logging.Formatter("%(message)s").format(record))
    assert lines.count(SHOWN) == 2
    assert re.match(r"GET /\\x1b", lines)
