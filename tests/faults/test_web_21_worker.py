"""Fault 21, 23: the computing process dies or hangs; the page is started and stopped often."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import psutil
import pytest

from labelling import digits_file
from superpac.data import load
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.workspace import Workspace, find_or_create


def make_workspace(folder, **options) -> Workspace:
    data = load(str(digits_file(folder)))
    store = open_store(folder / "s.sqlite3")
    spec = Spec(5, "tsc:q=4", "superpac-pinned", {"explore": 0}, 3)
    log, _ = find_or_create(store, data, spec, None, {"what": "digits.npz"})
    return Workspace(data, store, log, **options)


def wait_until(test, timeout: float) -> float:
    begun = time.monotonic()
    while not test():
        assert time.monotonic() - begun < timeout, "it took too long"
        time.sleep(0.01)
    return time.monotonic() - begun


@pytest.fixture
def workspace(tmp_path):
    found = make_workspace(tmp_path, hang_after=1.5)
    found.start()
    wait_until(lambda: found.service.model() is not None, 90)
    yield found
    found.stop()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_21_answers_are_safe_while_the_worker_dies_or_hangs(workspace, tmp_path, how):
    truth = np.load(tmp_path / "truth.npy")
    service = workspace.service
    seqs = []
    for n in range(8):
        asked = service.ask("ann")
        if n == 4:
            old = service.models.pid
            os.kill(old, how)
        pair = (asked.item, asked.others[0])
        said = "same" if truth[pair[0]] == truth[pair[1]] else "different"
        begun = time.monotonic()
        seqs.append(service.answer("ann", pair, said, seq=asked.seq, key=f"key-{n:05d}").seq)
        assert service.ask("ann") is not None, "the page has no question"
        assert time.monotonic() - begun < 1.0, "the page waited for the computing process"
    wait_until(lambda: service.models.pid not in (None, old), 5.0)
    assert service.settle(10.0), "the new process does not compute"
    assert seqs == list(range(1, 9))
    assert [e.seq for e in service.session.log.events()] == seqs
    labels = service.session.labels()
    for event in service.session.events:
        same = labels[event.body["i"]] == labels[event.body["j"]]
        assert same == (event.body["answer"] == "same")


def test_21_a_process_that_dies_again_and_again_is_given_up_and_the_page_goes_on(workspace):
    service = workspace.service

    def kill() -> bool:
        pid = service.models.pid
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
        return service.status().phase == "failed"

    wait_until(kill, 60.0)
    asked = service.ask("ann")
    receipt = service.answer(
        "ann", (asked.item, asked.others[0]), "different", seq=asked.seq, key="after-all"
    )
    assert receipt.seq == 1
    assert service.ask("ann") is not None
    assert service.models.again()
    assert service.settle(60.0)


def test_the_first_clustering_can_be_cancelled_and_begun_again(tmp_path):
    workspace = make_workspace(tmp_path)
    workspace.start()
    assert workspace.service.models.cancel()
    wait_until(lambda: workspace.service.models.pid is None, 10.0)
    assert workspace.service.status().phase == "cancelled"
    assert workspace.service.model() is None
    assert workspace.service.models.again()
    wait_until(lambda: workspace.service.model() is not None, 90.0)
    workspace.stop()


def test_23_starting_and_stopping_leaks_nothing(tmp_path, fault_count):
    process = psutil.Process()

    def cycle(n: int) -> None:
        folder = tmp_path / str(n)
        folder.mkdir()
        workspace = make_workspace(folder)
        workspace.start()
        wait_until(lambda: workspace.service.model() is not None, 90.0)
        workspace.stop()

    cycle(0)
    files, threads = process.num_fds(), threading.active_count()
    for n in range(1, 1 + fault_count(5, 50)):
        cycle(n)
    assert process.num_fds() <= files + 2
    assert threading.active_count() <= threads + 2
