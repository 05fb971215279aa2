"""Fault 22: the server is asked to stop while people answer; nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
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


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_that_is_asked_to_stop_leaves_nothing_behind(
    tmp_path: Path, memory_folder: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
):
    """Neither temporary files nor a lock nor processes, however it is asked."""
    temporary = memory_folder / "t"  # a short name: that of a socket in it has a limit
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    children = psutil.Process(server.pid).children(recursive=True)
    assert children
    assert os.listdir(temporary), "nothing was there to be left behind"
    process = server.process
    server.kill(how)
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 0}[how]
    assert os.listdir(temporary) == []
    assert not Path(server.store + ".lock").exists()
    assert not psutil.wait_procs(children, timeout=30)[1]
    assert "Traceback" not in (tmp_path / "stderr.txt").read_text()
