"""Runs: the same anywhere to the bit, resumable after a kill, honest about what failed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from superpac.data import load
from superpac.errors import ConflictError, InputError
from superpac.research.figure_plots import label_of
from superpac.research.figure_specs import Line
from superpac.research.results import Parts, only_run, read_results
from superpac.research.runner import TimeLeft, in_rounds, run_figures
from superpac.research.trials import MetClasses, run_task
from superpac.strategies import STRATEGIES

EXACT = ["key", "seed", "data_seed", "status", "stopped", "met_at", "mistakes", "n", "dim_used"]


def curves(path: Path) -> dict:
    table = read_results(path).table
    return {
        row.key: (row.error.tobytes(), row.ari.tobytes(), *(getattr(row, name) for name in EXACT))
        for row in table.itertuples()
    }


def test_a_run_has_every_trial_with_its_facts(finished, small):
    results = read_results(finished)
    table = results.table
    assert set(table["key"]) == {task.key for task in small.tasks()}
    assert set(table["status"]) == {"done"}
    sessions = table[table["kind"] == "session"]
    assert all(len(r.error) == r.questions + 1 for r in sessions.itertuples())
    assert all(len(r.ask_ms) == r.questions for r in sessions.itertuples())
    assert (sessions[sessions["method"] == "superpac-wrong"]["mistakes"].sum()) > 0
    assert all("numpy" in facts and "processor" in facts for facts in table["machine"])
    assert results.meta["skipped"] == []
    better = results.curves("small", "three", "superpac").mean(axis=0)
    assert better[-1] < better[0] + 1e-9


def test_methods_of_a_trial_start_from_the_same_points(finished):
    table = read_results(finished).table
    for _, trial in table[table["kind"] == "session"].groupby(["panel", "trial"]):
        assert trial["data_seed"].nunique() == 1
        assert trial["affinity_seconds"].nunique() == 1  # built once


def test_a_finished_run_leaves_its_results_alone(finished):
    left = {path.name for path in finished.parent.iterdir()}
    assert left == {".lock", "parts", "results.parquet"}


def test_several_processes_give_the_same_bits(finished, small, tmp_path):
    fresh = tmp_path / "affinities"  # so that these are built again, too
    assert curves(run_figures([small], tmp_path, jobs=2, affinities=fresh)) == curves(finished)


def test_a_dask_cluster_gives_the_same_bits(finished, small, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
    ) as cluster:  # fmt: skip
        found = run_figures([small], tmp_path / "out", dask=cluster.scheduler_address)
    assert curves(found) == curves(finished)


def test_no_cluster_at_the_address_is_said(small, tmp_path, monkeypatch):
    import distributed

    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda a, **kw: real(a, **{**kw, "timeout": "1s"}))
    with pytest.raises(InputError, match="No Dask scheduler answers"):
        run_figures([small], tmp_path, dask="tcp://127.0.0.1:9")


def test_a_killed_run_goes_on_without_redoing(finished, small_file, small, tmp_path):
    out = tmp_path / "out"
    script = textwrap.dedent(f"""
        from superpac.research.figure_specs import load_figure
        from superpac.research.runner import run_figures
        run_figures([load_figure({str(small_file)!r})], {str(out)!r}, jobs=2)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    part = out / "parts" / "small.jsonl"
    deadline = time.monotonic() + 120
    while not (part.exists() and part.read_bytes().count(b"\n") >= 4):
        assert child.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    before = part.read_bytes()
    whole = before[: before.rindex(b"\n") + 1]
    kept = [json.loads(line)["key"] for line in whole.splitlines()]
    assert 4 <= len(kept) < len(small.tasks())
    assert not (out / "results.parquet").exists()

    seen: list[tuple[int, int]] = []
    found = run_figures([small], out, watch=lambda done, total, left: seen.append((done, total)))
    after = part.read_bytes()
    assert after.startswith(before)  # append-only
    lines = [json.loads(line)["key"] for line in after.splitlines() if line.endswith(b"}")]
    assert len(lines) == len(set(lines)) == len(small.tasks())
    assert seen[0] == (len(kept), len(small.tasks()))
    assert seen[-1][0] == seen[-1][1]
    assert curves(found) == curves(finished)


