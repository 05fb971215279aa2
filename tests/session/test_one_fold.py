"""One log, one reading: labels, sets, exports, suspects, audits and a session opened anew agree.

Events are written straight into the log, so that contradictions get in that a session would refuse.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.constraints import Constraints
from superpac.answers.history import History
from superpac.answers.links import Link
from superpac.answers.log import MemoryLog
from superpac.answers.state import State
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.audit import start
from superpac.session.audit.exemplars import representatives
from superpac.session.exports import as_links, table
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.session.suspects import find_suspects

ITEMS = Dataset(make_subspaces(12, 3, 2, 8, noise=0.3, seed=0)[0], name="planes")
N = len(ITEMS)
ALL_PAIRS = list(combinations(range(N), 2))
POINTS = [0, 1, 2, 5, 9, 12, 13, 16, 23, 24, 25, 35]  # few, so that answers meet
SPECS = {
    "superpac-d": Spec(3, "tsc:q=4", "superpac-d", dim=2),
    "superpac-d, clusters unknown": Spec("auto", "tsc:q=4", "superpac-d", dim=2),
    "superpac-pinned": Spec(3, "tsc:q=4", "superpac-pinned", dim=2),
}
Said = tuple[int, int, str]


@cache
def begun(name: str) -> Session:
    """Give a session without answers, for its problem and the facts of its log."""
    session = Session.create(ITEMS, SPECS[name])
    assert session.problem.n == N
    return session


def log_of(name: str) -> MemoryLog:
    return MemoryLog(begun(name).log.info)


def opened(log: MemoryLog, name: str) -> Session:
    session = Session.open(ITEMS, log)
    session.problem = begun(name).problem
    return session


def answered(said: list[Said], name: str = "superpac-d") -> Session:
    log = log_of(name)
    for i, j, word in said:
        log.append("answer", {"i": i, "j": j, "answer": word})
    return opened(log, name)


@st.composite
def logs(draw: st.DrawFn, name: str) -> MemoryLog:
    """Answers of several people, some taken back, items set aside; contradictions where allowed."""
    log = log_of(name)
    item = st.sampled_from(POINTS)
    pair = st.tuples(item, item).filter(lambda p: p[0] != p[1])
    may_contradict = begun(name).weighs_answers
    group = {point: draw(st.integers(0, 3)) for point in POINTS}
    word = st.sampled_from(draw(st.sampled_from(["ssd", "sd", "sdd"])))
    people = draw(st.sampled_from([["Ada"], ["Ada", "Bob", "Cy"]]))
    rare = st.integers(0, 9).map(lambda n: n == 9)
    for _ in range(draw(st.integers(1, 20))):
        who = draw(st.sampled_from(people))
        seq = log.head()[0]
        if seq and draw(rare):
            log.append("retract", {"seq": draw(st.integers(1, seq))}, annotator=who)
        elif draw(rare):
            log.append("bad", {"i": draw(item)}, annotator=who)
        else:
            i, j = draw(pair)
            same = draw(word) == "s" if may_contradict else group[i] == group[j]
            body: dict[str, Any] = {"i": i, "j": j, "answer": "same" if same else "different"}
            if draw(rare):
                body["answer"] = "unsure"
            elif same and draw(rare):
                body["confirm"] = True
            log.append("answer", body, annotator=who)
    return log


def implied(state: State, answer: str) -> set[tuple[int, int]]:
    return {pair for pair in ALL_PAIRS if state.constraints.implied(*pair) == answer}


def check_sets(session: Session) -> None:
    """A strategy's sets hold what is the same, and keep apart what differs."""
    state, strategy = session.state, session.strategy
    session.labels()
    sets = strategy.sets
    for i, j in ALL_PAIRS:
        together = sets.set_of[i] == sets.set_of[j] and sets.set_of[i] >= 0
        known = state.constraints.implied(i, j)
        assert together == (known == "same")
        assert sets.known_different(i, j) == (known == "different")
    if session.spec.strategy == "superpac-d":
        assert strategy._known.links == state.links
        assert strategy._known.unsure == state.unsure
        for answer in ("same", "different"):
            assert implied(strategy._known, answer) == implied(state, answer)


