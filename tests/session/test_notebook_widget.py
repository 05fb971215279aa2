"""The widget's messages, without a browser; tests/browser/test_notebook.py looks at it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.notebook_widget import SCRIPT, Desk
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.system.optional import MissingLibraryError, is_installed

X, Y = make_subspaces(12, 3, 2, 12, noise=0.1, seed=1)


@pytest.fixture
def session():
    return Session.create(X, Spec(3, affinity="tsc:q=4", dim=2))


def said(desk, kind, **more):
    return desk.hear({"kind": kind, "key": f"{kind}-{len(desk.session.events)}", **more})[0]


def test_answers_given_through_messages_end_up_right_in_the_log(session):
    desk = Desk(session, "anna")
    reply, pictures = desk.hear({"kind": "ask"})
    assert len(pictures) == 2
    assert Image.open(io.BytesIO(pictures[0])).format == "PNG"
    while (asked := reply["question"]) is not None and session.state.n_answers < 60:
        same = Y[asked["i"]] == Y[asked["j"]]
        pair = {name: asked[name] for name in ("i", "j", "seq")}
        answer = "same" if same else "different"
        reply = said(desk, "answer", **pair, answer=answer, elapsed_ms=5)
        assert not reply["error"]
    assert {event.annotator for event in session.events} == {"anna"}
    assert reply["progress"] == f"{session.state.n_answers} answered."
    for c in range(3):
        assert len(set(session.labels()[c == Y].tolist())) == 1


def test_a_message_sent_twice_is_one_answer_and_undo_takes_it_back(session):
    desk = Desk(session, "anna")
    asked = desk.hear({"kind": "ask"})[0]["question"]
    message = {"kind": "answer", "i": asked["i"], "j": asked["j"], "answer": "same", "key": "k1"}
    for _ in range(2):
        assert desk.hear(message)[0]["undoable"]
        assert session.state.n_answers == 1
    other = desk.hear({"kind": "ask"})[0]["question"]
    assert {other["i"], other["j"]} != {asked["i"], asked["j"]}
    skipped = said(desk, "skip", i=other["i"], j=other["j"])["question"]
    assert {skipped["i"], skipped["j"]} != {other["i"], other["j"]}
    said(desk, "undo")
    assert not said(desk, "undo")["undoable"]
    assert session.state.n_answers == 0


@pytest.mark.parametrize(
    "message",
    [
        None,
        {},
        {"kind": "answer", "key": "k", "i": 0, "j": 1, "answer": "perhaps"},
        {"kind": "answer", "key": "k", "i": "0", "j": 1, "answer": "same"},
        {"kind": "answer", "key": "k", "i": 0, "j": 10**9, "answer": "same"},
        {"kind": "answer", "i": 0, "j": 1, "answer": "same"},
        {"kind": "answer", "key": "k", "i": 0, "j": 1, "answer": "same", "seq": 7},
        {"kind": "undo", "key": 3},
    ],
)
def test_a_message_that_makes_no_sense_is_told_and_writes_nothing(session, message):
    reply, _ = Desk(session).hear(message)
    assert reply["error"].endswith(".")
    assert reply["question"] is not None
    assert session.seq == 0


def test_texts_and_rows_are_shown_as_they_are():
    texts = tuple(f"text {n} <b>" for n in range(len(X)))
    told = Desk(Session.create(Dataset(X, texts=texts), Spec(3, affinity="tsc:q=4", dim=2)))
    reply, pictures = told.hear({"kind": "ask"})
    assert pictures == []
    assert all(card["text"] == texts[card["item"]] for card in reply["question"]["cards"])
    table = Dataset(np.round(X, 3), columns=tuple("abcdefghijkl"))
    rows = Desk(Session.create(table, Spec(3, affinity="tsc:q=4", dim=2)))
    card = rows.hear({"kind": "ask"})[0]["question"]["cards"][0]
    assert [name for name, _ in card["rows"]] == list("abcdefghijkl")


def test_the_widget_carries_messages_or_says_what_to_install(session):
    if not is_installed("notebook"):
        with pytest.raises(MissingLibraryError, match="notebook"):
            session.widget()
        return
    widget = session.widget(annotator="anna")
    sent = []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))
    widget._handle_custom_msg({"kind": "ask"}, [])
    (reply, pictures) = sent[0]
    assert reply["kind"] == "question"
    assert len(pictures) == 2
    assert widget._esm == SCRIPT.read_text()
