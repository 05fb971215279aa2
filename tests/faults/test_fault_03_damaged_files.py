"""Fault 3: a file cut short or with flipped bits opens as it was or says so; never otherwise."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import event

from superpac.answers.log import Draft, Event
from superpac.errors import StoreError
from superpac.store import Store, new_info, open_store


@pytest.fixture
def whole(memory_folder: Path) -> tuple[Path, list[Event]]:
    path = memory_folder / "whole.sqlite3"
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=1000, spec={"k": 3}))
        made = log.append_many(
            [
                Draft("answer", {"i": n, "j": n + 1, "answer": "same"}, "Zoë", f"key-{n}", 100 + n)
                for n in range(120)
            ]
        )
    return path, made


def state(path: Path) -> list[Event] | str:
    """What a person would see: the events, or the sentence; anything else is a fault."""
    try:
        with open_store(path) as store:
            events = store.open("x").events()
            # A retry must find its event; with a damaged index it would be added twice.
            assert (
                store.open("x").append(
                    "answer", events[7].body, annotator=events[7].annotator, key=events[7].key
                )
                == (events[7])
            )
            return events
    except StoreError as error:
        return str(error)


def check(found: list[Event] | str, *allowed: list[Event]) -> bool:
    """Whether it opened; a wrong state fails the test."""
    if isinstance(found, str):
        assert "\n" not in found
        assert len(found) > 20
        return False
    assert found in allowed
    return True


def test_a_file_cut_at_any_place_is_refused(
    whole: tuple[Path, list[Event]], fault_count: Callable[[int, int], int]
) -> None:
    path, made = whole
    data, draw = path.read_bytes(), random.Random(3)
    copy = path.with_name("copy.sqlite3")
    places = [0, 1, 99, 100, 4096, len(data) - 4096, len(data) - 1]
    for size in places + [draw.randrange(len(data)) for _ in range(fault_count(60, 200))]:
        copy.write_bytes(data[:size])
        assert not check(state(copy), made)
        assert copy.stat().st_size == size


def test_a_bit_flipped_anywhere_never_gives_a_wrong_state(
    whole: tuple[Path, list[Event]], fault_count: Callable[[int, int], int]
) -> None:
    path, made = whole
    data, draw = path.read_bytes(), random.Random(4)
    copy = path.with_name("copy.sqlite3")
    for _ in range(fault_count(100, 200)):
        place = draw.randrange(len(data))
        flipped = bytes([data[place] ^ (1 << draw.randrange(8))])
        copy.write_bytes(data[:place] + flipped + data[place + 1 :])
        check(state(copy), made)


def test_verify_finds_every_flip_in_a_payload(
    whole: tuple[Path, list[Event]], fault_count: Callable[[int, int], int]
) -> None:
    path, made = whole
    data, draw = path.read_bytes(), random.Random(5)
    copy = path.with_name("copy.sqlite3")
    count = found = 0
    for _ in range(fault_count(100, 200)):
        chosen = draw.choice(made)
        body = f'answer{{"answer":"same","i":{chosen.body["i"]},"j":{chosen.body["j"]}}}'
        start, end = data.index(body.encode()), data.index(chosen.hash.encode()) + 64
        assert 100 < end - start < 250
        place = draw.randrange(start, end)
        flipped = bytes([data[place] ^ (1 << draw.randrange(8))])
        copy.write_bytes(data[:place] + flipped + data[place + 1 :])
        count += 1
        try:
            with open_store(copy) as store:
                store.verify("x")
        except StoreError:
            found += 1
    assert found == count


def crashed(store: Store, path: Path, drafts: list[Draft]) -> tuple[bytes, bytes]:
    """Bytes of file and journal in the middle of a commit, as a power cut would leave them."""
    taken: list[tuple[bytes, bytes]] = []

    def spill(connection: object, record: object) -> None:
        connection.execute("PRAGMA cache_size = 2")  # type: ignore[attr-defined]
        connection.execute("PRAGMA cache_spill = 1")  # type: ignore[attr-defined]

    def take(connection: object) -> None:
        journal = path.with_name(path.name + "-journal")
        if journal.exists():
            taken.append((path.read_bytes(), journal.read_bytes()))

    engine = store._backend._engine  # type: ignore[attr-defined]
    engine.dispose()
    event.listen(engine, "connect", spill)
    event.listen(engine, "commit", take)
    store.open("x").append_many(drafts)
    return taken[-1]


def test_a_journal_cut_at_any_place_never_gives_a_wrong_state(
    whole: tuple[Path, list[Event]], fault_count: Callable[[int, int], int]
) -> None:
    path, made = whole
    work = path.with_name("work.sqlite3")
    shutil.copyfile(path, work)
    with open_store(work) as store:
        drafts = [
            Draft("answer", {"i": n, "j": n + 2, "answer": "different", "why": "y" * 200})
            for n in range(300)
        ]
        file, journal = crashed(store, work, drafts)
    assert file != path.read_bytes()
    assert len(journal) > 4096
    copy = path.with_name("copy.sqlite3")
    hot = copy.with_name(copy.name + "-journal")

    def opened(cut: int) -> bool:
        copy.write_bytes(file)
        hot.write_bytes(journal[:cut])
        return check(state(copy), made)

    assert opened(len(journal)), "a whole journal must bring the last acknowledged state back"
    draw = random.Random(6)
    for _ in range(fault_count(40, 200)):
        opened(draw.randrange(len(journal)))
        hot.unlink(missing_ok=True)