def check_exports(session: Session) -> None:
    """The table marks what answers tie to its group, and the links imply what is implied."""
    state = session.state
    same = implied(state, "same")
    columns = table(session)
    labels = session.labels()
    joined = [i for i in range(N) if any(i in pair for pair in same)]
    assert session.progress(model=False)["settled"] == len(joined)
    assert columns["cluster"] == (labels + 1).tolist()  # as the page counts
    for group in set(labels.tolist()):
        members = [i for i in range(N) if labels[i] == group]
        known = [{j for j in members if j == i or (min(i, j), max(i, j)) in same} for i in members]
        largest = max(map(len, known))
        settled = {i for i in members if columns["settled"][i]}
        assert settled in known if largest > 1 else not settled
        assert len(settled) == (largest if largest > 1 else 0)
    assert {i for i in range(N) if columns["set_aside"][i]} == state.bad
    links = json.loads(as_links(session))
    must, cannot = links["must_link"], links["cannot_link"]
    words = ["same"] * len(must) + ["different"] * len(cannot)
    known = Constraints.fold(N, must + cannot, words)  # raises where they contradict each other
    for pair in ALL_PAIRS:
        assert known.implied(*pair) == state.constraints.implied(*pair)


def check_suspects(session: Session) -> None:
    """Whatever was left out or outvoted is part of a contradiction, and its cut mends the state."""
    state = session.state
    found = find_suspects(state, session.strategy.reliability(state))
    standing = {link.seq for link in state.answers}
    named = {link.seq for c in found.contradictions for link in (c.answer, *c.chain, *c.cut)}
    assert named <= standing
    assert sum(count for count, _ in found.people.values()) == state.n_answers
    if not found.contradictions:
        assert state.constraints.conflicts == []
        assert state.votes.wrong == 0
    cut = {link.seq for c in found.contradictions for link in c.cut}
    mended = State.of(N, [link for link in state.answers if link.seq not in cut])
    assert mended.constraints.conflicts == []
    assert mended.votes.wrong == 0
    assert all(mended.votes.waits(tie.i, tie.j) for tie in mended.votes.ties())


def check_audit(session: Session) -> None:
    """An audit freezes these labels, speaks by the largest sets and asks nothing that is known."""
    labels = session.labels()
    state = State.of(N, session.state.answers, bad=session.state.bad)
    audit = start(session, 5)
    assert (np.unique(labels, return_inverse=True)[1] == audit.labels).all()
    speakers = representatives(audit.labels, state, session.problem.affinity)
    assert audit.speakers.tolist() == speakers.tolist()
    for cluster, speaker in enumerate(speakers.tolist()):
        members = [i for i in range(N) if audit.labels[i] == cluster]
        size = {
            i: sum(state.constraints.implied(i, j) == "same" for j in members if j not in state.bad)
            for i in members
            if i not in state.bad
        }
        if size:
            assert size[speaker] == max(size.values())
    question = audit.ask()
    if question is not None:
        assert state.constraints.implied(question.i, question.j) is None
        assert not {question.i, question.j} & state.bad
    result = audit.result()
    assert result.items == N - len(state.bad)


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=25)
@given(data=st.data())
def test_every_reader_agrees(name, data):
    session = opened(data.draw(logs(name)), name)
    labels = session.labels()
    for i, j in implied(session.state, "same"):
        assert labels[i] == labels[j]
    check_sets(session)
    check_exports(session)
    check_suspects(session)
    check_audit(session)


ISSUE = [(5, 0, "same"), (6, 1, "same"), (0, 1, "same"), (0, 1, "different"), (0, 1, "different")]
HOSTS = [
    # a free point differs from a group that is host to a smaller one, and follows that one there
    [(29, 1, "same"), (1, 2, "different"), (29, 9, "same"), (0, 4, "same"), (0, 1, "same")],
    # two small groups differ, and both are guests of a third
    [
        *[(35, 17, "different"), (5, 24, "different"), (17, 22, "different"), (6, 32, "same")],
        *[(0, 22, "same"), (17, 24, "different"), (24, 12, "different"), (0, 6, "different")],
    ],
    # a free point moves away from another one, to the host of a group that it differs from
    [(26, 19, "same"), (34, 25, "different"), (34, 19, "different")],
]


def different_and_one(session: Session) -> set[tuple[int, int]]:
    labels = session.labels()
    return {(i, j) for i, j in implied(session.state, "different") if labels[i] == labels[j]}


@settings(max_examples=40)
@given(logs("superpac-pinned"))
def test_labels_of_the_pinned_strategy_keep_apart_what_differs(log):
    """More groups that differ than clusters were asked for open clusters of their own."""
    assert not different_and_one(opened(log, "superpac-pinned"))


@pytest.mark.parametrize("said", HOSTS, ids=["guest's share", "two guests", "moved to a host"])
def test_a_group_without_a_cluster_is_no_guest_where_that_breaks_an_answer(said):
    assert not different_and_one(answered(said))


@pytest.mark.parametrize("name", ["superpac-d", "superpac-d, clusters unknown"])
@settings(max_examples=40)
@given(data=st.data())
def test_labels_keep_apart_what_differs(name, data):
    """More groups that differ than clusters were asked for open clusters of their own."""
    assert not different_and_one(opened(data.draw(logs(name)), name))