def test_a_line_cut_short_is_left_out_and_run_again(finished, small, tmp_path):
    run_figures([small], tmp_path, trials=1)
    part = tmp_path / "parts" / "small.jsonl"
    text = part.read_bytes()
    part.write_bytes(text[:-40])
    assert len(Parts(tmp_path / "parts").rows()) == text.count(b"\n") - 1
    again = curves(run_figures([small], tmp_path, trials=1))
    whole = curves(finished)
    assert again == {key: whole[key] for key in again}
    assert len(again) == text.count(b"\n")


def test_more_trials_keep_the_first_ones(small, tmp_path):
    first = curves(run_figures([small], tmp_path, trials=1))
    size = (tmp_path / "parts" / "small.jsonl").stat().st_size
    begun = (tmp_path / "parts" / "small.jsonl").read_bytes()[:size]
    second = curves(run_figures([small], tmp_path, trials=2))
    assert first.items() <= second.items()
    assert (tmp_path / "parts" / "small.jsonl").read_bytes().startswith(begun)


def test_results_without_their_parts_are_kept_and_added_to(small, tmp_path):
    first = curves(run_figures([small], tmp_path, trials=1, methods=("superpac",)))
    shutil.rmtree(tmp_path / "parts")
    seen = []
    found = run_figures(
        [small], tmp_path, trials=1, watch=lambda done, total, left: seen.append((done, total))
    )
    assert seen[0][0] == len(first)
    assert first.items() < curves(found).items()


def test_two_runs_in_one_folder_are_refused(small, tmp_path):
    with only_run(tmp_path), pytest.raises(ConflictError, match="Another run"):
        run_figures([small], tmp_path)


def test_what_is_not_there_is_skipped_by_name(small, tmp_path):
    spec = replace(
        small,
        panels=(replace(small.panels[0], trials=1, questions=3), replace(
            small.panels[1], data="no-such-set", trials=1)),
        lines=(*small.lines, Line("nobody")),
    )  # fmt: skip
    results = read_results(run_figures([spec], tmp_path))
    why = {(s["panel"], s["method"]): s["why"] for s in results.meta["skipped"]}
    assert "no strategy nobody" in why["three", "nobody"]
    assert "no-such-set" in why["four", "superpac"]
    assert set(results.table["panel"]) == {"three"}


def test_a_failing_trial_is_kept_as_such_and_run_again(small, tmp_path):
    bad = Line("superpac", options={"no_such_option": 1})
    spec = replace(small, panels=(replace(small.panels[0], trials=1),), lines=(bad,))
    table = read_results(run_figures([spec], tmp_path)).table
    assert list(table["status"]) == ["failed"]
    assert "no_such_option" in table["why"].iloc[0]
    seen: list[int] = []
    run_figures([spec], tmp_path, watch=lambda done, total, left: seen.append(done))
    assert seen == [0, 1]


def test_time_allowed_ends_a_trial_and_a_run(small, tmp_path):
    panel = replace(small.panels[0], trials=1, limit_s=1e-9, lines=("random",))
    spec = replace(small, panels=(panel,))
    results = read_results(run_figures([spec], tmp_path))
    row = results.table.iloc[0]
    assert (row["stopped"], len(row["error"])) == ("time", 2)
    curve = results.curves("small", "three", "random")
    assert curve.shape == (1, 26)
    assert np.isnan(curve[0, 2:]).all()
    longer = replace(small, panels=(replace(panel, limit_s=60.0),))
    assert len(read_results(run_figures([longer], tmp_path)).table.iloc[0]["error"]) == 26
    late = read_results(run_figures([small], tmp_path / "late", allowed_s=-1.0))
    assert late.table.empty
    assert {s["why"] for s in late.meta["skipped"]} == {"the time allowed was over"}


