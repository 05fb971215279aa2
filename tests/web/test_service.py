"""The page's views and shapes through its API: strips, clusters, items, history, several people."""

from __future__ import annotations

import io
import itertools
import json
import zipfile
from typing import Any

import numpy as np
import pandas as pd
import pytest

from labelling import LabelServer, Robot, digits_file
from superpac.data import Dataset, load
from superpac.features.registry import encoder_names
from superpac.store import open_store
from superpac.web.service import WORDS, asked_of


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    found = LabelServer(folder, digits_file(folder), "--overlap", "0.3").wait_ready()
    with found.client() as client:
        robot = Robot(client, np.load(folder / "truth.npy"), "ann")
        for _ in range(40):
            assert robot.answer().status_code == 200
    yield found
    found.stop()


@pytest.fixture
def client(server):
    with server.client() as found:
        yield found


@pytest.fixture
def truth(server):
    return np.load(server.folder / "truth.npy")


NUMBERS = itertools.count()


def key(name: str) -> str:
    return f"{name}-{next(NUMBERS):08d}"


def test_a_strip_is_logged_as_its_pairs_and_undone_as_one(server, client, truth):
    robot = Robot(client, truth, "stripper")
    for _ in range(10):
        q = robot.ask("strip")
        if q["shape"] == "strip":
            break
        robot.answer()
    assert q["shape"] == "strip"
    assert 2 <= len(q["others"]) <= 9
    options = [o["item"] for o in q["others"]]
    item = q["item"]["item"]
    right = [o for o in options if truth[o] == truth[item]]
    before = len(server.events())
    body = {"annotator": "stripper", "key": key("strip"), "item": item, "options": options}
    body |= {"marked": right, "seq": q["seq"], "shape": "strip"}
    reply = client.post("/api/choices", json=body)
    assert reply.status_code == 200, reply.text
    new = server.events()[before:]
    assert new, "a strip says something"
    for event in new:
        assert event.kind == "answer"
        i, j = event.body["i"], event.body["j"]
        assert event.body["answer"] == ("same" if truth[i] == truth[j] else "different")
    again = client.post("/api/choices", json=body).json()
    assert again["receipts"] == reply.json()["receipts"]
    other = [] if right else options[:1]
    assert client.post("/api/choices", json={**body, "marked": other}).status_code == 409
    assert len(server.events()) == before + len(new)
    undone = client.post("/api/undo", json={"annotator": "stripper", "key": key("undo")})
    assert undone.status_code == 200
    taken = [e.body["seq"] for e in server.events() if e.kind == "retract"]
    assert taken[-len(new) :] == [e.seq for e in new]


def test_what_is_not_chosen_from_a_strip_was_not_asked(server, client, truth):
    robot = Robot(client, truth, "chooser")
    for _ in range(20):
        q = robot.ask("strip")
        if q["shape"] == "strip":
            break
        robot.answer()
    item, options = q["item"]["item"], [o["item"] for o in q["others"]]
    body = {"annotator": "chooser", "item": item, "options": options, "seq": q["seq"]}
    before = len(server.events())
    for wrong in ([options[0], options[0]], [item], [10**6]):
        reply = client.post("/api/choices", json={**body, "key": key("w"), "marked": wrong})
        assert reply.status_code == 422, reply.text
    assert len(server.events()) == before
    reply = client.post("/api/choices", json={**body, "key": key("one"), "marked": options[:1]})
    assert reply.status_code == 200, reply.text
    said = [(e.body["i"], e.body["j"], e.body["answer"]) for e in server.events()[before:]]
    assert said == [(item, options[0], "same")]
    stale = client.post("/api/choices", json={**body, "key": key("late"), "marked": []})
    assert stale.status_code == 409
    client.post("/api/undo", json={"annotator": "chooser", "key": key("undo")})


def test_who_changes_to_strips_sees_the_same_item_beside_groups(tmp_path):
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    try:
        with server.client() as client:
            robot = Robot(client, np.load(tmp_path / "truth.npy"), "ann")
            for _ in range(12):
                robot.answer()
            pair = robot.question or robot.ask()
            strip = robot.ask("strip")
            for _ in range(40):
                if strip is not None and strip["shape"] == "strip":
                    break
                strip = robot.ask("strip")
            assert strip["shape"] == "strip"
            assert strip["item"] == pair["item"]
            assert pair["others"][0] in strip["others"]
            assert robot.ask("pair")["others"] == pair["others"]
    finally:
        server.stop()


