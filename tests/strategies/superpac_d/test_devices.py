"""SUPERPAC-D asks and believes the same whichever device computes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import superpac.graph.diffusion as diffusion
import superpac.graph.spectral as spectral
from graphics import torch_device
from superpac.answers.links import Link
from superpac.answers.state import State
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.device.arrays import to_host
from superpac.device.choice import HOST
from superpac.session.problem import build_problem
from superpac.session.spec import Spec
from superpac.strategies.superpac_d.settings import DEFAULT
from superpac.strategies.superpac_d.strategy import SuperpacD


@pytest.fixture(scope="module")
def items() -> Dataset:
    X, y = make_subspaces(25, 6, 3, 9, noise=0.4, seed=0)
    return Dataset(X, y=y, name="planes")


def questions(problem, y, count, wrong=0.0, settings=DEFAULT):
    """Questions, labels and posterior of a run whose answers err now and then."""
    strategy, state = SuperpacD(problem, settings=settings), State(problem.n)
    rng, asked = np.random.default_rng(5), []
    for seq in range(1, count + 1):
        found = strategy.propose(
            state, 2, frozenset(asked[-1][:1]) if seq % 7 == 0 else frozenset()
        )
        if not found:
            break
        same = (y[found[0].i] == y[found[0].j]) != (rng.random() < wrong)
        asked.append((found[0].i, found[0].j, found[0].reason, found[0].confirm, len(found)))
        state.hear(Link(seq, found[0].i, found[0].j, "same" if same else "different"))
    labels = strategy.labels(state)
    return asked, labels, strategy, state


def compare(problem, y, count, **options):
    here = questions(replace(problem, device=HOST), y, count, **options)
    there = questions(replace(problem, device=torch_device()), y, count, **options)
    assert here[0] == there[0]
    np.testing.assert_array_equal(here[1], there[1])
    one, other = here, there
    beliefs, others = (run[2].beliefs(run[3]) for run in (one, other))
    # the kernel's factor has single precision, and its last bits are each library's own
    np.testing.assert_allclose(beliefs.right, others.right, atol=1e-5)
    outlook, other_outlook = (run[2].outlook(run[3]) for run in (one, other))
    np.testing.assert_allclose(outlook.chances, other_outlook.chances, atol=1e-5)
    np.testing.assert_allclose(outlook.reach, other_outlook.reach, atol=1e-5)
    np.testing.assert_array_equal(outlook.faces, other_outlook.faces)
    item = int(np.flatnonzero(outlook.free)[0])
    assert one[2].exemplars(one[3], item, 4) == other[2].exemplars(other[3], item, 4)
    return there


@pytest.mark.parametrize("clusters", [6, "auto"])
@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_questions_and_labels_are_the_same(items, clusters, wrong):
    problem = build_problem(items, Spec(clusters, affinity="tsc:q=4", dim=3))
    compare(problem, items.y, 60, wrong=wrong)


@pytest.mark.parametrize("change", [{"refresh": 300}, {"single_precision": 100}])
def test_so_they_are_as_with_many_points(monkeypatch, change):
    """Iterative solves, the spectral step of large graphs, and few columns refreshed per answer."""
    monkeypatch.setattr(diffusion, "DENSE", 0)
    monkeypatch.setattr(spectral, "THERE_FROM", 100)
    X, y = make_subspaces(60, 6, 3, 9, noise=0.4, seed=0)  # too many for the dense eigensolver
    items = Dataset(X, y=y, name="planes")
    # solved further than usual: at the usual residual two solvers may rank near ties otherwise
    settings = replace(DEFAULT, solve_tolerance=1e-10, solve_tolerance_large=1e-10, **change)
    problem = build_problem(items, Spec(6, affinity="tsc:q=4", dim=3))
    compare(problem, items.y, 40, settings=settings)


def test_taking_back_answers_restores_the_same(items):
    problem = replace(
        build_problem(items, Spec(6, affinity="tsc:q=4", dim=3)), device=torch_device()
    )
    asked, _, strategy, state = questions(problem, items.y, 30)
    fewer = State.of(problem.n, state.answers[:22])
    fresh = SuperpacD(problem)
    again, first = strategy.propose(fewer)[0], fresh.propose(fewer)[0]
    assert (again.i, again.j) == (first.i, first.j) == asked[22][:2]
    np.testing.assert_array_equal(strategy.labels(fewer), fresh.labels(fewer))
    np.testing.assert_array_equal(to_host(strategy.model.groups), to_host(fresh.model.groups))
