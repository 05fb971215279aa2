"""Fault 36: strings, bodies and sockets that are meant to harm are answered with a 4xx."""

from __future__ import annotations

import socket

from labelling import LabelServer

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


def test_sql_in_every_string_field(label_server: LabelServer):
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


def test_large_deep_and_broken_bodies(label_server: LabelServer):
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


def test_a_hundred_slow_sockets_hold_nobody_up(label_server: LabelServer):
    slow = []
    try:
        for n in range(100):
            sock = socket.create_connection(("127.0.0.1", label_server.port), timeout=10)
            sock.sendall(b"POST /api/undo HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"a" * n)
            slow.append(sock)
        with label_server.client() as client:
            # The slow ones never end, so whoever waits for them ends in the client's time-out.
            for _ in range(10):
                assert client.get("/api/question").status_code == 200
                assert client.get("/picture/3").status_code == 200
    finally:
        for sock in slow:
            sock.close()
