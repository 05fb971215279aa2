"""One door: the page asks what the strategy asks, and says how often it could not wait for it."""

from __future__ import annotations

import time

import numpy as np
import pytest

from labelling import LabelServer, Robot, digits_file, wait_until
from page_acts import opened
from superpac.data import load
from superpac.session.session import Session
from superpac.session.spec import Spec


def on_the_page(server: LabelServer, truth: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Pairs that one person is asked who answers once the next question is prepared."""
    asked = []
    with server.client() as client:
        person = Robot(client, truth, "ann")
        person.ask()
        for _ in range(count):
            while person.question is None:  # still being computed
                time.sleep(0.05)
                person.ask()
            asked.append((person.question["item"]["item"], person.question["others"][0]["item"]))
            while not client.get("/api/ahead", params={"annotator": "ann"}).json()["ready"]:
                pass
            assert person.answer().status_code == 200
    return asked


def in_a_simulation(items, spec: Spec, count: int) -> list[tuple[int, int]]:
    session, asked = Session.create(items, spec), []
    for _ in range(count):
        question = session.ask()
        asked.append((question.i, question.j))
        same = items.y[question.i] == items.y[question.j]
        session.tell("same" if same else "different", annotator="ann")
    return asked


def test_one_person_is_asked_what_simulate_asks_on_digits(tmp_path):
    items = load("digits").sample_classes(5, 40, seed=1)
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    try:
        asked = on_the_page(server, items.y, 60)
        late = [(e.body.get("why") or {}).get("late") for e in server.events()]
    finally:
        server.stop()
    assert asked == in_a_simulation(items, Spec(5, "tsc:q=4", dim=3), 60)
    assert not any(late)


@pytest.mark.realdata
def test_one_person_is_asked_what_simulate_asks_on_usps(need_data, tmp_path):
    need_data("usps")
    items = load("usps")
    server = LabelServer(tmp_path, "usps", k=10).wait_ready(240)
    try:
        asked = on_the_page(server, items.y, 25)
    finally:
        server.stop()
    assert asked == in_a_simulation(items, Spec(10, "tsc:q=4"), 25)


def test_what_is_asked_before_the_model_is_ready_is_next_in_rank_and_counted(tmp_path):
    """The computing process is stopped, so that every further question comes from its last list."""
    from superpac.answers.state import State
    from superpac.store import open_store
    from superpac.web.workspace import Workspace, find_or_create

    items = load(str(digits_file(tmp_path)))
    truth = np.load(tmp_path / "truth.npy")
    spec = Spec(5, "tsc:q=4", dim=3)
    store = open_store(tmp_path / "s.sqlite3")
    log, _ = find_or_create(store, items, spec, None, {"what": "digits.npz"})
    workspace = Workspace(items, store, log, hang_after=600.0)
    service = workspace.service
    ranked = Session.create(items, spec).strategy.propose(State(len(items)), 4)
    workspace.start()
    try:
        while service.model() is None:
            time.sleep(0.05)
        # no wishes are taken in from here on: the model stays that of no answer at all
        service.models.want = lambda jobs: None
        asked = []
        for n in range(3):
            question = service.ask("ann").question
            asked.append(question.pair)
            same = truth[question.item] == truth[question.other]
            service.answer(
                "ann",
                question.pair,
                "same" if same else "different",
                seq=question.seq,
                key=f"key-{n:05d}",
            )
            with service.models._lock:  # forget what was prepared for the answers
                first = service.models._models
                for key in [key for key in first if key != 0]:
                    del first[key]
                service.models._newest = first[0]
    finally:
        workspace.stop()
    assert asked[0] == (ranked[0].i, ranked[0].j)
    assert set(asked) <= {(one.i, one.j) for one in ranked}
    assert [(one.i, one.j) for one in ranked if (one.i, one.j) in asked] == asked
    events = [e for e in service.session.events if e.kind == "answer"]
    assert [bool(e.body["why"].get("late")) for e in events] == [False, True, True]
    assert service.session.progress()["late"] == 2


def test_an_idle_tab_under_another_name_costs_nobody_their_questions(tmp_path):
    """Whoever looks away keeps a question; others go on with the strategy's own, not stand-ins."""
    with opened(tmp_path, "superpac-d") as page:
        service = page.workspace.service
        idle = page.ask("idle")
        for _ in range(15):
            wait_until(lambda: service.models.get(service.session.seq) is not None)
            asked = page.ask("ann")
            pair = (asked["item"]["item"], asked["others"][0]["item"])
            model = service.models.get(asked["seq"])
            assert pair in {(one.i, one.j) for one in model.questions}
            assert asked["late"] is False
            assert page.post("answers", page.answered("ann")).status_code == 200
        assert page.ask("idle")["item"]["item"] == idle["item"]["item"]
