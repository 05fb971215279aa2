"""The hash chain, what it covers, and what never depends on the place of the log."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.events import canonical, check_body
from superpac.answers.log import Event, MemoryLog, SessionInfo, verify_chain
from superpac.errors import InputError, StoreError

INFO = SessionInfo("a1", "digits", "2024-05-01T12:00:00.000Z", "f00d", 100, "x.npz", {"k": 3})


def naive_hash(previous: str, event: Event) -> str:
    rest = {k: v for k, v in asdict(event).items() if k != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((previous + text).encode()).hexdigest()


def some_log(n: int = 6) -> MemoryLog:
    log = MemoryLog(INFO)
    for i in range(n):
        log.append(
            "answer",
            {"i": i, "j": i + 1, "answer": "same", "why": "é"},
            annotator='Zoë "Z"',
            elapsed_ms=None if i % 2 else i,
        )
    return log


def test_the_hash_is_that_of_the_previous_hash_and_canonical_json() -> None:
    previous = INFO.genesis()
    for event in some_log().events():
        assert event.hash == naive_hash(previous, event)
        previous = event.hash


@pytest.mark.parametrize(
    "change",
    [
        {"seq": 9},
        {"kind": "skip"},
        {"body": {"i": 2, "j": 3, "answer": "different", "why": "é"}},
        {"annotator": "bob"},
        {"key": "other"},
        {"at": "2024-01-01T00:00:00.000Z"},
        {"elapsed_ms": 3},
        {"hash": "0" * 64},
    ],
)
def test_a_changed_event_is_named(change: dict[str, Any]) -> None:
    events = some_log().events()
    events[2] = replace(events[2], **change)
    with pytest.raises(StoreError, match="event 3"):
        verify_chain(events, INFO)


def test_a_missing_or_swapped_event_is_named() -> None:
    events = some_log().events()
    with pytest.raises(StoreError, match="event 2"):
        verify_chain(events[:1] + events[2:], INFO)
    with pytest.raises(StoreError, match="event 1"):
        verify_chain([events[1], events[0], *events[2:]], INFO)
    verify_chain(events[:4], INFO)


@pytest.mark.parametrize(
    "change", [{"fingerprint": "beef"}, {"n_items": 101}, {"spec": {"k": 4}}, {"id": "a2"}]
)
def test_the_chain_is_tied_to_the_session(change: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="event 1"):
        verify_chain(some_log().events(), replace(INFO, **change))


def test_renaming_or_moving_the_data_leaves_the_chain() -> None:
    verify_chain(some_log().events(), replace(INFO, name="other", source={"path": "y.npz"}))


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"name": "x" * 201},
        {"n_items": -1},
        {"n_items": 1.5},
        {"spec": []},
        {"spec": {"x": float("inf")}},
        {"source": 7},
        {"format": 2},
        {"fingerprint": None},
    ],
)
def test_wrong_facts_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        MemoryLog(replace(INFO, **change))


def test_a_clock_set_back_lets_a_lease_last_its_length_once_more() -> None:
    from datetime import UTC, datetime, timedelta

    moment = datetime(2024, 5, 1, tzinfo=UTC)
    log = MemoryLog(INFO, lambda: moment)
    assert log.lease((1, 2), "ann", 60)
    moment -= timedelta(hours=1)
    assert not log.lease((1, 2), "bob", 60)
    moment += timedelta(seconds=61)
    assert log.lease((1, 2), "bob", 60)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda part: st.lists(part) | st.dictionaries(st.text('abc"\\é'), part),
    max_leaves=8,
)


@given(plain)
@settings(max_examples=200)
def test_canonical_json_reads_back_equal(value: Any) -> None:
    assert json.loads(canonical(value)) == value
    assert canonical(json.loads(canonical(value))) == canonical(value)


anything = plain | st.floats() | st.binary() | st.text()


@given(
    st.sampled_from(["answer", "retract", "skip", "bad", "name", "note"]) | st.text(),
    st.dictionaries(
        st.sampled_from(["i", "j", "answer", "seq", "name", "cluster", "item", "why", "group"]),
        anything | st.integers(-2, 12) | st.sampled_from(["same", "unsure"]),
    ),
)
@settings(max_examples=500)
def test_any_body_is_taken_or_refused_cleanly(kind: str, body: dict[str, Any]) -> None:
    try:
        result = check_body(kind, body, 10)
    except InputError:
        return
    assert result == body
    for name in ("i", "j", "item"):
        if kind != "note" and name in result:
            assert type(result[name]) is int
            assert 0 <= result[name] < 10
