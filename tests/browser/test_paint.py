"""The page measures each answer up to the next pair painted, for benchmarks/limits.py."""

from __future__ import annotations

from playwright.sync_api import Page

from labelling import LabelServer, Person


def test_every_answer_is_measured_up_to_the_next_pair_painted(
    label_server: LabelServer, page: Page
):
    page.goto(label_server.url)
    person = Person(page, label_server.truth).wait()
    person.answer(5)
    page.wait_for_function(
        "() => performance.getEntriesByName('answer-to-paint').length === 5", timeout=60_000
    )
