"""Fault 28: another website can neither change nor read, by headers and in real Chromium."""

from __future__ import annotations

import http.server
import itertools
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from labelling import LabelServer, wait_for_question

CHANGES = ["question", "answers", "choices", "skips", "aside", "names", "undo", "redo", "decisions"]


@pytest.fixture(scope="module")
def stranger() -> Iterator[str]:
    """Another website on this computer, under another port; says nothing but a blank page."""

    class Blank(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>stranger</title><body>")

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def cookie(server: LabelServer) -> str:
    with server.client() as client:
        reply = client.get(f"/?token={server.token}")
        return reply.headers["set-cookie"].split(";")[0]


def test_headers_of_strangers_change_nothing(label_server: LabelServer):
    before = label_server.events()
    sites = [None, "none", "same-site", "cross-site", "same-origin"]
    origins = [None, "null", "http://evil.example", label_server.origin + ".evil.example", "own"]
    own = cookie(label_server)
    let_in = 0
    with label_server.client() as client:
        del client.headers["authorization"]
        for site, origin in itertools.product(sites, origins):
            headers = {"Cookie": own, "Content-Type": "application/json"}
            if site:
                headers["Sec-Fetch-Site"] = site
            if origin:
                headers["Origin"] = label_server.origin if origin == "own" else origin
            safe = site in (None, "same-origin") and origin in (None, "own")
            safe = safe and (site, origin) != (None, None)
            for act in CHANGES:
                reply = client.post(f"/api/{act}", headers=headers, content=b"[]")
                assert reply.status_code == (422 if safe else 403), (site, origin, act)
                let_in += safe
    assert let_in == 3 * len(CHANGES)
    assert label_server.events() == before


def test_a_form_cannot_speak_json(label_server: LabelServer):
    own = cookie(label_server)
    with label_server.client() as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            headers = {"Cookie": own, "Origin": label_server.origin, "Content-Type": kind}
            reply = client.post("/api/undo", headers=headers, content=b'{"key": "abcdefgh1"}')
            assert reply.status_code == 415


def test_get_never_writes(label_server: LabelServer):
    before = label_server.events()
    with label_server.client() as client:
        schema = client.get("/openapi.json").json()
        for path, ways in schema["paths"].items():
            if "get" in ways:
                name = "csv" if "form" in path else "1"
                client.get(
                    path.replace("{form}", name).replace("{item}", "1").replace("{cluster}", "1")
                )
            if "post" in ways and "get" not in ways:
                assert client.get(path).status_code == 405
            assert set(ways) <= {"get", "post"}
        # looking gives nobody a question; other tests may have taken one without a name
        looked = client.get("/api/question", params={"annotator": "only looking"})
        assert looked.json()["question"] is None
    assert label_server.events() == before


def test_another_website_in_chromium_can_neither_change_nor_read(
    label_server: LabelServer, browser: Browser, stranger: str
):
    before = label_server.events()
    context = browser.new_context()
    page = context.new_page()
    page.goto(label_server.url)  # the cookie is in this browser now
    wait_for_question(page)
    taken = label_server.events()
    assert taken == before
    evil = context.new_page()
    evil.goto(stranger)
    results = evil.evaluate(
        """async ([target, scripts]) => {
            const said = [];
            const body = JSON.stringify({ key: 'stranger1', annotator: '' });
            const ways = [
              { method: 'POST', mode: 'no-cors', credentials: 'include', body },
              { method: 'POST', mode: 'cors', credentials: 'include', body,
                headers: { 'Content-Type': 'application/json' } },
              { method: 'POST', mode: 'no-cors', credentials: 'include',
                body: new Blob([body], { type: 'application/json' }) },
              { method: 'GET', mode: 'cors', credentials: 'include' },
            ];
            for (const way of ways) {
              try { const r = await fetch(target + '/api/undo', way); said.push(r.type); }
              catch (e) { said.push('blocked'); }
            }
            try { const r = await fetch(target + '/api/history', { credentials: 'include' });
                  said.push(await r.text()); } catch (e) { said.push('blocked'); }
            const image = await new Promise((done) => { const i = new Image();
              i.onload = () => done('seen'); i.onerror = () => done('blocked');
              i.src = target + '/picture/1?size=96'; document.body.append(i); });
            said.push(image);
            for (const path of scripts) {
              said.push(await new Promise((done) => { const s = document.createElement('script');
                s.onload = () => done('ran'); s.onerror = () => done('blocked');
                s.src = target + path; document.body.append(s); }));
            }
            const frame = document.createElement('iframe'); frame.src = target + '/';
            document.body.append(frame);
            await new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
            const form = document.createElement('form'); form.method = 'POST';
            form.action = target + '/api/undo'; form.enctype = 'text/plain'; form.target = 'x';
            const field = document.createElement('input');
            field.name = '{"key":"stranger2","annotator":"'; field.value = '"}';
            form.append(field); document.body.append(form); form.submit();
            await new Promise((done) => setTimeout(done, 500));
            return said;
        }""",
        [label_server.origin, [path for path in label_server.static() if path.endswith(".js")]],
    )
    assert "seen" not in results
    assert "ran" not in results
    assert not any("events" in said for said in results)
    frames = [f for f in evil.frames if f.parent_frame is not None]
    assert not any("Same or different" in (f.content() or "") for f in frames)
    context.close()
    assert label_server.events() == before
