"""The labelling page shows how much error is left, where the strategy knows, and when to stop."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from labelling import LabelServer, Person, digits_file


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimate")
    found = LabelServer(folder, digits_file(folder, 4, 30), "--strategy", "superpac-d", k=4)
    yield found.wait_ready()
    found.stop()


def with_error_left(page: Page, left: dict[str, float] | None) -> None:
    """Let the page hear another estimate than the server's, and nothing of earlier figures."""
    counts = {"questions": 60, "implied": 900, "groups": 4, "clusters": 4, "clusters_sure": None}
    body = {**counts, "per_minute": 31.6, "contradictions": 0, "error_left": left}

    def reply(route: Route) -> None:
        route.fulfill(content_type="application/json", body=json.dumps(body))

    page.route("**/api/progress", reply)


def test_the_estimate_is_shown_and_falls(server: LabelServer, page: Page):
    page.goto(server.url)
    person = Person(page, np.load(server.folder / "truth.npy")).wait()
    with server.client() as client:
        first = client.get("/api/progress").json()["error_left"]
        assert 0 <= first["low"] <= first["estimate"] <= first["high"] <= 1
        person.answer(12)
        expect(page.locator("#figures")).to_contain_text("in a wrong cluster, between")
        last = client.get("/api/progress").json()["error_left"]
    assert last["high"] < first["high"]


def test_a_strategy_without_one_shows_none(strict_server: LabelServer, page: Page):
    page.goto(strict_server.url)
    Person(page, np.load(strict_server.folder / "truth.npy")).wait()
    expect(page.locator("#figures")).to_contain_text("groups met")
    expect(page.locator("#figures")).not_to_contain_text("in a wrong cluster")
    expect(page.locator("#goal")).to_be_empty()
    with strict_server.client() as client:
        assert client.get("/api/progress").json()["error_left"] is None


@pytest.mark.parametrize(
    ("left", "figure", "goal"),
    [
        (
            {"estimate": 0.031, "low": 0.0127, "high": 0.0641},
            "≈ 3.1%in a wrong cluster, between 1.2% and 6.5% (95% interval)",
            "",
        ),
        (
            {"estimate": 0.4, "low": 0.207, "high": 0.612},
            "≈ 40%in a wrong cluster, between 20% and 62% (95% interval)",
            "",
        ),
        (
            {"estimate": 0.0002, "low": 0.0, "high": 0.0101},
            "< 0.1%in a wrong cluster, between 0% and 1.1% (95% interval)",
            "",
        ),
        (
            {"estimate": 0.004, "low": 0.001, "high": 0.01},
            None,
            "About 0.4% in a wrong cluster, at most 1%: you can stop.",
        ),
        (
            {"estimate": 0.0, "low": 0.0, "high": 0.007},
            None,
            "Less than 0.1% in a wrong cluster, at most 0.7%: you can stop.",
        ),
        (None, None, ""),
    ],
)
def test_one_signal_says_when_to_stop(server: LabelServer, page: Page, left, figure, goal):
    with_error_left(page, left)
    page.goto(server.url)
    Person(page, np.load(server.folder / "truth.npy")).wait()
    expect(page.locator("#goal")).to_have_text(goal)
    shown = page.locator("#figures .figure")
    counts = ["60answers", "900pairs known for free", "4 of 4groups met", "32answers per minute"]
    expect(shown).to_have_text(counts if figure is None else [*counts, figure])
    expect(page.locator("#ask")).not_to_contain_text("of the last")
