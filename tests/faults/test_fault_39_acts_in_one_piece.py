"""Fault 39: a write fails in the middle of what a person did; it is there whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from page_acts import ACTS, Page, opened
from superpac.store.failures import StoreFailure
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


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened(tmp_path_factory.mktemp("acts"), "superpac-d") as found:
        yield found


@pytest.fixture(scope="module")
def store(page: Page) -> FailingWrites:
    return FailingWrites(page.workspace)


def plain(events: list[Any]) -> list[tuple[Any, ...]]:
    """What events say; figures of the model and numbers that shift are left out."""
    return [
        (e.kind, e.annotator, {k: v for k, v in e.body.items() if k not in ("why", "group")})
        for e in events
    ]


@pytest.mark.parametrize("after", [False, True], ids=["unwritten", "written"])
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_each_act_is_whole_after_a_retry_whichever_write_failed(page, store, act, after):
    number, failures = 1, 0
    while True:
        route, body = act(page)
        start = page.session.seq
        with store.failing(number, after):
            reply = page.post(route, body)
            failed = store.writes >= number
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
    if body.get("act") == "move":  # it wins over one's own earlier answers, which go first
        said = kinds.count("answer")
        return said >= 1 and kinds == ["retract"] * (len(kinds) - said) + ["answer"] * said
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
