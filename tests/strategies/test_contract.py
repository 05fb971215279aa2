"""What every strategy owes to those who ask by it, the default and the rivals alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.log import MemoryLog
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.strategies import STRATEGIES

NAMES = sorted(STRATEGIES)
CLUSTERS = 3
OPTIONS = {"npu": {"n_trees": 10}}  # its forest is grown anew after every answer

# Promises that not everybody makes.
ENDS_ABOVE_ZERO = {"a3s"}  # stops when it is sure enough of its clusters
FINDS_ITS_OWN_NUMBER = {"cobras", "a3s"}  # build clusters from answers, however many there are
# What answers keep apart from every group is one more, for a while.
KEEPS_APART = {"superpac-b", "superpac-d"}
# Never ask whether two sets are one: only answers that a person volunteers make two of one cluster.
PLACES_POINTS_ONLY = {"explore-consolidate", "min-max", "npu", "scal"}
DRAWS_LOTS = {"cobras", "explore-consolidate", "min-max", "npu", "random"}
DRAWS_NONE = {"a3s", "scal"}  # the others only start k-means by chance, which seldom matters

pytestmark = pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")
every_strategy = pytest.mark.parametrize("name", NAMES)
examples = settings(max_examples=4)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Dataset, Spec]:
    """Points near three planes, thirty to sixty of them."""
    X, y = make_subspaces(
        draw(st.integers(10, 20)),
        CLUSTERS,
        2,
        draw(st.integers(5, 10)),
        noise=draw(st.sampled_from([0.0, 0.1, 0.25, 0.4])),
        seed=draw(st.integers(0, 99)),
    )
    spec = Spec(CLUSTERS, affinity="tsc:q=4", dim=2, seed=draw(st.integers(0, 9)))
    return Dataset(X, y=y, name="planes"), spec


# What a person does next: mostly answers, now and then something else.
acts = st.lists(
    st.sampled_from(["truth"] * 6 + ["unsure", "skip", "aside", "volunteer"]), max_size=18
)


def begin(name: str, problem: tuple[Dataset, Spec]) -> Session:
    items, spec = problem
    return Session.create(items, replace(spec, strategy=name, options=OPTIONS.get(name, {})))


def right_answer(session: Session, i: int, j: int) -> str:
    return "same" if session.data.y[i] == session.data.y[j] else "different"


def act(session: Session, what: str) -> bool:
    """Do one thing; whether there was a question to do it about."""
    question = session.ask()
    if question is None:
        return False
    if what == "truth":
        session.tell(right_answer(session, question.i, question.j))
    elif what == "unsure":
        session.tell("unsure")
    elif what == "skip":
        session.skip()
    elif what == "aside":
        session.set_aside(question.i)
    else:
        i, j = np.random.default_rng(session.seq).choice(len(session.data), 2, replace=False)
        session.tell(right_answer(session, i, j), (int(i), int(j)))
    return True


def lived(name: str, problem: tuple[Dataset, Spec], done: list[str]) -> Session:
    session = begin(name, problem)
    for what in done:
        if not act(session, what):
            break
    return session


def opened_anew(session: Session) -> Session:
    log = MemoryLog(session.log.info)
    for event in session.log.events():
        log.append(event.kind, event.body, annotator=event.annotator, key=event.key)
    return Session.open(session.data, log, affinity=session.problem.affinity)


def pairs(proposals) -> list[tuple[int, int]]:
    return [(p.i, p.j) for p in proposals]


def ranked(session: Session, n: int = 1, avoid: frozenset[int] = frozenset()):
    return session.strategy.propose(session.state, n, avoid)


def answer_to_the_end(session: Session, limit: int = 3000) -> list[tuple[int, int]]:
    asked = []
    while (question := session.ask()) is not None:
        assert len(asked) < limit, "it never ends"
        asked.append((question.i, question.j))
        session.tell(right_answer(session, question.i, question.j))
    return asked


@every_strategy
@examples
@given(problem=problems(), done=acts, busy=st.sets(st.integers(0, 29), max_size=8))
def test_questions_are_about_two_items_that_may_be_asked(name, problem, done, busy):
    session = lived(name, problem, done)
    state, n = session.state, len(session.data)
    for avoid in (frozenset(), frozenset(busy)):
        found = ranked(session, 4, avoid)
        assert len(found) <= 4
        for question in found:
            i, j = question.i, question.j
            assert i != j
            assert 0 <= i < n
            assert 0 <= j < n
            assert not {i, j} & state.bad
            assert i not in avoid  # the other one may stand for its set before several people
            assert not state.put_off(i, j)
            assert state.askable(i, j) or STRATEGIES[name].weighs_answers
            assert question.reason


@every_strategy
@examples
@given(problem=problems(), done=acts)
def test_several_questions_are_about_different_items_and_begin_with_the_best(name, problem, done):
    session = lived(name, problem, done)
    best, several = pairs(ranked(session)), pairs(ranked(session, 5))
    assert several[:1] == best
    placed = [i for i, _ in several]
    assert len(set(placed)) == len(placed)
    for before, (i, j) in enumerate(several):
        assert not {i, j} & set(placed[:before])


@every_strategy
@examples
@given(problem=problems(), done=acts)
def test_the_same_log_gives_the_same_questions_and_labels(name, problem, done):
    session = lived(name, problem, done)
    question = session.ask()
    first, labels = pairs(ranked(session, 3)), session.labels()
    assert pairs(ranked(session, 3)) == first
    assert (session.ask() is None) == (question is None)
    other = opened_anew(session)
    assert pairs(ranked(other, 3)) == first
    np.testing.assert_array_equal(other.labels(), labels)


@every_strategy
@examples
@given(problem=problems(), done=acts)
def test_labels_are_one_per_item_and_break_no_answer(name, problem, done):
    session = begin(name, problem)
    if name not in FINDS_ITS_OWN_NUMBER:
        assert np.unique(session.labels()).size <= CLUSTERS
    session = lived(name, problem, done)
    for kind in ("model", "answers"):
        labels = session.labels(kind)
        assert labels.shape == (len(session.data),)
        assert labels.dtype.kind == "i"
        assert labels.min() >= 0
        if name not in FINDS_ITS_OWN_NUMBER | KEEPS_APART:
            assert np.unique(labels).size <= CLUSTERS
    for link in session.state.answers:
        if link.answer != "unsure":
            assert (labels[link.i] == labels[link.j]) == (link.answer == "same")


@every_strategy
@examples
@given(
    problem=problems(),
    done=acts,
    last=st.sampled_from(["truth", "unsure", "skip", "aside", "volunteer"]),
)
def test_taking_the_last_act_back_gives_what_was_before(name, problem, done, last):
    session = lived(name, problem, done)
    before, labels = pairs(ranked(session, 2)), session.labels()
    seq = session.seq
    if not act(session, last) or session.seq == seq:  # what was volunteered may be known already
        return
    after = pairs(ranked(session, 2)), session.labels().tolist()
    session.undo()
    assert pairs(ranked(session, 2)) == before
    np.testing.assert_array_equal(session.labels(), labels)
    session.redo()
    assert (pairs(ranked(session, 2)), session.labels().tolist()) == after


@every_strategy
@pytest.mark.parametrize("what", ["unsure", "skip"])
def test_what_nobody_can_tell_is_put_off_and_all_of_it_ends(name, what):
    X, y = make_subspaces(4, 2, 1, 4, noise=0.2, seed=1)
    spec = Spec(2, affinity="tsc:q=2", dim=1)
    session = begin(name, (Dataset(X, y=y), spec))
    seen = set()
    while (question := session.ask()) is not None:
        pair = frozenset((question.i, question.j))
        assert pair not in seen, "it was put off and came straight back"
        seen.add(pair)
        act(session, what)
    assert seen
    assert session.labels().shape == (8,)


@every_strategy
@examples
@given(problem=problems())
def test_right_answers_until_nothing_is_left_end_without_an_error(name, problem):
    session = begin(name, problem)
    asked = answer_to_the_end(session)
    if not STRATEGIES[name].weighs_answers:
        assert len({frozenset(pair) for pair in asked}) == len(asked), "a pair was asked twice"
    error = clustering_error(session.data.y, session.labels())
    assert error < 0.3 if name in ENDS_ABOVE_ZERO else error == 0


@every_strategy
@examples
@given(problem=problems(), count=st.integers(1, 12))
def test_answers_that_a_person_volunteers_are_taken_in(name, problem, count):
    session = begin(name, problem)
    y = session.data.y
    order = np.random.default_rng(count).permutation(len(y))[: 2 * count]
    for i, j in order.reshape(-1, 2).tolist():
        assert session.tell(right_answer(session, i, j), (i, j)).recorded
    answer_to_the_end(session)
    labels = session.labels()
    for i, j in order.reshape(-1, 2).tolist():
        assert (labels[i] == labels[j]) == (y[i] == y[j])
    if name not in ENDS_ABOVE_ZERO | PLACES_POINTS_ONLY:
        assert clustering_error(y, labels) == 0


@every_strategy
def test_the_seed_decides_what_is_drawn_by_lot(name):
    X, y = make_subspaces(16, CLUSTERS, 2, 8, noise=0.4, seed=5)
    asked = []
    for seed in (1, 1, 2, 3):
        session = begin(name, (Dataset(X, y=y), Spec(CLUSTERS, "tsc:q=4", dim=2, seed=seed)))
        for _ in range(20):
            act(session, "truth")
        asked.append([(link.i, link.j) for link in session.state.answers])
    assert asked[0] == asked[1]
    if name in DRAWS_LOTS:
        assert asked[2] != asked[0] != asked[3]
    if name in DRAWS_NONE:
        assert asked[2] == asked[0] == asked[3]
