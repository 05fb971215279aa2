"""What stands before a person's first answer: instructions, and a test of known pairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from axe import violations
from labelling import LabelServer, Person, digits_file

WORDS = "Compare the shape.\n\n<b>Not</b> how thick the pen was."
PAIRS = 4


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LabelServer]:
    data = digits_file(tmp_path)
    truth = np.load(tmp_path / "truth.npy")
    (tmp_path / "read-me.md").write_text(WORDS)
    rows = [
        f"{n:03d},{n + 9:03d},{'same' if truth[n] == truth[n + 9] else 'different'}"
        for n in range(PAIRS)
    ]
    (tmp_path / "test.csv").write_text("\n".join(["first,second,answer", *rows]) + "\n")
    how = ("--instructions", str(tmp_path / "read-me.md"), "--editors", "anna, ben")
    found = LabelServer(tmp_path, data, *how, "--test-pairs", str(tmp_path / "test.csv"))
    yield found.wait_ready()
    found.stop()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_instructions_are_read_once_and_a_test_comes_before_what_counts(
    server: LabelServer, page: Page, size: tuple[int, int]
):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(server.url)
    told = page.get_by_role("dialog", name="Instructions")
    told.wait_for()
    assert told.locator(".instructions").inner_text() == WORDS
    assert told.locator("b").count() == 0
    page.keyboard.press("s")
    page.wait_for_timeout(300)
    assert not server.events()
    told.get_by_role("button", name="I have read this").click()
    told.wait_for(state="hidden")

    person = Person(page, server.truth).wait()
    title = page.locator("#ask-title")
    for n in range(PAIRS):  # all wrong: nothing of it counts
        expect(title).to_have_text(f"Test {n + 1} of {PAIRS}: Same or different?")
        assert page.locator("#stage .faces img").count() == 0  # they would give it away
        person.press("d" if person.right() == "s" else "s")
    expect(page.locator("#banner")).to_contain_text(f"0 of {PAIRS} right, and 80% are wanted")
    expect(title).to_have_text(f"Test 1 of {PAIRS}: Same or different?")
    assert violations(page) == []
    page.reload()
    assert not told.is_visible()
    person.wait().answer(PAIRS)
    expect(page.locator("#banner")).to_contain_text("your answers count from now on")
    expect(title).to_have_text("Same or different?")
    assert not [event for event in server.events() if event.kind == "answer"]
    person.answer()
    assert [event.kind for event in server.events()].count("answer") == 1

    page.locator("#help-button").click()
    page.get_by_role("button", name="Instructions").click()
    assert told.is_visible()
    page.keyboard.press("Escape")

    page.goto(page.url.split("#")[0] + "#clusters")  # who is no editor may look and answer
    name = page.locator(".cluster .head input").first
    name.fill("mine")
    name.press("Enter")
    expect(page.locator("#banner")).to_contain_text("Only anna, ben may name, move, merge or split")


def test_people_and_their_agreement_stand_in_history(server: LabelServer, page: Page):
    truth = server.truth
    with server.client() as client:
        for name in ("anna", "ben"):
            for n in range(PAIRS):
                said = "same" if truth[n] == truth[n + 9] else "different"
                body = {"annotator": name, "key": f"{name}-test-{n:04d}", "i": n, "j": n + 9}
                reply = client.post("/api/answers", json={**body, "answer": said, "seq": 0})
                assert reply.status_code == 200, reply.text
            seq = client.get("/api/history").json()["total"]
            body = {"annotator": name, "key": f"{name}-pair-0001", "i": 20, "j": 21, "seq": seq}
            client.post("/api/question", json={"annotator": "nobody", "was": name})
            reply = client.post("/api/answers", json={**body, "answer": "different"})
            assert reply.status_code == 200, reply.text
    page.goto(server.url + "#history")
    page.get_by_role("button", name="I have read this").click()
    people = page.get_by_role("table", name="People")
    expect(people).to_contain_text(f"{PAIRS} of {PAIRS}")
    expect(page.get_by_role("table", name="Each with each")).to_contain_text("anna and ben")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(page) == []
