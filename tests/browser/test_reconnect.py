"""The open tab goes on after kill -9 and a new start, without any option."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labelling import LabelServer, Person, digits_file, wait_until


class PlainServer(LabelServer):
    """Started as people do, without a token file."""

    def start(self) -> None:
        if "--token-file" in self.command:
            at = self.command.index("--token-file")
            del self.command[at : at + 2]
        super().start()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PlainServer]:
    found = PlainServer(tmp_path, digits_file(tmp_path)).wait_ready()
    yield found
    found.stop()


def test_the_tab_says_that_it_is_cut_off_and_goes_on_by_itself(server: PlainServer, page: Page):
    page.goto(server.url)
    person = Person(page, server.truth).wait()
    person.answer(3)
    token = server.token

    server.kill()  # nobody presses anything: the page notices by itself
    expect(page.locator("#banner")).to_contain_text("Connection lost; trying again", timeout=30_000)
    server.start()
    assert server.token == token
    expect(page.locator("#banner")).to_be_hidden(timeout=60_000)
    person.wait()
    server.wait_ready()
    person.answer()
    acked = server.events()
    assert len(acked) == 4

    server.kill()  # and an answer that is on its way is sent again, once
    page.wait_for_timeout(150)
    shown = person.shown()
    page.keyboard.press(person.right())
    expect(page.locator("#banner")).to_contain_text("not saved yet")
    server.start()
    wait_until(lambda: len(server.events()) > len(acked))
    page.wait_for_function("() => !document.querySelector('#ask.busy')", timeout=90_000)
    events = server.events()
    assert events[: len(acked)] == acked
    assert [(e.body["i"], e.body["j"]) for e in events[len(acked) :]] == [shown]


def test_an_export_says_that_it_is_being_written(server: PlainServer, page: Page):
    page.goto(server.url)
    Person(page, server.truth).wait()
    page.click("nav a[data-view=export]")
    link = page.locator("#formats a[href$='/csv']")
    page.route("**/api/export/csv", lambda route: (page.wait_for_timeout(500), route.continue_()))
    with page.expect_download() as download:
        link.click(no_wait_after=True)
        expect(link).to_have_attribute("aria-busy", "true")
        expect(link).to_contain_text("Being written")
    assert download.value.suggested_filename.endswith("-clusters.csv")
    expect(link).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#live")).to_contain_text("is ready")
