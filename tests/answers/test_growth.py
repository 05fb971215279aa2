"""Events that add items: what they say, and the facts of a session with them."""

from __future__ import annotations

import pytest

from superpac.answers.events import MAX_BODY, Draft, Event, SessionInfo, canonical, check_drafts
from superpac.answers.growth import Part, added, addition, grown, parts_of
from superpac.answers.log import MemoryLog
from superpac.errors import InputError

BEGUN = SessionInfo("a1", "x", "", "f00d", 10, {"what": "/old", "contents": "c0 a//c1 b"})


def log_with(*drafts: Draft) -> MemoryLog:
    log = MemoryLog(BEGUN)
    log.append_many(drafts)
    return log


def test_a_session_that_did_not_grow_is_as_it_was():
    assert grown(BEGUN, log_with(Draft("bad", {"i": 1})).events()) is BEGUN


def test_numbers_fingerprint_places_and_contents_follow_the_events():
    first = addition(2, "aa", place="/new", contents=["c2 c", "c3 d"])
    second = addition(1, "bb", place="/old", first=10, contents=["c4 e"])
    now = grown(BEGUN, log_with(*first, *second).events())
    assert (now.n_items, now.fingerprint) == (13, "bb")
    assert now.source["contents"] == "c0 a//c1 b//c2 c//c3 d//c4 e"
    assert parts_of(now) == [Part("/old", 0, 10), Part("/new", 0, 2), Part("/old", 10, 1)]
    assert (now.id, now.name, now.spec) == (BEGUN.id, BEGUN.name, BEGUN.spec)


def test_rows_that_follow_in_one_file_are_one_part():
    drafts = addition(5, "aa", place="/old", first=10)
    assert parts_of(grown(BEGUN, log_with(*drafts).events())) == [Part("/old", 0, 15)]


def test_a_new_session_on_grown_data_knows_all_the_places():
    now = grown(BEGUN, log_with(*addition(2, "aa", place="/new")).events())
    again = SessionInfo("b2", "y", "", "aa", 12, now.source)
    assert parts_of(again) == parts_of(now)


def test_many_long_names_are_split_over_events_that_each_can_be_kept():
    contents = [f"{k:016x} {'é' * 90}-{k}.png" for k in range(2000)]
    drafts = addition(len(contents), "aa", place="/" + "n" * 3000, contents=contents)
    assert len(drafts) > 1
    assert max(len(canonical(draft.body)) for draft in drafts) <= MAX_BODY
    assert added(drafts) == len(contents)
    now = grown(BEGUN, log_with(*drafts).events())
    assert now.source["contents"].split("//")[2:] == contents
    assert parts_of(now)[1:] == [Part("/" + "n" * 3000, 0, len(contents))]


def test_items_may_be_spoken_of_once_they_are_there_and_not_before():
    more = Draft("items", {"count": 2, "fingerprint": "aa"})
    about = Draft("answer", {"i": 11, "j": 0, "answer": "same"})
    assert len(check_drafts([more, about], 10)) == 2
    for drafts in ([about, more], [more, Draft("bad", {"i": 12})]):
        with pytest.raises(InputError, match="must be a whole number from 0 to"):
            check_drafts(drafts, 10)


@pytest.mark.parametrize(
    "body",
    [
        {"count": 0, "fingerprint": "a"},
        {"count": -1, "fingerprint": "a"},
        {"count": True, "fingerprint": "a"},
        {"count": 1},
        {"count": 1, "fingerprint": ""},
        {"count": 1, "fingerprint": "a", "place": 3},
        {"count": 1, "fingerprint": "a", "first": -1},
        {"count": 1, "fingerprint": "a", "contents": ["x"]},
        {"count": 1, "fingerprint": "a", "more": 1},
    ],
)
def test_what_says_nothing_sensible_is_refused(body):
    with pytest.raises(InputError):
        check_drafts([Draft("items", body)], 10)


@pytest.mark.parametrize("also", ["x 1 /new", "0 -1 /new", "0 11 /new", "/new", "0 ٣ /new"])
def test_places_that_cannot_be_are_refused(also):
    with pytest.raises(InputError):
        parts_of(SessionInfo("a1", "x", "", "f", 10, {"what": "/old", "also": also}))


def test_an_addition_cannot_be_taken_back_by_an_archive_that_says_so():
    body = {"count": 3, "fingerprint": "aa"}
    events = [
        Event(1, "items", body, "", "a", "", None, ""),
        Event(2, "retract", {"seq": 1}, "", "b", "", None, ""),
    ]
    assert grown(BEGUN, events).n_items == 13
