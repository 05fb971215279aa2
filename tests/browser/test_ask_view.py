"""The question in words, both sides in context, large pictures, nothing that jumps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from labelling import LabelServer, Person, digits_file, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("asked")
    found = LabelServer(folder, digits_file(folder), "--question", "Same digit?").wait_ready()
    yield found
    found.stop()


@pytest.fixture(params=[(1440, 900), (390, 844)], ids=["desk", "phone"])
def page(page: Page, request: pytest.FixtureRequest) -> Page:
    """A page of either size: every act is done on both."""
    width, height = request.param
    page.set_viewport_size({"width": width, "height": height})
    return page


def begin(server: LabelServer, page: Page) -> Person:
    page.goto(server.url)
    person = Person(page, server.truth).wait()
    page.wait_for_timeout(150)
    return person


def places(page: Page) -> list[dict[str, float]]:
    """Boxes of what must not move: the items, the answers, the other buttons."""
    selector = "#ask-title, #stage .card, #stage .frame, #answers button, .minor button"
    return [one.bounding_box() for one in page.locator(selector).all()]


def last(server: LabelServer) -> dict[str, object]:
    return server.events()[-1].body


def test_the_question_is_in_words_and_the_reason_on_request(server: LabelServer, page: Page):
    begin(server, page)
    title = page.locator("#ask-title")
    expect(title).to_have_text("Same digit?")
    assert title.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 20
    expect(page.locator("#live")).to_contain_text("Same digit?")
    expect(page.locator("#reason")).to_be_hidden()
    page.click("#why summary")
    expect(page.locator("#reason")).to_be_visible()
    assert len(page.locator("#reason").inner_text()) > 20
    page.reload()  # the choice is kept
    Person(page, server.truth).wait()
    expect(page.locator("#reason")).to_be_visible()


def test_pictures_use_a_large_screen(server: LabelServer, browser: Browser):
    context = browser.new_context(viewport={"width": 1920, "height": 1080})
    page = context.new_page()
    begin(server, page)
    for picture in page.locator("#stage .frame img").all():
        box = picture.bounding_box()
        assert min(box["width"], box["height"]) >= 700
    for one in page.locator("#answers button, .minor button, #why summary, #line").all():
        box = one.bounding_box()
        assert box["y"] + box["height"] <= 1080
    context.close()


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_nothing_moves_between_questions_nor_by_an_undo(
    server: LabelServer, browser: Browser, size
):
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    person = begin(server, page)
    before = places(page)
    for _ in range(4):
        person.answer()
        assert places(page) == before
    person.press("Backspace")
    expect(page.locator("#banner")).to_contain_text("Took back")
    assert places(page) == before
    context.close()


def test_the_other_side_shows_its_group_which_can_be_named(server: LabelServer, page: Page):
    person = begin(server, page)
    person.answer(6)
    other = page.locator("#stage .card").nth(1)
    count = other.locator(".faces img").count()
    assert 3 <= count <= 6
    shown = other.locator(".faces img").evaluate_all(
        "all => all.map(e => Number(new URL(e.src).pathname.split('/')[2]))"
    )
    assert not set(shown) & set(person.shown())
    pair, answered = person.shown(), len(server.events())
    field = other.locator("input.group-name")
    field.fill("ships and sixes")  # these letters are no answers
    field.press("Enter")
    wait_until(lambda: len(server.events()) > answered)
    assert server.events()[-1].kind == "name"
    assert last(server) == {"name": "ships and sixes", "item": pair[1]}
    assert person.shown() == pair
    page.reload()
    person.wait()
    field = page.locator("#stage .card").nth(1).locator("input.group-name")
    expect(field).to_have_value("ships and sixes")

    # a name that is taken away stays away
    field.fill("")
    field.press("Enter")
    wait_until(lambda: last(server).get("name") == "")
    page.reload()
    person.wait()
    expect(field).to_have_value("")
    with server.client() as client:
        assert client.get("/api/labels").json()["names"] == {}


def test_a_bad_item_is_chosen_told_and_undone(server: LabelServer, page: Page):
    person = begin(server, page)
    for way, place in (("ArrowRight", 1), ("1", 0)):
        item = person.shown()[place]
        name = page.locator("#stage figcaption").nth(place).inner_text()
        page.wait_for_timeout(150)
        page.click("[data-act=bad]")
        expect(page.locator("#bad")).to_be_visible()
        page.keyboard.press(way)
        expect(page.locator("#banner")).to_contain_text(f"{name} is set aside")
        assert server.events()[-1].kind == "bad"
        assert last(server)["i"] == item
        page.wait_for_timeout(300)
        person.wait()
        page.click("#banner [data-act=undo]")
        wait_until(lambda: server.events()[-1].kind == "retract")
        page.wait_for_timeout(300)
        person.wait()
    answered = len(server.events())
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    expect(page.locator("#bad")).to_be_hidden()
    assert len(server.events()) == answered


def test_after_an_undo_the_reason_is_the_first_one(server: LabelServer, page: Page):
    person = begin(server, page)
    pair, reason = person.shown(), page.locator("#reason").text_content()
    person.answer()
    person.press("Backspace")
    assert person.shown() == pair
    assert page.locator("#reason").text_content() == reason


def test_the_focus_stays_on_the_button_that_answered(server: LabelServer, page: Page):
    person = begin(server, page)
    for _ in range(3):
        said = {"s": "same", "d": "different"}[person.right()]
        page.locator(f"[data-answer={said}]").focus()
        person.press("Enter")
        assert page.evaluate("document.activeElement.dataset.answer") == said


def test_single_keys_can_be_switched_off_for_good(server: LabelServer, page: Page):
    person = begin(server, page)
    page.click("#help-button")
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    page.reload()
    person.wait()
    page.wait_for_timeout(150)
    answered = len(server.events())
    for key in ("s", "d", "u", " ", "z", "b", "?", "ArrowRight", "Backspace"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert len(server.events()) == answered
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.click("[data-answer=unsure]")
    wait_until(lambda: len(server.events()) == answered + 1)
    page.wait_for_function("() => !document.querySelector('#ask.busy')")
    page.keyboard.press("Control+z")
    wait_until(lambda: len(server.events()) == answered + 2)


def test_the_same_words_are_spoken_again(server: LabelServer, page: Page):
    begin(server, page)
    changes = page.evaluate(
        """async () => {
          const { say } = await import(document.querySelector('link[href$="messages.js"]').href);
          const live = document.getElementById('live');
          let n = 0;
          new MutationObserver(() => (n += 1)).observe(live, { childList: true });
          for (let k = 0; k < 3; k += 1) {
            say('item 7: which of 4?');
            await new Promise((done) => setTimeout(done, 20));
          }
          return [n, live.textContent.trim()];
        }"""
    )
    assert changes == [3, "item 7: which of 4?"]
