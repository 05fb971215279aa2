"""The labelling page shows how much error is left, where the strategy knows, and when to stop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from labelling import LabelServer, Person, digits_file, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimate")
    found = LabelServer(folder, digits_file(folder, 4, 30), "--strategy", "superpac-d", k=4)
    yield found.wait_ready()
    found.stop()


COUNTS = {
    **{"questions": 60, "implied": 900, "groups": 4, "clusters": 4, "clusters_sure": None},
    **{"settled": 312, "items": 402, "set_aside": 2, "per_minute": 31.6, "contradictions": 0},
    **{"error_left": None, "reached": False, "goal": 0.01, "questions_left": None, "curve": []},
}


def hear(page: Page, **figures: object) -> None:
    """Let the page hear other figures than the server's."""

    def reply(route: Route) -> None:
        route.fulfill(content_type="application/json", body=json.dumps({**COUNTS, **figures}))

    page.route("**/api/progress*", reply)


def test_the_estimate_is_shown_and_falls(server: LabelServer, page: Page):
    page.goto(server.url)
    person = Person(page, np.load(server.folder / "truth.npy")).wait()
    with server.client() as client:
        first = client.get("/api/progress").json()["error_left"]
        assert 0 <= first["low"] <= first["estimate"] <= first["high"] <= 1
        person.answer(12)
        expect(page.locator("#line")).to_contain_text("wrong (")
        last = client.get("/api/progress").json()
    assert last["error_left"]["high"] < first["high"]
    assert last["goal"] == 0.01
    assert not last["reached"]
    curve = last["curve"]  # kept with the answers in the log
    assert curve[0]["questions"] == 0
    assert curve[0]["high"] == pytest.approx(first["high"], abs=1e-4)
    assert [point["questions"] for point in curve] == sorted({p["questions"] for p in curve})
    picture = page.locator("#curve svg")
    expect(picture).to_have_accessible_name(
        re.compile("^Estimated share of wrong items: after 0 answers .*; the goal is 1%.$")
    )


def test_a_strategy_without_one_shows_none(strict_server: LabelServer, page: Page):
    page.goto(strict_server.url)
    Person(page, np.load(strict_server.folder / "truth.npy")).wait()
    expect(page.locator("#figures")).to_contain_text("groups met")
    expect(page.locator("#line")).to_have_text("0 of 200 settled")
    expect(page.locator("#goal")).to_be_empty()
    expect(page.locator("#curve svg")).to_have_count(0)
    with strict_server.client() as client:
        found = client.get("/api/progress").json()
    assert found["error_left"] is None
    assert not found["reached"]


@pytest.mark.parametrize(
    ("figures", "line", "goal"),
    [
        (
            {"error_left": {"estimate": 0.06, "low": 0.031, "high": 0.0973}, "questions_left": 88},
            "312 of 400 settled, about 6% wrong (3.1 to 9.8), some 90 questions or 3 minutes left",
            "",
        ),
        (
            {"error_left": {"estimate": 0.4, "low": 0.207, "high": 0.612}},
            "312 of 400 settled, about 40% wrong (20 to 62)",
            "",
        ),
        (
            {
                "error_left": {"estimate": 0.0002, "low": 0.0, "high": 0.0101},
                "questions_left": 1,
                "per_minute": None,
            },
            "312 of 400 settled, less than 0.1% wrong (0 to 1.1), some 5 questions left",
            "",
        ),
        (
            {
                "error_left": {"estimate": 0.004, "low": 0.001, "high": 0.0095},
                "questions_left": 4,
                "reached": True,
            },
            "312 of 400 settled, about 0.4% wrong (0.1 to 1)",
            "Finished: at most 1% is wrong, and 1% was the goal.",
        ),
        ({}, "312 of 400 settled", ""),
    ],
)
def test_one_line_and_one_signal(server: LabelServer, page: Page, figures, line, goal):
    hear(page, **figures)
    page.goto(server.url)
    Person(page, np.load(server.folder / "truth.npy")).wait()
    expect(page.locator("#line")).to_have_text(line)
    expect(page.locator("#goal")).to_have_text(goal)
    shown = page.locator("#figures .figure")
    counts = ["60answers", "900pairs known for free", "4 of 4groups met"]
    assert shown.all_text_contents()[:3] == counts
    assert "can stop" not in page.inner_text("#ask")


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"groups": 53, "clusters": 40}, "53parts of groups met; 40 groups expected"),
        ({"groups": 40, "clusters": 40}, "40 of 40groups met"),
        ({"groups": 1, "clusters": None}, "1group met"),
        ({"groups": 3, "clusters": 5, "clusters_sure": 0.8}, "5groups found (80 % sure)"),
    ],
)
def test_never_more_groups_met_than_there_are(server: LabelServer, page: Page, figures, words):
    hear(page, **figures)
    page.goto(server.url)
    Person(page, np.load(server.folder / "truth.npy")).wait()
    expect(page.locator("#figures .figure").nth(2)).to_have_text(words)


@pytest.mark.parametrize("width", [360, 800, 1440])
def test_figures_stand_in_a_grid_that_fits(server: LabelServer, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server.url)
    Person(page, np.load(server.folder / "truth.npy")).wait()
    expect(page.locator("#figures .figure")).to_have_count(4)
    outside = page.evaluate(
        "() => { const all = document.getElementById('figures').getBoundingClientRect();"
        " return [...document.querySelectorAll('#figures .figure')].filter(f => {"
        " const r = f.getBoundingClientRect();"
        " return r.right > all.right + 1 || f.scrollWidth > f.clientWidth + 1; }).length; }"
    )
    assert outside == 0


@pytest.fixture
def easy(tmp_path: Path) -> Iterator[LabelServer]:
    """A goal that is reached after a few answers."""
    found = LabelServer(tmp_path, digits_file(tmp_path, 2, 20), "--until", "30%", k=2)
    yield found.wait_ready()
    found.stop()


def test_finished_is_told_once_when_the_goal_is_reached(easy: LabelServer, page: Page):
    page.goto(easy.url)
    person = Person(page, np.load(easy.folder / "truth.npy"))
    done = page.locator("#done")
    with easy.client() as client:
        page.wait_for_selector("#ask:not([hidden]) .card, #done:not([hidden])", timeout=90_000)
        for _ in range(30):
            if done.is_visible():
                break
            page.wait_for_timeout(140)
            before = len(easy.events())
            page.keyboard.press(person.right())
            wait_until(lambda before=before: len(easy.events()) > before)
            page.wait_for_function("() => !document.querySelector('#ask.busy')")
        expect(done).to_be_visible()
        found = client.get("/api/progress").json()
        assert found["error_left"]["high"] <= 0.3
    expect(page.locator("#done-title")).to_have_text("Finished")
    expect(page.locator("#done-words")).to_contain_text("30% was the goal")
    before = len(easy.events())
    page.keyboard.press("s")  # nothing is asked, so nothing is answered
    page.wait_for_timeout(300)
    assert len(easy.events()) == before
    page.click("#go-on")
    person.wait()
    person.answer()
    expect(page.locator("#ask")).to_be_visible()
    expect(page.locator("#goal")).to_contain_text("Finished")
    page.reload()
    person.wait()
    assert len(easy.events()) == before + 1
