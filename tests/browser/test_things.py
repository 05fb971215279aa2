"""Texts, sounds, rows and photos as people look at them, listen to them and answer, in Chromium."""

from __future__ import annotations

import csv
import io
import wave
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from labelling import Person
from things_page import ThingsServer, truth

VIEWS = ("ask", "clusters", "history", "export")


@pytest.fixture(scope="module")
def serve(tmp_path_factory) -> Iterator[Callable[[str], ThingsServer]]:
    running: dict[str, ThingsServer] = {}

    def start(kind: str) -> ThingsServer:
        if kind not in running:
            running[kind] = ThingsServer(tmp_path_factory.mktemp(kind), kind).wait_ready()
        return running[kind]

    yield start
    for server in running.values():
        server.stop()


class Looker(Person):
    """Knows an item by the number in its name, such as that of 012.wav."""

    def shown(self) -> tuple[int, int]:
        names = self.page.eval_on_selector_all(
            "#stage figcaption", "all => all.map(e => e.textContent)"
        )
        first, second = (int(name.partition(".")[0]) for name in names)
        return first, second


def come(page: Page, server: ThingsServer) -> Looker:
    page.goto(server.url)
    looker = Looker(page, truth()).wait()
    if page.locator("#stage.strip").count():
        page.keyboard.press("p")
        page.wait_for_selector("#stage:not(.strip) .card + .card")
    return looker


def open_view(page: Page, view: str) -> None:
    page.click(f"nav a[data-view={view}]")
    expect(page.locator(f"#{view}")).to_be_visible()


def download(page: Page, form: str) -> bytes:
    open_view(page, "export")
    with page.expect_download() as found:
        page.click(f"#formats a[href$='/{form}']")
    return Path(found.value.path()).read_bytes()


def ask_about(page: Page, server: ThingsServer, i: int, j: int) -> None:
    """Have a pair asked that a test needs, in the page itself."""
    with server.client() as client:
        reply = client.post("/api/question", json={"item": i, "other": j, "annotator": ""})
    asked = reply.json()["question"]
    assert {asked["item"]["item"], asked["others"][0]["item"]} == {i, j}
    page.reload()
    Looker(page, truth()).wait()


@pytest.mark.parametrize("kind", ["text", "sound", "table", "image", "face"])
def test_every_kind_is_answered_listed_and_taken_along(serve, page: Page, kind: str):
    server = serve(kind)
    looker = come(page, server)
    looker.answer(3)
    answers = [e for e in server.events() if e.kind == "answer"]
    assert len(answers) >= 3
    for event in answers:
        same = truth()[event.body["i"]] == truth()[event.body["j"]]
        assert event.body["answer"] == ("same" if same else "different")
    open_view(page, "clusters")
    tiles = page.locator("#walls .thumb")
    expect(tiles.first).to_be_visible()
    assert tiles.count() <= len(truth())  # those in sight
    sizes = page.locator("#walls .head .muted").all_inner_texts()
    assert sum(int(words.split()[0]) for words in sizes) == len(truth())
    tiles.first.dblclick()
    expect(page.locator("#item .big")).to_be_visible()
    page.keyboard.press("Escape")
    open_view(page, "history")
    expect(page.locator("#events .event")).not_to_have_count(0)
    rows = list(csv.DictReader(io.StringIO(download(page, "csv").decode())))
    assert len(rows) == len(truth())
    with zipfile.ZipFile(io.BytesIO(download(page, "folders"))) as bundle:
        names = bundle.namelist()
        first = bundle.read(names[0])
    assert len(names) == len(truth())
    endings = {"text": ".txt", "sound": ".wav", "table": ".png", "image": ".jpg", "face": ".jpg"}
    assert {Path(name).suffix for name in names} == {endings[kind]}
    if kind == "text":
        assert {row["text"] for row in rows} >= {first.decode().strip()}


def test_words_that_differ_are_marked_and_markup_is_text(serve, page: Page):
    server = serve("text")
    come(page, server)
    ask_about(page, server, 24, 25)  # transfers to card and to watch
    frames = page.locator("#stage .words")
    shown = set(frames.all_inner_texts())
    assert shown == {
        f"How long does a transfer to {case} take <b>usually</b>?" for case in ("card", "watch")
    }
    marks = page.locator("#stage mark")
    assert sorted(marks.all_inner_texts()) == ["card", "watch"]
    line = marks.first.evaluate("node => getComputedStyle(node).textDecorationLine")
    assert line == "underline"  # not by colour alone
    assert page.locator("#stage b").count() == 0
    said = page.inner_text("#live")
    assert "How long does a transfer" in said
    page.keyboard.press("z")
    assert sorted(page.locator("#zoom mark").all_inner_texts()) == ["card", "watch"]


