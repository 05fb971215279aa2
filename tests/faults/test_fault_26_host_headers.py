"""Fault 26: a request under a name that is not this computer's is refused."""

from __future__ import annotations

import socket

from labelling import LabelServer

GOOD = ["localhost", "127.0.0.1", "[::1]", "localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"]
BAD = [
    "",
    "evil.example",
    "evil.example:{port}",
    "localhost.",
    "localhost.:{port}",
    "127.0.0.1.",
    "localhost.evil.example",
    "localhost@evil.example",
    "evil@localhost",
    "127.0.0.1.nip.io",
    "127.0.0.2",
    "0.0.0.0",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "::1",
    "[::ffff:127.0.0.1]",
    "[0:0:0:0:0:0:0:1]",
    "[::1",
    "localhost:",
    "localhost:99999",
    "localhost:80a",
    "localhost:80:80",
    "localhost localhost",
    "localhost,evil.example",
    "localhost/",
    "local%68ost",
    "10.0.0.1",
    "xn--lcalhost-6vb",
]


def raw(server: LabelServer, head: list[str], path: str = "/api/session") -> int:
    """Status of a request whose headers are sent exactly as given."""
    lines = [f"GET {path} HTTP/1.1", *head, "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock:
        sock.sendall("\r\n".join(lines).encode("latin-1"))
        answer = b""
        while part := sock.recv(65536):
            answer += part
    return int(answer.split(b" ", 2)[1])


def test_host_table(label_server: LabelServer):
    auth = f"Authorization: Bearer {label_server.token}"
    for host in GOOD:
        assert raw(label_server, [f"Host: {host.format(port=label_server.port)}", auth]) == 200
    for host in BAD:
        status = raw(label_server, [f"Host: {host.format(port=label_server.port)}", auth])
        assert status in (400, 403), f"{host!r} was let in: {status}"


def test_several_hosts_or_none_are_refused(label_server: LabelServer):
    auth = f"Authorization: Bearer {label_server.token}"
    for hosts in (["localhost", "localhost"], ["localhost", "evil.example"], ["evil.example"] * 2):
        assert raw(label_server, [*(f"Host: {h}" for h in hosts), auth]) in (400, 403)
    assert raw(label_server, [auth]) in (400, 403)
