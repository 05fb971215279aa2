"""New pictures since last time are agreed to group by group, in one click."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from axe import violations
from labelling import LabelServer

PAINTS = ((210, 60, 40), (40, 180, 70), (50, 70, 220))


def paint(folder: Path, numbers: range) -> None:
    folder.mkdir(exist_ok=True)
    for n in numbers:
        rough = np.random.default_rng(n).integers(-40, 40, (9, 9, 3)) + PAINTS[n % 3]
        Image.fromarray(np.clip(rough, 0, 255).astype(np.uint8)).resize((40, 40)).save(
            folder / f"{n:03}.png"
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    """A folder that has grown by twelve pictures since its session began."""
    folder = tmp_path_factory.mktemp("grown")
    paint(folder / "colours", range(60))
    given = (folder, folder / "colours", "--colour")
    found = LabelServer(*given, k=3).wait_ready()
    found.stop()
    paint(folder / "colours", range(60, 72))
    found.start()
    yield found.wait_ready()
    found.stop()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_new_items_are_agreed_to_in_one_click(
    server: LabelServer, browser: Browser, size: tuple[int, int]
):
    page = browser.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
    page.goto(server.url)
    badge = page.locator("#wrongs")
    expect(badge).to_be_visible(timeout=60_000)
    waiting = int(badge.inner_text())
    page.click("nav a[data-view=review]")
    title = page.locator("#review-card h2")
    expect(title).to_contain_text("new items look like Cluster")
    expect(title).to_contain_text("all right?")
    assert violations(page) == []
    tiles = page.locator(".newcomer")
    count = tiles.count()
    tiles.first.click()  # this one does not belong
    expect(tiles.first).to_have_attribute("aria-pressed", "false")
    before = len(server.events())
    page.get_by_role("button", name=f"Yes, these {count - 1}").click()
    expect(page.locator("#banner")).to_contain_text(f"Moved {count - 1} items to")
    assert len(server.events()) > before
    page.locator("#banner").get_by_role("button", name="Undo").click()
    expect(page.locator("#banner")).to_contain_text("Took back", timeout=30_000)
    expect(badge).to_have_text(str(waiting))
    page.context.close()
