"""Fault 52: two servers keep their cookies apart, and HTTPS keeps them from HTTP."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from command_line import superpac
from labelling import (
    CHROMIUM,
    CHROMIUM_ARGS,
    LabelServer,
    Person,
    digits_file,
    wait_for_question,
)
from postgres import unavailable

NAME = "label.example"


@pytest.fixture
def second_server(tmp_path: Path) -> Iterator[LabelServer]:
    args = ("--allow-host", NAME, "--behind-https")
    server = LabelServer(tmp_path, digits_file(tmp_path), *args)
    yield server.wait_ready()
    server.stop()


def test_a_second_server_does_not_end_the_first_ones_visit(
    label_server: LabelServer, second_server: LabelServer, page: Page
) -> None:
    page.goto(label_server.url)
    wait_for_question(page)
    page.goto(second_server.url)
    wait_for_question(page)
    for server in (label_server, second_server):
        page.goto(server.origin)  # without the token: the cookie is still there
        wait_for_question(page)
    names = {cookie["name"] for cookie in page.context.cookies()}
    assert len(names) == 2


def set_cookie(server: LabelServer, host: str) -> SimpleCookie:
    with server.client(Host=host) as client:
        reply = client.get(f"/?token={server.token}")
    assert reply.status_code == 303
    return SimpleCookie(reply.headers["set-cookie"])


def test_the_cookie_is_for_https_where_people_come_by_it(
    label_server: LabelServer, second_server: LabelServer
) -> None:
    """A loopback name is somebody at this computer, to whom no HTTPS leads."""
    expected = {(NAME, True), (f"{NAME}:443", True), ("localhost", False), ("127.0.0.1:1", False)}
    for host, secure in expected:
        (cookie,) = set_cookie(second_server, host).values()
        assert bool(cookie["secure"]) == secure, host
    (cookie,) = set_cookie(label_server, "localhost").values()
    assert not cookie["secure"]


def test_a_header_that_anybody_can_send_changes_nothing(label_server: LabelServer) -> None:
    with label_server.client(
        **{"X-Forwarded-Proto": "https", "Forwarded": "proto=https"}
    ) as client:
        reply = client.get(f"/?token={label_server.token}")
    (cookie,) = SimpleCookie(reply.headers["set-cookie"]).values()
    assert not cookie["secure"]


def test_behind_https_needs_the_name_of_the_proxy(tmp_path: Path) -> None:
    ran = superpac("label", "digits", "-k", "10", "--behind-https", check=False)
    assert ran.returncode == 2
    assert "--allow-host" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@contextlib.contextmanager
def https_before(server: LabelServer, folder: Path) -> Iterator[int]:
    """A proxy with HTTPS: it hands every byte on as it is, the name that was called included."""
    if shutil.which("openssl") is None:
        unavailable("openssl, which makes a certificate, is not installed")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        + ["-subj", f"/CN={NAME}", "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening = socket.create_server(("127.0.0.1", 0))

    def hand_on(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve(plain: socket.socket) -> None:
        with contextlib.suppress(OSError):
            outer = context.wrap_socket(plain, server_side=True)
            inner = socket.create_connection(("127.0.0.1", server.port))
            back = threading.Thread(target=hand_on, args=(inner, outer), daemon=True)
            back.start()
            hand_on(outer, inner)
            back.join()
            outer.close()
            inner.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.close()


def test_the_page_works_behind_https_and_its_cookie_is_never_sent_without(
    second_server: LabelServer, browser: Browser, tmp_path: Path
) -> None:
    args = [*CHROMIUM_ARGS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
    chromium = browser.browser_type.launch(executable_path=CHROMIUM, args=args)
    try:
        with https_before(second_server, tmp_path) as port:
            page = chromium.new_context(ignore_https_errors=True).new_page()
            page.goto(f"https://{NAME}:{port}/?token={second_server.token}")
            before = len(second_server.events())
            Person(page, second_server.truth).wait().answer(2)
            assert len(second_server.events()) == before + 2
            (cookie,) = page.context.cookies()
            assert cookie["secure"]
            # the same name without HTTPS gets nothing
            reply = page.goto(f"http://{NAME}:{second_server.port}/")
            assert reply is not None
            assert reply.status == 401
    finally:
        chromium.close()
