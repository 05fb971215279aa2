"""Limits on time and memory: each is measured here and printed beside what is allowed.

    python benchmarks/limits.py                 # all, some ten minutes on two idle cores
    python benchmarks/limits.py log people     # some; --list names them

The tests time nothing, since a busy machine would fail them; run this on an idle one. It needs what
the tests need. A measurement that cannot be made here (no PostgreSQL, no Chromium, no USPS) says
so. Ends with 1 if a limit was exceeded.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from labelling import (
    CHROMIUM,
    CHROMIUM_ARGS,
    LabelServer,
    Person,
    Robot,
    answer_together,
    digits_file,
    make_workspace,
    wait_until,
)
from long_log import write_long_log
from postgres import PostgresServer
from superpac.answers.constraints import Constraints
from superpac.data import load
from superpac.data.drawings import write_drawings
from superpac.errors import SuperpacError
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle
from superpac.store import StoreFailure, new_info, open_store
from superpac.system.optional import require

Measured = tuple[str, float, float, str]  # what, value, limit, unit
MEASURES: dict[str, Callable[[Path], Iterator[Measured]]] = {}
ANSWER = {"i": 1, "j": 2, "answer": "same"}


def measure(work: Callable[[Path], Iterator[Measured]]) -> Callable[[Path], Iterator[Measured]]:
    """Enter a measurement under its name; it is given an empty folder."""
    MEASURES[work.__name__] = work
    return work


def cpu_of(*command: str) -> float:
    """Processor seconds of a process and its children; the least of three runs."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


@measure
def commands(folder: Path) -> Iterator[Measured]:
    """Commands that need no clustering."""
    superpac = [sys.executable, "-m", "superpac"]
    for word in ("--version", "--help"):
        yield f"superpac {word}", cpu_of(*superpac, word), 0.35, "CPU s"
    items, store = load("digits"), str(folder / "a.sqlite3")
    with open_store(store) as kept:
        spec = Spec(10, "tsc:q=5")
        session = Session.create(items, spec, store=kept, name="digits", source="digits")
        oracle = TruthOracle(items.y)
        for _ in range(100):
            session.tell(oracle(session.ask()))
    for words in (
        ["status", "digits"],
        ["undo", "digits"],
        ["export", "digits", "--format", "answers", "-o", str(folder / "answers.csv")],
    ):
        yield (
            f"superpac {' '.join(words[:4])}",
            cpu_of(*superpac, *words, "--store", store),
            1.0,
            "CPU s",
        )


READ = """
import re, sys, time
from pathlib import Path
from superpac.store import open_store
begun = time.process_time()
with open_store(sys.argv[1]) as store:
    store.open("x").events()
seconds = time.process_time() - begun
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(seconds, int(peak[1]) / 1024)
"""


@measure
def log(folder: Path) -> Iterator[Measured]:
    """A log of 100,000 events, read and folded."""
    path = folder / "a.sqlite3"
    write_long_log(path, 100_000)
    runs = [
        subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(3)
    ]
    yield "read a log of 100,000 events", min(float(run[0]) for run in runs), 2.0, "CPU s"
    yield "memory for it", min(float(run[1]) for run in runs), 300.0, "MB"
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, 10_000)
    pairs = rng.integers(0, 10_000, (100_000, 2))
    pairs[:, 1] = np.where(pairs[:, 0] == pairs[:, 1], (pairs[:, 1] + 1) % 10_000, pairs[:, 1])
    truth = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(100_000) < 0.05)
    said = np.where(truth, "same", "different")
    begun = time.process_time()
    Constraints.fold(10_000, pairs, said, on_conflict="collect")
    yield "fold 100,000 answers, 5% wrong", time.process_time() - begun, 2.0, "CPU s"


