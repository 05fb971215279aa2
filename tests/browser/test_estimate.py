"""The labelling page shows how much error is left, where the strategy knows."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from labelling import LabelServer, Person, digits_file


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimate")
    found = LabelServer(folder, digits_file(folder, 4, 30), "--strategy", "superpac-d", k=4)
    yield found.wait_ready()
    found.stop()


def test_the_estimate_is_shown_and_falls(server: LabelServer, page: Page):
    page.goto(server.url)
    person = Person(page, np.load(server.folder / "truth.npy")).wait()
    with server.client() as client:
        first = client.get("/api/progress").json()["error_left"]
        assert 0 <= first["low"] <= first["estimate"] <= first["high"] <= 1
        person.answer(12)
        expect(page.locator("#figures")).to_contain_text("in a wrong cluster, at most")
        last = client.get("/api/progress").json()["error_left"]
    assert last["high"] < first["high"]


def test_a_strategy_without_one_shows_none(strict_server: LabelServer, page: Page):
    page.goto(strict_server.url)
    Person(page, np.load(strict_server.folder / "truth.npy")).wait()
    expect(page.locator("#figures")).to_contain_text("groups met")
    expect(page.locator("#figures")).not_to_contain_text("in a wrong cluster")
    with strict_server.client() as client:
        assert client.get("/api/progress").json()["error_left"] is None
