"""A real labelling server for the tests: ``superpac label`` in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from postgres import unavailable
from superpac.answers.events import Event
from superpac.data import load
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.workspace import Workspace, find_or_create

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_ARGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
T = TypeVar("T")
# What is started from a script in the background ignores these, and so would its children.
_HEARS_SIGNALS = ("env", "--default-signal=INT,HUP")
_RUN = "import sys; sys.argv[0] = 'superpac'; from superpac import cli; cli.main()"


def digits_file(folder: Path, classes: int = 5, per_class: int = 40) -> Path:
    """Write a few digits to a file; the ids say the class only to those who know how."""
    part = load("digits").sample_classes(classes, per_class, seed=1)
    path = folder / "digits.npz"
    images = part.X.reshape(-1, 8, 8)
    np.savez(path, X=images, ids=np.array([f"{n:03d}" for n in range(len(part))]))
    np.save(folder / "truth.npy", part.y)
    return path


class LabelServer:
    """Runs ``superpac label`` on a free port; `args` are added to the command."""

    def __init__(
        self, folder: Path, data: Path | str, *args: str, k: int = 5, store: str | None = None
    ) -> None:
        self.folder = folder
        self.store = store or str(folder / "answers.sqlite3")
        self.token_file = folder / "token"
        self.command = [
            *(sys.executable, "-c", _RUN, "label", str(data), "-k", str(k), "--no-browser"),
            *("--affinity", "tsc:q=4", "--store", self.store),
            *(() if data == "usps" else ("--dim", "3")),
            *("--token-file", str(self.token_file), *args),
        ]
        self.port = 0
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        errors = (self.folder / "stderr.txt").open("a")
        self.process = subprocess.Popen(
            [*_HEARS_SIGNALS, *self.command, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )
        errors.close()
        line = self.process.stdout.readline()
        found = re.search(r"(http://\S+:(\d+)/)\?token=(\S+)", line)
        assert found, f"{line!r}; {(self.folder / 'stderr.txt').read_text()[-2000:]}"
        self.line = line
        self.url, self.token = found[0], found[3]
        self.origin = found[1].rstrip("/")
        self.port = int(found[2])

    @property
    def truth(self) -> np.ndarray:
        """Classes of the digits that :func:`digits_file` wrote."""
        return np.load(self.folder / "truth.npy")

    @property
    def pid(self) -> int:
        return self.process.pid

    def client(self, **headers: str) -> httpx.Client:
        auth = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.origin, headers={**auth, **headers}, timeout=30)

    def wait_ready(self, timeout: float = 120.0) -> LabelServer:
        end = time.monotonic() + timeout
        with self.client() as client:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    found = client.get("/api/session").json()
                    assert found["phase"] != "failed", found
                    if found["usable"]:
                        return self
                assert time.monotonic() < end, "the server did not get ready"
                time.sleep(0.1)

    def static(self) -> list[str]:
        """Addresses of the style sheet, the scripts and the icon, as the page names them."""
        with self.client() as client:
            return sorted(set(re.findall(r'"(/static/[^"]+)"', client.get("/").text)))

    def events(self) -> list[Event]:
        with open_store(self.store, read_only=True) as store:
            return store.open(store.sessions()[0].info.id).events()

    def kill(self, how: int = signal.SIGKILL) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(how)
            self.process.wait(timeout=30)
            self.process.stdout.close()
            self.process = None

    def stop(self) -> None:
        self.kill(signal.SIGTERM)


def make_workspace(
    folder: Path, strategy: str = "superpac-pinned", per_class: int = 40, **options: Any
) -> Workspace:
    """A page's session on a few digits, inside this process."""
    data = load(str(digits_file(folder, per_class=per_class)))
    store = open_store(folder / "s.sqlite3")
    settings = {"explore": 0} if strategy == "superpac-pinned" else {}
    spec = Spec(5, "tsc:q=4", strategy, settings, 3)
    log, _ = find_or_create(store, data, spec, None, {"what": "digits.npz"})
    return Workspace(data, store, log, **options)


