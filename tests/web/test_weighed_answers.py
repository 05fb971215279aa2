"""The page where answers are evidence: doubts are asked again, contradictions taken in, shown."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from playwright.sync_api import expect

from labelling import LabelServer, Robot, digits_file, wait_for_question
from superpac.store import open_store


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Ada and Bob answer in turns; some of Bob's answers are wrong."""
    folder = tmp_path_factory.mktemp("evidence")
    found = LabelServer(
        folder, digits_file(folder), "--strategy", "superpac-d", "--seed", "1"
    ).wait_ready()
    truth = np.load(folder / "truth.npy")
    rng = np.random.default_rng(0)
    again = 0
    with found.client() as client:
        robots = [Robot(client, truth, "Ada"), Robot(client, truth, "Bob")]
        for turn in range(90):
            robot = robots[turn % 2]
            client.get("/api/labels")  # waits until the model knows all answers
            wish = {"annotator": robot.name, "was": robots[1 - turn % 2].name}
            reply = client.post("/api/question", json=wish)
            assert reply.status_code == 200, reply.text
            robot.question = question = reply.json()["question"]
            again += bool(question["numbers"].get("again"))
            same = truth[question["item"]["item"]] == truth[question["others"][0]["item"]]
            lie = robot.name == "Bob" and rng.random() < 0.25
            reply = robot.answer("same" if same != lie else "different")
            assert reply.status_code == 200, reply.text
            assert reply.json()["receipts"][0]["recorded"]
    found.again = again
    yield found
    found.stop()


@pytest.fixture
def client(server):
    with server.client() as found:
        yield found


NUMBERS = itertools.count()


def key() -> str:
    return f"evidence-{next(NUMBERS):08d}"


def test_doubtful_answers_come_back_and_every_answer_is_written(server):
    answers = [e for e in server.events() if e.kind == "answer"]
    assert len(answers) == 90
    assert server.again > 0


def group(client, truth: np.ndarray, said: list[tuple[str, int, int, str]]) -> list[int]:
    """Let people answer pairs of their own choice; gives the numbers of the answers."""
    seqs = []
    for who, i, j, answer in said:
        wish = {"annotator": who, "item": int(i), "other": int(j)}
        robot = Robot(client, truth, who)
        reply = client.post("/api/question", json=wish)
        assert reply.status_code == 200, reply.text
        robot.question = reply.json()["question"]
        body = {**robot.body(answer), "key": key()}
        reply = client.post("/api/answers", json=body)
        assert reply.status_code == 200, reply.text
        seqs.append(reply.json()["receipts"][0]["seq"])
    return seqs


def contradiction(client, truth: np.ndarray) -> list[int]:
    """Eva tells two groups apart, Bob says that they are one; his answer is the last."""
    a, b = (np.flatnonzero(truth == k) for k in (0, 1))
    said = []
    for n in (-1, -2, -3):
        said += [("Eva", a[n], a[0], "same"), ("Eva", b[n], b[0], "same")]
        said += [("Eva", a[n], b[n], "different")]
    return group(client, truth, [*said, ("Bob", a[0], b[0], "same")])


def take_back(client, seqs: list[int]) -> None:
    for seq in seqs:
        body = {"annotator": "Eva", "key": key(), "seq": seq}
        assert client.post("/api/undo", json=body).status_code == 200


def test_a_contradiction_is_taken_in_and_shown_with_its_cut(server, client):
    truth = np.load(server.folder / "truth.npy")
    seqs = contradiction(client, truth)
    assert client.get("/api/progress").json()["contradictions"] >= 1
    client.get("/api/labels")  # waits until the model knows all answers
    found = client.get("/api/suspects").json()
    ours = [c for c in found["contradictions"] if seqs[-1] in [link["seq"] for link in c["cut"]]]
    assert len(ours) == 1
    assert ours[0]["cut"][0]["annotator"] == "Bob"
    assert len(ours[0]["cut"][0]["ids"]) == 2
    assert f"(#{seqs[-1]}, Bob)" in ours[0]["words"]
    rates = {p["name"]: p["wrong"] for p in found["people"]}
    assert rates["Bob"] > rates["Ada"]
    take_back(client, [seqs[-1]])
    left = client.get("/api/suspects").json()["contradictions"]
    assert seqs[-1] not in [link["seq"] for c in left for link in c["cut"]]
    take_back(client, seqs[:-1])


def test_everything_the_page_shows_lives_with_contradictions(server, client):
    truth = np.load(server.folder / "truth.npy")
    seqs = contradiction(client, truth)
    written = len(server.events())
    for path in ("session", "progress", "labels", "clusters", "map", "history", "agreement"):
        assert client.get(f"/api/{path}").status_code == 200, path
    for item in (0, int(np.flatnonzero(truth == 1)[0])):
        assert client.get(f"/api/items/{item}").status_code == 200
    for form in ("csv", "parquet", "jsonl", "answers", "links", "folders", "archive"):
        reply = client.get(f"/api/export/{form}")
        assert reply.status_code == 200, form
        if form == "answers":
            standing = {e.seq for e in server.events() if e.kind == "answer"} - {
                e.body["seq"] for e in server.events() if e.kind == "retract"
            }
            assert len(reply.text.splitlines()) == len(standing)
    for act in ("undo", "redo"):
        reply = client.post(f"/api/{act}", json={"annotator": "Bob", "key": key()})
        assert reply.status_code == 200
        assert str(seqs[-1]) in reply.json()["message"]
    assert len(server.events()) == written + 2
    with open_store(server.store, read_only=True) as store:
        assert store.verify(store.sessions()[0].info.id)[0] == written + 2
    take_back(client, seqs)


def test_what_does_not_fit_is_taken_back_on_the_page(server, client, page):
    truth = np.load(server.folder / "truth.npy")
    seqs = contradiction(client, truth)
    client.get("/api/labels")
    page.goto(server.url)
    wait_for_question(page)
    page.wait_for_selector("#wrongs:not([hidden])")
    page.click("nav a[data-view=history]")
    page.wait_for_selector("#suspects .suspect")
    more = page.locator("#suspects").get_by_role("button", name="Show")
    if more.count():
        more.click()
    button = page.locator("#suspects").get_by_role("button", name=f"Take back #{seqs[-1]}")
    button.click()
    expect(page.locator("#banner")).to_contain_text(f"Took back #{seqs[-1]}")
    expect(button).to_have_count(0)
    last = server.events()[-1]
    assert (last.kind, last.body["seq"]) == ("retract", seqs[-1])
    take_back(client, seqs[:-1])
