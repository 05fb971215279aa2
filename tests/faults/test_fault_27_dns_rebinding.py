"""Fault 27: a stranger's name that resolves to this computer reads nothing, in real Chromium."""

from __future__ import annotations

from playwright.sync_api import Browser

from labelling import CHROMIUM, CHROMIUM_ARGS, LabelServer


def test_dns_rebinding_in_chromium(label_server: LabelServer, browser: Browser):
    """A stranger's name that resolves to this computer is refused before anything is read."""
    args = [*CHROMIUM_ARGS, "--host-resolver-rules=MAP rebind.example 127.0.0.1"]
    chromium = browser.browser_type.launch(executable_path=CHROMIUM, args=args)
    page = chromium.new_page()
    target = f"http://rebind.example:{label_server.port}"
    reply = page.goto(f"{target}/?token={label_server.token}")
    assert reply.status == 403
    assert reply.headers.get("set-cookie") is None
    status = page.evaluate(
        """async () => {
            const found = [];
            for (const path of ['/api/history', '/api/session', '/picture/1'])
              found.push((await fetch(path)).status);
            const sent = { method: 'POST', body: '{}',
                           headers: { 'Content-Type': 'application/json' } };
            found.push((await fetch('/api/undo', sent)).status);
            return found;
        }"""
    )
    assert status == [403, 403, 403, 403]
    chromium.close()
