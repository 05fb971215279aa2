"""What people can do on the page, each act as its request, on a session in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from labelling import make_workspace, wait_until
from superpac.web.app import create_app
from superpac.web.workspace import Workspace


class Page:
    """The page's API on a session in this process, and people who speak to it."""

    def __init__(self, workspace: Workspace, client: TestClient, truth: np.ndarray) -> None:
        self.workspace, self.client, self.truth = workspace, client, truth
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
def opened(folder: Path, strategy: str, *, shared: bool = True, **options: Any) -> Iterator[Page]:
    """A page on 500 digits; one that is shared keeps its leases in the store."""
    workspace = make_workspace(folder, strategy, per_class=100, shared=shared, **options)
    with TestClient(create_app(workspace), base_url="http://localhost") as client:
        wait_until(lambda: workspace.service.model() is not None)
        yield Page(workspace, client, np.load(folder / "truth.npy"))


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
    body = {"annotator": "ann", "key": page.key(), "item": item, "options": options}
    return "choices", {**body, "marked": [], "seq": q["seq"]}  # so that it is several events


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


def a_move(page: Page) -> tuple[str, dict[str, Any]]:
    labels = page.session.labels()
    items = [int(i) for i in np.flatnonzero(labels != labels[0])[:4]]
    body = {"annotator": "ann", "key": page.key(), "act": "move", "items": items, "to": 0}
    return "arrange", body


def several_aside(page: Page) -> tuple[str, dict[str, Any]]:
    there = [i for i in range(len(page.truth)) if i not in page.session.state.bad]
    return "arrange", {"annotator": "ann", "key": page.key(), "act": "aside", "items": there[-2:]}


def an_answer_kept(page: Page) -> tuple[str, dict[str, Any]]:
    assert page.post(*an_answer(page)).status_code == 200
    return "keep", {"annotator": "ann", "key": page.key(), "seqs": [page.session.seq]}


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
    a_move,
    several_aside,
    an_answer_kept,
]
