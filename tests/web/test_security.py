"""The token that is kept by itself, and the page for those who have none."""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from labelling import LabelServer
from superpac.errors import InputError
from superpac.web import security


def test_a_token_is_kept_for_its_owner_only(tmp_path: Path):
    place = tmp_path / "mine" / "a.sqlite3.token"
    before = os.umask(0)
    try:
        first = security.kept_token(place)
    finally:
        os.umask(before)
    assert security.kept_token(place) == first
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_token_is_renewed_on_request(tmp_path: Path):
    place = tmp_path / "a.sqlite3.token"
    first = security.kept_token(place)
    second = security.kept_token(place, renew=True)
    assert second != first
    assert security.kept_token(place) == second


def test_a_kept_token_that_others_can_read_is_refused(tmp_path: Path):
    place = tmp_path / "a.sqlite3.token"
    security.kept_token(place)
    place.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        security.kept_token(place)


def test_where_nothing_can_be_kept_a_token_is_drawn(tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    place = tmp_path / "file" / "a.sqlite3.token"
    found = security.kept_token(place)
    assert security.check_token(found) == found
    assert found != security.kept_token(place)


def test_who_has_no_token_is_told_what_to_do(label_server: LabelServer):
    with label_server.client(accept="text/html") as client:
        del client.headers["authorization"]
        reply = client.get("/")
    assert reply.status_code == 401
    assert "<h1>This page needs its key</h1>" in reply.text
    assert "Open the address that the terminal printed" in reply.text
    assert "superpac label" in reply.text
    style = reply.text.partition("<style>")[2].partition("</style>")[0]
    mark = b64encode(sha256(style.encode()).digest()).decode()
    assert f"'sha256-{mark}'" in reply.headers["content-security-policy"]
