"""Archives: equal to the last byte after a journey, and nothing in a hostile one is believed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from superpac.answers.log import Draft, MemoryLog, canonical, link
from superpac.errors import ConflictError, DataError, NotFoundError, SuperpacError
from superpac.session.spec import Spec
from superpac.store import Store, archive, new_info, open_store

Parts = dict[str, bytes]
SPEC = Spec(2).to_dict()
WHY = {"é": 1.5}


@pytest.fixture
def exported(memory_folder: Path) -> Path:
    with open_store(memory_folder / "from.sqlite3") as store:
        info = new_info("birds", fingerprint="f00d", n_items=500, source="b.npz", spec=SPEC)
        store.create(info).append_many(
            [
                Draft("answer", {"i": n, "j": n + 1, "answer": "same", "why": WHY}, "Zoë", None, n)
                for n in range(40)
            ]
        )
        return store.export_archive("birds", memory_folder / "birds.zip")


def parts(path: Path) -> Parts:
    with zipfile.ZipFile(path) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def rewritten(path: Path, content: Parts) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in content.items():
            bundle.writestr(name, data)
    return path


def test_an_archive_is_plain_text_that_can_be_read_without_us(exported: Path) -> None:
    content = parts(exported)
    manifest = json.loads(content["manifest.json"])
    lines = [json.loads(line) for line in content["events.jsonl"].splitlines()]
    assert manifest["session"]["name"] == "birds"
    assert (manifest["events"], manifest["hash"]) == (40, lines[-1]["hash"])
    assert lines[4]["body"] == {"i": 4, "j": 5, "answer": "same", "why": WHY}


def test_an_archive_comes_back_on_either_back_end(store: Store, exported: Path) -> None:
    log = store.import_archive(exported)
    assert store.verify("birds") == log.head()
    again = store.export_archive("birds", exported.with_name("again.zip"))
    assert again.read_bytes() == exported.read_bytes()
    assert store.import_archive(exported).session_id == log.session_id
    assert log.append("answer", {"i": 1, "j": 2, "answer": "same"}).seq == 41
    with pytest.raises(ConflictError, match="already in"):
        store.import_archive(exported)


def test_a_session_may_be_renamed_on_import(store: Store, exported: Path) -> None:
    store.create(new_info("birds", fingerprint="f00d", n_items=5))
    with pytest.raises(ConflictError, match="birds"):
        store.import_archive(exported)
    log = store.import_archive(exported, name="more birds")
    head = json.loads(parts(exported)["manifest.json"])["hash"]
    assert log.head() == (40, head)
    assert store.verify("more birds") == (40, head)


def test_a_file_is_not_overwritten_unasked(memory_folder: Path, exported: Path) -> None:
    with open_store(memory_folder / "from.sqlite3") as store:
        with pytest.raises(ConflictError, match="already there"):
            store.export_archive("birds", exported)
        store.export_archive("birds", exported, overwrite=True)
        with pytest.raises(SuperpacError, match="cannot be written"):
            store.export_archive("birds", memory_folder / "none" / "x.zip")
    assert {p.name for p in memory_folder.iterdir()} == {"from.sqlite3", "birds.zip"}


def test_a_session_of_no_events_travels_too(memory_folder: Path) -> None:
    with open_store(memory_folder / "a.sqlite3") as store:
        store.create(new_info("empty", fingerprint="f00d", n_items=5, spec=SPEC))
        path = store.export_archive("empty", memory_folder / "e.zip")
    with open_store(memory_folder / "b.sqlite3") as store:
        assert store.import_archive(path).events() == []


def _without(content: Parts, n: int) -> Parts:
    lines = content["events.jsonl"].splitlines(keepends=True)
    return {**content, "events.jsonl": b"".join(lines[:n] + lines[n + 1 :])}


def _manifest(content: Parts, **changes: object) -> Parts:
    manifest = json.loads(content["manifest.json"])
    for key, value in changes.items():
        if key in manifest:
            manifest[key] = value
        else:
            manifest["session"][key] = value
    return {**content, "manifest.json": json.dumps(manifest).encode()}


def _swap(content: Parts, old: bytes, new: bytes) -> Parts:
    return {**content, "events.jsonl": content["events.jsonl"].replace(old, new, 1)}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda c: _without(c, 0), id="first event gone"),
        pytest.param(lambda c: _without(c, 39), id="last event gone"),
        pytest.param(lambda c: _swap(c, b'"same"', b'"unsure"'), id="answer changed"),
        pytest.param(lambda c: _swap(c, b'"i":3', b'"i":499999'), id="index out of range"),
        pytest.param(lambda c: _swap(c, b'"seq":3', b'"seq":"3"'), id="seq is text"),
        pytest.param(lambda c: _swap(c, b'"seq":3', b'"seq":3,"x":1'), id="another field"),
        pytest.param(lambda c: _swap(c, b'"kind":"answer"', b'"kind":"x"'), id="kind"),
        pytest.param(lambda c: _swap(c, b"{", b"["), id="no JSON"),
        pytest.param(lambda c: _manifest(c, fingerprint="beef"), id="fingerprint"),
        pytest.param(lambda c: _manifest(c, superpac_archive=2), id="newer archive"),
        pytest.param(lambda c: _manifest(c, superpac_archive=None), id="no version"),
        pytest.param(lambda c: _manifest(c, format=2), id="newer log"),
        pytest.param(lambda c: _manifest(c, events=41), id="count"),
        pytest.param(lambda c: _manifest(c, session=[1]), id="facts are a list"),
        pytest.param(lambda c: _manifest(c, unknown=1), id="unknown fact"),
        pytest.param(lambda c: {**c, "manifest.json": b"[" * 200_000}, id="deep manifest"),
        pytest.param(lambda c: {**c, "events.jsonl": b"[" * 200_000 + b"\n"}, id="deep event"),
        pytest.param(lambda c: {**c, "manifest.json": b"\xff\xfe"}, id="not text"),
        pytest.param(lambda c: {**c, "../../evil": b"x"}, id="zip slip"),
        pytest.param(lambda c: {**c, "/etc/evil": b"x"}, id="absolute path"),
        pytest.param(lambda c: {"manifest.json": c["manifest.json"]}, id="no events"),
        pytest.param(
            lambda c: {**c, "events.jsonl": c["events.jsonl"].rstrip(b"\n")}, id="cut line"
        ),
        pytest.param(lambda c: {**c, "manifest.json": b" " * (5 << 20)}, id="large manifest"),
    ],
)
def test_a_changed_archive_is_refused(
    memory_folder: Path, exported: Path, change: Callable[[Parts], Parts]
) -> None:
    inner = memory_folder / "one" / "two"  # so that what climbs two folders is still seen here
    inner.mkdir(parents=True)
    bad = rewritten(inner / "bad.zip", change(parts(exported)))
    with open_store(inner / "to.sqlite3") as store:
        with pytest.raises(DataError) as caught:
            store.import_archive(bad)
        assert store.sessions() == []
    assert "\n" not in str(caught.value)
    assert not list(memory_folder.rglob("evil"))
    assert not Path("/etc/evil").exists()


def test_a_damaged_or_missing_file_is_refused(memory_folder: Path, exported: Path) -> None:
    whole = exported.read_bytes()
    with open_store(memory_folder / "to.sqlite3") as store:
        with pytest.raises(NotFoundError, match="no archive"):
            store.import_archive(memory_folder / "none.zip")
        with pytest.raises(DataError):
            store.import_archive(memory_folder)
        for size in (0, 10, len(whole) // 2, len(whole) - 1):
            exported.write_bytes(whole[:size])
            with pytest.raises(DataError):
                store.import_archive(exported)
        for place in range(0, len(whole), 7):
            exported.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            try:
                info, events = archive.read(exported)
            except DataError:
                continue
            # Bytes that only describe the zip (dates, modes) may change; what is read may not.
            assert len(events) == 40
            assert info.name == "birds"
        assert store.sessions() == []


def test_a_bomb_is_refused_by_its_header(memory_folder: Path, exported: Path) -> None:
    content = parts(exported)
    bomb = memory_folder / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        bundle.writestr("manifest.json", content["manifest.json"])
        with bundle.open("events.jsonl", "w") as lines:
            for _ in range(62):
                lines.write(b"\n" * (1 << 20))
    with pytest.raises(DataError, match="more than the 64000000 that are allowed"):
        archive.read(bomb)


def test_a_bomb_that_lies_about_its_size_is_refused(memory_folder: Path, exported: Path) -> None:
    content = parts(exported)
    bomb = rewritten(
        memory_folder / "bomb.zip",
        {"manifest.json": content["manifest.json"], "events.jsonl": b" " * (64 << 20)},
    )
    data = bomb.read_bytes().replace((64 << 20).to_bytes(4, "little"), b"\x10\0\0\0")
    bomb.write_bytes(data)
    with pytest.raises(DataError):
        archive.read(bomb)


def grown_session(store: Store) -> None:
    """A session with 500 items to which 3 were added, two of them in answers."""
    info = new_info("birds", fingerprint="f00d", n_items=500, source="b.npz", spec=SPEC)
    log = store.create(info)
    log.append("answer", {"i": 1, "j": 2, "answer": "same"})
    log.append("items", {"count": 3, "fingerprint": "beef", "place": "c.npz", "first": 0})
    log.append("answer", {"i": 501, "j": 502, "answer": "different"})


def test_a_grown_session_comes_back_on_either_back_end(store: Store, memory_folder: Path) -> None:
    with open_store(memory_folder / "from.sqlite3") as origin:
        grown_session(origin)
        path = origin.export_archive("birds", memory_folder / "birds.zip")
        events = origin.open("birds").events()
    log = store.import_archive(path)
    assert log.events() == events
    (found,) = store.sessions()
    assert (found.info.n_items, found.now.n_items, found.now.fingerprint) == (500, 503, "beef")
    assert log.append("answer", {"i": 502, "j": 0, "answer": "same"}).seq == 4
    again = store.copy_to(memory_folder / "copy.sqlite3")
    assert again == {log.session_id: log.head()}
    with open_store(memory_folder / "copy.sqlite3", read_only=True) as copy:
        assert copy.sessions()[0].now == found.now


@pytest.mark.parametrize(
    ("count", "item", "said"),
    [
        (10**9, 501, "there must be 1 to"),
        (1, 501, "must be a whole number from 0 to 500"),
    ],
)
def test_additions_that_cannot_be_are_refused(
    count: int, item: int, said: str, memory_folder: Path
) -> None:
    """The chain is right, as of one who made the archive up; what it says is not."""
    info = new_info("birds", fingerprint="f00d", n_items=500, source="b.npz", spec=SPEC)
    log = MemoryLog(replace(info, n_items=10**12))
    log.append("items", {"count": count, "fingerprint": "beef"})
    log.append("bad", {"i": item})
    previous, events = info.genesis(), []
    for event in log.events():
        body = canonical(event.body)
        previous = link(previous, event.seq, event.kind, body, "", event.key, event.at, None)
        events.append(replace(event, hash=previous))
    path = archive.write(memory_folder / "made-up.zip", info, events, overwrite=False)
    with pytest.raises(DataError, match=said):
        archive.read(path)
