"""axe-core, which looks through a page for what keeps people from using it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from postgres import unavailable

TOOLS = Path(__file__).parents[2] / "requirements" / "js"
SOURCE = TOOLS / "node_modules" / "axe-core" / "axe.min.js"


def source() -> str:
    """Script of the locked version; it is installed where it is not there yet."""
    if not SOURCE.exists():
        npm = shutil.which("npm")
        if npm is None or subprocess.run([npm, "ci", "--prefix", TOOLS, "--silent"]).returncode:
            unavailable("axe-core is not installed; run npm ci --prefix requirements/js")
    return SOURCE.read_text("utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds wrong on the page as it is, a line for each place."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(source())
    found: dict[str, Any] = page.evaluate("() => axe.run(document)")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
