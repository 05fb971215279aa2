"""Fault 29: every route needs the token, and the token is told to nobody."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from labelling import LabelServer
from superpac.errors import InputError
from superpac.web import security


def routes(server: LabelServer) -> list[tuple[str, str]]:
    with server.client() as client:
        schema = client.get("/openapi.json").json()
    found = [
        (method.upper(), re.sub(r"\{\w+\}", "1", path))
        for path, ways in schema["paths"].items()
        for method in ways
    ]
    assert len(found) > 20
    static = [("GET", path) for path in server.static()]
    return [*found, *static, ("GET", "/"), ("GET", "/openapi.json")]


def test_every_route_needs_the_token(label_server: LabelServer):
    before = label_server.events()
    good, name = label_server.token, f"superpac-{label_server.port}"
    wrong = [
        {},
        {"Authorization": "Bearer " + "x" * 32},
        {"Authorization": f"Bearer {good[:-1]}"},
        {"Authorization": f"Bearer {good}x"},
        {"Authorization": f"Basic {good}"},
        {"Authorization": f"Bearer {good.swapcase()}"},
        {"Cookie": f"{name}={good}"},  # the cookie is not the token
        {"Cookie": f"{name}=" + "0" * 64},
        {"Cookie": f"{name}="},
    ]
    with label_server.client() as client:
        del client.headers["authorization"]
        for method, path in routes(label_server):
            for headers in wrong:
                own = {"Origin": label_server.origin, "Content-Type": "application/json"}
                reply = client.request(method, path, headers={**own, **headers}, content="{}")
                assert reply.status_code == 401, (method, path, headers)
                assert good not in reply.text
        for query in (f"?token={good[:-1]}", "?token=", f"?token={good}&token={good}"):
            assert client.get("/" + query).status_code == 401
    assert label_server.events() == before


def test_the_token_leaves_the_address_and_no_log_has_it(label_server: LabelServer):
    with label_server.client() as client:
        del client.headers["authorization"]
        reply = client.get(f"/?token={label_server.token}")
        assert reply.status_code == 303
        assert reply.headers["location"] == "/"
        cookie = reply.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert label_server.token not in cookie
        page = client.get("/")
        assert page.status_code == 200
        assert label_server.token not in page.text
    assert label_server.token not in (label_server.folder / "stderr.txt").read_text()
    assert len(label_server.token) * 6 >= 128
    assert label_server.token_file.stat().st_mode & 0o777 == 0o600


def test_a_new_token_ends_old_cookies():
    async def inner(scope, receive, send):
        raise AssertionError("let in")

    first = security.Gate(inner, security.new_token(), port=1)
    second = security.Gate(inner, security.new_token(), port=1)
    cookie = first.cookie.encode() + b"=" + first._cookie
    scope = {"headers": [(b"cookie", cookie)], "path": "/"}
    assert first._knows(scope)
    assert not second._knows(scope)


@pytest.mark.parametrize("kind", ["header", "cookie", "address"])
def test_tokens_are_compared_in_constant_time(kind, monkeypatch):
    """However much of it is right, all of a token is looked at, by `hmac.compare_digest`."""
    compared = []

    def compare(given: bytes, right: bytes) -> bool:
        compared.append(bytes(given))
        return hmac_compare(given, right)

    hmac_compare = security.hmac.compare_digest
    monkeypatch.setattr(security.hmac, "compare_digest", compare)

    async def inner(scope, receive, send):
        raise AssertionError("let in")

    gate = security.Gate(inner, security.new_token(), port=1)
    wrong = b"x" * 32
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"token=" + wrong if kind == "address" else b"",
        "headers": [(b"host", b"localhost")],
    }
    if kind == "header":
        scope["headers"].append((b"authorization", b"Bearer " + wrong))
    if kind == "cookie":
        scope["headers"].append((b"cookie", gate.cookie.encode() + b"=" + wrong))
    sent = []

    async def send(message):
        sent.append(message)

    with ThreadPoolExecutor(1) as pool:  # where no event loop runs, as a browser's may here
        pool.submit(lambda: asyncio.run(gate(scope, None, send))).result()
    assert sent[0]["status"] == 401
    assert wrong in compared


@pytest.mark.parametrize("token", ["", "short", "a" * 40, "x" * 300, "with space " * 4])
def test_guessable_tokens_are_refused(token):
    with pytest.raises(InputError, match="128 bits"):
        security.check_token(token)


def test_a_token_file_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "token"
    assert security.read_token(path) == security.read_token(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        security.read_token(path)
