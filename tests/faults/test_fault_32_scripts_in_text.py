"""Fault 32: text from data and people never runs as script, in any view, in real Chromium."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from playwright.sync_api import Page

from labelling import LabelServer, Robot

RUN = "window.pwned=1"
SHAPES = [
    "<script>{run}</script>",
    "<img src=x onerror={run}>",
    "<svg onload={run}>",
    "<iframe srcdoc='<script>parent.{run}</script>'>",
    '"><script>{run}</script>',
    "'><img src=x onerror={run}>",
    "</td></table><script>{run}</script>",
    "</title><script>{run}</script>",
    "javascript:{run}",
    "<a href=javascript:{run} autofocus onfocus={run}>x</a>",
    "{{{{{run}}}}}",
    "${{{run}}}",
    "<body onload={run}>",
    "<details open ontoggle={run}>",
    "<math><mtext></mtext><script>{run}</script></math>",
    "<style>@import 'x';</style><link rel=stylesheet href=x onerror={run}>",
    "<input autofocus onfocus={run}>",
    "<video><source onerror={run}></video>",
    "&lt;script&gt;{run}&lt;/script&gt;",
    "\\u003cscript\\u003e{run}\\u003c/script\\u003e",
    "<!--><script>{run}</script>",
    "]]><script>{run}</script>",
    "<object data='data:text/html,<script>{run}</script>'>",
    "<form action=javascript:{run}><button autofocus>",
    "<meta http-equiv=refresh content='0;javascript:{run}'>",
]


def payloads(n: int) -> list[str]:
    return [f"{SHAPES[k % len(SHAPES)].format(run=RUN)} {k}" for k in range(n)]


@pytest.fixture
def server(tmp_path):
    rng = np.random.default_rng(0)
    ids = payloads(100)
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *(f"{ids[k]} col" for k in range(4))])
        for k, name in enumerate(ids):
            centre = np.eye(4)[k % 2] * 5
            writer.writerow([name, *np.round(centre + rng.normal(0, 0.3, 4), 3)])
    found = LabelServer(
        tmp_path, path, "--ids", "name", "--name", f"<script>{RUN}</script>", k=2
    ).wait_ready()
    yield found
    found.stop()


def test_nothing_runs_in_any_view(server: LabelServer, page: Page):
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    elsewhere = []
    page.on(
        "request",
        lambda r: None if r.url.startswith(server.origin) else elsewhere.append(r.url),
    )
    truth = np.arange(100) % 2
    with server.client() as client:
        for n, name in enumerate(payloads(6)):
            robot = Robot(client, truth, name[:80])
            assert robot.answer().status_code == 200
            body = {"annotator": name[:80], "key": f"xss-name-{n}", "item": n, "name": name[:80]}
            assert client.post("/api/names", json=body).status_code == 200
    page.goto(server.url)
    page.evaluate("name => localStorage.setItem('superpac.annotator', name)", payloads(1)[0][:80])
    page.reload()
    page.wait_for_selector("#stage .rows table", timeout=60_000)
    seen = page.inner_text("#stage")
    assert "<" in seen, "the names are shown as they are"
    page.keyboard.press("p")
    page.wait_for_timeout(400)
    page.keyboard.press("p")
    page.wait_for_timeout(400)
    page.keyboard.press("s")
    page.wait_for_timeout(400)
    for view in ("clusters", "history", "export", "ask"):
        page.click(f"nav a[data-view={view}]")
        page.wait_for_timeout(500)
        if view == "clusters":
            page.locator(".thumb").first.dblclick()
            page.wait_for_selector("#item[open]")
            page.keyboard.press("Escape")
            page.click("[data-look=map]")
            page.wait_for_timeout(300)
    assert page.evaluate("() => window.pwned") is None
    assert asked == []
    assert elsewhere == []
