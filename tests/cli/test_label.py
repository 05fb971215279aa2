"""``superpac label`` as somebody runs it on a folder as it is."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image

from command_line import superpac
from labelling import LabelServer
from peak_memory import measured
from superpac.session.answer_book import AnswerBook
from superpac.session.known_items import contents_of
from superpac.session.session import Session
from superpac.store import open_store

PAINTS = ((210, 60, 40), (40, 180, 70), (50, 70, 220))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "answers.sqlite3"))
    monkeypatch.setenv("SUPERPAC_CACHE", str(tmp_path / "cache"))
    return tmp_path


def paint(folder, numbers, size=(60, 80)):
    """Pictures in three colours, in sub-folders; the size is height and width of the first."""
    for n in numbers:
        below = folder / ("", "here", "here/deeper")[n % 3]
        below.mkdir(parents=True, exist_ok=True)
        rough = np.random.default_rng(n).integers(-40, 40, (9, 9, 3)) + PAINTS[n % 3]
        picture = Image.fromarray(np.clip(rough, 0, 255).astype(np.uint8))
        height, width = size[0] + 4 * (n % 5), size[1] - 3 * (n % 4)
        picture.resize((width, height)).save(below / f"{n}.jpg")
    return folder


def damage(folder):
    """Three files that are no pictures any more."""
    whole = (folder / "0.jpg").read_bytes()
    (folder / "cut-off.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "here" / "words.png").write_text("no picture")
    return folder


@pytest.mark.parametrize("how", [(), ("--colour",)])
def test_a_messy_folder_starts_with_one_command(place, how):
    photos = damage(paint(place / "photos", range(18)))
    server = LabelServer(place, photos, *how, k=3)
    try:
        server.wait_ready()
        with server.client() as client:
            asked = client.post("/api/question", json={"annotator": "anna"}).json()
        assert asked["question"] is not None
    finally:
        server.stop()
    told = (place / "stderr.txt").read_text().splitlines()
    aside = [line for line in told if line.startswith("Set aside")]
    assert len(aside) == 1
    assert len(aside[0]) < 250 + len(str(photos))
    assert all(name in aside[0] for name in ("cut-off.jpg", "empty.jpg", "here/words.png"))
    assert aside[0].endswith(f"Why in full: superpac data show {photos} --set-aside")
    with_size = [line for line in told if line.startswith("Images are reduced to 32x32 pixels")]
    assert len(with_size) == len(how)


def test_every_file_that_was_set_aside_is_shown_with_its_reason_on_request(place):
    photos = damage(paint(place / "photos", range(6)))
    shown = superpac("data", "show", photos, "--set-aside").stdout.splitlines()
    named = [line.split(": ")[1] for line in shown if line.startswith("Set aside: ")]
    assert named == ["cut-off.jpg", "empty.jpg", "here/words.png"]
    (photos / "cut-off.jpg").unlink()
    (photos / "empty.jpg").unlink()
    (photos / "here" / "words.png").unlink()
    assert "Nothing was set aside." in superpac("data", "show", photos, "--set-aside").stdout


@pytest.mark.parametrize("how", [(), ("--colour",)])
def test_photos_of_twelve_megapixels_take_no_more_memory_than_small_ones(place, how):
    few = paint(place / "small", range(6))
    many = paint(place / "large", range(6), size=(3000, 4000))
    took = [
        measured("new", photos, "-k", "3", "-a", "tsc:q=2", "-d", "1", *how, cwd=place)
        for photos in (few, many)
    ]
    assert [done.returncode for done in took] == [0, 0], took
    # two photos at once are decoded, each a quarter of its size at most
    assert took[1].memory < took[0].memory + (200 << 20)


def test_the_same_command_goes_on_after_sizes_were_reconciled(place):
    photos = paint(place / "photos", range(9))
    for verb in ("is ready", "goes on"):
        server = LabelServer(place, photos, "--colour", k=3)
        server.stop()
        assert verb in server.line


def labelled(place, photos, *how, k=3):
    """Run ``label`` until the first question is there; gives what it said beside it."""
    before = len((place / "stderr.txt").read_text()) if (place / "stderr.txt").exists() else 0
    server = LabelServer(place, photos, *how, k=k)
    try:
        server.wait_ready()
        with server.client() as client:
            asked = client.post("/api/question", json={"annotator": "anna"}).json()["question"]
            shown = client.get("/api/clusters").json()
    finally:
        server.stop()
    return server, (place / "stderr.txt").read_text()[before:], asked, shown


def answers(place, name="photos"):
    with open_store(place / "answers.sqlite3", read_only=True) as store:
        return [e for e in store.open(name).events() if e.kind == "answer"]


def exported(place, form="csv"):
    superpac("export", "photos", "-o", place / f"out.{form}")
    with (place / f"out.{form}").open() as file:
        return {row["item"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize("how", [(), ("--colour",)])
def test_a_changed_folder_goes_on_with_its_answers(place, how):
    photos = paint(place / "photos", range(18))
    labelled(place, photos, *how)
    with open_store(place / "answers.sqlite3") as store:
        book = AnswerBook(store.open("photos"))
        names = [name for _, name in contents_of(book.info)]
        gone = names.index("here/1.jpg")
        book.record("same", (gone, names.index("here/4.jpg")), annotator="anna")
        book.record("different", (gone, names.index("0.jpg")), annotator="anna")
        book.set_aside(names.index("3.jpg"), annotator="anna")
    away = (photos / "here" / "1.jpg").rename(place / "away.jpg")
    paint(photos, range(18, 22))

    server, told, asked, shown = labelled(place, photos, *how)
    assert "4 new, 1 gone; going on with 2 answers." in told
    assert "goes on" in server.line
    assert gone not in (asked["item"]["item"], asked["others"][0]["item"])
    met = {one["item"] for group in shown["clusters"] for one in group["items"]}
    assert met == set(range(22)) - {gone, names.index("3.jpg")}
    assert shown["set_aside"] == [names.index("3.jpg")]
    assert len(answers(place)) == 2
    rows = exported(place)
    assert "here/1.jpg" not in rows
    assert len(rows) == 21
    assert json.loads(superpac("status", "photos", "--model", "--json").stdout)["items"] == 22

    _, told, _, _ = labelled(place, photos, *how)  # nothing has changed since
    assert "going on" not in told
    away.rename(photos / "here" / "1.jpg")
    _, told, _, shown = labelled(place, photos, *how)
    assert "1 back; going on with 2 answers." in told
    assert shown["set_aside"] == [names.index("3.jpg")]
    assert len(exported(place)) == 22
    assert superpac("verify", "photos").returncode == 0
    with open_store(place / "answers.sqlite3", read_only=True) as store:
        assert [found.info.name for found in store.sessions()] == ["photos"]


def test_another_number_of_clusters_goes_on_with_the_same_answers(place):
    photos = paint(place / "photos", range(12))
    labelled(place, photos, k=3)
    with open_store(place / "answers.sqlite3") as store:
        AnswerBook(store.open("photos")).record("same", (0, 4), annotator="anna")
    server, told, _, _ = labelled(place, photos, k=4)
    assert "the number of clusters is 4 instead of 3; going on with 1 answers." in told
    assert server.line.startswith("photos goes on")
    with open_store(place / "answers.sqlite3", read_only=True) as store:
        assert Session.open(lambda: None, store.open("photos")).spec.n_clusters == 4
        assert [found.now.spec["n_clusters"] for found in store.sessions()] == [4]
    server, told, _, _ = labelled(place, photos, "--fresh", k=4)
    assert server.line.startswith("photos-2 is ready")
    assert "going on" not in told


def test_rows_that_changed_begin_a_new_session_and_it_is_said(place):
    rows = np.random.default_rng(0).normal(size=(30, 4)).round(3)
    rows[:15] += 4
    np.savetxt(place / "rows.csv", rows, delimiter=",", header="a,b,c,d", comments="")
    labelled(place, place / "rows.csv", k=2)
    np.savetxt(place / "rows.csv", rows[1:], delimiter=",", header="a,b,c,d", comments="")
    server, told, _, _ = labelled(place, place / "rows.csv", k=2)
    assert "this is a new session, the old one is kept" in told
    assert server.line.startswith("rows-2 is ready")
    more = np.vstack([rows[1:], rows[:1], rows[:2] + 1])
    np.savetxt(place / "rows.csv", more, delimiter=",", header="a,b,c,d", comments="")
    server, told, _, _ = labelled(place, place / "rows.csv", k=2)
    assert "3 new; going on with 0 answers." in told
    assert server.line.startswith("rows-2 goes on")


def test_share_without_an_address_to_share_is_told(place):
    done = superpac("label", "digits", "--share", "--no-browser", check=False)
    assert done.returncode == 2
    assert "--share lets nobody in while the page listens on 127.0.0.1" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("rows", "share", "words"),
    [
        ("0,7,same\n1,99999,different\n", "80%", "there is no item '99999'"),
        ("first,second,answer\n0,7,perhaps\n", "80%", "write same or different"),
        ("name,label\n0,Anna\n7,Anna\n", "80%", "write two names and same or different"),
        ("first,second,answer\n0,7,same\n", "0%", "A share of items is written"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused_before_the_page_opens(place, rows, share, words):
    (place / "test.csv").write_text(rows)
    given = ("--test-pairs", str(place / "test.csv"), "--test-share", share)
    done = superpac("label", "digits", "--no-browser", *given, check=False)
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert words in told
    assert "Traceback" not in told