def wait_until(test: Callable[[], bool], timeout: float = 120.0) -> None:
    """Wait for something that takes as long as the machine lets it; fail if it never comes."""
    end = time.monotonic() + timeout
    while not test():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def await_here(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread: the event loop of a browser may be running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


class Robot:
    """Answers through the API the way another tool would."""

    def __init__(self, client: httpx.Client, truth: np.ndarray, name: str = "") -> None:
        self.client, self.truth, self.name = client, truth, name
        self.mark = uuid4().hex  # id() is given out again, a key never
        self.keys = 0
        self.question: dict[str, Any] | None = None

    def ask(self, shape: str = "pair") -> dict[str, Any] | None:
        """Wait for the next question; None when everything is settled."""
        while True:
            wish = {"annotator": self.name, "shape": shape}
            answer = self.client.post("/api/question", json=wish)
            answer.raise_for_status()
            self.question = answer.json()["question"]
            if self.question is not None or answer.json()["finished"]:
                return self.question
            time.sleep(0.25)  # as the page does

    def body(self, said: str | None = None) -> dict[str, Any]:
        q = self.question
        i, j = q["item"]["item"], q["others"][0]["item"]
        self.keys += 1
        right = "same" if self.truth[i] == self.truth[j] else "different"
        return {
            "annotator": self.name,
            "key": f"{re.sub('[^a-z0-9]', '', self.name)}-{self.mark}-{self.keys:06d}"[-60:],
            "i": i,
            "j": j,
            "answer": said or right,
            "seq": q["seq"],
            "elapsed_ms": 700,
        }

    def answer(self, said: str | None = None) -> httpx.Response:
        if self.question is None:
            self.ask()
        reply = self.client.post("/api/answers", json=self.body(said))
        self.question = reply.json().get("question")
        return reply


@dataclass
class Crowd:
    """What happened to people who answered at the same time."""

    codes: Counter[int] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)  # people who could not go on
    accepted: list[int] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)  # seconds from each answer to its reply
    twice: list[tuple[object, ...]] = field(default_factory=list)  # pairs before two people at once


def answer_together(server: LabelServer, people: int, each: int, name: str = "person") -> Crowd:
    """Let people answer at a human pace, so many questions each."""
    crowd, shown, lock = Crowd(), {}, threading.Lock()
    truth = server.truth

    def person(number: int) -> None:
        rng = np.random.default_rng(number)
        own = f"{name} {number}"
        with server.client() as client:
            robot = Robot(client, truth, own)
            time.sleep(rng.uniform(0, 1.5))
            robot.ask()
            for _ in range(each):
                if robot.question is None and robot.ask() is None:
                    return
                q = robot.question
                pair = tuple(sorted((q["item"]["item"], q["others"][0]["item"])))
                with lock:
                    if shown.get(pair, own) != own:
                        crowd.twice.append((pair, own, shown[pair]))
                    shown[pair] = own
                time.sleep(rng.uniform(1.0, 2.0))  # people look before they answer
                with lock:
                    shown.pop(pair, None)
                begun = time.monotonic()
                reply = robot.answer()
                with lock:
                    crowd.waits.append(time.monotonic() - begun)
                    crowd.codes[reply.status_code] += 1
                    if reply.status_code == 200:
                        receipts = reply.json()["receipts"]
                        crowd.accepted += [r["seq"] for r in receipts if r["recorded"]]

    def try_person(number: int) -> None:
        try:
            person(number)
        except httpx.HTTPError as error:
            crowd.refused.append(str(error))

    threads = [threading.Thread(target=try_person, args=(n,)) for n in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return crowd


@pytest.fixture
def strict_server(tmp_path: Path) -> Iterator[LabelServer]:
    """Takes answers as law, with a strategy that has no belief."""
    server = LabelServer(tmp_path, digits_file(tmp_path), "--strategy", "superpac-pinned")
    yield server.wait_ready()
    server.stop()


@pytest.fixture(scope="session")
def label_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    """One server on 200 digits for the tests that do not end it."""
    folder = tmp_path_factory.mktemp("label")
    server = LabelServer(folder, digits_file(folder)).wait_ready()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, the system's own."""
    if not Path(CHROMIUM).exists():
        unavailable("Chromium is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a fresh page; an error in it fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not errors, errors


def wait_for_question(page: Page) -> None:
    """Wait until a question is shown; where the goal is reached, go on asking."""
    shown = "#ask:not([hidden]) #stage .card"
    page.wait_for_selector(f"{shown}, #go-on:visible", timeout=90_000)
    # Pressed within the page, in one step: between looking and clicking, a question may come.
    page.evaluate(
        "() => { const button = document.getElementById('go-on');"
        " if (button.checkVisibility()) button.click(); }"
    )
    page.wait_for_selector(shown, timeout=90_000)


class Person:
    """Looks at the page and answers by its keys."""

    def __init__(self, page: Page, truth: np.ndarray) -> None:
        self.page, self.truth = page, truth

    def wait(self) -> Person:
        wait_for_question(self.page)
        return self

    def shown(self) -> tuple[int, int]:
        names = self.page.eval_on_selector_all(
            "#stage figcaption", "all => all.map(e => e.textContent)"
        )
        return int(names[0]), int(names[1])

    def right(self) -> str:
        i, j = self.shown()
        return "s" if self.truth[i] == self.truth[j] else "d"

    def press(self, key: str) -> None:
        """Press a key and wait for the next question."""
        before = self.page.inner_text("#stage")
        self.page.wait_for_timeout(140)
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => !document.getElementById('ask').classList.contains('busy')"
            " && (document.getElementById('stage').innerText !== before"
            " || !document.getElementById('done').hidden)",
            arg=before,
            timeout=60_000,
        )
        if self.page.locator("#go-on").is_visible():  # the goal is reached: this person goes on
            self.wait()

    def answer(self, count: int = 1) -> None:
        for _ in range(count):
            self.press(self.right())
