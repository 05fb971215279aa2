"""Every option of every command with values that nobody means: a sentence, never a traceback."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import superpac
from peak_memory import measured
from superpac.cli import COMMANDS, load_command
from superpac.data import load
from superpac.data.synthetic import make_subspaces
from superpac.errors import DataError

MOST_LINES = 8  # a wrong option is told in a box, under how the command is used
MOST_MEMORY = 600 * 2**20
TEXTS = ("", "\udcff", "a\0b", "x" * 5000, "[red]x[/red]")
PLACES = ("", "\udcff", "a\0b", "x" * 5000, ".", "/proc/nope/x.png")
VALUES = ("-1", "0", "1e30", "9" * 26, str(2**31), "nan", "text", *PLACES)
OF_KIND = {
    **dict.fromkeys(("--name", "--as", "--labels", "--ids", "--methods", "--panels"), TEXTS),
    **dict.fromkeys(
        ("--plot", "--output", "--out", "--to", "--affinities", "--data", "--instructions"), PLACES
    ),
}

# Words that make each command do little: three planes of ten points, or its session.
POINTS = ("points.npz", "-k", "3", "-a", "tsc:q=3", "--dim", "2")
KEPT = ("kept", "--store", "kept.sqlite3")
LITTLE: dict[str, tuple[str, ...]] = {
    "cluster": POINTS,
    "label": (*POINTS, "--store", "label.sqlite3", "--no-browser", "--port", "TAKEN"),
    "new": (*POINTS, "--store", "new.sqlite3"),
    "ask": KEPT,
    "answer": (*KEPT, "--with", "nowhere:nobody"),
    "add": ("kept", "points.npz", *KEPT[1:]),
    "sessions": KEPT[1:],
    "status": KEPT,
    "undo": KEPT,
    "audit": (*KEPT, "--sample", "1"),
    "suspects": KEPT,
    "export": (*KEPT, "-o", "out.csv"),
    "known": ("kept", "nothing.csv", *KEPT[1:]),
    "import": ("kept.zip", "--store", "import.sqlite3"),
    "verify": KEPT,
    "store upgrade": KEPT[1:],
    "store backup": ("kept.sqlite3", "--to", "."),
    "store restore": ("kept.sqlite3", "--to", "restored.sqlite3", "--replace"),
    "features list": (),
    "features show": ("pixels",),
    "features get": ("text", "--from", "nothing.whl"),
    "data list": (),
    "data show": POINTS[:1],
    "data draw": ("drawings",),
    "data import": ("iris", "points.npz"),
    "simulate": (*POINTS, "-q", "2"),
    "reproduce": ("sonar", "--methods", "nobody's"),
    "theory": ("--samples", "100", "--plot", "theory.xyz"),
}


def parsers() -> dict[str, Any]:
    """Every command by its words, as it parses its options."""
    found = {}
    for name in COMMANDS:
        command = load_command(name)
        below = getattr(command, "commands", None)
        found.update({f"{name} {n}": c for n, c in below.items()} if below else {name: command})
    return found


PARSERS = parsers()
OPTIONS = [
    (command, option.opts[-1] if option.param_type_name == "option" else None)
    for command, parser in PARSERS.items()
    for option in parser.params
    if not getattr(option, "is_flag", False)
]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Points, a session on them and its archive."""
    folder = tmp_path_factory.mktemp("place")
    X, y = make_subspaces(10, 3, 2, 6, noise=0.1, seed=0)
    np.savez(folder / "points.npz", X=X, y=y)
    store = ("--store", folder / "kept.sqlite3")
    words = (folder / "points.npz", "-k", 3, "-a", "tsc:q=3", "--dim", 2, "--name", "kept")
    superpac("new", *words, *store)
    superpac("ask", "kept", *store, stdin="s\nd\nq\n")
    superpac("export", "kept", "-o", folder / "kept.zip", *store)
    return folder


@pytest.fixture
def quiet_place(place, monkeypatch) -> Path:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "home"))
    monkeypatch.delenv("SUPERPAC_STORE", raising=False)
    return place


