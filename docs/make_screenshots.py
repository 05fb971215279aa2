"""Makes the pictures of docs/labelling.md: ``python docs/make_screenshots.py [FOLDER]``.

Starts the labelling page on the digits in a temporary store, answers some questions and takes the
page in each of its states, on a desktop screen and on a phone. Needs Chromium and Playwright.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from superpac.data import load

CHROMIUM = "/usr/bin/chromium"
ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
SIZES = {"": (1280, 800), "-phone": (390, 844)}
RUN = "import sys; sys.argv[0] = 'superpac'; from superpac import cli; cli.main()"


def take(page: Page, path: Path) -> None:
    """Save the page as a small PNG of few colours."""
    page.wait_for_timeout(700)
    page.screenshot(path=path, animations="disabled")
    with Image.open(path) as image:
        image.convert("RGB").quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


def answer(page: Page, truth: list[int], count: int) -> None:
    """Answer by keyboard, as a person would who knows the digits."""
    for _ in range(count):
        names = page.locator("#stage figcaption").all_text_contents()
        before = page.inner_text("#stage")
        page.wait_for_timeout(350)
        page.keyboard.press("s" if truth[int(names[0])] == truth[int(names[1])] else "d")
        page.wait_for_function(
            "b => document.getElementById('stage').innerText !== b"
            " && !document.getElementById('ask').classList.contains('busy')",
            arg=before,
        )


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
    page.locator(".cluster").nth(1).locator(".thumb:not(.certain)").last.click()
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


def main(folder: Path) -> None:
    """Take all the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = load("digits").y.tolist()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        command = [sys.executable, "-c", RUN, "label", "digits", "-k", "10", "--no-browser"]
        command += ["--store", f"{temporary}/answers.sqlite3", "--port", "0", *sys.argv[2:]]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        url = re.search(r"http\S+", server.stdout.readline())[0]  # type: ignore[index,union-attr]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        page.wait_for_selector("#preparing:not([hidden]) li.now", timeout=60_000)
        take(page, folder / "preparing.png")
        page.wait_for_selector("#stage .card", timeout=300_000)
        page.click("#who")
        page.fill("#name-input", "Ada")
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
        answer(page, truth, 120)
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
        browser.close()
        server.terminate()
        server.wait(timeout=20)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
