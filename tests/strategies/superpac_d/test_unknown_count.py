"""The number of clusters, found while asking."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from typer.testing import CliRunner

from superpac.cli import app
from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle


def planes(clusters: int, seed: int) -> Dataset:
    X, y = make_subspaces(25, clusters, 3, 15, noise=0.1, seed=seed)
    return Dataset(X, y=y)


@pytest.mark.parametrize("clusters", [3, 6, 11])
def test_it_finds_as_many_as_there_are(clusters):
    found = []
    for seed in range(3):
        items = planes(clusters, seed)
        session = Session.create(items, Spec("auto", "tsc:q=5", "superpac-d", dim=3, seed=seed))
        run = simulate(session, TruthOracle(items.y), items.y, 150)
        found.append(session.progress()["clusters"])
        assert run.error[-1] <= 0.05
    assert np.median(found) == clusters


def clumps(clusters: int, each: int, noise: float, seed: int) -> Dataset:
    """Points about directions, as a network gives them for faces: many small tight clusters."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, 40))
    y = np.repeat(np.arange(clusters), each)
    return Dataset(centres[y] + noise * rng.standard_normal((y.size, 40)), y=y).shuffled(seed)


@pytest.mark.parametrize("noise", [0.2, 0.6])
def test_many_small_clusters_on_a_graph_in_pieces_are_right_from_the_start(noise):
    items = clumps(40, 9, noise, seed=5)
    session = Session.create(items, Spec("auto", "tsc:q=5", "superpac-d", seed=5))
    pieces = connected_components(session.problem.affinity, directed=False)[0]
    assert pieces > 5
    assert clustering_error(items.y, session.labels()) <= 0.1
    simulate(session, TruthOracle(items.y), items.y, 40)
    assert session.progress()["clusters"] == 40
    assert clustering_error(items.y, session.labels()) <= 0.01


def test_clusters_in_two_parts_that_no_walk_connects_are_joined():
    halves = clumps(8, 20, 0.2, seed=3)
    items = Dataset(halves.points(), y=halves.y // 2)
    session = Session.create(items, Spec("auto", "tsc:q=5", "superpac-d", seed=3))
    assert connected_components(session.problem.affinity, directed=False)[0] == 8
    # What belongs together is alike in nothing here: there may be as many questions as pairs of
    # groups, and every other one is about a point.
    run = simulate(session, TruthOracle(items.y), items.y, 80)
    assert session.progress()["clusters"] == 4
    assert run.error[0] > 0.3 > run.error[-1] == 0


def test_small_far_parts_of_clusters_are_joined_and_leave_the_number_unsure_until_then():
    rng = np.random.default_rng(4)
    clump = np.repeat(np.arange(14), [40] * 10 + [8] * 4)
    points = rng.standard_normal((14, 40))[clump] + 0.3 * rng.standard_normal((clump.size, 40))
    items = Dataset(points, y=np.where(clump < 10, clump, clump - 10)).shuffled(4)
    session = Session.create(items, Spec("auto", "tsc:q=5", "superpac-d", seed=4))
    for _ in range(100):
        question = session.ask()
        session.tell(TruthOracle(items.y)(question), (question.i, question.j))
        now = session.progress()
        # On eight draws it was at most 68% sure of a wrong number; the last bits of a machine's
        # arithmetic decide which questions come, so the limit leaves room.
        assert now["clusters"] == 10 or now["clusters_sure"] < 0.9
        error = clustering_error(items.y, session.labels())
        assert now["error_left"]["low"] <= error <= now["error_left"]["high"]
    assert now["clusters"] == 10
    assert error == 0


def test_it_says_how_sure_it_is_and_grows_surer():
    items = load("digits").sample_classes(5, 60, 1)
    session = Session.create(items, Spec("auto", "tsc:q=5", "superpac-d", dim=5))
    before = session.progress()["clusters_sure"]
    simulate(session, TruthOracle(items.y), items.y, 150)
    after = session.progress()
    assert 0 <= before < after["clusters_sure"] <= 1
    assert clustering_error(items.y, session.labels()) < 0.05


def test_a_number_that_was_given_is_not_put_in_doubt():
    items = planes(3, 0)
    session = Session.create(items, Spec(3, "tsc:q=5", "superpac-d", dim=3))
    assert session.progress()["clusters"] == 3
    assert session.progress()["clusters_sure"] is None


def test_taking_back_gives_the_number_back():
    items = planes(4, 2)
    session = Session.create(items, Spec("auto", "tsc:q=5", "superpac-d", dim=3))
    seen = []
    for _ in range(30):
        question = session.ask()
        seen.append((session.progress()["clusters"], question.i, question.j))
        session.tell(TruthOracle(items.y)(question), (question.i, question.j))
    for expected in reversed(seen):
        session.undo()
        question = session.ask()
        assert (session.progress()["clusters"], question.i, question.j) == expected


def test_a_strategy_that_needs_the_number_says_so():
    with pytest.raises(InputError, match="needs the number of clusters.*superpac-d"):
        Spec("auto", strategy="superpac")
    with pytest.raises(InputError, match="positive integer or 'auto'"):
        Spec("many")


def test_the_command_line_takes_auto():
    command = "simulate digits -k auto -a tsc:q=5 -d 5 --classes 4 --per-class 40 -q 60 --json"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    trial = json.loads(result.stdout)["trials"][0]
    assert trial["clusters"] == 4
    assert 0 < trial["clusters_sure"] <= 1
    wrong = CliRunner().invoke(app, ["simulate", "digits", "-k", "some"])
    assert wrong.exit_code == 2
    assert "nor 'auto'" in wrong.output
