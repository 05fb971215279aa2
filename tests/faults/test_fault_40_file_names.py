"""Fault 40: a file name that is no UTF-8 is shown and exported; a renamed file is the same item."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from command_line import superpac
from labelling import LabelServer
from superpac.answers.log import MemoryLog
from superpac.data import Dataset, load
from superpac.errors import InputError
from superpac.session import exports
from superpac.session.questions import describe
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.workspace import Workspace, find_or_create

SPEC = Spec(2, affinity="tsc:q=2", dim=1)
NO_UTF8 = "caf\udce9.png"


def make(folder: Path, names: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(len(names))
    for n, name in enumerate(names):
        pixels = np.zeros((6, 6), dtype=np.uint8)
        pixels[:, 3 * (n % 2) :][:, :3] = 200
        pixels[3] = rng.integers(1, 40, 6)
        Image.fromarray(pixels).save(folder / name, "PNG")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "in", [f"{n:02d}.png" for n in range(12)])


def test_a_name_that_is_no_utf8_is_asked_about_and_exported(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    names = [f"{n}.png" for n in range(9)]
    pictures = make(tmp_path / "b\udce4r", [*names, NO_UTF8, r"caf\xe9.png"])
    superpac("new", pictures, "-k", 2, "-a", "tsc:q=2", "-d", 1, "--name", "bear")
    done = superpac("ask", "bear", stdin="s\n" * 5 + "d\n" * 40 + "q\n")
    assert r"caf\xe9.png" in done.stdout
    for form in (*exports.FORMATS, *exports.FOLDERS, "archive"):
        superpac("export", "bear", "-o", tmp_path / f"out-{form}", "--format", form)
    csv = (tmp_path / "out-csv").read_bytes().decode()
    assert "\r\ncaf\\xe9.png," in csv
    assert "\r\ncaf\\\\xe9.png," in csv
    for form in exports.FOLDERS:
        copies = [p for p in (tmp_path / f"out-{form}").rglob("*") if p.is_file()]
        assert len(copies) == 11
        assert {p.read_bytes() for p in copies} == {p.read_bytes() for p in pictures.iterdir()}


def test_the_page_shows_a_name_that_is_no_utf8(tmp_path):
    pictures = make(tmp_path / "in", [*(f"{n}.png" for n in range(8)), NO_UTF8])
    server = LabelServer(tmp_path, pictures, k=2)
    try:
        with server.wait_ready().client() as client:
            assert client.get("/api/question").status_code == 200
            assert r"caf\xe9.png" in client.get("/api/labels").json()["ids"]
            for form in client.get("/api/session").json()["formats"]:
                assert client.get(f"/api/export/{form}").status_code == 200, form
            (pictures / NO_UTF8).unlink()
            gone = client.get("/picture/8?size=96")
            assert (gone.status_code, r"caf\xe9.png" in gone.json()["detail"]) == (404, True)
    finally:
        server.stop()


RENAMES = {
    "in place": {"03.png": "03b.png"},
    "to the end": {"00.png": "zz.png"},
    "into a folder": {"05.png": "sub/05.png"},
    "all round": {f"{n:02d}.png": f"x{(n * 5) % 12:02d}.png" for n in range(12)},
    "to no UTF-8": {"11.png": NO_UTF8},
}


def rename(folder: Path, names: dict[str, str]) -> None:
    for old, new in names.items():
        (folder / new).parent.mkdir(exist_ok=True)
        (folder / old).rename(folder / new)


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("names", RENAMES.values(), ids=RENAMES)
def test_a_renamed_file_is_the_same_item(names, standardise, folder, tmp_path):
    with open_store(tmp_path / "store.sqlite3") as store:
        before = load(folder, standardise=standardise)
        log, _ = find_or_create(store, before, SPEC, None, {"what": str(folder)})
        first = Session.open(before, log)
        first.tell("same")
        first.rename("left", item=3)
        rename(folder, names)
        after = load(folder, standardise=standardise)
        again, resumed = find_or_create(store, after, SPEC, None, {"what": str(folder)})
        assert (again.session_id, resumed) == (log.session_id, True)
        second = Session.open(after, again)
        assert np.array_equal(second.data.X, before.X)
        assert second.data.ids.tolist() == [
            names.get(name, name).replace("\udce9", r"\xe9") for name in before.ids
        ]
        assert second.ask() == first.ask()
        assert np.array_equal(second.labels(), first.labels())
        workspace = Workspace(after, store, again)
        assert np.array_equal(workspace.service.data.X, before.X)
        for item, path in enumerate(workspace.data.paths):
            with Image.open(path) as picture:
                pixels = np.asarray(picture).ravel()
            assert np.array_equal(pixels, (before.shown if standardise else before.X)[item])


def test_commands_go_on_after_a_rename_with_the_new_name(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    superpac("new", folder, "-k", 2, "-a", "tsc:q=2", "-d", 1, "--name", "birds")
    superpac("ask", "birds", stdin="s\nd\nd\nq\n")
    answers = tmp_path / "answers.jsonl"
    superpac("export", "birds", "-o", answers, "--format", "answers")
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    old = rows[0]["item_i"]
    (folder / old).rename(folder / "zz.png")
    superpac("ask", "birds", stdin="q\n")
    superpac("export", "birds", "-o", answers, "--format", "answers")
    now = [json.loads(line) for line in answers.read_text().splitlines()]
    assert [(row["i"], row["j"]) for row in now] == [(row["i"], row["j"]) for row in rows]
    assert now[0]["item_i"] == "zz.png"


def test_of_two_equal_files_the_name_decides(folder):
    (folder / "07.png").write_bytes((folder / "02.png").read_bytes())
    session = Session.create(load(folder), SPEC)
    (folder / "00.png").rename(folder / "zz.png")
    assert Session.open(load(folder), session.log).data.ids.tolist() == [
        "zz.png",
        *(f"{n:02d}.png" for n in range(1, 12)),
    ]
    (folder / "02.png").rename(folder / "08b.png")
    ids = Session.open(load(folder), session.log).data.ids.tolist()
    assert (ids[2], ids[7]) == ("08b.png", "07.png")


def test_a_folder_with_other_pictures_is_refused_by_name(folder, tmp_path):
    session = Session.create(load(folder), SPEC, name="birds")

    def refused() -> str:
        with pytest.raises(InputError) as caught:
            Session.open(load(folder), session.log)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    (folder / "01.png").rename(folder / "renamed.png")
    (folder / "04.png").rename(tmp_path / "04.png")
    assert "(missing: 04.png)" in refused()
    (tmp_path / "04.png").rename(folder / "04.png")
    Image.new("L", (6, 6), 78).save(folder / "new.png")
    assert "(new: new.png)" in refused()
    assert f"superpac add birds {folder}" in refused()
    # a copy is nothing new: the item is there already
    (folder / "new.png").write_bytes((folder / "05.png").read_bytes())
    assert "new.png" not in Session.open(load(folder), session.log).data.ids
    (folder / "new.png").unlink()
    kept = (folder / "06.png").read_bytes()
    Image.new("L", (6, 6), 77).save(folder / "06.png")
    assert "(changed: 06.png)" in refused()
    (folder / "06.png").write_bytes(kept)
    assert len(Session.open(load(folder), session.log).data) == 12
    for n in range(2, 12):
        Image.new("L", (6, 6), n).save(folder / f"{n:02d}.png")
    assert "changed: 02.png, 03.png, 04.png and 7 more" in refused()


def named_fingerprint(data: Dataset, names: list[str]) -> str:
    """As the first release computed it."""
    digest = hashlib.sha256(json.dumps([data.X.shape, data.X.dtype.str]).encode())
    digest.update(data.X.tobytes())
    digest.update(json.dumps(names).encode())
    return digest.hexdigest()


def test_a_session_of_an_earlier_release_opens(tmp_path):
    pictures = make(tmp_path / "in", [NO_UTF8, *(f"{n}.png" for n in range(7)), r"caf\xe9.png"])
    data = load(pictures)
    names = sorted(os.listdir(pictures))
    old = replace(
        describe(data, SPEC), fingerprint=named_fingerprint(data, names), source=str(pictures)
    )
    assert len(Session.open(data, MemoryLog(old)).labels()) == 9
    (pictures / "0.png").rename(pictures / "zz.png")
    with pytest.raises(InputError, match=old.fingerprint[:12]):
        Session.open(load(pictures), MemoryLog(old))
