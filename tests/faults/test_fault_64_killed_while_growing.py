"""Fault 64: the process that adds items is killed at any step; they are in the session or not."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from command_line import superpac
from labelling import LabelServer, Robot, digits_file
from superpac.cli.sessions import load_session
from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import ConflictError, InputError
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.service import LabelService

# The real command, in a process that kills itself at one step of it.
RUN = """
import os, signal, sys
from superpac.store.stored_log import StoredLog

def end(*args, **more):
    os.kill(os.getpid(), signal.SIGKILL)

step, written = sys.argv.pop(1), StoredLog.append_many
if step == "before":
    StoredLog.append_many = end
elif step == "inside":
    StoredLog._move_head = end
else:
    StoredLog.append_many = lambda *args, **more: end(written(*args, **more))
from superpac.cli import main
main()
"""


@pytest.mark.parametrize(("step", "there"), [("before", False), ("inside", False), ("after", True)])
def test_items_are_there_whole_or_not_at_all(step, there, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    digits = load("digits").sample_classes(3, 12, seed=2)
    for k, row in enumerate(digits.X):
        folder = tmp_path / ("old" if k < 28 else "new")
        folder.mkdir(exist_ok=True)
        Image.fromarray((15 * row.reshape(8, 8)).astype(np.uint8)).save(folder / f"{k}.png")
    superpac("new", tmp_path / "old", "-k", 3, "-a", "tsc:q=4", "--name", "digits")
    superpac("ask", "digits", "--as", "Ada", stdin="s\nd\nd\nd\nq\n")
    words = [step, "add", "digits", str(tmp_path / "new")]
    ended = subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    superpac("verify", "digits")
    with open_store(tmp_path / "store.sqlite3", read_only=True) as store:
        kept = load_session(store, "digits")
        assert kept.state.n_answers == 4
        assert len(kept.data) == kept.info.n_items == (36 if there else 28)
    again = superpac("add", "digits", tmp_path / "new").stdout
    assert ("Nothing in" in again) == there
    with open_store(tmp_path / "store.sqlite3", read_only=True) as store:
        grown = load_session(store, "digits")
        assert grown.state.answers == kept.state.answers
        assert sorted(map(bytes, grown.data.X)) == sorted(map(bytes, (15 * digits.X).astype("u1")))
        assert len(store.open("digits").additions()) == 1


def test_a_page_with_fewer_items_asks_nothing_more_and_says_why(tmp_path):
    X, _ = make_subspaces(12, 3, 2, 10, seed=0)
    spec = Spec(3, affinity="tsc:q=4", dim=2)
    with open_store(tmp_path / "store.sqlite3") as store:
        session = Session.create(Dataset(X[:30]), spec, store=store, name="planes")
        page = LabelService(Dataset(X[:30]), store.open("planes"), shared=True)
        page.session.record("same", (0, 1), annotator="Ada")
        session.refresh()
        session.add(X[30:])
        for attempt in (
            lambda: page.session.refresh(),
            lambda: page.session.record("same", (1, 2), annotator="Ada"),
            lambda: page.session.refresh(),
        ):
            with pytest.raises((InputError, ConflictError)) as caught:
                attempt()
        assert "6 items were added to the session 'planes'" in str(caught.value)
        assert page.session.state.n == 30
        assert len(store.open("planes").events()) == 2
        again = LabelService(Dataset(X), store.open("planes"), shared=True)
        assert again.session.state.n == len(X)
        assert again.session.record("different", (0, len(X) - 1), annotator="Ada").seq == 3


def test_a_server_on_postgres_stops_asking_and_a_new_one_asks_about_all(tmp_path, postgres_server):
    whole = digits_file(tmp_path, per_class=12)
    with np.load(whole) as file:
        X, ids = file["X"], file["ids"]
    first, rest = tmp_path / "first.npz", tmp_path / "rest.npz"
    np.savez(first, X=X[:50], ids=ids[:50])
    np.savez(rest, X=X[50:], ids=ids[50:])
    url = postgres_server.database()
    server = LabelServer(tmp_path, first, "--name", "digits", store=url).wait_ready()
    try:
        with server.client() as client:
            robot = Robot(client, server.truth, "Ada")
            for _ in range(4):
                assert robot.answer().status_code == 200
            superpac("add", "digits", rest, "--store", url)
            for _ in range(2):
                reply = client.post("/api/answers", json=robot.body())
                assert reply.status_code in (409, 422)
                asked = client.post("/api/question", json={"annotator": "Ada"})
                assert asked.status_code == 422
                assert "10 items were added to the session 'digits'" in asked.json()["detail"]
        server.stop()
        server.start()
        server.wait_ready()
        with server.client() as client:
            assert client.get("/api/session").json()["items"] == 60
            robot = Robot(client, server.truth, "Ada")
            for _ in range(12):
                assert robot.answer().status_code == 200
        events = server.events()
        assert [event.kind for event in events].count("answer") == 16
        assert max(e.body["i"] for e in events if e.kind == "answer") >= 50
    finally:
        server.stop()
