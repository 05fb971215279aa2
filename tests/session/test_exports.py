"""Exports: a folder for each cluster, COCO-style JSON, names that follow their items."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image

from superpac.data import Dataset, load
from superpac.data.cuts import Cut
from superpac.data.sound_files import Sound, as_wav
from superpac.errors import InputError
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.spec import Spec


def two_groups(n: int = 6) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.repeat(np.eye(2), n, axis=0) + rng.normal(0, 0.01, (2 * n, 2))


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for n in range(12):
        pixels = np.zeros((6, 6), dtype=np.uint8)
        pixels[:, :3] = 200 if n % 2 else 0
        pixels[:, 3:] = 0 if n % 2 else 200
        pixels[n // 2 % 6, 1] += 20 + n
        Image.fromarray(pixels).save(folder / f"{n:02d}.png")
    return load(str(folder))


def test_a_folder_a_cluster_with_links_or_copies(pictures, tmp_path):
    session = Session.create(pictures, Spec(2, affinity="tsc:q=2", dim=1))
    session.rename("left/../side", item=0)
    session.set_aside(11)
    labels = session.labels()
    for how in ("folders", "folders-copy"):
        root = exports.export(session, tmp_path / how, how)
        found = {p.name: p for p in root.rglob("*.png")}
        assert sorted(found) == [f"{n:02d}.png" for n in range(11)]
        for n in range(11):
            path = found[f"{n:02d}.png"]
            assert path.is_symlink() == (how == "folders")
            assert path.read_bytes() == pictures.paths[n].read_bytes()
            assert path.parent.parent == root
            assert path.parent.name.startswith(f"{labels[n] + 1:02d}")
        with pytest.raises(InputError, match="not empty"):
            exports.export(session, tmp_path / how, how)


def test_points_without_files_are_drawn_and_hostile_names_stay_inside(tmp_path):
    ids = ["../../x", "/etc/passwd", "a\\b", "..", "a", "A", ".hidden", "con?*", "x" * 300, "é"]
    ids += ["\u202e.png", "same"]
    data = Dataset(two_groups(), ids=ids)
    session = Session.create(data, Spec(2, affinity="tsc:q=2", dim=1))
    root = exports.write_folders(session, tmp_path / "out")
    files = [p for p in root.rglob("*") if p.is_file()]
    assert len(files) == 12
    assert all(p.resolve().is_relative_to(root.resolve()) for p in files)
    assert list(tmp_path.iterdir()) == [root]
    buffer = io.BytesIO()
    exports.folders_zip(session, buffer)
    with zipfile.ZipFile(buffer) as bundle:
        names = bundle.namelist()
        assert len({n.lower() for n in names}) == 12
        assert all(n.count("/") == 1 and not n.startswith(("/", ".")) for n in names)


def test_coco_names_every_image_once(pictures):
    session = Session.create(pictures, Spec(2, affinity="tsc:q=2", dim=1))
    session.rename("left", item=1)
    found = json.loads(exports.as_coco(session))
    labels = session.labels()
    assert [i["id"] for i in found["images"]] == list(range(12))
    assert [a["category_id"] for a in found["annotations"]] == (labels + 1).tolist()
    names = {c["id"]: c["name"] for c in found["categories"]}
    other = int(labels[labels != labels[1]][0])
    assert names == {int(labels[1]) + 1: "left", other + 1: f"Cluster {other + 1}"}


def test_every_export_numbers_groups_from_one_as_the_page_does(pictures, tmp_path):
    session = Session.create(pictures, Spec(2, affinity="tsc:q=2", dim=1))
    labels = session.labels()
    assert set(labels.tolist()) == {0, 1}
    numbers = (labels + 1).tolist()
    rows = list(csv.DictReader(io.StringIO(exports.as_csv(session).decode())))
    assert [int(row["cluster"]) for row in rows] == numbers
    lines = [json.loads(line) for line in exports.as_jsonl(session).decode().splitlines()]
    assert [line["cluster"] for line in lines] == numbers
    places = dict(exports.folder_names(session))
    assert [int(places[i].split("/")[0].split()[0]) for i in range(12)] == numbers
    plain = exports.write_labels(tmp_path / "plain.csv", pictures, labels)
    assert [int(row["cluster"]) for row in csv.DictReader(plain.open())] == numbers


def test_settled_means_tied_to_the_group_it_stands_in(pictures):
    session = Session.create(pictures, Spec(2, affinity="tsc:q=2", dim=1))
    one = np.flatnonzero(session.labels() == session.labels()[0])[:5].tolist()
    for i, j in ((one[0], one[1]), (one[1], one[2]), (one[3], one[4])):
        session.tell("same", (i, j))
    assert len(set(session.labels()[one])) == 1
    settled = exports.table(session)["settled"]
    # nobody said that the two sets are one, so only the larger one stands for the group
    assert [settled[i] for i in one] == [True, True, True, False, False]


def test_coco_has_the_size_of_the_file_and_its_path_below_the_folder(tmp_path):
    rng = np.random.default_rng(0)
    for n in range(6):
        (tmp_path / "photos" / "sub").mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 255, (60 + n, 80, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / "sub" / f"{n}.png")
    data = load(tmp_path / "photos", size=(8, 8))  # pixels are compared at another size
    session = Session.create(data, Spec(2, affinity="tsc:q=2", dim=1))
    images = json.loads(exports.as_coco(session))["images"]
    assert [image["file_name"] for image in images] == [f"sub/{n}.png" for n in range(6)]
    assert [(image["height"], image["width"]) for image in images] == [
        (60 + n, 80) for n in range(6)
    ]


def test_photos_known_by_vectors_have_their_own_sizes_in_coco(tmp_path):
    sizes = [(20 + n, 30) for n in range(12)]
    for n, size in enumerate(sizes):
        Image.new("RGB", size).save(tmp_path / f"{n:02d}.jpg")
    paths = tuple(tmp_path / f"{n:02d}.jpg" for n in range(12))
    session = Session.create(Dataset(two_groups(), paths=paths), Spec(2, affinity="tsc:q=2", dim=1))
    paths[3].unlink()
    found = json.loads(exports.as_coco(session))["images"]
    assert [(i["width"], i["height"]) for i in found] == [*sizes[:3], (0, 0), *sizes[4:]]


def test_texts_and_sounds_are_taken_along_as_what_they_are(tmp_path):
    spec = Spec(2, affinity="tsc:q=2", dim=1)
    said = tuple(f"=sum {n} of mañana" for n in range(12))
    texts = Session.create(Dataset(two_groups(), texts=said), spec)
    root = exports.export(texts, tmp_path / "texts", "folders")
    assert {p.name: p.read_text("utf-8") for p in root.rglob("*.txt")} == {
        f"{n}.txt": f"{words}\n" for n, words in enumerate(said)
    }
    lines = [json.loads(line) for line in exports.as_jsonl(texts).splitlines()]
    assert [line["text"] for line in lines] == list(said)
    assert "'=sum 3 of mañana" in exports.as_csv(texts).decode()
    plain = exports.write_labels(tmp_path / "plain.csv", texts.data, texts.labels())
    rows = list(csv.DictReader(plain.open(encoding="utf-8")))
    assert [row["text"] for row in rows] == [f"'{words}" for words in said]
    files = tuple(tmp_path / f"{n}.wav" for n in range(12))
    for n, path in enumerate(files):
        path.write_bytes(as_wav(Sound(np.full(9, n / 20, np.float32), 8000)))
    sounds = Session.create(Dataset(two_groups(), ids=[f.name for f in files], sounds=files), spec)
    for how in exports.FOLDERS:
        root = exports.export(sounds, tmp_path / how, how)
        found = {p.name: p for p in root.rglob("*.wav")}
        assert len(found) == 12
        for path in files:
            assert found[path.name].read_bytes() == path.read_bytes()
            assert found[path.name].is_symlink() == (how == "folders")


def test_a_name_goes_with_its_item_and_can_be_taken_back():
    session = Session.create(Dataset(two_groups()), Spec(2, affinity="tsc:q=2", dim=1))
    labels = session.labels()
    session.rename("old", item=0)
    session.rename("new", item=1)
    assert exports.cluster_names(session, labels) == {int(labels[0]): "new"}
    assert exports.cluster_names(session, 1 - labels) == {1 - int(labels[0]): "new"}
    session.undo()
    assert exports.cluster_names(session, labels) == {int(labels[0]): "old"}


@pytest.mark.parametrize("path", ["groups", "/dev/full"])
def test_a_path_without_an_ending_is_told_so(path):
    with pytest.raises(InputError, match=f"{path} has no ending that names a format"):
        exports.check_form(path)


def test_parts_of_photos_are_exported_with_their_place(tmp_path):
    cuts, ids = [], []
    (tmp_path / "a").mkdir()
    for n in range(6):
        path = (tmp_path / "a" / f"p{n}.jpg").resolve()
        Image.new("RGB", (80 + n, 60), (40 * n, 90, 90)).save(path)
        for k in range(2):
            cuts.append(Cut(path, (80 + n, 60), (10 + 30 * k, 20, 24, 30)))
            ids.append(f"a/p{n}.jpg#{k + 1}")
    X = np.tile(np.eye(2), (6, 1)) + np.random.default_rng(0).normal(0, 0.01, (12, 2))
    data = Dataset(X, ids=ids, cuts=tuple(cuts))
    session = Session.create(data, Spec(2, affinity="tsc:q=2", dim=1))
    columns = exports.table(session)
    assert columns["photo"][3] == str(cuts[3].path)
    sides = [columns[side][3] for side in ("left", "top", "width", "height")]
    assert sides == [40, 20, 24, 30]
    coco = json.loads(exports.as_coco(session))
    assert [image["width"] for image in coco["images"]] == [80 + n for n in range(6)]
    assert len({image["file_name"] for image in coco["images"]}) == 6
    marks = {mark["id"]: mark for mark in coco["annotations"]}
    assert len(marks) == 12
    assert marks[4]["bbox"] == [40, 20, 24, 30]
    assert marks[4]["area"] == 720
    assert marks[3]["image_id"] == marks[4]["image_id"] == coco["images"][1]["id"]
    assert len({mark["category_id"] for mark in coco["annotations"]}) == 2
    for how in ("folders", "folders-copy"):
        root = exports.export(session, tmp_path / how, how)
        found = {path.name: path for path in root.rglob("*.jpg")}
        assert sorted(found) == sorted(f"p{n}#{k}.jpg" for n in range(6) for k in (1, 2))
        assert found["p3#2.jpg"].read_bytes() == (tmp_path / "a" / "p3.jpg").read_bytes()
        assert found["p3#1.jpg"].parent != found["p3#2.jpg"].parent
