"""Fault 7, 8, 22, 24: repeated posts, several tabs, an end under load, a long run."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest

from labelling import LabelServer, Robot, digits_file


def truth_of(server: LabelServer) -> np.ndarray:
    return np.load(server.folder / "truth.npy")


def test_07_every_answer_sent_five_times_at_once_counts_once(label_server, fault_count):
    count = fault_count(40, 200)
    name = "storm"
    with label_server.client() as client, ThreadPoolExecutor(5) as pool:
        robot = Robot(client, truth_of(label_server), name)
        robot.ask()
        receipts = []
        while len(receipts) < count:
            body = robot.body()
            replies = list(pool.map(lambda b: client.post("/api/answers", json=b), [body] * 5))
            assert [r.status_code for r in replies] == [200] * 5
            found = {
                (r.json()["receipts"][0]["seq"], r.json()["receipts"][0]["hash"]) for r in replies
            }
            assert len(found) == 1, "a repeated answer got another receipt"
            receipts.append(found.pop())
            robot.ask()
    events = [e for e in label_server.events() if e.annotator == name]
    assert [(e.seq, e.hash) for e in events] == receipts
    assert len({e.key for e in events}) == count


def test_07_a_key_used_for_another_answer_is_refused(label_server):
    with label_server.client() as client:
        robot = Robot(client, truth_of(label_server), "keys")
        robot.ask()
        body = robot.body()
        assert client.post("/api/answers", json=body).status_code == 200
        other = {"same": "different", "different": "same"}[body["answer"]]
        reply = client.post("/api/answers", json={**body, "answer": other})
        assert reply.status_code == 409
        assert "key" in reply.json()["detail"]


def test_08_eight_tabs_lose_no_answer(label_server, fault_count):
    """Every answer is accepted or refused with 409 and the current question; none is lost."""
    each = fault_count(20, 250)
    truth = truth_of(label_server)
    tally: Counter[int] = Counter()
    accepted: list[tuple[int, str]] = []
    lock = threading.Lock()

    def tab(number: int) -> None:
        with label_server.client() as client:
            robot = Robot(client, truth, "tabs")
            robot.keys = 100_000 * number
            for _ in range(each):
                if robot.question is None:
                    robot.ask()
                body = robot.body()
                body["key"] = f"tab-{number}-{body['key'][-20:]}"
                reply = client.post("/api/answers", json=body)
                robot.question = reply.json()["question"]
                with lock:
                    tally[reply.status_code] += 1
                    if reply.status_code == 200 and reply.json()["receipts"][0]["recorded"]:
                        accepted.append((reply.json()["receipts"][0]["seq"], body["key"]))
                if reply.status_code == 409:
                    assert robot.question is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(tab, range(8)))
    assert set(tally) <= {200, 409}
    assert sum(tally.values()) == 8 * each
    logged = sorted((e.seq, e.key) for e in label_server.events() if e.annotator == "tabs")
    assert logged == sorted(accepted)
    assert len(logged) == len({seq for seq, _ in logged})


def test_a_stale_answer_gets_the_current_question(label_server):
    with label_server.client() as client:
        first = Robot(client, truth_of(label_server), "twin")
        second = Robot(client, truth_of(label_server), "twin")
        assert first.ask() == second.ask()
        assert first.answer().status_code == 200
        stale = client.post("/api/answers", json={**second.body(), "key": "stale-key-1"})
        assert stale.status_code == 409
        assert stale.json()["question"] == first.question


@pytest.fixture
def own_server(tmp_path: Path):
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    yield server
    server.stop()


def test_22_sigterm_under_load_loses_nothing(own_server):
    acked: list[int] = []
    stopped = threading.Event()

    def hammer(number: int) -> None:
        with own_server.client() as client:
            robot = Robot(client, truth_of(own_server), f"load{number}")
            while not stopped.is_set():
                try:
                    if robot.question is None:
                        robot.ask()
                    reply = robot.answer()
                except (httpx.HTTPError, TypeError):
                    return
                if reply.status_code == 200 and reply.json()["receipts"][0]["recorded"]:
                    acked.append(reply.json()["receipts"][0]["seq"])

    threads = [threading.Thread(target=hammer, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    begun = time.monotonic()
    own_server.kill(signal.SIGTERM)
    took = time.monotonic() - begun
    stopped.set()
    for thread in threads:
        thread.join(timeout=30)
    assert took <= 10.0
    assert len(acked) > 10
    assert len(set(acked)) == len(acked)
    assert set(acked) <= {e.seq for e in own_server.events() if e.kind == "answer"}


def test_24_memory_stays_flat_and_nothing_fails(label_server, fault_count):
    """A long run in short: answers, views, undo; full length by --fault-count."""
    count = fault_count(120, 86_400)
    process = psutil.Process(label_server.pid)
    with label_server.client() as client:
        robot = Robot(client, truth_of(label_server), "soak")
        start = 0
        for n in range(count):
            if robot.question is None and robot.ask() is None:
                break
            assert robot.answer().status_code in (200, 409)
            if n % 10 == 5:
                for path in ("clusters", "history", "progress", "map", "labels"):
                    assert client.get(f"/api/{path}").status_code == 200
                back = {"annotator": "soak", "key": f"soak-undo-{n:08d}"}
                assert client.post("/api/undo", json=back).status_code == 200
                robot.question = None
            if n == count // 3:
                start = process.memory_info().rss
    assert start == 0 or process.memory_info().rss < 1.1 * start
