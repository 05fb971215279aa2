"""Fault 45: sixty wait for their clusters while nothing is computed; answers go through."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from labelling import wait_until
from page_acts import opened

WAITING = 60  # more than the framework has threads


@pytest.mark.parametrize("view", ["/api/labels", "/api/export/csv"])
def test_answers_do_not_wait_for_people_who_look(tmp_path, view):
    with opened(tmp_path, "superpac-d", shared=False, hang_after=1e6) as page:
        service = page.workspace.service
        worker = service.models.pid
        os.kill(worker, signal.SIGSTOP)  # from now on no model comes: who looks has to wait
        for _ in range(2):  # what follows the first may have been computed ahead
            assert page.post("answers", page.answered("ann")).status_code == 200
        done: list[int] = []
        threads = [
            threading.Thread(target=lambda: done.append(page.client.get(view).status_code))
            for _ in range(WAITING)
        ]
        try:
            for thread in threads:
                thread.start()
            wait_until(lambda: threading.active_count() > WAITING)
            for _ in range(5):
                assert page.post("answers", page.answered("ann")).status_code == 200
            assert not done, "those who look should be waiting still"
        finally:
            os.kill(worker, signal.SIGCONT)
        for thread in threads:
            thread.join()
        assert done == [200] * WAITING
