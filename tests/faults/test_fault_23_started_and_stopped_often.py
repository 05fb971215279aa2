"""Fault 23: starting and stopping many times leaks neither files nor threads."""

from __future__ import annotations

import threading

import psutil

from labelling import make_workspace, wait_until


def test_starting_and_stopping_leaks_nothing(tmp_path, fault_count):
    process = psutil.Process()

    def cycle(n: int) -> None:
        folder = tmp_path / str(n)
        folder.mkdir()
        workspace = make_workspace(folder)
        workspace.start()
        wait_until(lambda: workspace.service.model() is not None)
        workspace.stop()

    cycle(0)
    files, threads = process.num_fds(), threading.active_count()
    for n in range(1, 1 + fault_count(5, 50)):
        cycle(n)
    assert process.num_fds() <= files + 2
    assert threading.active_count() <= threads + 2
