"""The server ends quietly, also when it is told to while it gets ready."""

from __future__ import annotations

import signal
import subprocess
import sys
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


HALF_MADE = """
import os, signal, types
from superpac.web.server import _orderly_end

class Half:
    def __del__(self):
        print(self.never_set)

with _orderly_end(types.SimpleNamespace(handle_exit=print)):
    half = Half()
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_what_was_half_made_when_it_was_ended_is_not_told():
    ended = subprocess.run([sys.executable, "-c", HALF_MADE], capture_output=True, text=True)
    assert ended.returncode == 128 + signal.SIGTERM
    assert ended.stderr == ""
