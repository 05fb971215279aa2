"""Archives whose hashes fit and whose content makes no sense; files that unpack to gigabytes."""

from __future__ import annotations

import json
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import superpac
from peak_memory import measured
from superpac.answers.log import SessionInfo, canonical, link
from superpac.data import limits, load
from superpac.errors import DataError, SuperpacError
from superpac.session.spec import Spec
from superpac.store import archive, archive_meaning, open_store

MOST_MEMORY = 500 * 2**20  # of the process that refuses; numpy and the like take a third of it
ITEMS = 30
SPEC = Spec(3, "tsc:q=3", dim=2).to_dict()
ANSWER = ("answer", {"i": 0, "j": 1, "answer": "same"})


def forge(path: Path, events: list[tuple[str, Any]], **facts: Any) -> Path:
    """An archive of any content in which every hash fits."""
    given = {"n_items": ITEMS, "spec": SPEC, "source": "x.npz", **facts}
    info = SessionInfo("0" * 16, "forged", "", "f00d", **given)
    lines, last = [], info.genesis()
    for seq, (kind, body) in enumerate(events, 1):
        last = link(last, seq, kind, canonical(body), "Ada", f"k{seq}", "2024", None)
        fields = {"seq": seq, "kind": kind, "body": body, "annotator": "Ada", "key": f"k{seq}"}
        lines.append(canonical({**fields, "at": "2024", "elapsed_ms": None, "hash": last}))
    session = {**asdict(info), **facts}
    manifest = {"superpac_archive": 1, "session": session, "events": len(lines), "hash": last}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", json.dumps(manifest))
        bundle.writestr("events.jsonl", "".join(line + "\n" for line in lines))
    return path


def spec(**changes: Any) -> dict[str, Any]:
    return {"spec": {**SPEC, **changes}}


@pytest.mark.parametrize(
    "facts",
    [
        *(spec(n_clusters=k) for k in ("three", 0, -1, True, 2.5, None, [3], ITEMS + 1, 10**30)),
        *(spec(affinity=a) for a in (5, None, ["tsc"], {})),
        *(spec(strategy=s) for s in ("magic", 7, None, ["superpac"])),
        *(spec(options=o) for o in ([], "x", {"explore": [1]}, {"magic": 1}, {"pieces": {}})),
        *(spec(dim=d) for d in ("2", 0, [], [2, "x"], [0], 1.5, True)),
        *(spec(seed=s) for s in (-1, "0", 2**40, None, 1.5)),
        *(spec(normalize=n) for n in ("yes", 3, [])),
        {"spec": {}},
        {"spec": {"colour": "red", **SPEC}},
        {"source": {"what": 5}},
        {"source": {"what": "x.npz", "labels": ["y"]}},
        {"source": {str(n): "x" for n in range(1000)}},
        {"n_items": 10**15},
        {"n_items": 0},
    ],
    ids=str,
)
def test_facts_that_a_later_command_would_break_on_are_refused(tmp_path, facts):
    path = forge(tmp_path / "a.zip", [ANSWER], **facts)
    with open_store(tmp_path / "to.sqlite3") as store:
        with pytest.raises(DataError) as caught:
            store.import_archive(path)
        assert store.sessions() == []
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("retract", {"seq": 99}),
        ("retract", {"seq": 2}),
        ("restore", {"seq": 3}),
        ("answer", {"i": 3, "j": 4, "answer": "same", "why": "because"}),
        ("answer", {"i": 3, "j": 4, "answer": "same", "why": [1]}),
        ("answer", {"i": 3, "j": 4, "answer": "same", "why": {"audit": 1}}),
        ("answer", {"i": 3, "j": ITEMS, "answer": "same"}),
        ("note", {"audit": 5}),
        ("note", {"audit": {"sample": "x", "pairs": 1, "labels": "a"}}),
        ("note", {"audit": {"sample": 1, "pairs": 1}}),
        ("note", {"second": 99, "i": 0, "j": 1, "answer": "same"}),
        ("note", {"second": 1, "i": 0, "j": 1}),
        ("note", {"second": 1, "i": 0, "j": [1], "answer": "same"}),
        ("note", {"withdrawn": 1}),
        ("note", {"withdrawn": [1]}),
        ("note", {"decided": 1, "keep": "first"}),
    ],
    ids=str,
)
def test_events_that_a_later_command_would_break_on_are_refused(tmp_path, kind, body):
    path = forge(tmp_path / "a.zip", [ANSWER, (kind, body)])
    with open_store(tmp_path / "to.sqlite3") as store:
        with pytest.raises(DataError) as caught:
            store.import_archive(path)
        assert store.sessions() == []
    assert "\n" not in str(caught.value)


