"""The notebook's widget in real Chromium: its module in a page, the messages to a real session."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.notebook_widget import SCRIPT, Desk
from superpac.session.session import Session
from superpac.session.spec import Spec

X, Y = make_subspaces(12, 3, 2, 16, noise=0.1, seed=1)

# What anywidget promises a module: send to Python, and on("msg:custom") with the reply.
HOST = """<!doctype html><main id="cell"></main><script type="module">
import widget from "/widget.js";
const heard = new Set();
const model = {
  on: (event, hear) => heard.add(hear),
  off: (event, hear) => heard.delete(hear),
  send: async (message) => {
    const [reply, pictures] = await window.toPython(message);
    const buffers = pictures.map((text) => {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      return new DataView(bytes.buffer);
    });
    for (const hear of heard) hear(reply, buffers);
  },
};
window.close_ = widget.render({ model, el: document.getElementById("cell") });
</script>"""


def shown(page, session):
    desk = Desk(session, "anna", "Same kind?")

    def to_python(message):
        reply, pictures = desk.hear(message)
        return [reply, [base64.b64encode(one).decode() for one in pictures]]

    page.expose_function("toPython", to_python)
    page.route("http://notebook.test/", lambda r: r.fulfill(body=HOST, content_type="text/html"))
    script = {"body": SCRIPT.read_text(), "content_type": "text/javascript"}
    page.route("http://notebook.test/widget.js", lambda r: r.fulfill(**script))
    page.goto("http://notebook.test/")
    page.wait_for_selector(".superpac-card")
    return desk


def answered(page, session, act):
    """Do something and wait until the log and the page have it."""
    before = session.seq
    act()
    page.wait_for_function("n => document.body.innerText.includes(n)", arg="answered.")
    for _ in range(100):
        if session.seq > before:
            break
        page.wait_for_timeout(50)
    page.wait_for_function(
        "n => document.querySelector('.superpac-progress').textContent.includes(n)",
        arg=f"{session.state.n_answers} answered.",
    )


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_pictures_are_answered_by_keys_and_buttons_and_taken_back(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    data = Dataset(X - X.min(), image_shape=(4, 4))
    session = Session.create(data, Spec(3, affinity="tsc:q=4", dim=2))
    shown(page, session)
    assert page.get_by_role("heading", name="Same kind?").is_visible()
    loaded = "() => [...document.images].every((one) => one.complete && one.naturalWidth > 0)"
    page.wait_for_function(loaded)
    assert page.locator(".superpac-card img").count() == 2
    page.locator(".superpac-question").focus()
    answered(page, session, lambda: page.keyboard.press("s"))
    answered(page, session, lambda: page.get_by_role("button", name="Different (D)").click())
    assert [a.answer for a in session.state.answers] == ["same", "different"]
    answered(page, session, lambda: page.keyboard.press("z"))
    assert [a.answer for a in session.state.answers] == ["same"]
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size[0]


def test_text_goes_in_as_text(page):
    texts = tuple(f"<img src=x onerror=alert(1)> {n}" for n in range(len(X)))
    data = Dataset(X, texts=texts, ids=np.array([f"<b>{n}</b>" for n in range(len(X))]))
    session = Session.create(data, Spec(3, affinity="tsc:q=4", dim=2))
    shown(page, session)
    assert page.locator(".superpac-card img, .superpac-card b").count() == 0
    assert page.locator(".superpac-text").first.inner_text().startswith("<img src=x")
