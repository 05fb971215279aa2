"""What `superpac.answers.log.Log` promises, of every log: in memory, SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from superpac.answers.log import Draft, Event, Log, verify_chain
from superpac.errors import ConflictError, InputError

SAME = {"i": 3, "j": 8, "answer": "same"}


def answers(n: int, start: int = 0) -> list[Draft]:
    kinds = ("same", "different", "unsure")
    return [
        Draft("answer", {"i": i, "j": i + 1, "answer": kinds[i % 3]}, "ann", f"k{i}", 10 * i)
        for i in range(start, start + n)
    ]


def test_an_empty_log_ends_at_zero(log: Log) -> None:
    assert log.head() == (0, log.info.genesis())
    assert log.events() == []
    assert log.session_id == log.info.id
    assert log.append_many([]) == []


def test_events_come_back_as_they_were_returned(log: Log) -> None:
    made = [
        log.append("answer", SAME, annotator="Zoë", key="a", elapsed_ms=1234),
        log.append("answer", {**SAME, "group": "g1", "why": {"margin": 0.25, "note": ["é\0'\""]}}),
        log.append("retract", {"seq": 1}),
        log.append("restore", {"seq": 3}),
        log.append("skip", {"i": 1, "j": 2}),
        log.append("bad", {"i": 5}),
        log.append("good", {"i": 5}),
        log.append("name", {"cluster": 2, "name": "ducks'); DROP TABLE superpac_events;--"}),
        log.append("name", {"item": 2, "name": "Daisy"}),
        log.append("name", {"item": 2, "name": ""}),  # takes the name away
        log.append("note", {"text": "hello", "budget": 500}),
        log.append("answer", {**SAME, "confirm": True}),
    ]
    assert log.events() == made
    assert [e.seq for e in made] == list(range(1, 13))
    assert log.head() == (12, made[-1].hash)
    assert made[0].body == SAME
    assert (made[0].annotator, made[0].key, made[0].elapsed_ms) == ("Zoë", "a", 1234)
    assert made[0].at == "2024-03-31T00:59:00.000Z"
    assert len({e.key for e in made}) == 12
    assert log.events(after=9) == made[9:]
    assert log.events(after=12) == []
    assert log.events(after=99) == []
    verify_chain(made, log.info)


def test_numpy_and_large_numbers_are_kept_as_plain_ones(new_log: Callable[..., Log]) -> None:
    log = new_log(n_items=2**40)
    event = log.append("answer", {"i": np.int64(2**31 + 7), "j": np.int32(5), "answer": "same"})
    assert log.events()[0].body == {"i": 2**31 + 7, "j": 5, "answer": "same"}
    assert type(event.body["i"]) is int
    assert log.lease((2**31 + 7, 2**33), "ann", 60)
    assert log.leases()[0].j == 2**33


def test_the_same_key_is_the_same_event(log: Log) -> None:
    first = log.append("answer", SAME, annotator="ann", key="k", expected_seq=0, elapsed_ms=5)
    log.append("answer", {"i": 1, "j": 2, "answer": "different"})
    again = log.append("answer", SAME, annotator="ann", key="k", expected_seq=0, elapsed_ms=99)
    assert again == first
    assert log.head()[0] == 2


@pytest.mark.parametrize(
    ("kind", "body", "annotator"),
    [
        ("answer", {**SAME, "answer": "different"}, "ann"),
        ("skip", {"i": 3, "j": 8}, "ann"),
        ("answer", SAME, "bob"),
    ],
)
def test_a_key_used_for_something_else_is_a_conflict(
    log: Log, kind: str, body: dict, annotator: str
) -> None:
    log.append("answer", SAME, annotator="ann", key="k")
    with pytest.raises(ConflictError, match="'k'"):
        log.append(kind, body, annotator=annotator, key="k")
    assert log.head()[0] == 1


def test_a_stale_append_is_a_conflict_and_writes_nothing(log: Log) -> None:
    log.append("answer", SAME)
    for stale in (0, 2):
        with pytest.raises(ConflictError, match=f"event {stale}, but the log is at event 1"):
            log.append("answer", SAME, key="late", expected_seq=stale)
    assert log.head()[0] == 1
    assert log.append("answer", SAME, key="late", expected_seq=1).seq == 2


def test_many_are_all_or_none(log: Log) -> None:
    made = log.append_many(answers(5), expected_seq=0)
    assert log.append_many(answers(5), expected_seq=0) == made
    with pytest.raises(ConflictError):
        log.append_many(answers(5, start=3))  # k3 and k4 are known, k5 to k7 are not
    with pytest.raises(InputError):
        log.append_many([*answers(2, start=10), Draft("answer", {"i": 1})])
    with pytest.raises(InputError, match="own"):
        log.append_many([*answers(1, start=10), *answers(1, start=10)])
    with pytest.raises(ConflictError):
        log.append_many(answers(2, start=10), expected_seq=4)
    with pytest.raises(InputError, match="Event 8"):
        log.append_many([*answers(2, start=10), Draft("retract", {"seq": 8})])
    assert log.events() == made
    assert log.append_many([*answers(1, start=20), Draft("retract", {"seq": 6})])[1].seq == 7


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("verdict", {}),
        ("answer", {"i": 1, "j": 2}),
        ("answer", {"i": 1, "j": 2, "answer": "maybe"}),
        ("answer", {"i": 1, "j": 2, "answer": ["same"]}),
        ("answer", {"i": 1, "j": 1, "answer": "same"}),
        ("answer", {"i": -1, "j": 2, "answer": "same"}),
        ("answer", {"i": 1000, "j": 2, "answer": "same"}),
        ("answer", {"i": True, "j": 2, "answer": "same"}),
        ("answer", {"i": 1.0, "j": 2, "answer": "same"}),
        ("answer", {"i": "1", "j": 2, "answer": "same"}),
        ("answer", {**SAME, "colour": "red"}),
        ("answer", {**SAME, "why": float("nan")}),
        ("answer", {**SAME, "why": object()}),
        ("answer", {**SAME, "why": "\ud800"}),
        ("answer", {**SAME, "why": "x" * 70_000}),
        ("answer", {**SAME, "group": -3}),
        ("answer", [1, 2]),
        ("retract", {"seq": 0}),
        ("retract", {"seq": 1}),
        ("bad", {"i": None}),
        ("name", {"name": "x"}),
        ("name", {"name": "x", "cluster": 1, "item": 2}),
        ("name", {"name": 7, "cluster": 1}),
        ("name", {"name": "x" * 201, "cluster": 1}),
        ("name", {"name": "x", "cluster": 10**30}),
    ],
)
def test_a_wrong_body_is_refused_in_one_sentence(log: Log, kind: str, body: dict) -> None:
    with pytest.raises(InputError) as caught:
        log.append(kind, body)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert log.head()[0] == 0


def test_a_body_nested_ten_thousand_deep_is_refused(log: Log) -> None:
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(InputError):
        log.append("note", {"text": deep})


@pytest.mark.parametrize(
    "fields", [{"key": ""}, {"key": "x\0"}, {"annotator": "a" * 201}, {"elapsed_ms": -1}]
)
def test_wrong_marks_are_refused(log: Log, fields: dict) -> None:
    with pytest.raises(InputError):
        log.append("answer", SAME, **fields)
    assert log.head()[0] == 0


def test_order_is_by_seq_when_the_clock_goes_back(log: Log, clock) -> None:
    made: list[Event] = []
    for hours in (0, 1, -1, -1, 2):
        clock.move(hours=hours)
        made.append(log.append("answer", SAME))
    assert [e.seq for e in log.events()] == [1, 2, 3, 4, 5]
    assert log.events() == made
    assert made[3].at < made[1].at


def test_threads_share_a_log(log: Log) -> None:
    accepted: list[Event] = []
    conflicts: list[int] = []

    def work(who: int) -> None:
        for n in range(8):
            try:
                event = log.append(
                    "answer",
                    {"i": who, "j": 100 + n, "answer": "same"},
                    key=f"{who}-{n}",
                    expected_seq=log.head()[0] if who % 2 else None,
                )
                accepted.append(event)
            except ConflictError:
                conflicts.append(who)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = log.events()
    assert len(accepted) + len(conflicts) == 32
    assert sorted(accepted, key=lambda e: e.seq) == events
    assert [e.seq for e in events] == list(range(1, len(events) + 1))


def test_parallel_repeats_make_one_event(log: Log) -> None:
    made: list[Event] = []
    threads = [
        threading.Thread(target=lambda: made.append(log.append("answer", SAME, key="once")))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == log.events() * 5


def test_a_pair_is_leased_to_one_annotator_at_a_time(log: Log) -> None:
    assert log.lease((8, 3), "ann", 60)
    assert not log.lease((3, 8), "bob", 60)
    assert log.lease((3, 8), "ann", 60)
    assert [(x.i, x.j, x.annotator) for x in log.leases()] == [(3, 8, "ann")]
    log.release((3, 8), "bob")
    assert not log.lease((3, 8), "bob", 60)
    log.release((8, 3), "ann")
    assert log.leases() == []
    assert log.lease((3, 8), "bob", 60)
    assert log.lease((4, 5), "bob", 60, instead_of=(8, 3))
    assert [(x.i, x.j, x.annotator) for x in log.leases()] == [(4, 5, "bob")]
    assert log.lease((6, 7), "ann", 60, instead_of=(4, 5)), "bob's lease is not ann's to end"
    assert len(log.leases()) == 2
    for wrong in ((3, 3), (3, 1000), (1, 2, 3)):
        with pytest.raises(InputError):
            log.lease(wrong, "ann", 60)  # type: ignore[arg-type]
    for ttl in (0, -1, float("nan"), 1e9):
        with pytest.raises(InputError):
            log.lease((1, 2), "ann", ttl)


def test_many_threads_get_a_pair_once(log: Log) -> None:
    won: list[str] = []

    def work(who: str) -> None:
        if log.lease((1, 2), who, 60):
            won.append(who)

    threads = [threading.Thread(target=work, args=(f"a{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert log.leases()[0].annotator == won[0]


def test_two_logs_with_the_same_answers_have_different_chains(new_log: Callable[..., Log]) -> None:
    one, two = new_log(), new_log()
    a, b = one.append("answer", SAME, key="k"), two.append("answer", SAME, key="k")
    assert a == replace(b, hash=a.hash)
    assert a.hash != b.hash


def test_items_that_were_added_may_be_spoken_of_and_no_others(new_log: Callable[..., Log]) -> None:
    log = new_log(n_items=10)
    assert log.additions() == []
    about = {"i": 11, "j": 3, "answer": "same"}
    with pytest.raises(InputError, match="from 0 to 9"):
        log.append("answer", about)
    with pytest.raises(InputError, match="from 0 to 9"):
        log.lease((3, 11), "ann", 60)
    before = log.append("answer", {**SAME, "answer": "different"})
    more = log.append("items", {"count": 2, "fingerprint": "beef"}, annotator="Zoë", key="grow")
    assert (
        log.append("items", {"count": 2, "fingerprint": "beef"}, annotator="Zoë", key="grow")
        == more
    )
    after = log.append("answer", about)
    assert log.lease((3, 11), "ann", 60)
    assert log.events() == [before, more, after]
    assert log.additions() == [more]
    assert log.info.n_items == 10  # what a session began with never changes
    with pytest.raises(InputError, match="from 0 to 11"):
        log.append("bad", {"i": 12})
    both = [Draft("items", {"count": 1, "fingerprint": "aa"}), Draft("bad", {"i": 12})]
    made = log.append_many(both)
    assert log.additions() == [more, made[0]]
    verify_chain(log.events(), log.info)
