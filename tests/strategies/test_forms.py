"""Forms of question beyond pairs, from the default strategy."""

from __future__ import annotations

import pytest

from superpac.answers.forms import BOARD, MOST, PAIR, STRIP, WALL, Costs, pairs_answered
from superpac.answers.state import State
from superpac.data import load
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import AnswerLoop, marks_of
from superpac.simulation.oracles import TruthOracle
from superpac.strategies.forms import FORMS, all_forms, groups_to_choose, propose_forms


@pytest.fixture(scope="module")
def digits():
    return load("digits").sample_classes(10, 40, seed=3)


@pytest.mark.parametrize("auto", [False, True])
def test_a_strip_offers_every_believed_group_once(digits, auto):
    session = Session.create(digits, Spec("auto" if auto else 10, "tsc:q=4", dim=3))
    strips = 0
    for _ in AnswerLoop(session, TruthOracle(digits.y), 40):
        state, labels = session.state, session.labels("model")
        for question in session.strategy.propose(state, 3):
            options = groups_to_choose(session.strategy, state, question, labels)
            assert question.j in options
            assert question.i not in options
            assert len(options) <= MOST[STRIP]
            groups = [int(labels[o]) for o in options]
            assert len(set(groups)) == len(groups), "one group is offered twice"
            strips += len(options) > 1
    assert strips > 20


def test_a_question_within_a_group_keeps_what_it_compares_with(digits):
    session = Session.create(digits, Spec(10, "tsc:q=4", dim=3))
    state = State(len(digits))
    labels = session.strategy.labels(state)
    for question in session.strategy.propose(state, 20):
        options = groups_to_choose(session.strategy, state, question, labels)
        assert question.j in options


def test_walls_hold_free_items_of_one_group_and_boards_sets_that_may_be_one(digits):
    session = Session.create(digits, Spec(10, "tsc:q=4", dim=3))
    seen = dict.fromkeys(FORMS, 0)
    for _ in range(60):
        state, labels = session.state, session.labels("model")
        look = session.strategy.outlook(state)
        for made in propose_forms(session.strategy, state):
            seen[made.form] += 1
            assert made.item not in made.options
            assert len(set(made.options)) == len(made.options) <= MOST.get(made.form, 1)
            for other in made.options if made.form in (WALL, BOARD) else ():
                assert state.askable(made.item, other)
            if made.form == WALL:
                assert {int(labels[o]) for o in made.options} == {int(labels[made.item])}
                assert look.free[list(made.options)].all()
                assert look.set_of[made.item] >= 0
            if made.form == BOARD:
                sets = look.set_of[[made.item, *made.options]].tolist()
                assert min(sets) >= 0
                assert len(set(sets)) == len(sets)
                assert {made.question.i, made.question.j} <= {made.item, *made.options}
        question = session.ask_form()
        session.tell_form(marks_of(TruthOracle(digits.y), question), question)
    assert all(seen.values()), seen


def test_the_best_form_is_that_with_most_gain_per_second(digits):
    session = Session.create(digits, Spec(10, "tsc:q=4", dim=3))
    for _ in AnswerLoop(session, TruthOracle(digits.y), 30):
        found = propose_forms(session.strategy, session.state)
        rates = [made.per_second for made in found]
        assert rates == sorted(rates, reverse=True)
    dear = Costs(item=60.0, group=60.0, strip=60.0)
    assert propose_forms(session.strategy, session.state, dear)[0].form == PAIR
    free = Costs(wall=0.01, item=0.01, click=0.01)
    due, rest = all_forms(
        session.strategy, session.state, session.strategy.propose(session.state, 9)
    )
    assert {made.form for made in (*due, *rest)} >= {PAIR, WALL}
    found = propose_forms(session.strategy, session.state, free)
    assert found[0].form in (WALL, BOARD) or len(found) == 1


def test_a_wall_leaves_out_what_others_are_being_asked_about(digits):
    session = Session.create(digits, Spec(10, "tsc:q=4", dim=3))
    for _ in AnswerLoop(session, TruthOracle(digits.y), 30):
        pass
    questions = session.strategy.propose(session.state, 9)
    first = all_forms(session.strategy, session.state, questions)
    wall = next(made for made in (*first[0], *first[1]) if made.form == WALL)
    taken = frozenset(wall.options)
    again = session.strategy.propose(session.state, 9, taken)
    second = all_forms(session.strategy, session.state, again, avoid=taken)
    for made in (*second[0], *second[1]):
        if made.form in (WALL, BOARD):
            assert taken.isdisjoint(made.options)


def test_what_is_left_on_a_wall_is_certain_and_one_undo_takes_it_back(digits):
    session = Session.create(digits, Spec(10, "tsc:q=4", dim=3))
    for _ in range(40):
        question = session.ask_form("wall")
        if question.form == WALL:
            break
        session.tell_form(marks_of(TruthOracle(digits.y), question), question)
    assert question.form == WALL
    before = session.strategy.labels(session.state).copy()
    marked = marks_of(TruthOracle(digits.y), question)
    receipts = session.tell_form(marked, question)
    assert receipts
    told = pairs_answered(WALL, question.item, question.options, marked)
    look = session.strategy.outlook(session.state)
    stay = [i for i, _, answer in told if answer == "same"]
    assert not look.free[stay].any()
    labels = session.labels("model")
    assert all(labels[i] == labels[question.item] for i in stay)
    assert all(labels[i] != labels[question.item] for i in marked)
    assert len(session.undo()) == len(receipts)
    assert (session.labels("model") == before).all()


def test_a_strategy_without_an_outlook_is_asked_in_pairs(digits):
    session = Session.create(digits, Spec(10, "tsc:q=4", "random", dim=3))
    assert session.ask_form().form == PAIR
    assert all_forms(session.strategy, session.state, []) == ([], [])
