"""Fault 8: several tabs answer at once; each answer is taken, or refused with what to ask."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from labelling import Robot


def test_eight_tabs_lose_no_answer(label_server, fault_count):
    """Every answer is accepted or refused with 409 and the current question; none is lost."""
    each = fault_count(20, 250)
    truth = label_server.truth
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
        first = Robot(client, label_server.truth, "twin")
        second = Robot(client, label_server.truth, "twin")
        assert first.ask() == second.ask()
        assert first.answer().status_code == 200
        stale = client.post("/api/answers", json={**second.body(), "key": "stale-key-1"})
        assert stale.status_code == 409
        assert stale.json()["question"] == first.question
