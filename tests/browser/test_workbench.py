"""Clusters as a workbench: each act by mouse, by keyboard and on a phone, and one undo for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from labelling import LabelServer, digits_file, wait_until

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("bench")
    found = LabelServer(folder, digits_file(folder)).wait_ready()
    yield found
    found.stop()


@pytest.fixture(params=sorted(SIZES))
def bench(request, browser: Browser, server: LabelServer) -> Iterator[Page]:
    """The Clusters view in a window of either size."""
    width, height = SIZES[request.param]
    touch = request.param == "phone"
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=touch)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(server.url + "#clusters")
    page.wait_for_selector(".thumb[data-item]", timeout=90_000)
    yield page
    context.close()
    assert not errors, errors


def labels(server: LabelServer) -> np.ndarray:
    with server.client() as client:
        return np.array(client.get("/api/labels").json()["labels"])


def wall(page: Page, n: int) -> Locator:
    return page.locator(".cluster:not(.aside)").nth(n)


def tile(page: Page, group: int, n: int) -> Locator:
    found = wall(page, group)
    found.locator(".head").scroll_into_view_if_needed()  # what is out of sight has no tiles
    return found.locator(f'.thumb[data-n="{n}"]')


def item(found: Locator) -> int:
    return int(found.get_attribute("data-item"))


def done(page: Page, words: str) -> None:
    """Wait until the banner tells of an act, and the walls follow."""
    expect(page.locator("#banner")).to_contain_text(words, timeout=30_000)
    expect(page.locator("#bench")).to_be_hidden()


def undo(page: Page, server: LabelServer, before: tuple) -> None:
    page.locator("#banner").get_by_role("button", name="Undo").click()
    expect(page.locator("#banner")).to_contain_text("Took back", timeout=30_000)
    assert truth_of(server) == before


def truth_of(server: LabelServer) -> tuple:
    """Standing answers, names and items set aside, by the log alone."""
    gone: set[int] = set()
    events = server.events()
    for event in events:
        if event.kind == "retract":
            gone.add(event.body["seq"])
        elif event.kind == "restore":
            gone.discard(event.body["seq"])
    kinds = ("answer", "name", "bad", "good")
    return tuple(e.seq for e in events if e.kind in kinds and e.seq not in gone)


def title(page: Page, n: int) -> str:
    return wall(page, n).locator("h2").inner_text()


def test_move_by_name_and_undo(bench: Page, server: LabelServer):
    before = truth_of(server)
    first, second = tile(bench, 0, 1), tile(bench, 0, 2)
    moved = [item(first), item(second)]
    goal = title(bench, 1)
    to = item(tile(bench, 1, 0))
    tile(bench, 0, 1).click()  # back in sight
    second.click()
    expect(bench.locator("#bench-count")).to_have_text("2 selected")
    expect(first).to_have_attribute("aria-selected", "true")
    bench.fill("#move-to", goal)
    bench.get_by_role("button", name="Move", exact=True).click()
    done(bench, f"Moved 2 items to {goal}")
    found = labels(server)
    assert set(found[moved]) == {found[to]}
    undo(bench, server, before)


def test_a_new_name_makes_a_new_group(bench: Page, server: LabelServer):
    before = truth_of(server)
    chosen = [tile(bench, 0, n) for n in (1, 2, 3)]
    moved = [item(one) for one in chosen]
    for one in chosen:
        one.click()
    bench.fill("#move-to", "quite new")
    bench.get_by_role("button", name="Move", exact=True).click()
    done(bench, "Made a new group of 3 items")
    found = labels(server)
    assert len(set(found[moved])) == 1
    assert (found == found[moved[0]]).sum() >= 3
    expect(
        bench.locator(".cluster input").and_(bench.locator("[value='quite new']"))
    ).to_have_count(1)
    undo(bench, server, before)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("New group", "Made a new group of 2 items"),
        ("All one", "Said to be one: 2 items"),
        ("Not this group", "Said not to belong here: 2 items"),
        ("Set aside", "Set aside 2 items"),
    ],
)
def test_each_button_is_one_act_with_one_undo(bench: Page, server: LabelServer, name, words):
    before = truth_of(server)
    # the least sure ones: what was tied before says nothing new
    bench.check("#least-sure")
    bench.wait_for_function(
        "() => document.querySelector('#clusters-words').textContent.includes('Least')"
    )
    chosen = [tile(bench, 0, n) for n in (0, 1)]
    moved = [item(one) for one in chosen]
    rest = item(tile(bench, 0, 5))
    for one in chosen:
        one.click()
    bench.get_by_role("button", name=name, exact=True).click()
    done(bench, words)
    found = labels(server)
    if name in ("New group", "Not this group"):
        with server.client() as client:
            views = [client.get(f"/api/items/{one}").json() for one in moved]
        assert any(a["answer"] == "different" for view in views for a in view["answers"])
    if name in ("New group", "All one"):
        assert len(set(found[moved])) == 1
    if name == "Set aside":
        bench.locator(".cluster.aside .head").scroll_into_view_if_needed()
        assert item(bench.locator(".cluster.aside .thumb[data-item]").first) in moved
        assert rest not in moved
    undo(bench, server, before)


def test_groups_are_merged_through_a_dialog(bench: Page, server: LabelServer):
    before = truth_of(server)
    one, other = item(tile(bench, 3, 0)), item(tile(bench, 4, 0))
    goal = title(bench, 3)
    wall(bench, 4).get_by_role("button", name=re.compile("Merge")).click()
    bench.fill("#merge-into", goal)
    bench.locator("#merge").get_by_role("button", name="Merge", exact=True).click()
    done(bench, "Merged 2 groups")
    found = labels(server)
    assert found[one] == found[other]
    undo(bench, server, before)


@pytest.mark.parametrize("way", ["offer", "dialog"])
def test_two_groups_of_one_name_are_merged(bench: Page, server: LabelServer, way: str):
    at_first = truth_of(server)
    one, other = item(tile(bench, 3, 0)), item(tile(bench, 4, 0))
    for n in (3, 4):
        field = wall(bench, n).locator("input")
        field.fill("Twin" if n == 3 else "twin")
        field.blur()
        wait_until(lambda n=n: len(truth_of(server)) == len(at_first) + n - 2)
    before = truth_of(server)
    expect(bench.locator("#banner")).to_contain_text("Two groups are called “twin” now.")
    if way == "offer":
        bench.get_by_role("button", name="Merge them").click()
    else:
        wall(bench, 3).get_by_role("button", name=re.compile("Merge into")).click()
        bench.fill("#merge-into", "twin")  # the other of the two, not this one itself
        bench.locator("#merge").get_by_role("button", name="Merge", exact=True).click()
    done(bench, "Merged 2 groups")
    found = labels(server)
    assert found[one] == found[other]
    undo(bench, server, before)
    expect(bench.locator("#banner")).to_contain_text("Took back")
    bench.keyboard.press("Control+z")  # twice at once: none of the two is lost
    bench.keyboard.press("Control+z")
    wait_until(lambda: truth_of(server) == at_first)


def test_keys_select_a_range_open_an_item_and_undo(bench: Page, server: LabelServer):
    before = truth_of(server)
    start = tile(bench, 1, 0)
    assert start.get_attribute("tabindex") == "0"
    assert wall(bench, 1).locator(".thumb[tabindex='0']").count() == 1
    start.focus()
    bench.keyboard.press("Space")
    bench.keyboard.press("Shift+ArrowRight")
    bench.keyboard.press("Shift+ArrowRight")
    expect(bench.locator("#bench-count")).to_have_text("3 selected")
    bench.keyboard.press("Enter")
    expect(bench.locator("#item")).to_be_visible()
    bench.keyboard.press("Escape")
    expect(bench.locator("#item")).to_be_hidden()
    expect(bench.locator("#bench-count")).to_have_text("3 selected")
    bench.get_by_role("button", name="Set aside", exact=True).press("Enter")
    done(bench, "Set aside 3 items")
    bench.keyboard.press("Control+z")
    expect(bench.locator("#banner")).to_contain_text("Took back", timeout=30_000)
    assert truth_of(server) == before
    bench.keyboard.press("Control+y")
    expect(bench.locator("#banner")).to_contain_text("Put back", timeout=30_000)
    assert len(truth_of(server)) == len(before) + 3
    bench.keyboard.press("Control+z")
    expect(bench.locator("#banner")).to_contain_text("Took back", timeout=30_000)


def test_shift_click_a_band_and_a_drop_on_a_head(server: LabelServer, page: Page):
    before = truth_of(server)
    page.goto(server.url + "#clusters")
    page.wait_for_selector(".thumb[data-item]", timeout=90_000)
    tile(page, 0, 1).click()
    tile(page, 0, 4).click(modifiers=["Shift"])
    expect(page.locator("#bench-count")).to_have_text("4 selected")
    page.keyboard.press("Escape")
    expect(page.locator("#bench")).to_be_hidden()
    one, last = tile(page, 0, 0).bounding_box(), tile(page, 0, 2).bounding_box()
    page.mouse.move(one["x"] + 3, one["y"] + 3)
    page.mouse.down()
    page.mouse.move(last["x"] + 30, last["y"] + 40, steps=6)
    expect(page.locator(".band")).to_be_visible()
    page.mouse.up()
    expect(page.locator("#bench-count")).to_have_text("3 selected")
    chosen = [item(tile(page, 0, n)) for n in (0, 1, 2)]
    page.mouse.move(one["x"] + 20, one["y"] + 20)
    page.mouse.down()
    head = wall(page, 1).locator(".head")
    head.scroll_into_view_if_needed()
    goal, box = title(page, 1), head.bounding_box()
    to = item(tile(page, 1, 0))
    page.mouse.move(box["x"] + 30, box["y"] + 10, steps=6)
    expect(page.locator(".head.target")).to_have_count(1)
    page.mouse.up()
    done(page, f"Moved 3 items to {goal}")
    found = labels(server)
    assert set(found[chosen]) == {found[to]}
    undo(page, server, before)


def test_names_are_completed_and_thumbnails_have_a_size_that_is_kept(
    bench: Page, server: LabelServer
):
    before = truth_of(server)
    field = wall(bench, 2).locator(".head input")
    own = bench.viewport_size["width"]
    field.fill(f"name of {own}")
    field.press("Enter")
    bench.wait_for_function(
        "name => [...document.querySelectorAll('#group-names option')].some(o => o.value === name)",
        arg=f"name of {own}",
    )
    for one in (field, bench.locator("#move-to"), bench.locator("#merge-into")):
        assert one.get_attribute("list") == "group-names"
    small = tile(bench, 0, 0).bounding_box()["width"]
    bench.locator("#tile-size").fill("150")
    bench.wait_for_function(
        "small => document.querySelector('.thumb').getBoundingClientRect().width > small + 40",
        arg=small,
    )
    large = tile(bench, 0, 0).bounding_box()
    assert abs(large["width"] - large["height"]) <= 2  # pictures are not cut
    bench.reload()
    bench.wait_for_selector(".thumb[data-item]")
    assert abs(tile(bench, 0, 0).bounding_box()["width"] - large["width"]) <= 2
    bench.keyboard.press("Control+z")
    expect(bench.locator("#banner")).to_contain_text("Took back", timeout=30_000)
    assert truth_of(server) == before


def test_double_click_opens_and_tiles_bear_the_names_of_files(server: LabelServer, page: Page):
    page.goto(server.url + "#clusters")
    page.wait_for_selector(".thumb[data-item]", timeout=90_000)
    one = tile(page, 0, 0)
    assert one.get_attribute("aria-label").startswith(f"{item(one):03d}")
    one.dblclick()
    expect(page.locator("#item")).to_be_visible()
    expect(page.locator("#item-title")).to_contain_text(f"{item(one):03d} in ")


def test_the_map_is_walked_by_keys_zoomed_and_lassoed(bench: Page, server: LabelServer):
    before = truth_of(server)
    bench.click("[data-look=map]")
    board = bench.locator("#canvas")
    expect(bench.locator("#legend li")).not_to_have_count(0)
    board.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        bench.keyboard.press(key)
    expect(bench.locator("#live")).to_contain_text(" in ")
    expect(bench.locator("#hover img")).to_be_visible()
    bench.keyboard.press("Space")
    expect(bench.locator("#bench-count")).to_have_text("1 selected")
    bench.keyboard.press("Enter")
    expect(bench.locator("#item")).to_be_visible()
    bench.keyboard.press("Escape")
    bench.keyboard.press("Escape")
    expect(bench.locator("#bench")).to_be_hidden()
    bench.keyboard.press("+")
    bench.keyboard.press("0")
    bench.click("#map-lasso")
    box = board.bounding_box()
    corners = ((0.02, 0.2), (0.98, 0.2), (0.98, 0.98), (0.02, 0.98))
    places = [(box["x"] + a * box["width"], box["y"] + b * box["height"]) for a, b in corners]
    bench.mouse.move(*places[0])
    bench.mouse.down()
    for place in (*places[1:], places[0]):
        bench.mouse.move(*place, steps=4)
    bench.mouse.up()
    count = int(bench.locator("#bench-count").inner_text().split()[0])
    assert count > 100
    bench.get_by_role("button", name="Set aside", exact=True).click()
    done(bench, f"Set aside {count} items")
    undo(bench, server, before)


def test_a_doubt_is_worked_through_in_review(bench: Page, server: LabelServer):
    a = bench.viewport_size["width"] % 100  # other items in either size
    with server.client() as client:
        for n, (i, j, word, who) in enumerate(
            (
                (a, a + 1, "same", "ann"),
                (a + 1, a + 2, "same", "eve"),
                (a, a + 2, "different", "bob"),
            )
        ):
            seq = client.get("/api/history").json()["total"]
            key, who = f"review-{seq:08d}-{n}", f"{who} {seq}"
            body = {"annotator": who, "key": key, "i": i, "j": j, "answer": word, "seq": seq}
            reply = client.post("/api/answers", json=body)
            assert reply.status_code == 200, reply.text
    before = truth_of(server)
    bench.goto(bench.url.split("#")[0] + "#review")
    bench.reload()
    expect(bench.locator("#review-words")).to_contain_text("to look at", timeout=60_000)
    expect(bench.locator("#wrongs")).to_be_visible()
    bench.get_by_role("button", name="Keep: it is right").click()
    expect(bench.locator("#banner")).to_contain_text("Kept")
    assert len(truth_of(server)) > len(before)
    bench.keyboard.press("Control+z")
    expect(bench.locator("#banner")).to_contain_text("Took back")
    assert truth_of(server) == before
    bench.locator("#review-card").get_by_role("button", name="Take back").click()
    expect(bench.locator("#review-card .but")).to_have_count(0, timeout=60_000)  # no chain is left
    assert len(truth_of(server)) < len(before)
