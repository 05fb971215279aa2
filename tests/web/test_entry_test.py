"""Known pairs before a person's answers count, and how far people agree."""

from __future__ import annotations

import pytest

from page_acts import Page, a_move, opened
from superpac.errors import InputError
from superpac.web.entry_test import EntryTest


def made(page: Page, count: int = 4, share: float = 0.75) -> EntryTest:
    """A test on the digits of this page, and set it."""
    pairs = [(n, n + 7, page.right(n, n + 7)) for n in range(count)]
    page.workspace.service.test = EntryTest(pairs, share)
    return page.workspace.service.test


def take(page: Page, name: str, wrong: int) -> list[dict]:
    """Answer all pairs of the test, so many of them wrongly; give the replies."""
    replies = []
    for n in range(len(page.workspace.service.test.pairs)):
        body = page.answered(name)
        if n < wrong:
            body["answer"] = "different" if body["answer"] == "same" else "same"
        reply = page.post("answers", body)
        assert reply.status_code == 200, reply.text
        replies.append(reply.json())
    return replies


def test_nothing_counts_before_the_test_is_passed(tmp_path):
    with opened(tmp_path, "superpac-d") as page:
        test = made(page)
        route, body = a_move(page)
        refused = page.post(route, {**body, "annotator": "ann"})
        assert refused.status_code == 422
        assert "short test first" in refused.json()["detail"]
        asked = page.ask("ann")
        assert asked["shape"] == "test"
        assert asked["numbers"] == {"number": 1, "of": 4}
        assert asked["item"]["group"] is None
        assert asked["item"]["faces"] == []
        failed = take(page, "ann", wrong=2)
        assert [reply["message"] for reply in failed[:3]] == [""] * 3
        assert failed[3]["message"].startswith("2 of 4 right, and 75% are wanted")
        assert failed[3]["question"]["shape"] == "test"
        assert not page.session.state.answers
        passed = take(page, "ann", wrong=1)
        assert passed[3]["message"] == "3 of 4 right: your answers count from now on."
        assert not page.session.state.answers
        assert page.ask("ann")["shape"] == "pair"
        assert page.post("answers", page.answered("ann")).status_code == 200
        assert page.session.state.n_answers == 1
        assert page.ask("bob")["shape"] == "test"  # everybody takes it
        found = {p["name"]: p for p in page.client.get("/api/agreement").json()["people"]}
        assert found["ann"]["test"] == [3, 4]
        # by the log alone, as after a restart; another test is another matter
        events = page.session.events
        assert test.standing(events, "ann").passed
        assert not EntryTest([(0, 1, "same")]).standing(events, "ann").passed
        lines = page.client.get("/api/history").json()["events"]
        assert sum(line["kind"] == "tested" for line in lines) == 8


def test_the_same_answer_sent_again_is_one_note(tmp_path):
    with opened(tmp_path, "superpac-d") as page:
        made(page, count=1)
        body = page.answered("ann")
        first, again = (page.post("answers", body).json() for _ in range(2))
        assert first["receipts"] == again["receipts"]
        assert first["message"] == again["message"] != ""
        assert page.session.seq == 1


def test_a_test_without_pairs_or_with_too_many_is_refused():
    with pytest.raises(InputError, match="1 to 100 pairs"):
        EntryTest([])
    with pytest.raises(InputError, match="share that must be right"):
        EntryTest([(0, 1, "same")], share=0.0)


def test_agreement_is_told_of_each_with_each(tmp_path):
    with opened(tmp_path, "superpac-d") as page:
        for i, j in ((0, 1), (2, 3), (4, 5)):
            for name in ("ann", "bob", "eve"):
                wrong = name == "eve" and i == 0
                right = page.right(i, j)
                said = {"same": "different", "different": "same"}[right] if wrong else right
                body = {"annotator": name, "key": page.key(), "i": i, "j": j, "answer": said}
                reply = page.post("answers", {**body, "seq": page.session.seq})
                assert reply.status_code == 200, reply.text
                page.workspace.service.drop(name)  # they look away: any pair may be answered
        found = page.client.get("/api/agreement").json()
        two = {tuple(b["people"]): (b["judged"], b["agreed"]) for b in found["between"]}
        assert two == {("ann", "bob"): (3, 3), ("ann", "eve"): (3, 2), ("bob", "eve"): (3, 2)}
        believed = {p["name"]: p["believed"] for p in found["people"]}
        assert believed["ann"] == believed["bob"] == 1.0
        assert believed["eve"] == pytest.approx(2 / 3)
