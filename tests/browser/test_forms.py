"""Strips, walls and boards in the browser: by keys and by clicks, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from labelling import LabelServer, Person, digits_file

SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("strip")
    found = LabelServer(folder, digits_file(folder)).wait_ready()
    yield found
    found.stop()


@pytest.fixture(params=list(SIZES))
def view(request: pytest.FixtureRequest, browser: Browser, server: LabelServer) -> Iterator[Page]:
    """A page on a desk or on a phone."""
    small = request.param == "phone"
    scheme = "dark" if small else "light"
    context = browser.new_context(
        viewport=SIZES[request.param], has_touch=small, color_scheme=scheme
    )
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(server.url)
    Person(page, server.truth).wait()
    yield page
    context.close()
    assert not errors, errors


def shown_as(page: Page, server: LabelServer, form: str, least: int = 2) -> Page:
    """Choose a form, and answer until a question comes in it with so many to choose from."""
    page.wait_for_selector("#ask:not(.busy) #stage .card")
    page.click(f"[data-shape={form}]")
    page.wait_for_selector(f"[data-shape={form}][aria-pressed=true]")
    for _ in range(40):
        page.wait_for_selector("#ask:not(.busy) #stage .card")
        if page.locator(f"#stage.{form} [data-choice]").count() >= least:
            return page
        if page.locator("#stage [data-choice]").count():
            next_one(page, lambda: page.keyboard.press("x"))
        else:
            next_one(page, lambda: page.keyboard.press(Person(page, server.truth).right()))
    raise AssertionError(f"no {form} came")


@pytest.fixture
def strip(view: Page, server: LabelServer) -> Page:
    """A page that shows a strip of at least three groups."""
    return shown_as(view, server, "strip", 3)


def said(server: LabelServer, before: int) -> list[str]:
    return [e.body["answer"] for e in server.events()[before:] if e.kind == "answer"]


def next_one(page: Page, do) -> None:
    """Do something that answers, and wait for what comes next."""
    page.wait_for_timeout(140)
    page.evaluate("() => { document.querySelector('#stage').firstChild.dataset.old = '1'; }")
    do()
    page.wait_for_function(
        "() => !document.getElementById('ask').classList.contains('busy')"
        " && document.getElementById('stage').firstChild?.dataset?.old !== '1'",
        timeout=60_000,
    )


def test_one_key_chooses_and_says_nothing_of_the_others(strip: Page, server: LabelServer):
    before = len(server.events())
    next_one(strip, lambda: strip.keyboard.press("1"))
    assert said(server, before) == ["same"]
    next_one(strip, lambda: strip.keyboard.press("Backspace"))


def test_several_are_marked_and_sent_together(strip: Page, server: LabelServer):
    before = len(server.events())
    strip.wait_for_timeout(140)
    strip.keyboard.press("Shift+Digit1")
    assert strip.locator("[data-choice='0']").get_attribute("aria-pressed") == "true"
    strip.keyboard.press("2")
    strip.keyboard.press("3")
    strip.keyboard.press("3")
    assert strip.locator("#live").inner_text() == "3 not marked, 2 in all"
    assert strip.locator("#stage [aria-pressed=true]").count() == 2
    assert said(server, before) == []
    next_one(strip, lambda: strip.keyboard.press("Enter"))
    assert said(server, before) == ["same", "same"]
    next_one(strip, lambda: strip.keyboard.press("Backspace"))
    taken = [e.body["seq"] for e in server.events()[before:] if e.kind == "retract"]
    assert len(taken) == 2, "one undo takes the whole act back"


def test_several_by_buttons_alone(strip: Page, server: LabelServer):
    before = len(server.events())
    strip.wait_for_timeout(140)
    strip.click("[data-act=several]")
    strip.click("[data-choice='1']")
    next_one(strip, lambda: strip.click("[data-act=confirm]"))
    assert said(server, before) == ["same"]
    next_one(strip, lambda: strip.click("[data-act=undo]"))
    wide = strip.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    assert not wide, "nothing is wider than the screen"


def test_none_of_these_differs_from_all(strip: Page, server: LabelServer):
    before = len(server.events())
    count = strip.locator("#stage.strip [data-choice]").count()
    next_one(strip, lambda: strip.keyboard.press("0"))
    assert said(server, before) == ["different"] * count
    next_one(strip, lambda: strip.keyboard.press("Backspace"))


def caption(page: Page) -> int:
    """Item that stands for the group."""
    return int(page.inner_text("#stage figcaption"))


def numbers(page: Page) -> list[int]:
    """Items or groups that are shown beside it."""
    labels = page.eval_on_selector_all(
        "#stage [data-choice]", "all => all.map(e => e.getAttribute('aria-label'))"
    )
    return [int(label.split()[-1]) for label in labels]


def to_mark(page: Page, truth, form: str) -> list[int]:
    """Places that somebody marks who knows."""
    face = truth[caption(page)]
    alike = form == "board"
    return [n for n, item in enumerate(numbers(page)) if (truth[item] == face) == alike]


@pytest.mark.parametrize("form", ["wall", "board"])
def test_marks_by_keys_are_sent_by_enter_and_taken_back_by_one_undo(view, server, form):
    shown_as(view, server, form)
    before, places = len(server.events()), to_mark(view, server.truth, form)
    options = numbers(view)
    view.wait_for_timeout(140)
    view.keyboard.press("ArrowRight")  # comes to the first
    assert view.evaluate("() => document.activeElement.dataset.choice") == "0"
    for n in range(len(options)):
        if n in places:
            view.keyboard.press("Space")
        view.keyboard.press("ArrowRight")
    assert view.locator("#stage [aria-pressed=true]").count() == len(places)
    if places:
        assert f"{len(places)} in all" in view.inner_text("#live")
        assert str(len(places)) in view.inner_text("[data-act=confirm]")
    tabs = view.locator("#stage [data-choice][tabindex='0']").count()
    assert tabs == 1, "Tab passes over the rest"
    next_one(view, lambda: view.keyboard.press("Enter"))
    right = [e for e in server.events()[before:] if e.kind == "answer"]
    assert right
    for event in right:
        same = server.truth[event.body["i"]] == server.truth[event.body["j"]]
        assert event.body["answer"] == ("same" if same else "different")
    assert len(right) <= len(options)
    next_one(view, lambda: view.keyboard.press("Backspace"))
    taken = [e.body["seq"] for e in server.events()[before:] if e.kind == "retract"]
    assert taken == [e.seq for e in right]


@pytest.mark.parametrize("form", ["wall", "board"])
def test_marks_by_clicks_and_letters(view, server, form):
    shown_as(view, server, form)
    before = len(server.events())
    view.wait_for_timeout(140)
    view.click("[data-choice='0']")
    view.click("[data-choice='1']")
    view.keyboard.press("1")  # takes the first mark away
    pressed = view.eval_on_selector_all(
        "#stage [aria-pressed=true]", "all => all.map(e => e.dataset.choice)"
    )
    assert pressed == ["1"]
    assert not view.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    view.keyboard.press("s")  # answers a pair, and nothing here
    assert len(server.events()) == before
    next_one(view, lambda: view.click("[data-act=confirm]"))
    said = [e.body["answer"] for e in server.events()[before:] if e.kind == "answer"]
    assert said.count("different" if form == "wall" else "same") == 1
    next_one(view, lambda: view.click("[data-act=undo]"))


def test_the_chosen_form_is_remembered(view: Page, server: LabelServer):
    shown_as(view, server, "wall")
    items = numbers(view)
    view.reload()
    view.wait_for_selector("#stage.wall [data-choice]")
    assert numbers(view) == items, "the same question until it is answered"
    view.click("[data-shape=pair]")
    view.wait_for_selector("#ask:not(.busy) #stage:not(.strip) .card + .card")
