"""The command line as people use it: every command, real files, a real process once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from command_line import superpac
from superpac.data.synthetic import make_subspaces
from superpac.store import open_store

STORES = Path(__file__).parents[1] / "store" / "assets"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def planes(tmp_path_factory) -> Path:
    X, y = make_subspaces(20, 3, 2, 10, noise=0.1, seed=0)
    path = tmp_path_factory.mktemp("planes") / "planes.npz"
    np.savez(path, X=X, y=y)
    return path


def test_cluster_prints_one_json_object(planes, tmp_path):
    out, picture = tmp_path / "labels.csv", tmp_path / "deep" / "picture.png"
    done = superpac(
        *("cluster", planes, "-k", 3, "--affinity", "tsc:q=4", "--json"),
        *("-o", out, "--plot", picture),
    )
    result = json.loads(done.stdout)
    assert result["error"] == 0
    assert result["ari"] == 1
    assert result["components"] >= 1
    assert set(result["seconds"]) == {"load", "affinity", "spectral"}
    table = pd.read_csv(out)
    assert list(table.columns) == ["item", "cluster"]
    assert len(table) == 60
    assert Image.open(picture).width > 300


def test_without_a_number_it_is_estimated_said_and_left_open_in_a_session(planes, tmp_path):
    how = ("-a", "tsc:q=4")
    result = json.loads(superpac("cluster", planes, *how, "--json").stdout)
    assert result["clusters_estimated"]
    words = f"{result['clusters']} clusters (estimated; -k says how many"
    assert words in superpac("cluster", planes, *how).stdout
    store = ("--store", tmp_path / "store.sqlite3")
    superpac("new", planes, *how, "-d", 2, "--name", "open", *store)
    with open_store(tmp_path / "store.sqlite3", read_only=True) as kept:
        assert kept.open("open").info.spec["n_clusters"] == "auto"
    done = superpac("new", planes, *how, "--strategy", "superpac", *store, check=False)
    assert "needs the number of clusters" in done.stderr


def test_cluster_without_truth_says_null(tmp_path):
    X, _ = make_subspaces(15, 2, 2, 8, seed=1)
    path = tmp_path / "points.csv"
    pd.DataFrame(X, columns=[f"c{i}" for i in range(8)]).to_csv(path, index=False)
    result = json.loads(superpac("cluster", path, "-k", 2, "-a", "tsc", "--json").stdout)
    assert result["error"] is None
    assert result["nmi"] is None


def test_a_folder_of_pictures_is_clustered(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for n in range(30):
        pixels = rng.integers(0, 60, (12, 12), dtype=np.uint8)
        pixels[:, :6] += np.uint8(150 * (n % 2))
        pixels[6:, :] += np.uint8(40)
        Image.fromarray(pixels).save(folder / f"{n:02}.png")
    done = superpac("cluster", folder, "-k", 2, "-a", "knn:k=5", "-o", tmp_path / "groups.csv")
    assert "30 items in 2 clusters" in done.stdout
    table = pd.read_csv(tmp_path / "groups.csv")
    assert table["item"].iloc[0] == "00.png"
    assert table["cluster"].nunique() == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cluster", "no-such-thing", "-k", "3"), "no-such-thing"),
        (("cluster", "digits", "-k", "3", "-a", "magic"), "magic"),
        (("cluster", "digits", "-k", "3", "-a", "tsc:q=many"), "many"),
        (("cluster", "digits", "-k", "9999", "-a", "tsc"), "9999"),
        (("simulate", "digits", "--strategy", "guess", "-a", "tsc"), "guess"),
        (("simulate", "digits", "--option", "explore", "-a", "tsc"), "NAME=VALUE"),
        (("simulate", "digits", "--wrong", "0.9", "-a", "tsc"), "0.9"),
        (("ask", "nothing", "--store", "missing.sqlite3"), "no sessions"),
        (("import", "missing.zip", "--store", "x.sqlite3"), "missing.zip"),
        (("store", "backup", "missing.sqlite3"), "missing.sqlite3"),
        (("store", "restore", "missing.sqlite3", "--to", "x.sqlite3"), "missing.sqlite3"),
        (("store", "restore", "file", "--to", "x.sqlite3"), "not a superpac store"),
        (("cluster", "digits", "-k", "3", "-o", "file/out.csv"), "file is not a folder"),
        (("cluster", "digits", "-k", "3", "-o", "."), "it is a folder"),
        (("cluster", "digits", "-k", "3", "--plot", "out.xyz"), "png"),
        (("cluster", "digits", "-k", "3", "--plot", "file/out.png"), "file is not a folder"),
        (("simulate", "digits", "--plot", "out.xyz"), "png"),
        (("theory", "--plot", "out.xyz"), "png"),
        (("reproduce", "sonar", "--out", "file/out"), "file is not a folder"),
        (("data", "show", "digits", "--out", "file/out.png"), "file is not a folder"),
        (("new", "digits", "-k", "3", "--store", "file/out.sqlite3"), "no folder"),
        (("export", "x", "-o", "out.xyz", "--store", "file"), "xyz"),
        (("export", "x", "-o", "file/out.csv", "--store", "file"), "file is not a folder"),
        (("new", "digits", "-k", "3"), "file is not a folder"),
        (("sessions", "--store", "mysql://host/name"), "mysql"),
    ],
)
def test_a_mistake_is_one_sentence_and_no_traceback(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUPERPAC_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file" / "data"))
    (tmp_path / "file").write_text("not a folder")
    done = superpac(*words, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert len(done.stderr.strip().splitlines()) <= 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("clutser", "digits"), "Did you mean 'cluster'?"),
        (("cluster", "digits", "-k", "0"), "-k"),
        (("cluster", "digits", "-k", "many"), "-k"),
        (("cluster", "digits", "-k", "3", "--seed", "-1"), "--seed"),
        (("cluster", "digits", "-k", "3", "--sead", "1"), "--sead"),
        (("simulate", "digits", "-k", "some"), "nor 'auto'"),
        (("simulate", "digits", "--jobs", "0"), "--jobs"),
        (("simulate", "digits", "--trials", "0"), "--trials"),
        (("audit", "digits", "--sample", "0"), "--sample"),
        (("label", "digits", "-k", "3", "--port", "70000"), "--port"),
    ],
)
def test_a_wrong_option_is_named(words, said):
    done = superpac(*words, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_an_old_store_names_the_command_that_upgrades_it(tmp_path):
    shutil.copyfile(STORES / "schema-0001.sqlite3", tmp_path / "old.sqlite3")
    refused = superpac("sessions", "--store", tmp_path / "old.sqlite3", check=False)
    assert refused.returncode == 2
    command = refused.stderr.strip().partition(": superpac ")[2]
    assert "kept as" in superpac(*command.split()).stdout
    assert "frozen" in superpac("sessions", "--store", tmp_path / "old.sqlite3").stdout


def test_a_graph_in_pieces_is_told_in_a_sentence(tmp_path):
    X = np.repeat(np.eye(6), 5, axis=0)
    np.save(tmp_path / "points.npy", X)
    done = superpac("cluster", tmp_path / "points.npy", "-k", 2, "-a", "tsc:q=2", "--json")
    assert json.loads(done.stdout)["components"] == 6
    assert done.stderr.startswith("The affinity graph has 6 connected components for 2 clusters")


def test_simulate_prints_trials_and_their_mean(planes, tmp_path):
    done = superpac(
        *("simulate", planes, "-k", 3, "-a", "tsc:q=4", "--dim", 2, "--questions", 60),
        *("--trials", 2, "--json", "--plot", tmp_path / "curve.png"),
    )
    report = json.loads(done.stdout)
    assert [t["seed"] for t in report["trials"]] == [0, 1]
    for trial in report["trials"]:
        assert trial["curve"][0] == [0, trial["start_error"]]
        assert trial["ask_ms"]["p50"] <= trial["ask_ms"]["p95"]
        assert trial["seconds"] > 0
    assert set(report["mean"]["error_at"]) == {"0", "50", "60"}
    assert set(report["mean"]["questions_to"]) == {"5%", "1%", "0%"}
    assert (tmp_path / "curve.png").stat().st_size > 5000


def test_simulate_counts_a_persons_seconds_in_every_form(planes):
    words = ("simulate", planes, "-k", 3, "-a", "tsc:q=4", "-d", 2, "-q", 20, "--json")
    pairs = json.loads(superpac(*words).stdout)["trials"][0]
    assert pairs["spent"] == [1.5 * n for n in range(len(pairs["curve"]))]
    found = json.loads(superpac(*words, "--forms", "all").stdout)
    spent = found["trials"][0]["spent"]
    assert len(spent) == len(found["trials"][0]["curve"])
    assert spent == sorted(spent)
    assert set(found["mean"]["seconds_to"]) == set(found["mean"]["questions_to"])
    dear = json.loads(superpac(*words, "--cost", "pair=3").stdout)["trials"][0]["spent"]
    assert dear == [3.0 * n for n in range(len(dear))]


def test_simulate_is_the_same_again(planes):
    words = ("simulate", planes, "-k", 3, "-a", "tsc:q=4", "-d", 2, "-q", 30, "--json")
    first, second = (json.loads(superpac(*words).stdout) for _ in range(2))
    assert first["trials"][0]["curve"] == second["trials"][0]["curve"]


def test_a_session_from_new_to_export(planes, tmp_path):
    store = ("--store", tmp_path / "kept.sqlite3")
    superpac("new", planes, "-k", 3, "-a", "tsc:q=4", "--name", "flat", *store)
    said = superpac("ask", "flat", *store, stdin="s\nd\nu\nz\nx\nq\n").stdout
    assert "Took back #3" in said
    assert "Type s, d, u" in said
    assert json.loads(superpac("status", "flat", "--json", *store).stdout)["questions"] == 2
    assert "flat" in superpac("sessions", *store).stdout
    # three answers and the taking back of one
    assert superpac("verify", "flat", *store).stdout.startswith("4 events")
    assert "Took back #2" in superpac("undo", "flat", *store).stdout
    assert "Put back #2" in superpac("undo", "flat", "--redo", *store).stdout
    for name in ("a.csv", "a.parquet", "a.jsonl"):
        superpac("export", "flat", "-o", tmp_path / name, *store)
    assert len(pd.read_csv(tmp_path / "a.csv")) == 60
    assert len(pd.read_parquet(tmp_path / "a.parquet")) == 60
    superpac("export", "flat", "-o", tmp_path / "a.zip", *store)
    other = ("--store", tmp_path / "other.sqlite3")
    superpac("import", tmp_path / "a.zip", *other)
    here, there = (superpac("verify", "flat", *where).stdout for where in (store, other))
    assert here == there
    assert superpac("ask", "flat", *other, stdin="").returncode == 0


def test_a_mistake_in_a_real_process(tmp_path):
    done = subprocess.run(
        [Path(sys.executable).with_name("superpac"), "cluster", tmp_path / "none.csv", "-k", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "none.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_python_dash_m_is_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "superpac", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("superpac 0.")


def test_version_and_help():
    assert superpac("--version").stdout.startswith("superpac 0.")
    assert "simulate" in superpac("--help").stdout


def test_audit_asks_a_sample_goes_on_and_prints_json(planes, tmp_path):
    store = ("--store", tmp_path / "s.sqlite3")
    superpac("new", planes, "-k", 3, "-a", "tsc:q=4", "-d", 2, "--name", "planes", *store)
    first = superpac("audit", "planes", "--sample", 4, *store, stdin="d\nd\nx\nz\nq\n")
    assert "Type s, d, u, z or q" in first.stdout
    assert "Took back #3." in first.stdout
    assert "superpac audit planes" in first.stdout
    done = superpac("audit", "planes", "--json", *store, stdin="d\nd\n" + "s\n" * 4)
    found = json.loads(done.stdout)
    assert found["finished"]
    assert (found["sampled"], found["wrong"], found["unchecked"]) == (4, 0, 0)
    assert found["started"] == 1
    assert found["low"] == 0 < found["high"] < 1
    cut = superpac("audit", "planes", "--sample", 1, *store, stdin="d\n")
    assert "No item has been sampled yet" in cut.stdout
    last = superpac("audit", "planes", "--sample", 1, *store, stdin="d\nd\ns\n")
    assert "95% interval" in last.stdout


def test_until_stops_asking_and_simulating(planes, tmp_path):
    store = ("--store", tmp_path / "s.sqlite3")
    made = ("-k", 3, "-a", "tsc:q=4", "-d", 2, "--strategy", "superpac-d")
    report = json.loads(superpac("simulate", planes, *made, "--until", "8%", "--json").stdout)
    trial = report["trials"][0]
    assert trial["stopped"]
    assert trial["error_left"]["high"] <= 0.08
    assert 0 < trial["curve"][-1][0] < 200
    assert "stopped by the estimate" in superpac("simulate", planes, *made, "--until", 0.08).stdout
    superpac("new", planes, *made, "--name", "planes", *store)
    left = json.loads(superpac("status", "planes", "--model", "--json", *store).stdout)[
        "error_left"
    ]
    assert 0 <= left["low"] <= left["estimate"] <= left["high"]
    done = superpac("ask", "planes", "--until", "99%", *store)
    assert "Enough: about" in done.stdout
    wrong = superpac("ask", "planes", "--until", "soon", *store, check=False)
    assert wrong.returncode == 2
    assert "1% or 0.01" in wrong.stderr


def test_simulate_prints_the_questions_of_a_clairvoyant_beside_its_own(planes):
    made = (
        "-k",
        3,
        "-a",
        "tsc:q=3",
        "-d",
        2,
        "--strategy",
        "superpac-d",
        "--clairvoyant",
        "-q",
        60,
    )
    report = json.loads(superpac("simulate", planes, *made, "--json").stdout)
    own, least = report["mean"]["questions_to"], report["clairvoyant"]["questions_to"]
    assert set(least) == set(own) == {"5%", "1%", "0%"}
    assert least["0%"] <= own["0%"]
    assert report["clairvoyant"]["reached"]["0%"] == 1
    assert "(clairvoyant: " in superpac("simulate", planes, *made).stdout
