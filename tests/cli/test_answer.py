"""``superpac answer``: a function of one's own answers; its mistakes are one sentence."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import superpac
from superpac.data.synthetic import make_subspaces
from superpac.store import open_store

JUDGE = """
import os, signal
import numpy as np

X = np.load("points.npz")
CLASS = {tuple(row): int(label) for row, label in zip(X["X"], X["y"])}
calls = 0

def judge(first, second):
    return "same" if CLASS[tuple(first)] == CLASS[tuple(second)] else "different"

def shy(first, second):
    return None

def nonsense(first, second):
    return "perhaps"

def interrupted(first, second):
    global calls
    calls += 1
    if calls == 4:
        os.kill(os.getpid(), signal.SIGINT)
    return judge(first, second)

def breaks(first, second):
    global calls
    calls += 1
    if calls == 4:
        raise RuntimeError("no more\\nmemory")
    return judge(first, second)
"""


@pytest.fixture
def planes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    X, y = make_subspaces(20, 3, 2, 15, noise=0.1, seed=0)
    np.savez(tmp_path / "points.npz", X=X, y=y)
    (tmp_path / "judges.py").write_text(JUDGE)
    superpac(
        "new", "points.npz", "--labels", "y", "-k", 3, "-a", "tsc:q=4", "-d", 2, "--name", "planes"
    )
    yield tmp_path
    sys.modules.pop("judges", None)


def written(folder: Path) -> list[tuple[str, str]]:
    with open_store(folder / "store.sqlite3", read_only=True) as store:
        return [(event.kind, event.annotator) for event in store.open("planes").events()]


def test_it_answers_as_one_more_annotator_and_its_error_rate_shows(planes):
    said = superpac("answer", "planes", "--with", "judges:judge", "--questions", 12).stdout
    assert "judge has answered 12: " in said
    assert "superpac ask planes" in said
    superpac("answer", "planes", "--with", "judges.py:judge", "--as", "model 2", "-q", 3)
    assert written(planes) == [("answer", "judge")] * 12 + [("answer", "model 2")] * 3
    status = json.loads(superpac("status", "planes", "--model", "--json").stdout)
    assert [(p["name"], p["answers"]) for p in status["people"]] == [("judge", 12), ("model 2", 3)]
    for words in (("status", "planes", "--model"), ("suspects", "planes")):
        assert "judge: 12 answers, about 0." in superpac(*words).stdout


def test_until_stops_it_before_the_budget(planes):
    words = ("answer", "planes", "--with", "judges:judge", "-q", 10_000, "--until", "10%", "--json")
    done = json.loads(superpac(*words).stdout)
    assert done["ended"] == "good enough"
    assert 0 < done["answers"] == len(written(planes)) < 10_000


def test_what_it_leaves_to_people_they_are_asked(planes):
    first = superpac("ask", "planes", stdin="q\n").stdout
    done = json.loads(
        superpac("answer", "planes", "--with", "judges:shy", "-q", 5, "--json").stdout
    )
    assert (done["answers"], done["passed"], done["ended"]) == (0, 5, "budget")
    assert written(planes) == []
    assert superpac("ask", "planes", stdin="q\n").stdout == first


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("judges:nobody", "judges has no function called 'nobody'"),
        ("nowhere:judge", "There is no module 'nowhere'"),
        ("judges", "module:function"),
        ("judges:nonsense", "nonsense said 'perhaps' of"),
    ],
)
def test_a_wrong_function_is_one_sentence_and_nothing_is_written(planes, function, said):
    done = superpac("answer", "planes", "--with", function, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert written(planes) == []


def test_a_function_that_fails_keeps_what_it_answered_before(planes):
    done = superpac("answer", "planes", "--with", "judges:breaks", check=False)
    assert done.returncode == 2
    assert "RuntimeError: no more memory" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert written(planes) == [("answer", "breaks")] * 3


def test_control_c_keeps_what_was_answered(planes):
    # tests that run in the background of a shell inherit that Ctrl+C is ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = superpac("answer", "planes", "--with", "judges:interrupted", check=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 130
    assert "interrupted has answered 3: " in done.stdout
    assert written(planes) == [("answer", "interrupted")] * 3
    superpac("verify", "planes")
