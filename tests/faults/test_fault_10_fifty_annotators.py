"""Fault 10: fifty people on one PostgreSQL session; no pair is before two of them."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from labelling import LabelServer, Robot, digits_file

PEOPLE = 50


@pytest.mark.slow
def test_fifty_annotators(tmp_path, postgres_server, fault_count, request):
    each = fault_count(4, 100)
    data = digits_file(tmp_path, classes=10, per_class=80)
    server = LabelServer(tmp_path, data, k=10, store=postgres_server.database()).wait_ready()
    request.addfinalizer(server.stop)
    truth = server.truth
    out: dict[tuple[int, int], str] = {}
    twice: list[tuple] = []
    accepted: list[int] = []
    codes: set[int] = set()
    lock = threading.Lock()

    def person(number: int) -> None:
        rng = np.random.default_rng(number)
        name = f"person {number}"
        with server.client() as client:
            robot = Robot(client, truth, name)
            time.sleep(rng.uniform(0, 1.5))
            robot.ask()
            for _ in range(each):
                if robot.question is None and robot.ask() is None:
                    return
                q = robot.question
                pair = tuple(sorted((q["item"]["item"], q["others"][0]["item"])))
                with lock:
                    if out.get(pair, name) != name:
                        twice.append((pair, name, out[pair]))
                    out[pair] = name
                time.sleep(rng.uniform(1.0, 2.0))  # people look before they answer
                with lock:
                    out.pop(pair, None)
                reply = robot.answer()
                with lock:
                    codes.add(reply.status_code)
                    if reply.status_code == 200:
                        accepted.extend(r["seq"] for r in reply.json()["receipts"] if r["recorded"])

    threads = [threading.Thread(target=person, args=(n,)) for n in range(PEOPLE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server_events = server.events()
    assert codes <= {200, 409}
    assert twice == []
    assert sorted(accepted) == [e.seq for e in server_events if e.kind == "answer"]
    assert len(accepted) >= PEOPLE * each / 2
    assert len({e.annotator for e in server_events}) == PEOPLE
