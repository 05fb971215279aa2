"""The number of clusters, found while asking."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from superpac.cli import app
from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.graph.piece_count import guess_pieces, modularity
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle
from superpac.strategies.superpac_d.merge_chances import chance_of_count, merge_chances


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


def test_modularity_of_the_true_pieces_is_largest():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(7), 20)
    A = (rng.random((140, 140)) < np.where(y[:, None] == y, 0.5, 0.01)).astype(float)
    A = np.triu(A, 1)
    graph = sparse.csr_array(A + A.T)
    assert guess_pieces(graph) in (6, 7, 8)
    split = np.where(y == 0, rng.integers(0, 2, 140) * 7, y)
    assert modularity(graph, y, 8) > modularity(graph, split, 8)


def test_chances_against_one_pair_at_a_time():
    rng = np.random.default_rng(3)
    S = 7
    mutual = rng.random((S, S))
    mutual = mutual + mutual.T
    np.fill_diagonal(mutual, 0.0)
    differ = np.triu(rng.random((S, S)) < 0.3, 1)
    differ = differ | differ.T
    cuts = np.where(differ, 1.0, 0.0) / 2
    mass = rng.random(S) * 10
    small = mass < 2
    found = merge_chances(mutual, differ, cuts, small, mass, 5, 0.01)

    def of(a: int, b: int) -> float:
        share = 0.98 if small[a] else max(0.3, min(0.9, 1.5 * (S - 5) / S))
        open_ = [mutual[a, c] * (0.01 if differ[a, c] else 1.0) for c in range(S)]
        return share * open_[b] / (share * sum(open_) + 1 - share)

    for a in range(S):
        for b in range(S):
            if a != b:
                expected = min(of(a, b), of(b, a))
                if small[a] or small[b]:
                    expected = of(a, b) if mass[a] < mass[b] else of(b, a)
                assert found[a, b] == pytest.approx(expected)


def test_more_placed_points_make_the_number_surer():
    apart = ~np.eye(3, dtype=bool)
    none = np.zeros(3, dtype=bool)
    sure = [chance_of_count(np.zeros((3, 3)), np.arange(3), apart, none, m) for m in (0, 5, 50)]
    assert sure == sorted(sure)
    assert chance_of_count(np.zeros((3, 3)), np.arange(3), apart, none, 50, found=20) < sure[-1]
