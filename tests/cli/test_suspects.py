"""``superpac suspects`` and the other commands on a log that holds contradictions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from command_line import superpac
from superpac.cli.sessions import load_session
from superpac.data.synthetic import make_subspaces
from superpac.store import open_store


@pytest.fixture
def contradicted(tmp_path, monkeypatch):
    """A session in which Ada is right and Bob once is not; gives its truth and Bob's answer."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    X, y = make_subspaces(20, 3, 2, 10, noise=0.1, seed=0)
    np.savez(tmp_path / "planes.npz", X=X, y=y)
    superpac(
        *("new", tmp_path / "planes.npz", "-k", 3, "-a", "tsc:q=4", "-d", 2, "--name", "planes"),
        *("--strategy", "superpac-d"),
    )
    with open_store(tmp_path / "store.sqlite3") as store:
        session = load_session(store, "planes")
        for _ in range(12):
            question = session.ask()
            same = bool(y[question.i] == y[question.j])
            session.tell("same" if same else "different", annotator="Ada")
        a, b = (np.flatnonzero(y == k) for k in (0, 1))
        for n in range(1, 3):
            session.tell("same", (int(a[n]), int(a[0])), annotator="Ada", why={"again": 1})
            session.tell("same", (int(b[n]), int(b[0])), annotator="Ada", why={"again": 1})
            session.tell("different", (int(a[n]), int(b[n])), annotator="Ada", why={"again": 1})
        wrong = session.tell("same", (int(a[0]), int(b[0])), annotator="Bob", why={"again": 1}).seq
    return tmp_path, y, wrong


def test_suspects_are_listed_with_the_command_that_resolves_them(contradicted):
    _, _, wrong = contradicted
    found = json.loads(superpac("suspects", "planes", "--json").stdout)
    assert [[link["seq"] for link in c["cut"]] for c in found["contradictions"]] == [[wrong]]
    assert found["contradictions"][0]["cut"][0]["annotator"] == "Bob"
    said = superpac("suspects", "planes").stdout
    assert f"superpac undo planes --seq {wrong}" in said
    assert f"(#{wrong}, Bob)" in said
    assert "Ada said different" in said
    superpac("undo", "planes", "--seq", wrong)
    after = superpac("suspects", "planes").stdout
    assert "No answer contradicts another" in after
    superpac("undo", "planes", "--redo")
    assert f"--seq {wrong}" in superpac("suspects", "planes").stdout


def test_every_command_lives_with_contradictions(contradicted):
    folder, y, _ = contradicted
    assert "19 events, none changed" in superpac("verify", "planes").stdout
    status = json.loads(superpac("status", "planes", "--json").stdout)
    assert status["questions"] == 19
    for form, ending in (("csv", "csv"), ("answers", "jsonl"), ("links", "json")):
        superpac("export", "planes", "-o", folder / f"out-{form}.{ending}", "--format", form)
    table = pd.read_csv(folder / "out-csv.csv")
    assert len(table) == len(y)
    assert len((folder / "out-answers.jsonl").read_text().splitlines()) == 19
    superpac("export", "planes", "-o", folder / "all.zip")
    superpac("import", folder / "all.zip", "--name", "copy", "--store", folder / "other.sqlite3")
    other = ("--store", folder / "other.sqlite3")
    copy = json.loads(superpac("suspects", "copy", "--json", *other).stdout)
    here = json.loads(superpac("suspects", "planes", "--json").stdout)
    assert copy["contradictions"] == here["contradictions"]
    done = superpac("ask", "planes", "--as", "Ada", stdin="s\nd\nz\nq\n")
    assert "Kept." in done.stdout
    assert "Traceback" not in done.stderr


def test_suspects_of_an_unknown_session_is_one_sentence(contradicted):
    done = superpac("suspects", "nothing", check=False)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