def test_clusters_are_sorted_and_mark_what_is_certain(client, truth):
    found = client.get("/api/clusters?limit=300").json()
    items = [entry["item"] for c in found["clusters"] for entry in c["items"]]
    assert sorted(items) == list(range(len(truth)))
    sizes = [c["size"] for c in found["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    for cluster in found["clusters"]:
        marks = [entry["certain"] for entry in cluster["items"]]
        assert marks == sorted(marks, reverse=True), "certain items come first"
        loose = [entry["sure"] for entry in cluster["items"] if not entry["certain"]]
        assert loose == sorted(loose, reverse=True)
        assert cluster["certain"] == sum(marks)
    one = found["clusters"][0]
    part = client.get(f"/api/clusters/{one['cluster']}?offset=2&limit=3").json()
    assert part["items"] == one["items"][2:5]
    assert part["size"] == one["size"]
    assert part["version"] == found["version"]


def test_no_page_of_a_wall_is_lost_in_either_order(client):
    for order in ("sure", "unsure"):
        found = client.get(f"/api/clusters?limit=0&order={order}").json()
        one = found["clusters"][0]
        assert one["items"] == []
        seen = []
        for offset in range(0, one["size"], 7):
            where = f"/api/clusters/{one['cluster']}?offset={offset}&limit=7&order={order}"
            seen += [e["item"] for e in client.get(where).json()["items"]]
        assert len(seen) == len(set(seen)) == one["size"]
        if order == "sure":
            first = seen
    assert sorted(seen) == sorted(first)
    assert seen != first


def test_an_item_shows_its_rivals_and_can_be_asked_about(client, truth):
    found = client.get("/api/clusters?limit=300").json()
    loose = [e["item"] for c in found["clusters"] for e in c["items"] if not e["certain"]]
    item = loose[-1]
    view = client.get(f"/api/items/{item}").json()
    assert view["rivals"][0]["own"]
    others = [r["distance"] for r in view["rivals"][1:]]
    assert others == sorted(others)
    rival = next(r for r in view["rivals"] if r["askable"])
    wish = {"annotator": "curious", "item": item, "other": rival["exemplar"]}
    asked = client.post("/api/question", json=wish).json()["question"]
    assert asked["item"]["item"] == item
    assert asked["others"][0]["item"] == rival["exemplar"]
    robot = Robot(client, truth, "curious")
    robot.question = asked
    assert robot.answer().json()["receipts"][0]["recorded"]
    assert client.get(f"/api/items/{item}").json()["answers"]


def test_a_contradiction_names_the_chain(strict_server):
    truth = np.load(strict_server.folder / "truth.npy")
    with strict_server.client() as client:
        person = Robot(client, truth, "ann")
        while not any(e.body.get("answer") == "same" for e in strict_server.events()):
            person.ask()
            person.answer()
        event = next(e for e in strict_server.events() if e.body.get("answer") == "same")
        seq = client.get("/api/history").json()["events"][0]["seq"]
        body = {"annotator": "contrary", "key": key("no"), "seq": seq, "answer": "different"}
        pair = {"i": event.body["i"], "j": event.body["j"]}
        reply = client.post("/api/answers", json={**body, **pair})
    assert reply.status_code == 409
    assert reply.json()["chain"] == [event.seq]
    assert "you said different" in reply.json()["detail"]


def test_names_stay_with_their_cluster(client):
    clusters = client.get("/api/clusters").json()["clusters"]
    first = clusters[0]["items"][0]["item"]
    body = {"annotator": "ann", "key": key("name"), "item": first, "name": "zeros & <ones>"}
    assert client.post("/api/names", json=body).status_code == 200
    named = [c for c in client.get("/api/clusters").json()["clusters"] if c["name"]]
    assert len(named) == 1
    assert first in [e["item"] for e in named[0]["items"]]


def test_a_bad_item_is_set_aside_and_comes_back(client):
    item = client.get("/api/clusters").json()["clusters"][-1]["items"][-1]["item"]
    body = {"annotator": "ann", "item": item}
    client.post("/api/aside", json={**body, "key": key("bad")})
    assert item in client.get("/api/clusters").json()["set_aside"]
    client.post("/api/aside", json={**body, "back": True, "key": key("good")})
    assert client.get("/api/clusters").json()["set_aside"] == []


def test_any_answer_can_be_taken_back_and_the_effect_is_told(server, client):
    target = next(e for e in server.events() if e.kind == "answer" and e.annotator == "ann")
    undo = {"annotator": "ann", "key": key("back"), "seq": target.seq}
    told = client.post("/api/undo", json=undo).json()["message"]
    assert told.startswith(f"Took back #{target.seq}.")
    assert "may be asked again" in told or "Still known" in told
    lines = {e["seq"]: e for e in client.get("/api/history?limit=500").json()["events"]}
    assert lines[target.seq]["taken_back"]
    assert client.post("/api/undo", json={**undo, "key": key("back")}).status_code == 422
    redo = {"annotator": "ann", "key": key("redo")}
    assert "Put back" in client.post("/api/redo", json=redo).json()["message"]


def test_two_people_never_have_the_same_pair_and_agreement_is_measured(server, client, truth):
    ann, bob = Robot(client, truth, "ann"), Robot(client, truth, "bob")
    shapes = set()
    for n in range(40):
        for robot in (ann, bob):
            robot.question = robot.ask()
        if "second" not in (ann.question["shape"], bob.question["shape"]):
            assert ann.question["item"]["item"] != bob.question["item"]["item"]
        shapes.add(bob.question["shape"])
        wrong = bob.question["shape"] == "second" and n % 2
        said = None
        if wrong:
            right = bob.body()["answer"]
            said = {"same": "different", "different": "same"}[right]
        assert bob.answer(said).status_code in (200, 409)
        assert ann.answer().status_code in (200, 409)
    assert "second" in shapes
    found = client.get("/api/agreement").json()
    assert found["judged"] >= 3
    assert found["agreed"] == found["judged"] - len(found["disagreements"])
    assert found["kappa"] is not None
    assert found["kappa"] <= 1.0
    assert found["disagreements"], "bob was wrong on purpose"
    for n, dispute in enumerate(d for d in found["disagreements"] if not d["decided"]):
        settle = {"annotator": "judge", "key": key("judge"), "second": dispute["second"]}
        reply = client.post("/api/decisions", json={**settle, "keep": "first"})
        assert reply.status_code == 200, (n, reply.text)
    assert all(d["decided"] for d in client.get("/api/agreement").json()["disagreements"])


def test_every_export_can_be_read(server, client, truth, tmp_path):
    get = {
        form: client.get(f"/api/export/{form}")
        for form in client.get("/api/session").json()["formats"]
    }
    assert all(r.status_code == 200 for r in get.values())
    assert all("attachment" in r.headers["content-disposition"] for r in get.values())
    table = pd.read_parquet(io.BytesIO(get["parquet"].content))
    assert table["item"].tolist() == [f"{n:03d}" for n in range(len(truth))]
    rows = [json.loads(line) for line in get["jsonl"].text.splitlines()]
    assert [r["cluster"] for r in rows] == table["cluster"].tolist()
    assert (
        pd.read_csv(io.BytesIO(get["csv"].content))["cluster"].tolist() == table["cluster"].tolist()
    )
    links = get["links"].json()
    labels = table["cluster"].to_numpy()
    for i, j in links["must_link"]:
        assert labels[i] == labels[j]
    for i, j in links["cannot_link"]:
        assert labels[i] != labels[j]
    coco = get["coco"].json()
    by_image = {a["image_id"]: a["category_id"] for a in coco["annotations"]}
    assert [by_image[i["id"]] for i in coco["images"]] == labels.tolist()
    with zipfile.ZipFile(io.BytesIO(get["folders"].content)) as bundle:
        assert len(bundle.namelist()) == len(truth)
        assert all(".." not in name and not name.startswith("/") for name in bundle.namelist())
    path = tmp_path / "session.zip"
    path.write_bytes(get["archive"].content)
    with open_store(tmp_path / "other.sqlite3") as other:
        log = other.import_archive(path)
        assert log.events() == server.events()


def test_figures_make_sense(server, client):
    found = client.get("/api/progress").json()
    standing = {e.seq for e in server.events() if e.kind == "answer"}
    standing -= {e.body["seq"] for e in server.events() if e.kind == "retract"}
    standing |= {e.body["seq"] for e in server.events() if e.kind == "restore"}
    assert found["questions"] == len(standing)
    assert found["implied"] > 0
    left = found["error_left"]
    assert 0 <= left["low"] <= left["estimate"] <= left["high"] <= 1


def test_a_session_with_other_settings_can_be_begun_and_the_first_resumed(server, client):
    first = client.get("/api/session").json()
    wish = {"n_clusters": 4, "affinity": "tsc:q=4", "dim": 3}
    second = client.post("/api/sessions", json=wish).json()
    assert second["id"] != first["id"]
    assert second["spec"]["n_clusters"] == 4
    assert client.get("/api/progress").json()["questions"] == 0
    back = client.post("/api/sessions", json={**wish, "n_clusters": 5}).json()
    assert back["id"] == first["id"]
    server.wait_ready()
    for wrong in ({"n_clusters": 4000}, {"affinity": "/etc/passwd"}, {"strategy": "guess"}):
        assert client.post("/api/sessions", json={**wish, **wrong}).status_code == 422


def test_running_it_again_goes_on_where_it_stopped(tmp_path):
    data = digits_file(tmp_path)
    server = LabelServer(tmp_path, data).wait_ready()
    assert "is ready" in server.line
    with server.client() as client:
        robot = Robot(client, np.load(tmp_path / "truth.npy"))
        for _ in range(3):
            robot.answer()
        question = robot.ask()
    server.stop()
    server.start()
    server.wait_ready()
    assert "goes on" in server.line
    with server.client() as client:
        again = Robot(client, np.zeros(200)).ask()
        assert (again["item"], again["others"]) == (question["item"], question["others"])
        assert client.get("/api/progress").json()["questions"] == 3
    server.stop()
    assert len(load(str(data))) == 200


def a_sheet(robot: Robot, form: str) -> dict[str, Any]:
    """Answer until a question of a form comes."""
    for _ in range(60):
        q = robot.ask(form)
        if q["shape"] == form:
            return q
        assert q["shape"] in ("pair", "second"), "what cannot be had in a form is asked as a pair"
        robot.answer()
    raise AssertionError(f"no {form} came")


def marks(truth: np.ndarray, q: dict[str, Any]) -> dict[str, Any]:
    """What somebody marks who knows."""
    item, options = q["item"]["item"], [o["item"] for o in q["others"]]
    marked = [o for o in options if (truth[o] == truth[item]) == (q["shape"] == "board")]
    return {
        "form": q["shape"],
        "item": item,
        "options": options,
        "marked": marked,
        "seq": q["seq"],
        "elapsed_ms": 4000,
    }


@pytest.mark.parametrize("form", ["wall", "board"])
def test_walls_and_boards_are_logged_as_their_pairs(tmp_path, form):
    server = LabelServer(tmp_path, digits_file(tmp_path, classes=5, per_class=60)).wait_ready()
    try:
        truth = server.truth
        with server.client() as client:
            ann = Robot(client, truth, "ann")
            q = a_sheet(ann, form)
            assert ann.ask(form) == q, "the same until it is answered"
            body = {"annotator": "ann", "key": key(form), "shape": form, **marks(truth, q)}
            before = len(server.events())

            bob = Robot(client, truth, "bob")
            theirs = bob.ask("best")
            placed = {theirs["item"]["item"]}
            if theirs["shape"] == "wall":
                placed = {o["item"] for o in theirs["others"]}
            assert placed.isdisjoint(body["options"]), "two people are not asked about one item"

            for wrong in ({"form": "strip"}, {"seq": q["seq"] + 1}):
                stale = client.post("/api/choices", json={**body, "key": key("stale"), **wrong})
                assert stale.status_code == 409, stale.text
                assert stale.json()["question"] is not None
            assert len(server.events()) == before
            reply = client.post("/api/choices", json=body)
            assert reply.status_code == 200, reply.text
            new = server.events()[before:]
            assert 0 < len(new) <= len(body["options"])
            assert len({e.body["group"] for e in new}) == 1
            assert new[0].body["why"]["form"] == form
            for event in new:
                i, j = event.body["i"], event.body["j"]
                assert body["item"] in (i, j)
                assert event.body["answer"] == ("same" if truth[i] == truth[j] else "different")
            again = client.post("/api/choices", json=body).json()
            assert again["receipts"] == reply.json()["receipts"]
            late = client.post("/api/choices", json={**body, "key": key("late")})
            assert late.status_code == 409
            assert len(server.events()) == before + len(new)
            client.post("/api/undo", json={"annotator": "ann", "key": key("undo")})
            taken = [e.body["seq"] for e in server.events()[before:] if e.kind == "retract"]
            assert taken == [e.seq for e in new], "one undo takes the whole act back"
    finally:
        server.stop()


def test_a_wall_that_is_skipped_does_not_come_back_at_once(tmp_path):
    server = LabelServer(tmp_path, digits_file(tmp_path, classes=5, per_class=60)).wait_ready()
    try:
        with server.client() as client:
            ann = Robot(client, server.truth, "ann")
            q = a_sheet(ann, "wall")
            body = {"annotator": "ann", "key": key("skip"), "shape": "wall", "seq": q["seq"]}
            pair = {"i": q["item"]["item"], "j": q["others"][0]["item"]}
            before = len(server.events())
            for _ in range(2):
                reply = client.post("/api/skips", json={**body, **pair})
                assert reply.status_code == 200, reply.text
            skipped = [e for e in server.events()[before:] if e.kind == "skip"]
            assert len(skipped) == len(q["others"])
            shown = {o["item"] for o in q["others"]}
            following = ann.ask("wall")
            if following["shape"] == "wall" and following["item"] == q["item"]:
                assert shown.isdisjoint(o["item"] for o in following["others"])
    finally:
        server.stop()


def test_people_and_voices_are_asked_about_in_words_of_their_own():
    assert set(WORDS) <= set(encoder_names())  # a name that no encoder has would never be met
    points = [[1.0, 2.0]]
    said = [asked_of(Dataset(points, features=name)) for name in ("face", "speaker", "image", "")]
    assert said == ["Same person?", "Same speaker?", "Same or different?", "Same or different?"]
