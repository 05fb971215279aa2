"""Fault 37: nothing outside of this computer is needed or named."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labelling import LabelServer
from postgres import unavailable

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"

ALONE = """
import subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import numpy as np
from labelling import LabelServer, Robot, digits_file
folder = Path(sys.argv[2])
server = LabelServer(folder, digits_file(folder)).wait_ready()
with server.client() as client:
    robot = Robot(client, np.load(folder / "truth.npy"), "alone")
    for _ in range(5):
        assert robot.answer().status_code == 200
    for form in client.get("/api/session").json()["formats"]:
        assert client.get("/api/export/" + form).status_code == 200, form
server.stop()
print("done alone")
"""


def test_it_works_with_no_network_at_all(tmp_path):
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        unavailable("unshare and ip are not installed")
    probe = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        unavailable("this system does not let a test have a network of its own")
    tests = Path(__file__).resolve().parents[1] / "support"
    command = ["unshare", "-rn", sys.executable, "-c", ALONE, str(tests), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert "done alone" in done.stdout, done.stderr[-3000:]


def test_the_page_names_no_other_place(label_server: LabelServer):
    with label_server.client() as client:
        for path in ("/", *label_server.static()):
            reply = client.get(path)
            assert reply.status_code == 200, path
            text = reply.text.replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text
            assert "https://" not in text
            assert "innerHTML" not in text
            assert "eval(" not in text
        policy = client.get("/").headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert client.get("/api/session").headers["x-content-type-options"] == "nosniff"
        json.loads(client.get("/openapi.json").text)


@pytest.mark.parametrize("path", sorted(REQUIREMENTS.glob("*.lock")), ids=lambda p: p.stem)
def test_everything_installed_is_locked_with_hashes(path):
    text = path.read_text().replace("\\\n", " ")
    wanted = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(wanted) > 2
    for line in wanted:
        assert re.match(r"[\w.\[\]-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line[:80]