def test_texts_that_have_nothing_in_common_are_not_marked(serve, page: Page):
    server = serve("text")
    come(page, server)
    ask_about(page, server, 0, 13)
    assert page.locator("#stage .words").count() == 2
    assert page.locator("#stage mark").count() == 0


def test_values_that_differ_are_marked(serve, page: Page):
    server = serve("table")
    come(page, server)
    ask_about(page, server, 1, 26)
    shown = page.locator("#stage tbody tr")
    assert [row.split()[0] for row in shown.all_inner_texts()] == ["colour", "weight", "age"]
    marked = page.locator("#stage .far").all_inner_texts()
    colours = next(row for row in marked if row.startswith("colour"))
    assert "crimson" in colours
    assert "royalblue" in colours
    assert sum("weight" in row for row in marked) == 1


def test_two_rows_stand_in_one_table_with_bars_on_one_scale(serve, page: Page):
    server = serve("table")
    come(page, server)
    ask_about(page, server, 1, 26)
    expect(page.locator("#stage table")).to_have_count(1)
    heads = page.locator("#stage thead th").all_inner_texts()
    assert heads == page.locator("#stage figcaption").all_inner_texts()
    line = page.locator("#stage tbody tr", has_text="weight")
    values = [float(text) for text in line.locator("td").all_inner_texts()]
    shares = line.locator(".bar i").evaluate_all(
        "all => all.map(e => e.offsetWidth / e.parentElement.offsetWidth)"
    )
    with server.client() as client:
        low, high = client.get("/api/scales").json()[1]
        assert client.get("/api/scales").json()[0] is None  # words
    for value, share in zip(values, shares, strict=True):
        assert share == pytest.approx((value - low) / (high - low), abs=0.02)
    # the two values of a line are beside each other
    tops = line.locator("td").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert tops[0] == tops[1]


@pytest.mark.parametrize("width", [360, 1280])
def test_numbers_are_never_broken_over_lines(serve, page: Page, width: int):
    server = serve("table")
    page.set_viewport_size({"width": width, "height": 800})
    come(page, server)
    page.keyboard.press("p")
    page.wait_for_selector("#stage.strip .option", timeout=60_000)
    broken = """all => all.filter(e => {
        const range = document.createRange();
        range.selectNodeContents(e.firstChild);
        return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1;
    }).length"""
    cells = page.locator("#stage td.number")
    assert cells.count() >= 4
    assert cells.evaluate_all(broken) == 0
    page.keyboard.press("p")
    page.wait_for_selector("#stage .compare")
    assert page.locator("#stage td.number").evaluate_all(broken) == 0
    open_view(page, "clusters")
    page.locator("#walls .thumb").first.dblclick()
    expect(page.locator("#item td.number").first).to_be_visible()
    assert page.locator("#item td.number").evaluate_all(broken) == 0


PLAYED = """n => {
    const all = [...document.querySelectorAll('#stage audio')];
    return all[n] && all[n].played.length > 0 && all[n].played.end(0) > 0;
}"""


def test_sounds_are_played_by_keys_one_at_a_time(serve, page: Page):
    server = serve("sound")
    come(page, server)
    parts: list[int] = []
    page.on("response", lambda r: parts.append(r.status) if "/sound/" in r.url else None)
    players = page.locator("#stage audio[controls]")
    expect(players).to_have_count(2)
    expect(page.locator("#stage .sound img")).to_have_count(2)
    page.keyboard.press("j")
    page.wait_for_function(PLAYED, arg=0)
    page.keyboard.press("k")
    page.wait_for_function(PLAYED, arg=1)
    assert players.first.evaluate("node => node.paused")
    length = players.first.evaluate("node => node.duration")
    place = server.folder / "sound" / page.locator("#stage figcaption").first.inner_text()
    with wave.open(str(place)) as file:
        assert length == pytest.approx(file.getnframes() / file.getframerate(), abs=0.01)
    page.keyboard.press("p")
    page.wait_for_selector("#stage.strip .options .play")
    for n in (1, 2):
        page.keyboard.press("k")
        page.wait_for_function(PLAYED, arg=n)
    page.locator("#stage .play").first.click()
    assert page.locator("#stage.strip").count() == 1, "playing is no answer"
    assert set(parts) <= {200, 206}
    page.keyboard.press("p")
    page.wait_for_selector("#stage:not(.strip) .card + .card")


