"""Fault 24: a day of answers; memory stays flat and nothing fails."""

from __future__ import annotations

import psutil

from labelling import Robot


def take_back(client, n: int, answers: int) -> None:
    for k in range(answers):
        body = {"annotator": "soak", "key": f"soak-undo-{n:08d}-{k:02d}"}
        assert client.post("/api/undo", json=body).status_code == 200


def test_memory_stays_flat_and_nothing_fails(label_server, fault_count):
    """A long run in short: answers, views, undo; full length by --fault-count."""
    count = fault_count(120, 86_400)
    process = psutil.Process(label_server.pid)
    with label_server.client() as client:
        robot = Robot(client, label_server.truth, "soak")
        for n in range(count):
            if robot.question is None and robot.ask() is None:
                take_back(client, n, 40)  # everything is settled: make room for more answers
                robot.ask()
            assert robot.answer().status_code in (200, 409)
            if n % 10 == 5:
                for path in ("clusters", "history", "progress", "map", "labels"):
                    assert client.get(f"/api/{path}").status_code == 200
                take_back(client, n, 1)
                robot.question = None
            if n == count // 3:
                start = process.memory_info().rss
    assert process.memory_info().rss < 1.1 * start
