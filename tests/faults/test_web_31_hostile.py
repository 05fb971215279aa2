"""Fault 31, 35, 36, 37: paths, strings, bodies and sockets meant to harm; no outside world."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labelling import LabelServer
from postgres import unavailable

STEPS = [
    "../",
    "..%2f",
    "..%5c",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%252f",
    "....//",
    "..;/",
    "%c0%ae%c0%ae/",
]
TARGETS = ["etc/passwd", "digits.npz", "token", "answers.sqlite3", "truth.npy"]


def payloads() -> list[str]:
    found = [step * depth + target for step in STEPS for depth in (1, 3, 6) for target in TARGETS]
    found += (
        [f"/{t}" for t in TARGETS] + [f"%2f{t}" for t in TARGETS] + [f"1%00{t}" for t in TARGETS]
    )
    found += ["1.png", "1/..", "-1", "1e3", "0x1", "1;ls", "²", "१", "NaN", "9" * 30, "1 ", "+1"]
    found += ["page.js/..", "page.js%00", "PAGE.JS", ".", "..", "~", "con", "file:///etc/passwd"]
    found += [f"\\\\host\\{t}" for t in TARGETS] + ["data-secret/x", "%2e", "%", "%%", "a" * 5000]
    found += [
        "csv/../archive",
        "csv%2f..",
        "csv%00",
        "parquet;",
        "CSV",
        "__init__.py",
        ".git/config",
    ]
    found += ["*", "?", "#", "%23", "%3f", "&", "$(id)", "`id`", "'; --", "{{7*7}}"]
    assert len(found) >= 190
    return found


def test_31_no_path_leads_out(label_server: LabelServer):
    secret = label_server.token_file.read_bytes().strip()
    for place in ("/picture/", "/static/", "/api/items/", "/api/export/", "/"):
        with socket.create_connection(("127.0.0.1", label_server.port), timeout=20) as sock:
            file = sock.makefile("rb")
            for payload in payloads():
                target = (place + payload).encode("utf-8").replace(b" ", b"%20")
                sock.sendall(
                    b"GET "
                    + target
                    + b" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + label_server.token.encode()
                    + b"\r\n\r\n"
                )
                status, body = read_reply(file)
                if status == 400 and not body.startswith(b"{"):
                    sock.close()  # not HTTP at all: the server has ended the connection
                    sock = socket.create_connection(("127.0.0.1", label_server.port), timeout=20)
                    file = sock.makefile("rb")
                assert 200 <= status < 500, (place, payload, status)
                assert b"root:" not in body
                assert secret not in body
                assert b"SQLite format" not in body
                assert b"NUMPY" not in body
                if status == 200 and place == "/picture/":
                    assert body.startswith(b"\x89PNG")


def read_reply(file) -> tuple[int, bytes]:
    status = int(file.readline().split()[1])
    length = 0
    while (line := file.readline().strip()) != b"":
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return status, file.read(length)


SQL = [
    "'; DROP TABLE superpac_events; --",
    "' OR '1'='1",
    '"; SELECT 1; --',
    "1); DELETE FROM x; --",
    "%' AND 1=1 --",
    "\\'; --",
    "Robert'); DROP TABLE Students;--",
    "$$; --",
    "日本語'",
    "\u202etxt",
]


def test_36_sql_in_every_string_field(label_server: LabelServer):
    with label_server.client() as client:
        schema = client.get("/openapi.json").json()
        count = len(label_server.events())
        for path, ways in schema["paths"].items():
            for text in SQL:
                if "post" in ways and "requestBody" in ways["post"]:
                    name = ways["post"]["requestBody"]["content"]["application/json"]["schema"][
                        "$ref"
                    ]
                    fields = schema["components"]["schemas"][name.rsplit("/", 1)[1]]["properties"]
                    # every field gets the string, strings and numbers alike
                    reply = client.post(path, json=dict.fromkeys(fields, text))
                    assert 400 <= reply.status_code < 500, (path, reply.text)
                for part in ("{form}", "{item}", "{cluster}"):
                    if part in path:
                        assert client.get(path.replace(part, text)).status_code < 500
        name = {"annotator": SQL[0], "key": "sql-name-0001", "item": 3, "name": SQL[0]}
        assert client.post("/api/names", json=name).status_code == 200
        assert client.get("/api/history").json()["events"][0]["annotator"] == SQL[0]
    assert len(label_server.events()) == count + 1


def test_36_large_deep_and_broken_bodies(label_server: LabelServer):
    with label_server.client() as client:
        kind = {"Content-Type": "application/json"}
        bodies = {
            b'{"annotator": "' + b"x" * (1 << 20) + b'"}': {413},
            b"[" * 10_000 + b"]" * 10_000: {400, 422},
            b'{"a":' * 9_000 + b"1" + b"}" * 9_000: {400, 422},
            b"": {400, 422},
            b"\xff\xfe": {400, 422},
            b'{"key": "\\ud800\\ud800aa", "annotator": "\\ud800"}': {400, 422},
            b'{"key": "abcdefgh", "annotator": "\\u0000"}': {400, 422},
            b'{"i": 1e999, "j": NaN, "key": "abcdefgh"}': {400, 422},
            b"9" * 5000: {400, 422},
            b"null": {422},
        }
        for body, allowed in bodies.items():
            for path in ("/api/answers", "/api/undo", "/api/names", "/api/question"):
                reply = client.post(path, content=body, headers=kind)
                assert reply.status_code in allowed, (path, body[:40], reply.text[:200])
                assert isinstance(reply.json()["detail"], str)

        def endless():
            for _ in range(200):
                yield b" " * 1024

        reply = client.post("/api/undo", content=endless(), headers=kind)
        assert reply.status_code == 413


def test_36_a_hundred_slow_sockets_hold_nobody_up(label_server: LabelServer):
    slow = []
    try:
        for n in range(100):
            sock = socket.create_connection(("127.0.0.1", label_server.port), timeout=10)
            sock.sendall(b"POST /api/undo HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"a" * n)
            slow.append(sock)
        with label_server.client() as client:
            for _ in range(10):
                begun = time.monotonic()
                assert client.get("/api/question").status_code == 200
                assert client.get("/picture/3").status_code == 200
                assert time.monotonic() - begun <= 1.0
    finally:
        for sock in slow:
            sock.close()


def test_35_formulas_do_not_survive_a_csv_export(tmp_path):
    from superpac.data import Dataset
    from superpac.session import exports
    from superpac.session.session import Session
    from superpac.session.spec import Spec

    ids = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "plain", "=cmd|' /C calc'!A0"]
    points = [[1, 0], [1, 0.1], [0.9, 0], [1, 0.05], [0, 1], [0.1, 1], [0, 0.9], [0.05, 1]]
    session = Session.create(Dataset(points, ids=ids), Spec(2, affinity="tsc:q=2", dim=1))
    session.rename("=HYPERLINK(1)", item=0)
    text = exports.as_csv(session).decode()
    import csv
    import io

    for row in csv.DictReader(io.StringIO(text, newline="")):
        for cell in row.values():
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    import pandas as pd

    exact = pd.read_parquet(io.BytesIO(exports.as_parquet(session)))
    assert exact["item"].tolist() == ids


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


def test_37_it_works_with_no_network_at_all(tmp_path):
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        unavailable("unshare and ip are not installed")
    probe = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        unavailable("this system does not let a test have a network of its own")
    tests = Path(__file__).resolve().parents[1] / "support"
    command = ["unshare", "-rn", sys.executable, "-c", ALONE, str(tests), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert "done alone" in done.stdout, done.stderr[-3000:]


def test_37_the_page_names_no_other_place(label_server: LabelServer):
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


def test_38_files_are_for_their_owner_only(label_server: LabelServer):
    for name in ("answers.sqlite3", "token"):
        mode = (label_server.folder / name).stat().st_mode & 0o777
        assert mode == 0o600, f"{name} has mode {mode:o}"


pytestmark = pytest.mark.timeout(300)
