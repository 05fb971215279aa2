"""Makes the pictures of the docs: ``python docs/make_screenshots.py [FOLDER]``.

Starts the labelling page on drawings in a temporary store, answers some questions and takes the
page in each of its states, on a desktop screen and on a phone; then one question about texts and
one about sounds. Needs Chromium and Playwright.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from scipy.io import wavfile

from superpac.data.drawings import write_drawings

CHROMIUM = "/usr/bin/chromium"
ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
SIZES = {"": (1280, 800), "-phone": (390, 844)}
QUESTIONS = [
    "Where is the card that I ordered last week?",
    "My new card has not arrived yet.",
    "When will my card be delivered?",
    "Why was I charged a fee for this payment?",
    "There is a fee on my account that I do not know.",
    "What does it cost to pay abroad?",
    "I forgot my passcode and cannot log in.",
    "How do I set a new passcode?",
    "The app does not take my passcode any more.",
]
SPECTRUM = """
import numpy as np
from scipy.io import wavfile

def spectrum(paths):
    return [np.abs(np.fft.rfft(wavfile.read(path)[1]))[:800] for path in paths]
"""
RUN = "import sys; sys.argv[0] = 'superpac'; from superpac import cli; cli.main()"


def take(page: Page, path: Path) -> None:
    """Save the page as a small PNG of few colours."""
    page.wait_for_timeout(700)
    page.screenshot(path=path, animations="disabled")
    with Image.open(path) as image:
        image.convert("RGB").quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


def kinds(page: Page) -> list[str]:
    """Kinds of the two things before the person, by the folders that they are in."""
    names = page.locator("#stage figcaption").all_text_contents()
    return [name.strip().partition("/")[0] for name in names]


def answer(page: Page, count: int) -> None:
    """Answer by keyboard, as a person would who sees what is drawn: the name says it, too."""
    for _ in range(count):
        first, second = kinds(page)
        before = page.inner_text("#stage")
        page.wait_for_timeout(350)
        page.keyboard.press("s" if first == second else "d")
        page.wait_for_function(
            "b => (document.getElementById('stage').innerText !== b"
            " || !document.getElementById('done').hidden)"
            " && !document.getElementById('ask').classList.contains('busy')",
            arg=before,
        )
        if page.locator("#go-on").is_visible():  # the goal is reached
            page.click("#go-on")
            page.wait_for_selector("#ask:not([hidden]) #stage .card")


def name_groups(page: Page) -> None:
    """Call every group what most of its first items are."""
    page.click("nav a[data-view=clusters]")
    page.wait_for_selector(".cluster .thumb[data-item]")
    for n in range(page.locator(".cluster .head input").count()):
        group = page.locator(".cluster").nth(n)
        group.scroll_into_view_if_needed()
        group.locator(".thumb[data-item]").first.wait_for()
        shown = group.locator(".thumb[data-item]").evaluate_all(
            "all => all.map(e => e.getAttribute('aria-label').split('/')[0])"
        )
        field = group.locator(".head input")
        field.fill(max(set(shown), key=shown.count).capitalize())
        with page.expect_response("**/api/names"):
            field.press("Tab")
    page.evaluate("() => window.scrollTo({ top: 0 })")


def workbench(page: Page) -> None:
    """Select what does not belong on the first wall that has such, and name where it goes."""
    for n in range(page.locator(".cluster").count()):
        wall = page.locator(".cluster").nth(n)
        wall.scroll_into_view_if_needed()
        wall.locator(".thumb[data-item]").first.wait_for()
        tiles = wall.locator(".thumb[data-item]")
        kinds_here = tiles.evaluate_all(
            "all => all.map(e => e.getAttribute('aria-label').split('/')[0])"
        )
        most = max(set(kinds_here), key=kinds_here.count)
        others = [k for k, kind in enumerate(kinds_here) if kind != most]
        if others:
            goal = kinds_here[others[0]]
            for k in [k for k in others if kinds_here[k] == goal]:
                tiles.nth(k).click()
            page.fill("#move-to", goal.capitalize())
            page.evaluate("() => document.activeElement.blur()")
            return


def states(page: Page, folder: Path, suffix: str) -> None:
    """Take every state of the page."""

    def shot(name: str) -> None:
        take(page, folder / f"{name}{suffix}.png")

    page.wait_for_selector("#ask:not([hidden]) #stage .card", timeout=120_000)
    shot("ask")
    page.keyboard.press("p")
    page.wait_for_timeout(900)
    shot("strip")
    page.keyboard.press("p")
    page.click("nav a[data-view=clusters]")
    page.wait_for_selector(".cluster")
    shot("clusters")
    workbench(page)
    shot("workbench")
    page.keyboard.press("Escape")
    page.evaluate("() => window.scrollTo({ top: 0 })")
    page.locator(".cluster").nth(1).locator(".thumb:not(.certain)").last.dblclick()
    page.wait_for_selector("#item[open]")
    shot("item")
    page.keyboard.press("Escape")
    page.click("[data-look=map]")
    shot("map")
    page.click("[data-look=walls]")
    page.click("nav a[data-view=history]")
    shot("history")
    page.click("nav a[data-view=export]")
    shot("export")
    page.keyboard.press("?")
    shot("help")
    page.keyboard.press("Escape")


@contextmanager
def served(given: list[str], temporary: str) -> Iterator[tuple[Browser, str]]:
    """Run `superpac label` on a store of its own, and a browser for it."""
    command = [sys.executable, "-c", RUN, "label", *given, "--no-browser", "--port", "0"]
    command += ["--store", f"{tempfile.mkdtemp(dir=temporary)}/answers.sqlite3"]
    # nothing may be ready from before, or the page is never seen preparing
    fresh = {**os.environ, "SUPERPAC_CACHE": f"{temporary}/cache"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=fresh)
    try:
        url = re.search(r"http\S+", server.stdout.readline())[0]  # type: ignore[index,union-attr]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            yield browser, url
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=20)


def main(folder: Path) -> None:
    """Take all the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    things(folder)
    with tempfile.TemporaryDirectory() as temporary:
        write_drawings(Path(temporary) / "drawings", by_kind=True)
        given = [f"{temporary}/drawings", "--question", "Same kind of thing?", *sys.argv[2:]]
        with served(given, temporary) as (browser, url):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(url)
            page.wait_for_selector("#preparing:not([hidden]) li.now", timeout=60_000)
            take(page, folder / "preparing.png")
            page.wait_for_selector("#stage .card", timeout=300_000)
            page.click("#who")
            page.fill("#name-input", "Ada")
            page.keyboard.press("Enter")
            page.wait_for_timeout(500)
            answer(page, 25)
            name_groups(page)
            page.click("nav a[data-view=ask]")
            page.wait_for_selector("#ask:not([hidden]) #stage .card")
            answer(page, 12)
            while len(set(kinds(page))) > 1:  # two of a kind tell more of what is asked
                answer(page, 1)
            states(page, folder, "")
            for scheme, suffix in (("light", "-phone"), ("dark", "-dark")):
                wide, high = SIZES["-phone"] if suffix == "-phone" else SIZES[""]
                context = browser.new_context(
                    viewport={"width": wide, "height": high},
                    color_scheme=scheme,  # type: ignore[arg-type]
                    has_touch=suffix == "-phone",
                    is_mobile=suffix == "-phone",
                )
                other = context.new_page()
                other.goto(url)
                states(other, folder, suffix)
                context.close()


def things(folder: Path) -> None:
    """Take a question about texts and one about sounds."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as temporary:
        table, sounds = Path(temporary) / "questions.csv", Path(temporary) / "voices"
        table.write_text("question\n" + "\n".join(QUESTIONS) + "\n")
        sounds.mkdir()
        for k in range(12):
            time = np.arange(16_000) / 16_000
            wave = np.sin(2 * np.pi * (180 + 60 * (k % 3)) * time) * np.exp(-3 * (time % 0.25))
            wave += 0.05 * rng.standard_normal(time.size)
            wavfile.write(sounds / f"voice-{k + 1:02}.wav", 16_000, np.int16(12_000 * wave))
        own = Path(temporary) / "own.py"
        own.write_text(SPECTRUM)
        for name, given in (
            ("ask-text", [str(table), "--features", "text-plain"]),
            ("ask-sound", [str(sounds), "--features", f"{own}:spectrum"]),
        ):
            with served([*given, "-k", "3"], temporary) as (browser, url):
                page = browser.new_page(viewport={"width": 1280, "height": 620})
                page.goto(url)
                page.wait_for_selector("#stage .card", timeout=120_000)
                take(page, folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
