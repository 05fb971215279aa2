"""Fault 22: the server is asked to stop while people answer; nothing acknowledged is lost."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from labelling import LabelServer, digits_file
from people_at_work import ONLY_ANSWERS, PeopleAtWork, check_log


@pytest.fixture
def own_server(tmp_path: Path):
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    yield server
    server.stop()


def test_sigterm_under_load_loses_nothing(own_server):
    with PeopleAtWork([own_server], 4, mix=ONLY_ANSWERS) as people:
        assert people.wait_for(20)
        own_server.kill(signal.SIGTERM)
    assert people.work.faults == []
    assert check_log(own_server.events(), people.work) == []
