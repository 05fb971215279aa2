"""Fault 39: a write fails in the middle of what a person did; it is there whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from labelling import make_workspace, wait_until
from superpac.store.failures import StoreFailure
from superpac.web.app import create_app
from superpac.web.workspace import Workspace

BROKEN_OFF = StoreFailure("The disk reported an error; try again.", status=503, retryable=True)


class FailingWrites:
    """A store's way of writing that fails at one write, before it is done or after."""

    def __init__(self, workspace: Workspace) -> None:
        self.backend = workspace.store._backend
        self.run = self.backend.run
        self.fail_at: int | None = None
        self.after = False
        self.writes = 0
        self.backend.run = self  # type: ignore[method-assign]

    def __call__(self, work: Callable[..., Any], write: bool = False, **more: Any) -> Any:
        if not write:
            return self.run(work, write=write, **more)
        self.writes += 1
        failing = self.writes == self.fail_at
        if failing and not self.after:
            raise BROKEN_OFF
        done = self.run(work, write=write, **more)
        if failing:
            raise BROKEN_OFF
        return done

    @contextmanager
    def failing(self, number: int, after: bool) -> Iterator[None]:
        self.writes, self.fail_at, self.after = 0, number, after
        yield
        self.fail_at = None


class Page:
    """The page's API on a session in this process, and people who speak to it."""

    def __init__(self, workspace: Workspace, client: TestClient, truth: np.ndarray) -> None:
        self.workspace, self.client, self.truth = workspace, client, truth
        self.store = FailingWrites(workspace)
        self.keys = 0

    @property
    def session(self) -> Any:
        return self.workspace.service.session

    def key(self) -> str:
        self.keys += 1
        return f"key-{self.keys:08d}"

    def ask(self, name: str, shape: str = "pair") -> dict[str, Any]:
        found: dict[str, Any] = {}

        def there() -> bool:
            wish = {"annotator": name, "shape": shape}
            found.update(self.client.post("/api/question", json=wish).json())
            return found["question"] is not None

        wait_until(there)
        return found["question"]

    def right(self, i: int, j: int) -> str:
        return "same" if self.truth[i] == self.truth[j] else "different"

    def answered(self, name: str, said: str | None = None) -> dict[str, Any]:
        """Body of an answer to this person's question."""
        q = self.ask(name)
        i, j = q["item"]["item"], q["others"][0]["item"]
        answer = said or self.right(i, j)
        return {"annotator": name, "key": self.key(), "i": i, "j": j} | {
            "answer": answer,
            "seq": q["seq"],
        }

    def post(self, route: str, body: dict[str, Any]) -> Any:
        return self.client.post(f"/api/{route}", json=body)

    def disagreement(self) -> int:
        """Number of a second opinion that says the opposite of the first answer."""
        body = self.answered("ann")
        assert self.post("answers", body).status_code == 200
        first = self.session.seq
        service = self.workspace.service
        service.overlap = 1.0
        service.drop("bob")
        q = self.ask("bob")
        service.overlap = 0.0
        assert q["shape"] == "second"
        opinion = self.answered("bob")
        opinion["answer"] = {"same": "different", "different": "same"}[
            self.session.history.event(first).body["answer"]
        ]
        assert self.post("answers", opinion).status_code == 200
        return self.session.seq


