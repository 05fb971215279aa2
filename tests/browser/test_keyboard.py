"""A person labels the digits by keyboard alone, through a crash, up to the exported clusters."""

from __future__ import annotations

import csv
import io
import os
import time
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from labelling import LabelServer, Person, digits_file
from superpac.metrics import clustering_error

ANSWERS = 36


@pytest.fixture
def server(tmp_path):
    found = LabelServer(tmp_path, digits_file(tmp_path))
    yield found
    found.stop()


def test_from_the_first_question_to_the_clusters_with_kill_9(server: LabelServer, page: Page):
    truth = np.load(server.folder / "truth.npy")
    page.goto(server.url)
    assert "token" not in page.url
    person = Person(page, truth).wait()
    person.answer(ANSWERS // 2)
    assert len([e for e in server.events() if e.kind == "answer"]) == ANSWERS // 2

    # kill -9, then an answer while nobody is there: it is saved once the server is back
    acked = server.events()
    server.kill()
    page.wait_for_timeout(150)
    shown = person.shown()
    page.keyboard.press(person.right())
    expect(page.locator("#banner")).to_contain_text("not saved yet")
    server.start()
    server.wait_ready()
    page.wait_for_function(
        "shown => { const c = [...document.querySelectorAll('#stage figcaption')];"
        " return c.length && Number(c[0].textContent) + '/' + Number(c[1].textContent) !== shown"
        " && !document.getElementById('ask').classList.contains('busy'); }",
        arg=f"{shown[0]}/{shown[1]}",
        timeout=90_000,
    )
    events = server.events()
    assert events[: len(acked)] == acked
    assert [(e.body["i"], e.body["j"]) for e in events[len(acked) :]] == [shown]
    person.answer(ANSWERS // 2 - 1)

    # to the export by keyboard alone
    page.keyboard.press("Escape")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.view") == "export":
            break
    page.keyboard.press("Enter")
    for _ in range(12):
        page.keyboard.press("Tab")
        if "export/csv" in (page.evaluate("document.activeElement.getAttribute('href')") or ""):
            break
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert [row["item"] for row in rows] == [f"{n:03d}" for n in range(len(truth))]
    labels = np.array([int(row["cluster"]) for row in rows])
    standing = [e.body for e in server.events() if e.kind == "answer"]
    assert len(standing) == ANSWERS
    for body in standing:
        assert (labels[body["i"]] == labels[body["j"]]) == (body["answer"] == "same")
    assert clustering_error(truth, labels) < 0.25


def test_undo_redo_skip_unsure_and_bad_item_by_keys(server: LabelServer, page: Page):
    truth = np.load(server.folder / "truth.npy")
    page.goto(server.url)
    person = Person(page, truth).wait()
    first = person.shown()
    person.press("s")
    second = person.shown()
    person.press("d")
    person.press("Backspace")
    assert person.shown() == second
    person.press("Control+z")
    assert person.shown() == first
    page.wait_for_timeout(150)
    page.keyboard.press("Control+y")
    page.wait_for_function(
        "() => document.getElementById('banner').textContent.includes('Put back')"
    )
    kinds = [e.kind for e in server.events()]
    assert kinds == ["answer", "answer", "retract", "retract", "restore"]
    page.keyboard.press("Control+y")
    expect(page.locator("#banner")).to_contain_text("#2")
    person.press("ArrowDown")
    person.press(" ")
    aside = person.shown()[1]
    page.wait_for_timeout(150)
    page.keyboard.press("b")
    expect(page.locator("#bad")).to_contain_text("Which one is blank or damaged?")
    assert [e.kind for e in server.events()][-1] == "skip"  # nothing yet
    name = page.locator("#stage figcaption").nth(1).inner_text()
    person.press("2")
    expect(page.locator("#banner")).to_contain_text(f"{name} is set aside")
    assert [e.kind for e in server.events()][-3:] == ["answer", "skip", "bad"]
    assert server.events()[-3].body["answer"] == "unsure"
    assert server.events()[-1].body["i"] == aside
    assert aside not in person.shown()
    page.keyboard.press("z")
    expect(page.locator("#zoom")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator("#zoom")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("s")  # behind the help nothing is answered
    assert [e.kind for e in server.events()][-1] == "bad"


def test_no_worker_outlives_a_killed_server(server: LabelServer):
    server.wait_ready()
    psutil = pytest.importorskip("psutil")
    children = psutil.Process(server.pid).children(recursive=True)
    assert children
    server.kill()
    end = time.monotonic() + 60
    while any(c.is_running() and c.status() != psutil.STATUS_ZOMBIE for c in children):
        assert time.monotonic() < end, "a computing process outlived its server"
        time.sleep(0.1)
    assert os.path.exists(server.store)
