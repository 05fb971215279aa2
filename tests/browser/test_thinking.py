"""While the next question is computed the page waits calmly; only `finished` means settled."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from labelling import LabelServer, Person, digits_file

NOT_YET = {"question": None, "finished": False}
SETTLED = {"question": None, "finished": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("thinking")
    found = LabelServer(folder, digits_file(folder)).wait_ready()
    yield found
    found.stop()


class SlowServer:
    """Says some times that the next question is not there yet, then lets the real one answer."""

    def __init__(self, page: Page, replies: int) -> None:
        self.left = replies
        self.wishes: list[dict[str, str]] = []
        self.last: dict[str, object] | None = None
        page.route("**/api/question", self.question)
        page.route("**/api/answers", self.answer)

    def question(self, route: Route) -> None:
        self.wishes.append(route.request.post_data_json)
        self.left -= 1
        if self.left >= 0:
            self.fulfill(route, NOT_YET)
        elif self.last is not None:
            self.fulfill(route, self.last)
        else:
            route.continue_()

    def answer(self, route: Route) -> None:
        taken = route.fetch().json()
        self.fulfill(route, {**taken, **NOT_YET})

    def fulfill(self, route: Route, body: dict[str, object]) -> None:
        route.fulfill(content_type="application/json", body=json.dumps(body))


def begin(server: LabelServer, page: Page) -> Person:
    page.goto(server.url)
    person = Person(page, np.load(server.folder / "truth.npy")).wait()
    page.wait_for_timeout(150)
    return person


def test_the_page_thinks_until_the_question_is_there(server: LabelServer, page: Page):
    person = begin(server, page)
    height = page.locator("#stage").bounding_box()["height"]
    before = len(server.events())
    slow = SlowServer(page, replies=6)
    page.keyboard.press(person.right())
    words = page.locator("#stage [aria-live=polite]")
    expect(words).to_have_text("Thinking…")
    expect(page.locator("#done")).to_be_hidden()
    assert page.locator("#stage .card").count() == 0
    assert abs(page.locator("#stage").bounding_box()["height"] - height) < 1
    for button in page.locator("#answers button").all():
        expect(button).to_be_disabled()
    for key in ("s", "d", "u", " ", "b", "z", "p", "Backspace", "Control+z", "Control+y"):
        page.keyboard.press(key)
    expect(words).to_have_text("Thinking…")
    expect(page.locator("#zoom")).to_be_hidden()
    person.wait()
    expect(page.locator("#ask")).not_to_have_class("busy")
    assert len(server.events()) == before + 1, "no key did anything while the page was thinking"
    assert len(slow.wishes) == 7
    assert all(wish == {"annotator": "", "shape": "pair"} for wish in slow.wishes)
    page.unroute("**/api/answers")
    person.answer()
    assert len(server.events()) == before + 2


def test_it_thinks_on_entering_too_and_ends_when_everything_is_settled(
    server: LabelServer, page: Page
):
    slow = SlowServer(page, replies=4)
    slow.last = SETTLED
    page.goto(server.url)
    expect(page.locator("#stage .thinking")).to_have_text("Thinking…", timeout=60_000)
    expect(page.locator("#done")).to_be_hidden()
    expect(page.locator("#done")).to_be_visible()
    expect(page.locator("#done")).to_contain_text("Nothing is left to ask")
    expect(page.locator("#done-words")).to_contain_text("Look through the clusters")
    assert len(slow.wishes) == 5


def test_it_asks_no_more_after_the_person_has_left_the_view(server: LabelServer, page: Page):
    slow = SlowServer(page, replies=1000)
    page.goto(server.url)
    expect(page.locator("#stage .thinking")).to_have_text("Thinking…", timeout=60_000)
    page.click("nav a[data-view=export]")
    expect(page.locator("#export")).to_be_visible()
    page.wait_for_timeout(400)
    asked = len(slow.wishes)
    page.wait_for_timeout(800)
    assert len(slow.wishes) == asked
    slow.left = 2
    page.click("nav a[data-view=ask]")
    Person(page, np.load(server.folder / "truth.npy")).wait()
    assert len(slow.wishes) == asked + 3


def test_a_refusal_is_told_and_the_page_asks_again(server: LabelServer, page: Page):
    person = begin(server, page)
    slow = SlowServer(page, replies=1)
    refused = {"detail": "Others are answering what is left; look again in a moment."}

    def once(route: Route) -> None:
        page.unroute("**/api/question", once)
        route.fulfill(status=422, content_type="application/json", body=json.dumps(refused))

    page.route("**/api/question", once)
    page.keyboard.press(person.right())
    expect(page.locator("#banner")).to_contain_text("Others are answering")
    expect(page.locator("#stage .thinking")).to_be_visible()
    person.wait()
    expect(page.locator("#banner")).to_be_hidden()
    assert len(slow.wishes) == 2