def test_every_command_is_tried():
    assert set(LITTLE) == set(PARSERS)


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=str)
def test_hostile_values_are_taken_or_refused_in_words(quiet_place, command, option):
    with socket.socket() as taken:  # so that a page that would be served ends at once
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = [port if word == "TAKEN" else word for word in LITTLE[command]]
        for value in OF_KIND.get(option, VALUES):
            if command == "label" and option == "--port" and value == "0":
                continue  # any free port: it would be served
            given = [*words, option, value] if option else [value, *words[1:]]
            done = superpac(*command.split(), *given, check=False)
            said = (command, option, value[:40], done.stderr[-500:])
            assert done.returncode in (0, 2), said
            assert "Traceback" not in done.stderr + done.stdout, said
            if done.returncode:
                assert 1 <= len(done.stderr.strip().splitlines()) <= MOST_LINES, said


@pytest.mark.parametrize(
    "words",
    [
        *(("cluster", "--seed", s) for s in ("-1", "1e30", str(2**40), "nan", "")),
        *(("simulate", "--seed", s) for s in ("-1", "1e30")),
        *(("simulate", "--jobs", j) for j in ("0", "-1", "1e3", str(10**9))),
        *(("reproduce", "--jobs", j) for j in ("0", str(10**9))),
        *(("simulate", "--trials", t) for t in ("0", str(10**12))),
        ("theory", "--samples", str(10**12)),
        *(("simulate", "--wrong", w) for w in ("-0.1", "0.6", "nan", "inf")),
        *(("simulate", "--forms", f) for f in ("", "pairs", "all,pair", "\x1b[2J")),
        *(("simulate", "--cost", c) for c in ("pair", "pair=", "pair=-1", "pair=nan", "x=1")),
        *(("simulate", "--until", u) for u in ("-1%", "nan", "", "200%")),
        *(("ask", "--as", name) for name in ("\udcff", "x" * 201, "a\0b")),
        *((command, "--store", "") for command in ("new", "ask", "sessions", "verify")),
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_what_nobody_can_mean_is_refused(quiet_place, words):
    command, *rest = words
    done = superpac(command, *LITTLE[command], *rest, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("command", ["cluster", "simulate", "theory"])
@pytest.mark.parametrize("plot", ["x.xyz", "points.npz/x.png", ".", "x" * 300 + ".png"])
def test_a_picture_that_cannot_be_written_is_refused_before_the_work(quiet_place, command, plot):
    """Before the data are looked for: they are not there."""
    data = () if command == "theory" else ("missing.npz", "-k", "3")
    done = superpac(command, *data, "--plot", plot, check=False)
    assert done.returncode == 2
    assert "missing" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")
@pytest.mark.parametrize("questions", [10**7, 10**11])
def test_a_budget_that_is_never_spent_takes_no_memory(place, questions):
    words = ("simulate", *POINTS, "-q", questions)
    done = measured(*words, cwd=place, SUPERPAC_CACHE="off")
    assert done.returncode == 0
    assert f"{questions} questions" in done.output
    assert len(done.output.splitlines()) < 40  # no line for every fifty that nobody asked
    assert done.memory < MOST_MEMORY


@pytest.mark.parametrize(
    "shape",
    [
        np.array(["two", "three"]),
        np.array([2.5, 3.0]),
        np.array([np.nan, 3.0]),
        np.array([-2, -3]),
        np.array([6]),
        np.array([2**62, 4]),
        np.array([True, False]),
        np.array(6),
        np.array([], dtype=int),
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["npz", "option"])
def test_sides_of_images_that_are_none_are_told(tmp_path, shape, way):
    X = np.arange(24.0).reshape(4, 6)
    np.savez(tmp_path / "a.npz", X=X, **({"image_shape": shape} if way == "npz" else {}))
    options = {} if way == "npz" else {"image_shape": tuple(np.atleast_1d(shape).tolist())}
    with pytest.raises(DataError, match="image_shape") as caught:
        load(tmp_path / "a.npz", **options)
    assert "\n" not in str(caught.value)
