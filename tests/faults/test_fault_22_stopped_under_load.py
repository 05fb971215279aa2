"""Fault 22: the server is asked to stop while people answer; nothing acknowledged is lost."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from labelling import LabelServer, Robot, digits_file


@pytest.fixture
def own_server(tmp_path: Path):
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    yield server
    server.stop()


def test_sigterm_under_load_loses_nothing(own_server):
    acked: list[int] = []
    stopped = threading.Event()

    def hammer(number: int) -> None:
        with own_server.client() as client:
            robot = Robot(client, own_server.truth, f"load{number}")
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
    while len(acked) < 20 and any(thread.is_alive() for thread in threads):
        time.sleep(0.01)
    own_server.kill(signal.SIGTERM)
    stopped.set()
    for thread in threads:
        thread.join(timeout=30)
    assert len(acked) >= 20
    assert len(set(acked)) == len(acked)
    assert set(acked) <= {e.seq for e in own_server.events() if e.kind == "answer"}