def live_through(log: MemoryLog, name: str) -> Session:
    """Give a session that was asked for a question after every event of a log."""
    copy = log_of(name)
    lived = opened(copy, name)
    for event in log.events():
        copy.append(event.kind, event.body, annotator=event.annotator, key=event.key)
        lived.refresh()
        lived.ask()
    return lived


def check_question(one: Session, other: Session) -> None:
    """Two sessions ask the same, for the same reason; sums kept up to date may round otherwise."""
    mine, yours = one.ask(), other.ask()
    if mine is None or yours is None:
        assert mine is yours
        return
    assert replace(mine, numbers={}) == replace(yours, numbers={})
    assert mine.numbers == pytest.approx(yours.numbers, rel=1e-9)


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=12)
@given(data=st.data())
def test_a_session_opened_anew_equals_the_one_that_lived_through_it(name, data):
    log = data.draw(logs(name))
    lived = live_through(log, name)
    anew = opened(log, name)
    assert anew.labels().tolist() == lived.labels().tolist()
    assert anew.labels("model").tolist() == lived.labels("model").tolist()
    check_question(anew, lived)
    assert anew.progress() == lived.progress()
    assert (anew.history.undoable(), anew.history.redoable()) == (
        lived.history.undoable(),
        lived.history.redoable(),
    )


def test_an_answer_to_be_confirmed_about_a_free_point_is_read_the_same_either_way():
    """It was asked about two sets; what made the point part of one was taken back since."""
    log = log_of("superpac-d")
    for i, j in [(23, 13), (5, 24), (9, 5), (0, 23)]:
        log.append("answer", {"i": i, "j": j, "answer": "same"})
    log.append("answer", {"i": 35, "j": 2, "answer": "same", "confirm": True})
    anew, lived = opened(log, "superpac-d"), live_through(log, "superpac-d")
    check_question(anew, lived)
    for session in (anew, lived):
        session.labels()
    np.testing.assert_array_equal(anew.strategy.model.weights, lived.strategy.model.weights)
    np.testing.assert_array_equal(anew.strategy.model.sets, lived.strategy.model.sets)


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=12)
@given(data=st.data())
def test_what_is_asked_next_may_be_asked(name, data):
    session = opened(data.draw(logs(name)), name)
    state = session.state
    for question in session.strategy.propose(state, 4):
        i, j = question.i, question.j
        assert not {i, j} & state.bad
        assert not state.put_off(i, j)
        assert session.may_ask(i, j)
        known = state.constraints.implied(i, j)
        # what is implied is asked only to check the answer behind it
        assert known is None or question.numbers.get("again") == 1


@pytest.mark.parametrize("name", ["superpac-d", "superpac-d, clusters unknown"])
def test_the_log_that_was_once_read_in_four_ways(name):
    """5 = 0, 6 = 1 and 0 = 1 make one group of four; two votes against 0 = 1 dissolve it."""
    one = answered(ISSUE[:3], name)
    assert one.state.constraints.implied(5, 6) == "same"
    assert len({int(one.labels()[i]) for i in (0, 1, 5, 6)}) == 1
    even = answered(ISSUE[:4], name)
    assert even.state.constraints.implied(5, 6) is None
    session = answered(ISSUE, name)
    state = session.state
    assert [s.tolist() for s in state.constraints.sets()] == [[0, 5], [1, 6]]
    assert state.constraints.implied(5, 6) == "different"
    labels = session.labels()
    assert labels[0] == labels[5]
    assert labels[1] == labels[6]
    assert labels[0] != labels[1]
    sets = session.strategy.sets
    assert sets.set_of[0] == sets.set_of[5] != sets.set_of[1] == sets.set_of[6]
    assert sets.known_different(5, 6)
    assert json.loads(as_links(session)) == {
        "must_link": [[5, 0], [6, 1]],
        "cannot_link": [[0, 1]],
    }
    found = find_suspects(state, session.strategy.reliability(state))
    assert [[link.seq for link in c.cut] for c in found.contradictions] == [[3]]
    for check in (check_sets, check_exports, check_suspects, check_audit):
        check(session)
    history = History(N)
    history.take_all(session.log.events())
    assert history.state.links == [
        Link(1, 5, 0, "same"),
        Link(2, 6, 1, "same"),
        Link(4, 0, 1, "different"),
    ]
    session.undo(4)  # the votes are even again
    assert session.state.constraints.implied(5, 6) is None
    session.undo(5)
    assert session.state.constraints.implied(5, 6) == "same"