def test_rounds_keep_trials_apart_and_lose_nothing(small):
    tasks = small.tasks()
    ordered = in_rounds(tasks, 2)
    assert sorted(t.key for t in ordered) == sorted(t.key for t in tasks)
    assert ordered[0].trial != ordered[1].trial


def test_time_left_follows_what_like_trials_took(small):
    tasks = [t for t in small.tasks() if t.panel == "three" and t.trial < 2]
    clock = TimeLeft(tasks, jobs=2)
    assert np.isnan(clock.left())
    seconds = {"superpac": 8.0, "superpac-wrong": 4.0, "random": 2.0, "oracle-pca": 0.0}
    for task in tasks:
        if task.trial == 0:
            clock.note({"key": task.key, "seconds": seconds[task.method]})
    assert clock.left() == pytest.approx(7.0)
    for task in tasks:
        clock.note({"key": task.key, "seconds": 1.0})
    assert clock.left() == 0.0


def test_classes_met_counts_points_that_stand_apart():
    met = MetClasses(np.array([0, 0, 1, 1, 2]))
    assert met.take(1, 0, True) == 1
    assert met.take(2, 0, False) == 2
    assert met.take(4, 2, False) == 2  # not yet known to differ from class 0
    assert met.take(3, 2, True) == 2
    assert met.take(4, 0, False) == 3


def test_methods_and_limit_choose_what_is_run(small, tmp_path):
    tasks = small.tasks(methods=["random"], limit_s=5.0)
    assert {t.method for t in tasks} == {"random"}
    assert {t.limit_s for t in tasks} == {5.0}
    assert {t.panel for t in small.tasks(panels=["four"])} == {"four"}
    allowed = replace(small, panels=tuple(replace(p, limit_s=2.0) for p in small.panels))
    assert {t.limit_s for t in allowed.tasks(limit_s=5.0)} == {2.0}
    with pytest.raises(InputError, match="Nothing is left to run"):
        run_figures([small], tmp_path, methods=["nobody"])


def test_commands_and_kept_affinities_of_several_runs(small, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "affinities"
    for method in ("random", "oracle-pca", "random"):
        path = run_figures(
            [small], out, trials=1, methods=[method], affinities=kept, command=method
        )
    results = read_results(path)
    assert results.meta["commands"] == ["oracle-pca", "random"]
    assert set(results.table["method"]) == {"random", "oracle-pca"}
    assert len(list(kept.glob("*.npz"))) == 1


def test_trials_of_an_older_revision_are_run_again_and_marked(small, tmp_path, monkeypatch):
    path = run_figures([small], tmp_path, trials=1, methods=["random"])
    assert not read_results(path).older("small", "three", "random")
    monkeypatch.setattr(STRATEGIES["random"], "revision", 99)
    results = read_results(path)
    assert results.older("small", "three", "random")
    line = {"name": "random", "label": ""}
    assert label_of(results, results.meta["figures"][0], line) == "random (older version)"
    seen = []
    run_figures(
        [small], tmp_path, trials=1, methods=["random"], watch=lambda *told: seen.append(told[0])
    )
    assert seen[0] == 0  # nothing counts as done
    assert set(read_results(path).table["revision"]) == {99}


def test_a_line_may_have_fewer_trials_questions_and_measurements(small):
    less = replace(small, lines=(Line("random", trials=1, questions=10, every=4),))
    tasks = less.tasks(panels=["three"])
    assert [(task.trial, task.questions, task.every) for task in tasks] == [(0, 10, 4)]
    assert tasks[0].key != replace(tasks[0], every=1).key
    row = run_task(tasks[0], load("digits"))
    often = run_task(replace(tasks[0], every=1), load("digits"))
    assert len(row["error"]) == 11
    for q, error in enumerate(row["error"]):
        assert error == often["error"][q - q % 4]