@contextmanager
def opened(folder: Path, strategy: str) -> Iterator[Page]:
    # shared, so that leases are writes too
    workspace = make_workspace(folder, strategy, per_class=100, shared=True)
    with TestClient(create_app(workspace), base_url="http://localhost") as client:
        wait_until(lambda: workspace.service.model() is not None)
        yield Page(workspace, client, np.load(folder / "truth.npy"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened(tmp_path_factory.mktemp("acts"), "superpac-d") as found:
        yield found


def an_answer(page: Page) -> tuple[str, dict[str, Any]]:
    return "answers", page.answered("ann")


def a_second_opinion(page: Page) -> tuple[str, dict[str, Any]]:
    page.post("answers", page.answered("ann"))
    page.workspace.service.overlap = 1.0
    page.workspace.service.drop("bob")
    body = page.answered("bob", "unsure")
    page.workspace.service.overlap = 0.0
    return "answers", body


def a_choice(page: Page) -> tuple[str, dict[str, Any]]:
    for _ in range(30):
        q = page.ask("ann", "strip")
        if q["shape"] == "strip":
            break
        page.post("answers", page.answered("ann"))
    options = [card["item"] for card in q["others"]]
    item = q["item"]["item"]
    choice = next((o for o in options if page.truth[o] == page.truth[item]), None)
    body = {"annotator": "ann", "key": page.key(), "item": item, "options": options}
    return "choices", {**body, "choice": choice, "seq": q["seq"]}


def a_skip(page: Page) -> tuple[str, dict[str, Any]]:
    body = page.answered("ann")
    del body["answer"]
    return "skips", body


def an_item_aside(page: Page) -> tuple[str, dict[str, Any]]:
    return "aside", {"annotator": "ann", "key": page.key(), "item": 3}


def a_name(page: Page) -> tuple[str, dict[str, Any]]:
    return "names", {"annotator": "ann", "key": page.key(), "item": 3, "name": "sevens"}


def an_undo(page: Page) -> tuple[str, dict[str, Any]]:
    route, body = a_choice(page)
    assert page.post(route, body).status_code == 200
    return "undo", {"annotator": "ann", "key": page.key()}


def an_undo_by_number(page: Page) -> tuple[str, dict[str, Any]]:
    assert page.post(*an_answer(page)).status_code == 200
    return "undo", {"annotator": "ann", "key": page.key(), "seq": page.session.seq}


def an_opinion_withdrawn(page: Page) -> tuple[str, dict[str, Any]]:
    page.disagreement()
    return "undo", {"annotator": "bob", "key": page.key()}


def a_redo(page: Page) -> tuple[str, dict[str, Any]]:
    assert page.post(*an_undo(page)).status_code == 200
    return "redo", {"annotator": "ann", "key": page.key()}


def a_decision(page: Page) -> tuple[str, dict[str, Any]]:
    second = page.disagreement()
    return "decisions", {"annotator": "eve", "key": page.key(), "second": second, "keep": "second"}


def a_decision_back(page: Page) -> tuple[str, dict[str, Any]]:
    route, body = a_decision(page)
    assert page.post(route, body).status_code == 200
    return route, {**body, "key": page.key(), "keep": "first"}


ACTS = [
    an_answer,
    a_second_opinion,
    a_choice,
    a_skip,
    an_item_aside,
    a_name,
    an_undo,
    an_undo_by_number,
    an_opinion_withdrawn,
    a_redo,
    a_decision,
    a_decision_back,
]


def plain(events: list[Any]) -> list[tuple[Any, ...]]:
    """What events say; figures of the model and numbers that shift are left out."""
    return [
        (e.kind, e.annotator, {k: v for k, v in e.body.items() if k not in ("why", "group")})
        for e in events
    ]


@pytest.mark.parametrize("after", [False, True], ids=["unwritten", "written"])
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_each_act_is_whole_after_a_retry_whichever_write_failed(page, act, after):
    number, failures = 1, 0
    while True:
        route, body = act(page)
        start = page.session.seq
        with page.store.failing(number, after):
            reply = page.post(route, body)
            failed = page.store.writes >= number
        own = page.session.log.events(after=start)
        assert reply.status_code in (200, 503)
        if reply.status_code == 503:
            failures += 1
            between = len(own)
            again = page.post(route, body)
            assert again.status_code == 200, again.text
            own = page.session.log.events(after=start)
            assert between in (0, len(own)), "a part of it was written"
        else:
            again = page.post(route, body)
            assert again.status_code == 200
            assert again.json()["receipts"] == reply.json()["receipts"]
        assert page.session.log.events(after=start) == own, "it was written twice"
        assert [r["seq"] for r in again.json()["receipts"] if r["recorded"]] == [
            e.seq for e in own
        ][: len(again.json()["receipts"])]
        assert whole(route, body, plain(own)), plain(own)
        if not failed:
            break
        number += 1
    assert failures > 0, "no write was made to fail"


def whole(route: str, body: dict[str, Any], events: list[tuple[Any, ...]]) -> bool:
    """Whether these are all the events of an act."""
    kinds = [kind for kind, *_ in events]
    if route == "decisions" and body["keep"] == "second":
        return kinds == ["note", "retract", "answer"]
    if route == "decisions":
        return kinds == ["note", "retract", "restore"]
    if route == "choices":
        return len(kinds) >= 1 and set(kinds) == {"answer"}
    return len(kinds) >= 1 and len(set(kinds)) == 1


def test_a_decision_that_contradicts_other_answers_changes_nothing(tmp_path):
    with opened(tmp_path, "superpac-pinned") as page:
        second = page.disagreement()
        opinion = page.session.history.event(second).body
        i, j = opinion["i"], opinion["j"]
        said = page.session.history.event(opinion["second"]).body["answer"]
        third = next(k for k in range(len(page.truth)) if k not in (i, j))
        page.session.undo(opinion["second"])
        # by way of a third item the first answer holds without being given
        page.session.record("same", (i, third))
        page.session.record(said, (j, third))
        assert page.session.state.constraints.implied(i, j) == said
        before = page.session.seq
        body = {"annotator": "eve", "key": page.key(), "second": second, "keep": "second"}
        for _ in range(2):
            assert page.post("decisions", body).status_code == 409
            assert page.session.seq == before
