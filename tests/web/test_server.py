"""The server ends quietly, also when it is told to while it gets ready."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from labelling import LabelServer, digits_file


@pytest.mark.parametrize("after", [0.0, 1.0])
def test_ended_while_preparing_it_says_nothing(tmp_path: Path, after: float):
    server = LabelServer(tmp_path, digits_file(tmp_path, 10, 100), k=10)
    time.sleep(after)
    process = server.process
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    process.stdout.close()
    assert (tmp_path / "stderr.txt").read_text() == ""
