"""Fault 49: no command line holds the token, since every user of a computer can read them all."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import psutil
import pytest
from playwright.sync_api import Page

from labelling import LabelServer, digits_file, wait_for_question, wait_until


def command_lines() -> list[str]:
    """What every process of this computer was started with."""
    found = []
    for process in psutil.process_iter():
        try:
            found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LabelServer, str]]:
    """A page started with a browser that writes down what it was given, and stays."""
    said, script = tmp_path / "said", tmp_path / "browser"
    # the standard library's own module starts it, as it starts any other browser
    script.write_text(
        f"#!{sys.executable}\n"
        "import os, sys, time\n"
        f"with open({str(said)!r} + '.new', 'w') as file:\n"
        "    file.write('\\n'.join([str(os.getpid()), *sys.argv[1:]]))\n"
        f"os.rename({str(said)!r} + '.new', {str(said)!r})\n"
        "time.sleep(600)\n"
    )
    script.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{shlex.quote(str(script))} %s &")
    server = LabelServer(tmp_path, digits_file(tmp_path), "--browser")
    try:
        wait_until(said.exists)
        number, given = said.read_text().split("\n")
        yield server, given
        os.kill(int(number), signal.SIGKILL)
    finally:
        server.stop()


def to_path(url: str) -> Path:
    parts = urlsplit(url)
    assert parts.scheme == "file"
    return Path(url2pathname(unquote(parts.path)))


def test_the_browser_is_started_without_the_token(opened: tuple[LabelServer, str]) -> None:
    server, given = opened
    lines = command_lines()
    assert any(given in line for line in lines), "the browser does not run any more"
    assert not [line for line in lines if server.token in line]
    door = to_path(given)
    assert stat.S_IMODE(door.stat().st_mode) == 0o600
    assert stat.S_IMODE(door.parent.stat().st_mode) == 0o700
    assert door.stat().st_uid == os.getuid()
    assert server.url.replace("&", "&amp;") in door.read_text()
    server.stop()
    assert not door.exists()
    assert not door.parent.exists()


def test_the_file_leads_to_the_page_in_chromium(
    opened: tuple[LabelServer, str], page: Page
) -> None:
    server, given = opened
    server.wait_ready()
    page.goto(given)
    wait_for_question(page)
    assert page.url.startswith(server.origin)
    assert server.token not in page.url
    assert server.token not in page.content()
