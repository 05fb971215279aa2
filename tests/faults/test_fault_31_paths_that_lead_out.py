"""Fault 31: no path leads to a file outside of what the page shows."""

from __future__ import annotations

import socket

from labelling import LabelServer

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


def test_no_path_leads_out(label_server: LabelServer):
    secret = label_server.token_file.read_bytes().strip()
    for place in ("/picture/", "/sound/", "/static/", "/api/items/", "/api/export/", "/"):
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