@measure
def error(folder: Path) -> Iterator[Measured]:
    """What a simulation pays after every question."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 10_000)
    other = np.where(rng.random(y.size) < 0.3, rng.integers(0, 10, y.size), y)
    begun = time.process_time()
    for _ in range(100):
        clustering_error(y, other)
    yield "clustering error of 10,000 points", 10 * (time.process_time() - begun), 1.0, "CPU ms"


@measure
def refusal(folder: Path) -> Iterator[Measured]:
    """How soon a person is told that nothing can be saved."""
    path = folder / "a.sqlite3"
    with open_store(path) as store:
        log = store.create(new_info("x", fingerprint="f", n_items=10))
        log.append("answer", ANSWER)
        path.unlink()
        yield (
            "refuse an answer, store removed",
            _refused(lambda: log.append("answer", ANSWER)),
            1.0,
            "s",
        )
    yield (
        "refuse a PostgreSQL address where nobody is",
        _refused(lambda: open_store("postgresql://u:secret@127.0.0.1:1/x")),
        3.0,
        "s",
    )


def _refused(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    try:
        work()
    except SuperpacError:
        return time.monotonic() - begun
    raise AssertionError("it was not refused")


@measure
def pictures(folder: Path) -> Iterator[Measured]:
    """A large picture."""
    photos = folder / "photos"
    photos.mkdir()
    for k in range(2):
        Image.new("RGBA", (7000, 7000), (200, 100, k, 255)).save(
            photos / f"{k}.png", compress_level=1
        )
    items = load(photos, size=8)
    begun = time.process_time()
    items.draw(0, 200)
    yield "draw a photograph of 49 megapixels", time.process_time() - begun, 2.0, "CPU s"


@measure
def reconnect(folder: Path) -> Iterator[Measured]:
    """PostgreSQL killed under a person's hands."""
    server = PostgresServer(fsync=True)
    try:
        with open_store(server.database()) as store:
            log = store.create(new_info("x", fingerprint="f", n_items=10))
            waits = []
            for n in range(5):
                log.append("answer", ANSWER, key=f"before-{n}")
                server.kill()
                server.start()
                begun = time.monotonic()
                while True:
                    try:
                        log.append("answer", ANSWER, key=f"after-{n}")
                        break
                    except StoreFailure as failure:
                        if not failure.retryable:
                            raise
                waits.append(time.monotonic() - begun)
        yield "answer again after PostgreSQL was killed", max(waits), 10.0, "s"
    finally:
        server.stop()


@measure
def people(folder: Path) -> Iterator[Measured]:
    """Fifty people on one PostgreSQL session."""
    postgres = PostgresServer(fsync=False)
    try:
        data = digits_file(folder, classes=10, per_class=80)
        server = LabelServer(folder, data, k=10, store=postgres.database()).wait_ready()
        try:
            crowd = answer_together(server, 50, 6)
        finally:
            server.stop()
        p99 = 1000 * float(np.percentile(crowd.waits, 99))
        yield "50 annotators, answer to next question, p99", p99, 200.0, "ms"
    finally:
        postgres.stop()


@measure
def worker(folder: Path) -> Iterator[Measured]:
    """The computing process killed."""
    workspace = make_workspace(folder)
    workspace.start()
    service = workspace.service
    try:
        wait_until(lambda: service.model() is not None)
        old = service.models.pid
        asked = service.ask("ann").question
        os.kill(old, signal.SIGKILL)
        begun = time.monotonic()
        service.answer("ann", asked.pair, "different", seq=asked.seq, key="after-the-kill")
        service.ask("ann")
        yield (
            "answer and next question, computing process killed",
            time.monotonic() - begun,
            1.0,
            "s",
        )
        wait_until(lambda: service.models.pid not in (None, old))
        yield "computing process started anew", time.monotonic() - begun, 5.0, "s"
    finally:
        workspace.stop()


@measure
def late(folder: Path) -> Iterator[Measured]:
    """Questions ranked before the last answer was taken in, at one answer per second on USPS."""
    truth = load("usps").y
    server = LabelServer(folder, "usps", k=10).wait_ready(300)
    try:
        with server.client() as client:
            person = Robot(client, truth, "ann")
            person.ask()
            waits = []
            for _ in range(150):
                time.sleep(1.0)
                begun = time.monotonic()
                person.answer()
                while person.question is None:
                    time.sleep(0.05)
                    person.ask()
                waits.append(time.monotonic() - begun)
            found = client.get("/api/progress").json()
    finally:
        server.stop()
    share = 100.0 * found["late"] / found["questions"]
    yield "late questions, USPS, one answer per second", share, 2.0, "%"
    yield "answer to next question, the same, p95", 1000 * np.percentile(waits, 95), 100.0, "ms"


