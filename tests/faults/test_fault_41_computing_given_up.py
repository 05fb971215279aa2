"""Fault 41: the computing process dies again and again; nobody is told that all is settled."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from labelling import LabelServer, Person, digits_file, wait_until
from page_acts import opened
from superpac.web.model_cache import DEATHS


def test_without_a_current_model_nothing_counts_as_settled(tmp_path):
    with opened(tmp_path, "superpac-d", shared=False) as page:
        models = page.workspace.service.models
        give_up(lambda: models.pid, lambda: models.status().phase == "failed")
        for _ in range(400):
            reply = page.client.post("/api/question", json={"annotator": "ann"}).json()
            assert not reply["finished"]
            assert "Computing has stopped" in reply["stopped"]
            assert "memory" in reply["stopped"]  # why
            assert "Start again" in reply["stopped"]  # what to do
            if reply["question"] is None:
                break
            taken = page.post("answers", page.answered("ann"))
            assert taken.status_code == 200
            assert not taken.json()["finished"]
            assert "Computing has stopped" in taken.json()["stopped"]
        assert reply["question"] is None, "questions that were ranked before should run out"
        assert page.client.post("/api/again", json={}).status_code == 200
        wait_until(lambda: page.ask("ann") is not None)
        reply = page.client.post("/api/question", json={"annotator": "ann"}).json()
        assert reply["stopped"] == ""


def give_up(pid, failed) -> None:
    """Kill the computing process until it is given up."""

    def kill() -> bool:
        number = pid()
        if number is not None:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                return failed()
        return failed()

    wait_until(kill)


def test_the_page_says_that_computing_has_stopped_and_starts_it_again(tmp_path, page: Page):
    server = LabelServer(tmp_path, digits_file(tmp_path)).wait_ready()
    try:
        page.goto(server.url)
        person = Person(page, np.load(tmp_path / "truth.npy")).wait()
        with server.client() as client:

            def look() -> dict[str, object]:
                return client.get("/api/session").json()

            give_up(lambda: computing(server.pid), lambda: look()["phase"] == "failed")
            stopped = page.locator("#stage .thinking.stopped")
            for _ in range(400):  # what was ranked before is still asked, with a word of warning
                page.keyboard.press(person.right())
                page.wait_for_function(
                    "() => !document.getElementById('ask').classList.contains('busy')"
                    " || document.querySelector('.thinking.stopped')"
                )
                if stopped.count():
                    break
                expect(page.locator("#banner")).to_contain_text("Computing has stopped")
            expect(stopped).to_contain_text(f"its process ended {DEATHS} times within a minute")
            expect(stopped).to_contain_text("Every answer is saved")
            expect(page.locator("#done")).to_be_hidden()
            page.locator("#stage").get_by_role("button", name="Start again").click()
            person.wait()
            assert look()["phase"] == "ready"
            expect(page.locator("#banner")).to_be_hidden()
    finally:
        server.stop()


def test_a_process_that_cannot_be_started_is_told(tmp_path, monkeypatch):
    place = tmp_path / ("long" * 30)  # sockets in such a folder have names that are too long
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    server = LabelServer(tmp_path, digits_file(tmp_path))
    try:
        with server.client() as client:
            wait_until(lambda: client.get("/api/session").json()["phase"] == "failed")
            told = client.get("/api/session").json()["message"]
        assert "Computing has stopped" in told
        assert "it could not be started: AF_UNIX path too long" in told
    finally:
        server.stop()


def computing(pid: int) -> int | None:
    """The computing process of a server: the newest that its fork server made."""
    found = [
        child
        for child in _below(pid)
        if "resource_tracker" not in _command(child) and _command(child).count("fork") == 1
    ]
    return found[-1] if len(found) > 1 else None


def _below(pid: int) -> list[int]:
    own: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            own += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    except OSError:
        return []
    return own + [below for child in own for below in _below(child)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
