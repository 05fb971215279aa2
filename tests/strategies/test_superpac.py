from __future__ import annotations

import numpy as np
import pytest

from driving import drive
from superpac.affinity.tsc import TSC
from superpac.answers.state import State
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.graph.spectral import spectral_clustering
from superpac.metrics import clustering_error
from superpac.strategies import Problem, Superpac, SuperpacS, make_strategy
from superpac.subspaces.geometry import fit_bases, margins, residuals


@pytest.fixture(scope="module")
def problem():
    X, y = make_subspaces(30, 4, 3, 12, noise=0.25, seed=5)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Problem(X, TSC(4, q=4).affinity(X), 4, dim=3, seed=1), y


def naive_superpac(problem: Problem, y, questions: int) -> list[tuple[int, int]]:
    """Algorithms 1 and 2 written down step by step, with a callable oracle and full re-clustering.

    Labels come from the same seeded exact clustering; everything else is computed naively.
    """
    reference = Superpac(problem)
    X, K = problem.X, problem.n_clusters
    labels = reference.start

    def geometry(labels):
        table = residuals(X, fit_bases(X, labels, K, problem.dim))
        return table, margins(table)

    asked: list[tuple[int, int]] = []

    def place(t, sets, table, mu, labels) -> bool:
        reps = [max(z, key=lambda p: mu[p]) for z in sets]
        order = sorted(range(len(sets)), key=lambda s: table[t, labels[reps[s]]])
        for s in order:
            if len(asked) >= questions:
                return False
            asked.append((t, reps[s]))
            if y[t] == y[reps[s]]:
                sets[s].append(t)
                return True
        sets.append([t])
        return True

    table, mu = geometry(labels)
    sets = [[int(np.argmax(mu))]]
    while len(sets) < K and len(asked) < min(2 * K, questions):
        placed = {p for z in sets for p in z}
        free = [p for p in range(len(y)) if p not in placed]
        seen = {labels[p] for p in placed}
        unseen = [p for p in free if labels[p] not in seen]
        if not unseen:
            return asked  # a random draw follows; the caller stops comparing here
        place(max(unseen, key=lambda p: mu[p]), sets, table, mu, labels)
    while len(asked) < questions:
        placed = {p for z in sets for p in z}
        free = [p for p in range(len(y)) if p not in placed]
        if not free:
            break
        table, mu = geometry(labels)
        if not place(min(free, key=lambda p: mu[p]), sets, table, mu, labels):
            break
        set_of = np.full(len(y), -1)
        for s, z in enumerate(sets):
            set_of[z] = s
        from superpac.graph.imputed_spectral import KnownSets

        known = KnownSets(set_of, len(sets))
        labels = reference.model.exact(known, step=int((set_of >= 0).sum()))
    return asked


def test_asks_what_the_paper_says(problem):
    instance, y = problem
    want = naive_superpac(instance, y, 60)
    _, asked = drive(Superpac(instance), y, 60)
    assert len(want) > 20
    assert asked[: len(want)] == want


def test_certain_sets_are_pure_and_mutually_different(problem):
    instance, y = problem
    strategy = Superpac(instance)
    state, _ = drive(strategy, y, 80)
    members = strategy.sets.members
    assert all(len(set(y[points])) == 1 for points in members.values())
    assert len({int(y[points[0]]) for points in members.values()}) == len(members)
    assert strategy.sets.known().different is None
    del state


def test_without_explore_the_first_set_is_the_least_sure_point(problem):
    instance, y = problem
    strategy = Superpac(instance, explore=0)
    first = strategy.sets.seeds[0]
    assert strategy.tracker.margins[first] == strategy.tracker.margins.min()
    state, _ = drive(strategy, y, 2000)
    assert clustering_error(y, strategy.labels(state)) == 0.0


def test_first_labels_are_plain_spectral_clustering(problem):
    instance, y = problem
    plain = spectral_clustering(instance.affinity, 4, random_state=0)
    start = Superpac(instance).labels(State(len(y)))
    assert clustering_error(plain, start) < 0.1


def test_superpac_s_never_takes_a_labelling_of_higher_cost(problem):
    instance, y = problem
    strategy = SuperpacS(instance)
    state = State(len(y))
    costs = []
    for _ in range(60):
        drive(strategy, y, 1, state)
        labels = strategy.labels(state)
        table = residuals(instance.X, fit_bases(instance.X, labels, 4, 3))
        costs.append(float((table[np.arange(len(y)), labels] ** 2).sum()))
    assert all(b <= a + 1e-9 for a, b in zip(costs, costs[1:], strict=False))


def test_warm_refit_ends_at_zero_too(problem):
    instance, y = problem
    strategy = Superpac(instance, refit="warm")
    state, _ = drive(strategy, y, 2000)
    assert clustering_error(y, strategy.labels(state)) == 0.0


@pytest.mark.parametrize(
    "options", [{"impute": "asked"}, {"extra_vectors": 1}, {"unit_embedding": False}]
)
def test_other_readings_ask_other_questions_and_learn(options):
    X, y = make_subspaces(12, 4, 3, 20, noise=0.5, seed=2)
    instance = Problem(X, TSC(4, q=4).affinity(X), 4, dim=3, seed=1)
    _, usual = drive(Superpac(instance), y, 60)
    strategy = Superpac(instance, **options)
    state, asked = drive(strategy, y, 60)
    assert asked != usual
    members = strategy.sets.members
    assert all(len(set(y[points])) == 1 for points in members.values())
    assert clustering_error(y, strategy.labels(state)) < 0.5


def test_a_reading_that_is_none_is_refused(problem):
    with pytest.raises(InputError, match="'impute' option must be 'implied' or 'asked'"):
        Superpac(problem[0], impute="guessed")


def test_unknown_names_and_options_are_refused(problem):
    instance, _ = problem
    with pytest.raises(InputError, match="choose one of: .*superpac"):
        make_strategy("guess", instance)
    for name in ("superpac", "superpac-pinned"):
        with pytest.raises(InputError, match="no option 'colour'; it takes: .*refit"):
            make_strategy(name, instance, colour="red")
    make_strategy("superpac-pinned", instance, refit="exact")
    with pytest.raises(InputError, match="'exact' or 'warm'"):
        Superpac(instance, refit="cold")


def test_survives_a_graph_on_which_lapack_cannot_pick_a_few_eigenvectors():
    X, y = make_subspaces(30, 6, 3, 15, noise=0.15, seed=5)
    strategy = Superpac(Problem(X, TSC(6, q=4).affinity(X), 6, dim=3, seed=5))
    state, _ = drive(strategy, y, 3000)
    assert clustering_error(y, strategy.labels(state)) == 0.0
