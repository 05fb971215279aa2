"""A log read event by event or at once, undo and redo of several people, names."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.events import Event
from superpac.answers.history import UNDOABLE, History, link_of
from superpac.answers.state import State
from superpac.errors import InputError

N = 6
PEOPLE = ["Ada", "Bob", "Cy"]
ALL_PAIRS = list(combinations(range(N), 2))


def event(seq: int, kind: str, body: dict[str, Any], who: str = "Ada") -> Event:
    return Event(seq, kind, body, who, f"k{seq}", "", None, "")


@st.composite
def logs(draw: st.DrawFn, singly: bool = True) -> list[Event]:
    """Events of several people: answers and strips of them, taken back and put back, and more.

    Parameters
    ----------
    draw : callable
        Given by Hypothesis.
    singly : bool, default=True
        Whether any event may be taken back or put back by its number, one of a strip too.
    """
    events: list[Event] = []
    item = st.integers(0, N - 1)
    pair = st.tuples(item, item).filter(lambda p: p[0] != p[1])
    word = st.sampled_from(["same", "same", "different", "different", "unsure"])
    acts = [*["answer"] * 5, "strip", "undo", "undo", "redo", "skip", "bad", "good", "name", "note"]
    acts += ["retract"] if singly else []

    def add(kind: str, body: dict[str, Any], who: str) -> None:
        events.append(event(len(events) + 1, kind, body, who))

    for act in draw(st.lists(st.sampled_from(acts), max_size=22)):
        who = draw(st.sampled_from(PEOPLE))
        if act in ("answer", "strip"):
            group = {"group": f"g{len(events)}"} if act == "strip" else {}
            for _ in range(draw(st.integers(2, 3)) if group else 1):
                i, j = draw(pair)
                said = draw(word)
                confirm = {"confirm": True} if said == "same" and draw(st.booleans()) else {}
                add("answer", {"i": i, "j": j, "answer": said, **group, **confirm}, who)
        elif act in ("undo", "redo"):
            by = draw(st.sampled_from([None, who]))
            history = History(N)
            history.take_all(events)
            found = history.undoable(by) if act == "undo" else history.redoable(by)
            for seq in found:
                add("retract" if act == "undo" else "restore", {"seq": seq}, who)
        elif act == "retract":
            earlier = [e.seq for e in events if e.kind in UNDOABLE]
            if earlier:
                kind = draw(st.sampled_from(["retract", "retract", "restore"]))
                add(kind, {"seq": draw(st.sampled_from(earlier))}, who)
        elif act == "skip":
            i, j = draw(pair)
            add("skip", {"i": i, "j": j}, who)
        elif act in ("bad", "good"):
            add(act, {"i": draw(item)}, who)
        elif act == "name":
            target = draw(st.sampled_from(["cluster", "item"]))
            add("name", {"name": draw(st.sampled_from("xyz")), target: draw(item)}, who)
        else:
            add("note", {"round": 1}, who)
    return events


def read(history: History) -> dict[str, Any]:
    """All that is read from a history, revisions aside."""
    state = history.state
    return {
        "answers": state.answers,
        "links": state.links,
        "implied": [state.constraints.implied(*pair) for pair in ALL_PAIRS],
        "conflicts": [conflict.seq for conflict in state.constraints.conflicts],
        "net": [state.votes.net(*pair) for pair in ALL_PAIRS],
        "waits": [state.votes.waits(*pair) for pair in ALL_PAIRS],
        "rates": [state.votes.rate_of(name) for name in PEOPLE],
        "asked": [state.asked(*pair) for pair in ALL_PAIRS],
        "askable": [state.askable(*pair) for pair in ALL_PAIRS],
        "unsure": state.unsure,
        "skipped": state.skipped,
        "bad": state.bad,
        "names": (history.cluster_names, history.item_names),
        "retracted": history.retracted,
        "undoable": [history.undoable(by) for by in (None, *PEOPLE)],
        "redoable": [history.redoable(by) for by in (None, *PEOPLE)],
        "seq": history.seq,
    }


@settings(max_examples=150)
@given(logs(), st.data())
def test_opening_a_log_equals_living_through_it(events, data):
    lived, opened, refreshed = History(N), History(N), History(N)
    for each in events:
        lived.take(each)
    opened.take_all(events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)))
    for start, end in zip([0, *cuts], [*cuts, len(events)], strict=True):
        refreshed.take_all(events[start:end])
    assert read(lived) == read(opened) == read(refreshed)


@settings(max_examples=150)
@given(logs())
def test_what_was_taken_back_leaves_no_trace(events):
    """The state is that of the standing events alone, each by the last word on it."""
    history = History(N)
    for each in events:
        history.take(each)
    gone = set()
    for each in events:
        if each.kind == "retract":
            gone.add(each.body["seq"])
        elif each.kind == "restore":
            gone.discard(each.body["seq"])
    standing = [e for e in events if e.seq not in gone]
    alone = State.of(N, [link_of(e) for e in standing if e.kind == "answer"])
    state = history.state
    assert (state.answers, state.links, state.unsure) == (alone.answers, alone.links, alone.unsure)
    for pair in ALL_PAIRS:
        assert state.constraints.implied(*pair) == alone.constraints.implied(*pair)
        assert state.votes.net(*pair) == alone.votes.net(*pair)
        assert state.asked(*pair) == alone.asked(*pair)
    skipped: dict[tuple[int, int], int] = {}
    bad: set[int] = set()
    clusters: dict[int, str] = {}
    items: dict[int, str] = {}
    answered = 0
    for e in standing:
        body = e.body
        answered += e.kind == "answer"
        if e.kind == "skip":
            skipped[min(body["i"], body["j"]), max(body["i"], body["j"])] = answered
        elif e.kind == "bad":
            bad.add(body["i"])
        elif e.kind == "good":
            bad -= {body["i"]}
        elif e.kind == "name" and "cluster" in body:
            clusters[body["cluster"]] = body["name"]
        elif e.kind == "name":
            items[body["item"]] = body["name"]
    assert (state.skipped, state.bad) == (skipped, bad)
    assert (history.cluster_names, history.item_names) == (clusters, items)


@settings(max_examples=100)
@given(logs(singly=False), st.sampled_from([None, *PEOPLE]))
def test_undo_then_redo_gives_back_what_was(events, by):
    history = History(N)
    history.take_all(events)
    before = read(history)
    depth = 0
    while found := history.undoable(by):
        assert all(history.event(seq).kind in UNDOABLE for seq in found)
        assert not history.retracted & set(found)
        who = by or "Ada"
        for seq in found:
            history.take(event(history.seq + 1, "retract", {"seq": seq}, who))
        assert sorted(history.redoable(by)) == sorted(found)
        depth += 1
    for _ in range(depth):
        for seq in history.redoable(by):
            history.take(event(history.seq + 1, "restore", {"seq": seq}, by or "Ada"))
    after = read(history)
    for name in ("answers", "links", "implied", "skipped", "bad", "names", "retracted"):
        assert after[name] == before[name]


def test_a_strip_is_one_act_and_a_new_act_ends_redo():
    history = History(10)
    for seq, j in enumerate([1, 2, 3], start=1):
        body = {"i": 0, "j": j, "answer": "same", "group": "g"}
        history.take(event(seq, "answer", body))
    assert history.undoable() == [1, 2, 3]
    assert history.undoable("Bob") == []
    for seq in (1, 2, 3):
        history.take(event(3 + seq, "retract", {"seq": seq}))
    assert history.redoable() == [1, 2, 3]
    assert history.redoable("Bob") == []
    history.take(event(7, "skip", {"i": 0, "j": 1}, "Bob"))
    assert history.redoable() == []
    assert history.redoable("Ada") == [1, 2, 3]  # what Bob does is no act of Ada's


def test_one_answer_of_a_strip_may_be_taken_back_alone():
    history = History(10)
    for seq, j in enumerate([1, 2, 3], start=1):
        body = {"i": 0, "j": j, "answer": "same", "group": "g"}
        history.take(event(seq, "answer", body))
    history.take(event(4, "retract", {"seq": 2}))
    assert history.undoable() == [1, 3]
    assert history.state.constraints.implied(0, 2) is None
    assert history.redoable() == [2]


def test_the_state_is_the_same_object_and_its_revision_tells_of_what_was_taken_back():
    history = History(4)
    state = history.state
    history.take(event(1, "answer", {"i": 0, "j": 1, "answer": "same"}))
    revision = state.revision
    history.take(event(2, "retract", {"seq": 1}))
    assert history.state is state
    assert state.revision > revision
    assert state.n_answers == 0


def test_an_event_that_is_not_there_is_named():
    history = History(4)
    history.take(event(1, "skip", {"i": 0, "j": 1}))
    assert history.event(1).kind == "skip"
    with pytest.raises(InputError, match="no event #2; the log has #1 to #1"):
        history.event(2)