def answers_of(server: ThingsServer) -> int:
    return sum(e.kind in ("answer", "skip") for e in server.events())


def test_a_player_is_wound_by_keys_without_an_answer(serve, page: Page):
    server = serve("sound")
    come(page, server)
    before, shown = answers_of(server), page.inner_text("#stage")
    page.locator("#stage audio").first.focus()
    page.wait_for_timeout(200)
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", " "):
        page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert page.inner_text("#stage") == shown
    assert answers_of(server) == before


def test_a_long_text_is_scrolled_by_keys_without_an_answer(serve, page: Page):
    server = serve("text")
    come(page, server)
    before = answers_of(server)
    words = page.locator("#stage .words").first
    words.evaluate("node => { node.style.height = '20px'; node.style.fontSize = '40px'; }")
    words.focus()
    page.wait_for_timeout(200)
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.querySelector('#stage .words').scrollTop > 0")
    assert answers_of(server) == before
    page.keyboard.press("u")
    page.wait_for_function("() => !document.querySelector('#stage .words').style.height")
    assert answers_of(server) == before + 1


def natural(page: Page, selector: str) -> tuple[int, int]:
    """Width and height of a picture as it was sent, once it is there."""
    page.wait_for_function("s => document.querySelector(s)?.naturalWidth > 0", arg=selector)
    return tuple(page.eval_on_selector(selector, "node => [node.naturalWidth, node.naturalHeight]"))


def test_a_face_is_shown_with_the_photo_behind_it(serve, page: Page):
    server = serve("face")
    come(page, server)
    n = int(page.locator("#stage figcaption").first.inner_text().partition(".")[0])
    wide, high = natural(page, "#stage .card .frame img")
    assert abs(wide - high) <= 1
    assert 320 < wide < 400  # the face and what is around it
    expect(page.locator("#stage .behind")).to_have_count(2)
    wide, high = natural(page, "#stage .behind img")
    assert abs(wide / high - (1500 + 10 * n) / 1000) < 0.02
    page.locator("#stage .behind").first.click()
    large = page.locator("#zoom img")
    expect(large).to_have_count(1)
    page.wait_for_function(
        "wide => document.querySelector('#zoom img').naturalWidth === wide", arg=1500 + 10 * n
    )
    page.keyboard.press("Escape")
    page.locator("#stage .frame img").first.click()
    assert natural(page, "#zoom img")[0] < 400
    page.keyboard.press("Escape")
    open_view(page, "clusters")
    page.locator("#walls .thumb").first.dblclick()
    assert natural(page, "#item .behind img")[0] == 320
    page.locator("#item .behind").click()
    expect(large).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#item")).to_be_visible()


def test_a_photo_opens_alone_at_its_full_size(serve, page: Page):
    server = serve("image")
    come(page, server)
    name = page.locator("#stage figcaption").first.inner_text()
    page.locator("#stage .card img").first.click()
    large = page.locator("#zoom img")
    expect(large).to_have_count(1)
    wide = 1500 + 10 * int(name.partition(".")[0])  # as the file is
    page.wait_for_function(
        "wide => document.querySelector('#zoom img').naturalWidth === wide", arg=wide
    )
    large.click()
    expect(large).to_have_class("actual")
    assert large.evaluate("node => node.clientWidth") == wide
    large.click()
    expect(page.locator("#zoom")).to_be_hidden()
    page.keyboard.press("z")
    expect(large).to_have_count(2)


@pytest.mark.parametrize("kind", ["text", "sound", "table", "image", "face"])
def test_nothing_is_cut_off_on_a_phone(serve, browser: Browser, kind: str):
    server = serve(kind)
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    come(page, server)
    for button in page.locator("#answers button").all():
        box = button.bounding_box()
        assert box["y"] + box["height"] <= 740, "an answer is below the fold"
    page.tap("[data-shape=strip]")
    page.wait_for_selector("#stage.strip .options")
    for view in VIEWS:
        page.tap(f"nav a[data-view={view}]")
        expect(page.locator(f"#{view}")).to_be_visible()
        page.wait_for_timeout(300)
        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{view} is {wide} pixels too wide"
    context.close()
