"""Instructions stand before the first question, and under Help."""

from __future__ import annotations

from labelling import LabelServer, digits_file

WORDS = "Compare the shape.\n\n<b>Not</b> how thick the pen was."


def test_instructions_are_read_once_and_found_again_under_help(page, tmp_path):
    (tmp_path / "read-me.md").write_text(WORDS)
    how = ("--instructions", str(tmp_path / "read-me.md"), "--editors", "anna, ben")
    server = LabelServer(tmp_path, digits_file(tmp_path), *how)
    try:
        server.wait_ready()
        page.goto(server.url)
        told = page.get_by_role("dialog", name="Instructions")
        told.wait_for()
        assert told.locator(".instructions").inner_text() == WORDS
        assert told.locator("b").count() == 0
        page.keyboard.press("s")
        page.wait_for_timeout(300)
        assert not server.events()
        told.get_by_role("button", name="I have read this").click()
        told.wait_for(state="hidden")
        page.reload()
        page.locator("#help-button").wait_for()
        assert not told.is_visible()
        page.locator("#help-button").click()
        page.get_by_role("button", name="Instructions").click()
        assert told.is_visible()
    finally:
        server.stop()
