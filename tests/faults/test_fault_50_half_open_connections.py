"""Fault 50: thousands of connections that never finish a request keep nobody out."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest

from labelling import LabelServer, Robot, digits_file, wait_until
from superpac.web.connections import room

HANDLES = 1024
SOCKETS = 2000
FEW_LINES = 100_000  # bytes of a log that nobody filled

# the command as it is, with fewer handles, and with less patience for what does not arrive
RUN = """
import functools, resource, sys
from superpac.web import server
limit, arrival = int(sys.argv.pop(1)), float(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
server.serve = functools.partial(server.serve, arrival=arrival)
sys.argv[0] = "superpac"
from superpac import cli
cli.main()
"""


class SmallServer(LabelServer):
    """A server with few file handles."""

    def __init__(self, folder: Path, handles: int, arrival: float) -> None:
        self.handles, self.arrival = handles, arrival
        super().__init__(folder, digits_file(folder))

    def start(self) -> None:
        at = self.command.index("label")
        if RUN not in self.command:
            self.command[at - 1 : at] = [RUN, str(self.handles), str(self.arrival)]
        super().start()

    def log_size(self) -> int:
        return (self.folder / "stderr.txt").stat().st_size


@pytest.fixture
def many_handles() -> Iterator[None]:
    """Let this process open enough sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = SOCKETS + 500
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            pytest.skip(f"this process may open {hard} files at most, and needs {wanted}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def half_open(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Open connections that send the beginning of a request and no end; some send nothing."""
    found: list[socket.socket] = []
    try:
        for n in range(count):
            sock = socket.create_connection(("127.0.0.1", port), timeout=60)
            found.append(sock)
            with contextlib.suppress(OSError):  # it may be closed already to make room
                if n % 3:
                    sock.sendall(b"POST /api/undo HTTP/1.1\r\nHost: localhost\r\nX-Slow: a")
        yield found
    finally:
        for sock in found:
            sock.close()


def closed(sock: socket.socket) -> bool:
    """Whether the server closes a connection, and has answered nothing."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def test_two_thousand_half_open_connections_keep_nobody_out(
    tmp_path: Path, many_handles: None
) -> None:
    server = SmallServer(tmp_path, HANDLES, arrival=600.0).wait_ready()
    try:
        with half_open(server.port, SOCKETS):
            acked = []
            for _ in range(8):  # each with a connection of its own, as a new tab
                with server.client() as client:
                    robot = Robot(client, server.truth, "ordinary")
                    reply = robot.answer()
                    assert reply.status_code == 200, reply.text
                    acked.append(reply.json()["receipts"][0]["seq"])
                    assert client.get(f"/picture/{len(acked)}").status_code == 200
            assert psutil.Process(server.pid).num_fds() < HANDLES * 0.9
        answers = [e.seq for e in server.events() if e.kind == "answer"]
        assert set(acked) <= set(answers)
        assert server.log_size() < FEW_LINES
    finally:
        server.stop()


def test_a_request_that_does_not_arrive_is_given_up(tmp_path: Path) -> None:
    """Whatever is trickled in: the time counts from the first byte, not from the last."""
    server = SmallServer(tmp_path, HANDLES, arrival=2.0).wait_ready()
    try:
        with half_open(server.port, 60) as slow, server.client() as client:
            open_ones = set(slow)
            while open_ones:
                for sock in list(open_ones):
                    with contextlib.suppress(OSError):
                        sock.sendall(b"a")
                    if select.select([sock], [], [], 0)[0] and closed(sock):
                        open_ones.discard(sock)
                assert client.get("/api/session").status_code == 200
                time.sleep(0.05)
        # connections that were closed leave nothing behind
        wait_until(lambda: len(psutil.Process(server.pid).net_connections()) < 20)
    finally:
        server.stop()


def test_a_body_that_does_not_arrive_is_given_up_and_a_pause_between_requests_is_not(
    tmp_path: Path,
) -> None:
    server = SmallServer(tmp_path, HANDLES, arrival=2.0).wait_ready()
    known = {"Authorization": f"Bearer {server.token}"}
    try:
        patient = HTTPConnection("127.0.0.1", server.port, timeout=60)
        patient.request("GET", "/api/session", headers=known)
        assert patient.getresponse().read()
        late = HTTPConnection("127.0.0.1", server.port, timeout=60)
        late.putrequest("POST", "/api/undo")
        kind = {"Content-Type": "application/json", "Content-Length": "90"}
        for name, value in {**known, **kind}.items():
            late.putheader(name, value)
        late.endheaders(b"{")
        assert closed(late.sock)
        late.close()
        time.sleep(server.arrival)
        patient.request("GET", "/api/session", headers=known)  # on the same connection
        assert patient.getresponse().status == 200
        patient.close()
    finally:
        server.stop()


def test_who_comes_when_all_connections_are_at_work_is_asked_to_come_again(tmp_path: Path) -> None:
    few = 256
    server = SmallServer(tmp_path, few, arrival=600.0).wait_ready()
    known = f"Host: localhost\r\nAuthorization: Bearer {server.token}\r\n"
    head = f"POST /api/undo HTTP/1.1\r\n{known}Content-Type: application/json\r\n"
    at_work: list[socket.socket] = []
    try:
        for _ in range(room(few)[0]):
            sock = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            at_work.append(sock)
            sock.sendall((head + "Content-Length: 90\r\nExpect: 100-continue\r\n\r\n").encode())
            assert sock.recv(100).startswith(b"HTTP/1.1 100")  # its body is waited for
        with server.client() as client:
            reply = client.get("/api/session")
            assert reply.status_code == 503
            assert reply.json()["retryable"] is True
            assert int(reply.headers["retry-after"]) > 0
            at_work.pop().close()
            wait_until(lambda: client.get("/api/session").status_code == 200)
    finally:
        for sock in at_work:
            sock.close()
        server.stop()


def test_when_handles_run_out_it_is_told_as_such_and_the_log_stays_small(tmp_path: Path) -> None:
    """The computer may run out of handles by no fault of the server's: its limit is lowered."""
    server = SmallServer(tmp_path, HANDLES, arrival=600.0).wait_ready()
    process = psutil.Process(server.pid)
    try:
        with server.client() as client:
            robot = Robot(client, server.truth, "ordinary")
            assert robot.answer().status_code == 200
            asked = dict(robot.question)
            before = len(server.events())
            # handles below the new limit are in use, so nothing can be opened
            lowest = process.num_fds()
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (lowest, HANDLES))
            body = robot.body()
            # a listening socket that cannot take them in has them waiting
            knocking = [socket.socket() for _ in range(50)]
            for sock in knocking:
                sock.setblocking(False)
                sock.connect_ex(("127.0.0.1", server.port))
            refused = [client.post("/api/answers", json=body) for _ in range(20)]
            assert {r.status_code for r in refused} == {503}, refused[0].text
            for reply in refused:
                assert reply.json()["retryable"] is True
                assert "Too many files" in reply.json()["detail"]
                assert int(reply.headers["retry-after"]) > 0
            assert len(server.events()) == before
            time.sleep(3.0)  # for a log that grows with each vain try to let somebody in
            assert server.log_size() < FEW_LINES
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (HANDLES, HANDLES))
            robot.question = asked
            assert client.post("/api/answers", json=body).status_code == 200
            assert len(server.events()) == before + 1
            for sock in knocking:
                sock.close()
        with server.client() as another:
            assert another.get("/api/session").status_code == 200
    finally:
        server.stop()


OPENING = """
import os, resource, sys
from superpac.store import StoreFailure, new_info, open_store
path = sys.argv[1]
open_store(path).close()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
for missing in (0, 1, 2):  # the lock, then the file, then its journal cannot be opened
    for _ in range(missing):
        os.close(held.pop())
    try:
        with open_store(path) as store:
            store.create(new_info("x", fingerprint="f", n_items=10))
    except StoreFailure as error:
        print(error.status, error.retryable, "Too many files" in str(error))
    held += [os.open(os.devnull, os.O_RDONLY) for _ in range(missing)]
"""


def test_a_store_that_cannot_be_opened_for_want_of_handles_says_so(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", OPENING, str(tmp_path / "a.sqlite3")],
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["503 True True"] * 3


def test_some_handles_are_always_left_for_files() -> None:
    for handles in (16, 64, 256, 1024, 4096, 1 << 20):
        most, step = room(handles)
        assert most >= 1
        assert step >= 1
        assert most + step <= handles * 3 / 4
