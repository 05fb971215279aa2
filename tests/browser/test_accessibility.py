"""axe finds nothing in any view, light, dark and on a phone; all the work by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from axe import violations
from labelling import LabelServer, Person, digits_file, wait_until

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 360, "height": 740},
        "color_scheme": "light",
        "is_mobile": True,
        "has_touch": True,
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("accessible")
    found = LabelServer(folder, digits_file(folder)).wait_ready()
    yield found
    found.stop()


def settle(page: Page) -> None:
    """Wait until nothing fades in any more: half-seen text has half its contrast."""
    page.wait_for_timeout(500)
    page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished))")


def to(view: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.click(f"nav a[data-view={view}]")
        expect(page.locator(f"#{view}")).to_be_visible()

    return go


def the_strip(page: Page) -> None:
    page.keyboard.press("p")
    page.wait_for_selector("#stage.strip .option", timeout=60_000)


def the_pair(page: Page) -> None:
    page.keyboard.press("p")
    page.wait_for_selector("#answers [data-answer=same]", timeout=60_000)


def in_form(form: str) -> Callable[[Page], None]:
    """Ask in a form; what cannot be put so comes as a pair."""

    def go(page: Page) -> None:
        page.wait_for_selector("#ask:not(.busy) #stage .card", timeout=60_000)
        page.click(f"[data-shape={form}]")
        page.wait_for_selector(f"[data-shape={form}][aria-pressed=true]", timeout=60_000)
        page.wait_for_selector("#ask:not(.busy) #stage .card", timeout=60_000)

    return go


def an_item(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator(".thumb[data-item]").first.dblclick()
    expect(page.locator("#item")).to_be_visible()


def a_reason(page: Page) -> None:
    page.click("#why summary")


def the_keys(page: Page) -> None:
    page.click("#help-button")
    expect(page.locator("#help")).to_be_visible()


def a_name(page: Page) -> None:
    page.keyboard.press("Escape")
    page.click("#who")
    expect(page.locator("#name")).to_be_visible()


def a_bad_item(page: Page) -> None:
    page.keyboard.press("Escape")
    page.click("[data-act=bad]")
    expect(page.locator("#bad")).to_be_visible()


def an_undo(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("Backspace")
    expect(page.locator("#banner")).to_contain_text("Took back")


def a_map(page: Page) -> None:
    page.click("[data-look=map]")
    expect(page.locator("#map")).to_be_visible()


def walls(page: Page) -> None:
    page.click("[data-look=walls]")
    expect(page.locator("#walls")).to_be_visible()


def a_selection(page: Page) -> None:
    page.locator(".thumb[data-item]").first.click()
    expect(page.locator("#bench")).to_be_visible()


def a_merge(page: Page) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Merge into…").first.click()
    expect(page.locator("#merge")).to_be_visible()


def to_review(page: Page) -> None:
    page.keyboard.press("Escape")
    to("review")(page)


STEPS: list[tuple[str, Callable[[Page], None]]] = [
    ("ask", lambda page: None),
    ("reason", a_reason),
    ("keys", the_keys),
    ("your name", a_name),
    ("bad item", a_bad_item),
    ("after an undo", an_undo),
    ("strip", the_strip),
    ("pair", the_pair),
    ("form of walls", in_form("wall")),
    ("form of boards", in_form("board")),
    ("form of pairs", in_form("pair")),
    ("clusters", to("clusters")),
    ("map", a_map),
    ("walls", walls),
    ("item", an_item),
    ("walls again", lambda page: page.keyboard.press("Escape")),
    ("selection", a_selection),
    ("merge", a_merge),
    ("review", to_review),
    ("history", to("history")),
    ("export", to("export")),
]


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing(server: LabelServer, browser: Browser, look: str):
    context = browser.new_context(**LOOKS[look], reduced_motion="reduce")
    page = context.new_page()
    page.goto(server.url)
    Person(page, server.truth).wait().answer(3)
    wrong = {}
    for name, go in STEPS:
        go(page)
        settle(page)
        found = violations(page)
        if found:
            wrong[name] = found
    context.close()
    assert not wrong, "\n".join(f"{name}: {line}" for name in wrong for line in wrong[name])


def test_axe_finds_nothing_on_the_page_without_a_key(server: LabelServer, page: Page):
    page.goto(server.origin)
    expect(page.locator("h1")).to_have_text("This page needs its key")
    assert violations(page) == []


def tab_to(page: Page, test: str, most: int = 60) -> None:
    """Press Tab until the focused element fits."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(f"() => Boolean(document.activeElement?.matches({test!r}))"):
            return
    raise AssertionError(f"{test} is not reached by Tab")


def test_the_whole_work_by_keyboard_alone(server: LabelServer, page: Page):
    page.goto(server.url)
    person = Person(page, server.truth).wait()
    # who, by the dialog
    tab_to(page, "#who")
    page.keyboard.press("Enter")
    page.keyboard.type("Keya")
    page.keyboard.press("Enter")
    person.wait()
    expect(page.locator("#who")).to_have_text("Keya")
    page.wait_for_timeout(300)
    # answers, by keys and by buttons
    before = len(server.events())
    person.answer(3)
    said = {"s": "same", "d": "different"}[person.right()]
    tab_to(page, f"[data-answer={said}]")
    person.press("Enter")
    wait_until(lambda: len(server.events()) == before + 4)
    assert {e.annotator for e in server.events()[before:]} == {"Keya"}
    # the group gets a name
    tab_to(page, "input.group-name", 120)
    page.keyboard.type("round ones")
    page.keyboard.press("Enter")
    wait_until(lambda: server.events()[-1].kind == "name")
    # undo, redo, a bad item
    person.wait()
    page.keyboard.press("Control+z")
    wait_until(lambda: server.events()[-1].kind == "retract")
    page.wait_for_timeout(400)
    page.keyboard.press("Control+y")
    wait_until(lambda: server.events()[-1].kind == "restore")
    page.wait_for_timeout(400)
    page.keyboard.press("b")
    expect(page.locator("#bad")).to_be_visible()
    page.keyboard.press("2")
    wait_until(lambda: server.events()[-1].kind == "bad")
    person.wait()
    # to the export
    tab_to(page, "nav a[data-view=export]")
    page.keyboard.press("Enter")
    expect(page.locator("#export")).to_be_visible()
    tab_to(page, "#formats a[href$='/csv']")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".csv")