def test_what_is_taken_in_can_be_read_by_every_command_on_the_log(tmp_path):
    """Odd but allowed: notes of others, a name for a cluster that is not there, old times."""
    events = [
        ANSWER,
        ("answer", {"i": 1, "j": 0, "answer": "different", "why": {"late": {"x": []}}}),
        ("note", {"of": "somebody else"}),
        ("note", {"second": 1, "i": 0, "j": 1, "answer": "different"}),
        ("note", {"decided": 4, "keep": "first"}),
        ("name", {"cluster": 2**62, "name": "\u202e"}),
        ("retract", {"seq": 1}),
        ("restore", {"seq": 1}),
    ]
    path, store = forge(tmp_path / "a.zip", events), tmp_path / "to.sqlite3"
    superpac("import", path, "--store", store)
    for words in (
        ("sessions",),
        ("status", "forged"),
        ("verify", "forged"),
        ("undo", "forged", "--seq", "1"),
        ("undo", "forged", "--redo"),
        ("export", "forged", "-o", tmp_path / "again.zip"),
    ):
        superpac(*words, "--store", store)


def star(count: int) -> Iterator[tuple[str, Any]]:
    return (("answer", {"i": 0, "j": j, "answer": "different"}) for j in range(1, count))


def changing_minds(count: int) -> Iterator[tuple[str, Any]]:
    for k in range(count):
        yield "answer", {"i": 0, "j": 1, "answer": ("same", "different")[k % 2]}