@measure
def photos(folder: Path) -> Iterator[Measured]:
    """From the command to the first question: 800 drawings through the encoder for photos."""
    require("features", "photos")
    write_drawings(folder / "drawings", 50)
    before = os.environ.get("SUPERPAC_CACHE")
    os.environ["SUPERPAC_CACHE"] = str(folder / "cache")
    try:
        for words, store, limit in (("first", "1", 40.0), ("second", "2", 5.0)):
            begun = time.monotonic()
            given = ("-k", "auto", "--affinity", "auto")
            page = LabelServer(folder, folder / "drawings", *given, store=str(folder / store))
            page.wait_ready()
            with page.client() as client:
                person = Robot(client, np.zeros(800, dtype=int), "ann")
                person.ask()
                while person.question is None:
                    time.sleep(0.05)
                    person.ask()
            yield (
                f"800 pictures, command to first question, {words} time",
                time.monotonic() - begun,
                limit,
                "s",
            )
            page.stop()
    finally:
        os.environ.pop("SUPERPAC_CACHE")
        if before is not None:
            os.environ["SUPERPAC_CACHE"] = before


@measure
def server(folder: Path) -> Iterator[Measured]:
    """A page that strangers try to hold up, and that is asked to stop under load."""
    page = LabelServer(folder, digits_file(folder)).wait_ready()
    slow = []
    for n in range(100):
        sock = socket.create_connection(("127.0.0.1", page.port), timeout=10)
        sock.sendall(b"POST /api/undo HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"a" * n)
        slow.append(sock)
    waits = []
    with page.client() as client:
        for _ in range(20):
            begun = time.monotonic()
            client.get("/api/question").raise_for_status()
            client.get("/picture/3").raise_for_status()
            waits.append(time.monotonic() - begun)
    for sock in slow:
        sock.close()
    yield "question and picture beside 100 slow sockets, slowest", max(waits), 1.0, "s"
    stopped = threading.Event()

    def hammer(number: int) -> None:
        with page.client() as client:
            robot = Robot(client, page.truth, f"load{number}")
            while not stopped.is_set():
                try:
                    robot.answer()
                except Exception:  # the server is gone
                    return

    threads = [threading.Thread(target=hammer, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    begun = time.monotonic()
    page.stop()
    yield "stop under load", time.monotonic() - begun, 10.0, "s"
    stopped.set()
    for thread in threads:
        thread.join()


@measure
def paint(folder: Path) -> Iterator[Measured]:
    """From a key press to the next pair painted, in the browser, on 9,298 handwritten digits."""
    from playwright.sync_api import sync_playwright

    if not Path(CHROMIUM).exists():
        pytest.skip("Chromium is not installed")
    truth = load("usps").y
    page_server = LabelServer(folder, "usps", k=10)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            page = browser.new_page()
            page.goto(page_server.url)
            page.wait_for_selector("#ask:not([hidden]) #stage .card", timeout=240_000)
            person = Person(page, truth)
            for _ in range(60):
                page.wait_for_timeout(560)  # with the pause in press: 0.7 s per pair
                person.press(person.right())
            page.wait_for_timeout(300)
            times = page.evaluate(
                "() => performance.getEntriesByName('answer-to-paint').map((e) => e.duration)"
            )
            browser.close()
    finally:
        page_server.stop()
    yield (
        "key press to the next pair painted, USPS, p95",
        float(np.percentile(times, 95)),
        100.0,
        "ms",
    )


FRAMES = """async ([act, seconds]) => {
    const step = {
        scroll: (n) => window.scrollBy(0, (Math.floor(n / 60) % 2 ? -1 : 1) * 90),
        map: (n) => {
            const box = document.querySelector("#canvas").getBoundingClientRect();
            const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
            const deltaY = Math.floor(n / 40) % 2 ? 20 : -20;
            const options = { ...at, deltaY, bubbles: true, cancelable: true };
            document.querySelector("#canvas").dispatchEvent(new WheelEvent("wheel", options));
        },
    }[act];
    const begun = performance.now();
    let frames = 0;
    while (performance.now() - begun < 1000 * seconds) {
        step(frames);
        await new Promise(requestAnimationFrame);
        frames += 1;
    }
    return frames / seconds;
}"""


@measure
def large(folder: Path) -> Iterator[Measured]:
    """Clusters, map and history of 100,000 pictures in the browser: paint, frames, requests."""
    from playwright.sync_api import Response, sync_playwright

    if not Path(CHROMIUM).exists():
        pytest.skip("Chromium is not installed")
    digits = load("digits")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(digits), 100_000)
    X = np.clip(digits.X[rows] + rng.integers(-1, 2, (rows.size, 64)), 0, 16).astype(np.uint8)
    np.savez(folder / "many.npz", X=X, image_shape=(8, 8))
    page_server = LabelServer(folder, folder / "many.npz", k=10)
    bytes_of: dict[str, int] = {}

    def note(response: Response) -> None:
        bytes_of[response.url] = int(response.headers.get("content-length", 0))

    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(page_server.url)
            page.wait_for_selector("#ask:not([hidden]) #stage .card", timeout=900_000)
            page.on("response", note)
            for view, ready in (
                ("clusters", "#clusters:not([hidden]) .thumb img"),
                ("history", "#history:not([hidden]) h1"),
            ):
                page.goto("about:blank")
                begun = time.perf_counter()
                page.goto(f"{page_server.origin}/#{view}")
                page.wait_for_selector(ready, timeout=60_000)
                yield f"{view} of 100,000 items, seen", time.perf_counter() - begun, 1.0, "s"
            page.goto(f"{page_server.origin}/#clusters")
            page.wait_for_selector("#clusters:not([hidden]) .thumb img", timeout=60_000)
            walls = page.evaluate(FRAMES, ["scroll", 5])
            begun = time.perf_counter()
            page.click("[data-look=map]")
            page.wait_for_selector("#map:not([hidden]) #canvas", timeout=60_000)
            page.wait_for_timeout(50)
            page.evaluate("() => new Promise(requestAnimationFrame)")
            yield "map of 100,000 items, seen", time.perf_counter() - begun, 1.0, "s"
            zoomed = page.evaluate(FRAMES, ["map", 5])
            browser.close()
    finally:
        page_server.stop()
    yield "walls, milliseconds per frame while scrolling", 1e3 / walls, 20.0, "ms"
    yield "map, milliseconds per frame while zooming", 1e3 / zoomed, 20.0, "ms"
    yield "largest response", max(bytes_of.values()) / 1e6, 1.0, "MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="which; all by default")
    parser.add_argument("--list", action="store_true", help="name the measurements and end")
    args = parser.parse_args()
    if args.list:
        for name, work in MEASURES.items():
            print(f"{name:10} {(work.__doc__ or '').splitlines()[0]}")
        return
    unknown = sorted(set(args.names) - set(MEASURES))
    if unknown:
        parser.error(f"no measurement {', '.join(unknown)}; there are: {', '.join(MEASURES)}")
    exceeded = 0
    for name in args.names or MEASURES:
        folder = Path(tempfile.mkdtemp(prefix="superpac-limits-"))
        try:
            for what, value, limit, unit in MEASURES[name](folder):
                over = value > limit
                exceeded += over
                word = "OVER" if over else "ok"
                print(f"{what:58} {value:9.3f}  limit {limit:7g} {unit:6} {word}", flush=True)
        except (SuperpacError, pytest.skip.Exception, pytest.fail.Exception) as reason:
            print(f"{name:58} not measured: {reason}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    load_now = os.getloadavg()[0]
    print(f"Load of the machine at the end: {load_now:.1f} on {os.cpu_count()} cores.")
    sys.exit(1 if exceeded else 0)


if __name__ == "__main__":
    main()
