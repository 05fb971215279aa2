"""The same on a phone: swipes, nothing cut off from 360 pixels up, dark and light, no motion."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from labelling import LabelServer, Person, digits_file


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("phone")
    found = LabelServer(folder, digits_file(folder)).wait_ready()
    yield found
    found.stop()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 360, "height": 740},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
        color_scheme="dark",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    yield context.new_page()
    context.close()


def swipe(page: Page, way: int) -> None:
    """One finger across the pictures, as the browser's own touch events."""
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)
    send = session.send
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 6):
        point = {"x": x + way * 25 * step, "y": y + 1}
        send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def test_label_by_swipes_and_export(server: LabelServer, phone: Page):
    truth = np.load(server.folder / "truth.npy")
    phone.goto(server.url)
    person = Person(phone, truth).wait()
    for _ in range(12):
        before = phone.inner_text("#stage")
        phone.wait_for_timeout(150)
        swipe(phone, 1 if person.right() == "s" else -1)
        phone.wait_for_function(
            "before => !document.getElementById('ask').classList.contains('busy')"
            " && document.getElementById('stage').innerText !== before",
            arg=before,
        )
    events = [e for e in server.events() if e.kind == "answer"]
    assert len(events) == 12
    for event in events:
        same = truth[event.body["i"]] == truth[event.body["j"]]
        assert event.body["answer"] == ("same" if same else "different")
    phone.click("nav a[data-view=export]")
    expect(phone.locator("#export")).to_be_visible()
    with phone.expect_download() as download:
        phone.click("#formats a[href$='/csv']")
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert len(rows) == len(truth)


def test_nothing_is_cut_off_and_targets_are_large(server: LabelServer, phone: Page):
    phone.goto(server.url)
    Person(phone, np.zeros(200)).wait()
    for view in ("ask", "clusters", "history", "export"):
        phone.tap(f"nav a[data-view={view}]")
        expect(phone.locator(f"#{view}")).to_be_visible()
        phone.wait_for_timeout(400)
        wide = phone.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{view} is {wide} pixels too wide"
    phone.tap("nav a[data-view=ask]")
    Person(phone, np.zeros(200)).wait()
    for button in phone.locator("#answers button").all():
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert box["y"] + box["height"] <= 740, "an answer is below the fold"
    moving = phone.evaluate(
        "() => getComputedStyle(document.querySelector('#stage .card')).transitionDuration"
    )
    assert moving == "0s"