def waiting(count: int) -> Iterator[tuple[str, Any]]:
    for confirm in ({"confirm": True}, {}):
        for k in range(count // 2):
            yield "answer", {"i": 2 * k, "j": 2 * k + 1, "answer": "same", **confirm}


def back_and_forth(count: int) -> Iterator[tuple[str, Any]]:
    third = range(1, count // 3)
    yield from (("answer", {"i": 2 * k, "j": 2 * k + 1, "answer": "same"}) for k in third)
    yield from (("retract", {"seq": k}) for k in third)
    yield from (("restore", {"seq": k}) for k in third)


@pytest.mark.parametrize("kind", [star, changing_minds, waiting, back_and_forth])
def test_a_log_made_to_take_long_is_refused_after_so_many_steps(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(archive_meaning, "MOST_STEPS", 200_000)
    few, many = list(kind(200)), list(kind(2_000))
    path = forge(tmp_path / "few.zip", few, n_items=10_000)
    assert len(archive.read(path)[1]) == len(few)
    with pytest.raises(DataError, match="more than 200000 steps"):
        archive.read(forge(tmp_path / "many.zip", many, n_items=10_000))


def test_an_honest_log_takes_few_steps(tmp_path):
    """Twenty thousand answers of people who err are far from the limit."""
    rng = np.random.default_rng(0)
    truth = rng.integers(10, size=5_000)
    events = []
    for i, j in rng.integers(5_000, size=(20_000, 2)).tolist():
        if i != j:
            said = (truth[i] == truth[j]) != (rng.random() < 0.02)
            events.append(("answer", {"i": i, "j": j, "answer": "same" if said else "different"}))
    path = forge(tmp_path / "a.zip", events, n_items=5_000, **spec(n_clusters=10))
    assert len(archive.read(path)[1]) == len(events)


def test_the_limit_of_an_archive_can_be_raised(tmp_path, monkeypatch):
    path = forge(tmp_path / "a.zip", [ANSWER] * 3)
    monkeypatch.setenv(archive.SETTING, "300 B")
    with pytest.raises(DataError, match="more than the 300 that are allowed; set SUPERPAC_ARCHIVE"):
        archive.read(path)
    monkeypatch.setenv(archive.SETTING, "1 kB")
    assert len(archive.read(path)[1]) == 3
    monkeypatch.setenv(archive.SETTING, "plenty")
    with pytest.raises(SuperpacError, match="size such as 500 MB"):
        archive.read(path)


def test_more_events_than_the_manifest_names_are_not_read(tmp_path):
    path = forge(tmp_path / "a.zip", [ANSWER] * 3)
    with zipfile.ZipFile(path) as bundle:
        parts = {name: bundle.read(name) for name in bundle.namelist()}
    parts["events.jsonl"] = parts["events.jsonl"] + b"no JSON\n" * 1000
    with zipfile.ZipFile(path, "w") as bundle:
        for name, content in parts.items():
            bundle.writestr(name, content)
    with pytest.raises(DataError, match="more events than the 3"):
        archive.read(path)


# Files of a megabyte or less that unpack to more than a gigabyte.


def npz_bomb(path: Path) -> None:
    header = BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (150_000, 1_000)}
    np.lib.format.write_array_header_1_0(header, shape)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle,
        bundle.open("X.npy", "w", force_zip64=True) as part,
    ):
        part.write(header.getvalue())
        for _ in range(150):
            part.write(bytes(8_000_000))


def many_names_bomb(path: Path) -> None:
    """Forty arrays that are extras: each harmless, and all together a gigabyte and more."""
    np.savez_compressed(path, X=np.zeros((500_000, 2)))
    one = BytesIO()
    np.save(one, np.zeros(500_000))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as bundle:
        for k in range(400):
            bundle.writestr(f"e{k}.npy", one.getvalue())


def npy_bomb(path: Path) -> None:
    """A file with a hole: no bytes on disk, a terabyte to read."""
    with open(path, "wb") as file:
        shape = {"descr": "<f8", "fortran_order": False, "shape": (125_000_000, 1_000)}
        np.lib.format.write_array_header_1_0(file, shape)
        file.truncate(file.tell() + 10**12)


def parquet_bomb(path: Path) -> None:
    part = pa.table({"a": pa.array(np.zeros(1_000_000)), "b": pa.array(np.zeros(1_000_000))})
    with pq.ParquetWriter(path, part.schema) as writer:
        for _ in range(50):
            writer.write_table(part)


def parquet_text_bomb(path: Path) -> None:
    """One long name that stands in every row, and is stored once."""
    names = pa.DictionaryArray.from_arrays(np.zeros(20_000, dtype=np.int32), ["x" * 1_000_000])
    pq.write_table(pa.table({"a": np.zeros(20_000), "name": names}), path, store_schema=False)


def hdf5_bomb(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (150_000, 1_000), "f8", chunks=(1_000, 1_000), compression=9)


def hdf5_chunk_bomb(path: Path) -> None:
    """A hundred values in a chunk of more than a gigabyte."""
    with h5py.File(path, "w") as file:
        size = {"chunks": (150_000, 1_000), "maxshape": (None, None), "compression": 9}
        made = file.create_dataset("X", (10, 10), "f8", **size)
        made.id.write_direct_chunk((0, 0), _zeros(1_200_000_000))


def _zeros(size: int) -> bytes:
    press = zlib.compressobj(9)
    parts = [press.compress(bytes(10_000_000)) for _ in range(size // 10_000_000)]
    return b"".join([*parts, press.flush()])


def mat_bomb(path: Path) -> None:
    """A MATLAB file of version 5 with one packed matrix of zeros."""
    rows, columns = 150_000, 1_000

    def element(kind: int, content: bytes) -> bytes:
        padded = content + bytes(-len(content) % 8)
        return kind.to_bytes(4, "little") + len(content).to_bytes(4, "little") + padded

    size = rows * columns * 8
    head = element(6, (6).to_bytes(4, "little") + bytes(4))
    head += element(5, np.array([rows, columns], "<i4").tobytes()) + element(1, b"X")
    head += (9).to_bytes(4, "little") + size.to_bytes(4, "little")
    press = zlib.compressobj(9)
    whole = (14).to_bytes(4, "little") + (len(head) + size).to_bytes(4, "little") + head
    parts = [press.compress(whole), *(press.compress(bytes(size // 100)) for _ in range(100))]
    packed = b"".join([*parts, press.flush()])
    words = b"MATLAB 5.0 MAT-file".ljust(124) + (0x0100).to_bytes(2, "little") + b"IM"
    path.write_bytes(
        words + (15).to_bytes(4, "little") + len(packed).to_bytes(4, "little") + packed
    )


BOMBS = {
    "a.npz": npz_bomb,
    "many.npz": many_names_bomb,
    "a.npy": npy_bomb,
    "a.parquet": parquet_bomb,
    "text.parquet": parquet_text_bomb,
    "a.h5": hdf5_bomb,
    "chunk.h5": hdf5_chunk_bomb,
    "a.mat": mat_bomb,
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_by_its_header(tmp_path, name):
    BOMBS[name](tmp_path / name)
    options = ["--ids", "name"] if name == "text.parquet" else []
    done = measured("data", "show", name, *options, cwd=tmp_path)
    assert done.returncode == 2, done.output
    assert limits.SETTING in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert done.memory < MOST_MEMORY


def packed_zeros(path: Path) -> Path:
    np.savez_compressed(path, X=np.zeros((100_000, 100)))
    return path


def test_packed_values_are_read_where_the_limit_was_set(tmp_path, monkeypatch):
    path = packed_zeros(tmp_path / "a.npz")
    with pytest.raises(DataError, match="80.0 MB, more than 100 times as much"):
        load(path)
    monkeypatch.setenv(limits.SETTING, "1 GB")
    assert load(path).X.shape == (100_000, 100)
    monkeypatch.setenv(limits.SETTING, "90 MB")  # a hundred thousand names take twenty more
    with pytest.raises(DataError, match="needs 100.0 MB of memory, at most 90.0 MB are read"):
        load(path)


def test_what_people_have_is_no_bomb(tmp_path):
    """Small tables of zeros, and digits, which are mostly zeros."""
    np.savez_compressed(tmp_path / "zeros.npz", X=np.zeros((1_000, 100)))
    digits = np.tile(load("digits").X.astype(np.float64), (100, 1))
    np.savez_compressed(tmp_path / "digits.npz", X=digits)
    assert load(tmp_path / "zeros.npz").X.shape == (1_000, 100)
    assert load(tmp_path / "digits.npz").X.nbytes > limits.LARGE


def _lines_without_end(path: Path) -> None:
    path.write_bytes(b"1," * 2_000)


def _rows_without_end(path: Path) -> None:
    path.write_bytes(b"1,2\n" * 40_000)


@pytest.mark.parametrize(
    ("write", "said"),
    [(_lines_without_end, "a line of more than 1,000"), (_rows_without_end, "at most 4.0 MB")],
)
def test_a_text_file_is_left_where_it_is_too_long(
    tmp_path, monkeypatch, write: Callable[[Path], None], said
):
    monkeypatch.setattr("superpac.data.csv_text.LONGEST_LINE", 1_000)
    monkeypatch.setenv(limits.SETTING, "4 MB")
    write(tmp_path / "a.csv")
    with pytest.raises(DataError, match=said):
        load(tmp_path / "a.csv")
