"""Fault 42: a client's key comes again with another request; it is refused, whatever it was for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from page_acts import ACTS, Page, opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened(tmp_path_factory.mktemp("keys"), "superpac-d") as found:
        yield found


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_the_same_request_gets_the_same_receipts(page, act):
    route, body = act(page)
    first = page.post(route, body)
    assert first.status_code == 200
    end = page.session.seq
    page.post("answers", page.answered("zoe"))  # whatever else happens meanwhile
    again = page.post(route, body)
    assert again.status_code == 200
    assert again.json()["receipts"] == first.json()["receipts"]
    assert all(receipt["seq"] <= end for receipt in again.json()["receipts"])


@pytest.fixture(scope="module")
def requests(page: Page) -> dict[str, tuple[str, dict[str, Any]]]:
    """One request of every kind, sent once."""
    found = {}
    for act in ACTS:
        route, body = act(page)
        assert page.post(route, body).status_code == 200
        found[act.__name__] = route, body
    return found


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_another_request_under_a_key_is_refused_and_writes_nothing(page, requests, act):
    key = requests[act.__name__][1]["key"]
    before = page.session.seq
    for name, (route, body) in requests.items():
        if name == act.__name__:
            continue
        reply = page.post(route, {**body, "key": key})
        assert reply.status_code == 409, (name, reply.text)
        assert "was used for something else" in reply.json()["detail"]
        assert page.session.seq == before


CHANGES = {
    "answers": {"answer": "unsure", "annotator": "somebody else"},
    "choices": {"annotator": "somebody else"},
    "skips": {"annotator": "somebody else"},
    "aside": {"item": 4, "back": True, "annotator": "somebody else"},
    "names": {"item": 4, "name": "eights", "annotator": "somebody else"},
    "undo": {"seq": 1, "annotator": "somebody else"},
    "redo": {"annotator": "somebody else"},
    "decisions": {"keep": "first", "annotator": "somebody else"},
    "arrange": {"items": [5], "act": "split", "annotator": "somebody else"},
    "keep": {"seqs": [1], "annotator": "somebody else"},
}


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_another_body_under_a_key_is_refused_and_writes_nothing(page, act):
    route, body = act(page)
    assert page.post(route, body).status_code == 200
    before = page.session.seq
    for name, value in CHANGES[route].items():
        if body.get(name) == value:
            continue
        reply = page.post(route, {**body, name: value})
        assert reply.status_code == 409, (name, reply.text)
        assert "was used for something else" in reply.json()["detail"]
        assert page.session.seq == before


def test_what_wrote_nothing_holds_its_key_too(page):
    """Nothing is left to put back: the key still belongs to that."""
    page.post("answers", page.answered("ann"))
    body = {"annotator": "nobody yet", "key": page.key()}
    assert page.post("undo", body).json()["receipts"] == []
    assert page.post("undo", body).json()["receipts"] == []
    assert page.post("redo", body).status_code == 409
