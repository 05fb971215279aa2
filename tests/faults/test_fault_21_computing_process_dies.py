"""Fault 21: the computing process dies or hangs; answers are safe and the page goes on."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from labelling import await_here, make_workspace, wait_until


@pytest.fixture
def workspace(tmp_path):
    found = make_workspace(tmp_path, hang_after=5.0)
    found.start()
    wait_until(lambda: found.service.model() is not None)
    yield found
    found.stop()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_answers_are_safe_while_the_worker_dies_or_hangs(workspace, tmp_path, how):
    truth = np.load(tmp_path / "truth.npy")
    service = workspace.service
    seqs = []
    for n in range(8):
        asked = service.ask("ann").question
        if n == 4:
            old = service.models.pid
            os.kill(old, how)
        pair = (asked.item, asked.other)
        said = "same" if truth[pair[0]] == truth[pair[1]] else "different"
        seqs.append(service.answer("ann", pair, said, seq=asked.seq, key=f"key-{n:05d}").seq)
        assert service.ask("ann").question is not None, "the page has no question"
        if n == 4 and how == signal.SIGSTOP:
            assert service.models.pid == old, "the page waited until the process was replaced"
    wait_until(lambda: service.models.pid not in (None, old))
    assert await_here(service.settle(60.0)), "the new process does not compute"
    assert seqs == list(range(1, 9))
    assert [e.seq for e in service.session.log.events()] == seqs
    labels = service.session.labels()
    for event in service.session.events:
        same = labels[event.body["i"]] == labels[event.body["j"]]
        assert same == (event.body["answer"] == "same")


def test_a_process_that_dies_again_and_again_is_given_up_and_the_page_goes_on(workspace):
    service = workspace.service

    def kill() -> bool:
        pid = service.models.pid
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
        return service.status().phase == "failed"

    wait_until(kill)
    asked = service.ask("ann").question
    receipt = service.answer(
        "ann", (asked.item, asked.other), "different", seq=asked.seq, key="after-all"
    )
    assert receipt.seq == 1
    assert service.ask("ann").question is not None
    assert service.models.again()
    assert await_here(service.settle(60.0))


def test_the_first_clustering_can_be_cancelled_and_begun_again(tmp_path):
    workspace = make_workspace(tmp_path)
    workspace.start()
    assert workspace.service.models.cancel()
    wait_until(lambda: workspace.service.models.pid is None)
    assert workspace.service.status().phase == "cancelled"
    assert workspace.service.model() is None
    assert workspace.service.models.again()
    wait_until(lambda: workspace.service.model() is not None)
    workspace.stop()
