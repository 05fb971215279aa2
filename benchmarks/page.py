"""How long a collection takes on the page: a scripted person in a real Chromium, by two uses of it.

    python benchmarks/page.py --out benchmarks/results/page.jsonl --jobs 1
    python benchmarks/page.py --out benchmarks/results/page.jsonl --only-table

The person knows the truth and works until less than 1% of the items are in a wrong cluster, or
until `BUDGET` seconds of all people together are over. Seconds are those of reading and of hands,
as stated here, plus those that the page made the person wait, as measured:

- 1 s to read and answer a pair (a key is pressed meanwhile), 1 s to look at the line of progress;
- 0.25 s per thumbnail that is looked at; what bears a ✓ is passed over;
- 0.8 s per click that selects; a run of neighbours takes two (click, then Shift and click);
- 2.5 s to name the group that a selection is moved to, 3 s to merge two groups.

2% are slips: a pair answered wrongly, a wrong item overlooked, a selection sent to another group.

*Pairs only* answers what is asked. *The page* is used as docs/labelling.md advises: 40 pairs first
and then, whenever ten are answered, a look at the line. Where the questions that it gives take
longer than looking at all that is not settled, or it gives none and still says that more than 15%
is wrong, the person goes to Clusters: merges groups that are one, by the first four thumbnails of
each, then looks through the walls, selects those of one kind that do not belong, and moves them.
After a round of this the line decides anew.

Two people work at once, each in a browser window of their own; whoever is free first acts next. In
Clusters they take turns at the walls. Computing has as much time as people take: the script waits
for it while a person would be reading, and goes on earlier only where nothing is left to compute.

A trial has a second kind, `paint`: from a key press to the next pair painted, on 10,000 digits.
"""

from __future__ import annotations

import csv
import os
import platform
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from playwright.sync_api import Page, sync_playwright

from common import COIL20, DIGITS10, FIRST_SEED, SEGMENT, kept_trials, parser_of
from labelling import CHROMIUM, CHROMIUM_ARGS, LabelServer, wait_for_question
from superpac import clustering_error, load
from superpac.data.benchmarks import data_folder

PAIR = LOOK = 1.0
THUMB = 0.25
CLICK = 0.8
MOVE = 2.5
MERGE = 3.0
HEAD = 4  # thumbnails by which a group is known
SLIPS = 0.02
FIRST, AGAIN = 40, 10  # answers before the first look at the line, and between two
MANY = 0.15  # share of wrong items that is mended sooner by hand
GOAL = 0.01
BUDGET = 900.0  # seconds
SETS = ("digits 10 x 100", "COIL-20", "faces, by the encoder for faces", "image segments, a table",
        "faces, by the one for photos")  # fmt: skip
USES = ("pairs only", "the page")


@dataclass(frozen=True)
class Collection:
    """What `superpac label` is started on, and the kind of each item by its name."""

    given: list[str]
    kind_of: Callable[[str], str]


def collection(name: str, folder: Path, seed: int) -> Collection:
    """Write a collection into a folder."""
    if name.startswith("faces"):
        with zipfile.ZipFile(data_folder() / "photos_lfw_half.zip") as file:
            file.extractall(folder)
        encoder = "face" if name.endswith("faces") else "image"
        photos = str(folder / "faces_lfw")
        return Collection([photos, "--features", encoder], lambda item: item.partition("/")[0])
    draw = {"COIL-20": COIL20, "digits 10 x 100": DIGITS10}.get(name, SEGMENT)
    items = draw.items(seed)
    kinds = [str(kind) for kind in items.y]
    if draw is SEGMENT:
        path = folder / "segments.csv"
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", *(f"c{n + 1}" for n in range(items.X.shape[1]))])
            rows.writerows([n, *map(float, row)] for n, row in enumerate(items.X))
    else:
        path = folder / "pictures.npz"
        side = round(items.X.shape[1] ** 0.5)
        ids = np.array([str(n) for n in range(len(items))])
        np.savez(path, X=items.X.reshape(-1, side, side), ids=ids)
    return Collection([str(path)], lambda item: kinds[int(item)])


class PlainServer(LabelServer):
    """`superpac label` with nothing but what a person gives: no number of clusters."""

    def start(self) -> None:
        """Leave out what the tests give, and start."""
        for option in ("-k", "--affinity", "--dim"):
            if option in self.command:
                at = self.command.index(option)
                del self.command[at : at + 2]
        super().start()


@dataclass
class Person:
    """Somebody at the page, with a clock of their own."""

    page: Page
    client: httpx.Client
    name: str
    rng: np.random.Generator
    truth: dict[str, str]
    clock: float = 0.0
    waited: float = 0.0
    answers: int = 0
    acts: Counter[str] = field(default_factory=Counter)

    def spend(self, what: str, seconds: float, times: int = 1) -> None:
        """Let the person's time pass."""
        self.acts[what] += times
        self.clock += seconds * times

    def wait(self, seconds: float) -> None:
        """Let the person wait for the page."""
        self.waited += seconds
        self.clock += seconds

    def slips(self) -> bool:
        """Whether this goes wrong."""
        return bool(self.rng.random() < SLIPS)

    def begin(self, url: str) -> None:
        """Open the page under one's name and choose pairs."""
        self.page.add_init_script(
            f"localStorage.setItem('superpac.annotator', {self.name!r});"
            "localStorage.setItem('superpac.shape', 'pair')"
        )
        self.page.goto(url)
        wait_for_question(self.page)

    def answer(self) -> bool:
        """Answer the pair before one; False where none is left."""
        page = self.page
        page.evaluate("() => { if (location.hash !== '#ask') location.hash = '#ask' }")
        page.wait_for_function(
            "() => !document.querySelector('#ask.busy') && (document.querySelector"
            "('#ask:not([hidden]) #stage .card') || !document.getElementById('done').hidden)",
            timeout=90_000,
        )
        if page.locator("#go-on").is_visible():
            wait_for_question(page)
        if not page.locator("#ask:not([hidden]) #stage .card").count():
            return False
        names = page.eval_on_selector_all("#stage figcaption", "all => all.map(e => e.textContent)")
        right = (self.truth[names[0]] == self.truth[names[1]]) != self.slips()
        self.spend("pairs", PAIR)
        self._let_compute(PAIR)
        before = page.evaluate("() => performance.getEntriesByName('answer-to-paint').length")
        page.wait_for_timeout(130)  # the page takes no key sooner after a question is shown
        begun = time.monotonic()
        page.keyboard.press("s" if right else "d")
        page.wait_for_function(
            "before => performance.getEntriesByName('answer-to-paint').length > before"
            " || !document.getElementById('done').hidden",
            arg=before,
            timeout=90_000,
        )
        times = page.evaluate(
            "() => performance.getEntriesByName('answer-to-paint').map(e => e.duration)"
        )
        self.wait(times[-1] / 1000 if len(times) > before else time.monotonic() - begun)
        self.answers += 1
        return True

    def _let_compute(self, seconds: float) -> None:
        """Wait until all that may follow is computed, at most as long as the person reads."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                given = {"annotator": self.name}
                if self.client.get("/api/ahead", params=given, timeout=left).json()["ready"]:
                    return
            except httpx.TimeoutException:
                return

    # walls

    def to_walls(self) -> None:
        """Go to Clusters, or look at them anew."""
        page = self.page
        page.evaluate("() => { location.hash = '#clusters' }")
        page.reload()  # somebody else may have moved things meanwhile
        page.wait_for_selector("#clusters:not([hidden]) .thumb[data-item]", timeout=90_000)

    def select(self, cluster: int, places: list[int], count: int) -> None:
        """Select tiles of a wall of `count`: by a click, or a run of neighbours by two."""
        runs: list[list[int]] = []
        for place in places:
            if runs and place == runs[-1][-1] + 1:
                runs[-1].append(place)
            else:
                runs.append([place])
        for run in runs:
            ends = [run[0]] if len(run) == 1 else [run[0], run[-1]]
            for n, place in enumerate(ends):
                self._click(cluster, place, count, ["Shift"] if n else [])
                self.spend("clicks", CLICK)

    def _click(self, cluster: int, place: int, count: int, held: list[str]) -> None:
        wall = self.page.locator(f".cluster[data-cluster='{cluster}'] .wall")
        wall.evaluate(
            """(wall, [n, count]) => {
                const box = wall.getBoundingClientRect();
                const top = window.scrollY + box.top + box.height * n / count;
                window.scrollTo({ top: top - window.innerHeight / 2 });
            }""",
            [place, count],
        )
        tile = wall.locator(f".thumb[data-n='{place}'][data-item]")
        tile.wait_for(timeout=30_000)
        tile.click(modifiers=held)  # type: ignore[arg-type]

    def acted(self, press: Callable[[], None]) -> None:
        """Do an act and wait until the walls follow; all of that is waiting."""
        begun = time.monotonic()
        seq = self.client.get("/api/clusters", params={"limit": 0}).json()["seq"]
        press()
        while True:
            found = self.client.get("/api/clusters", params={"limit": 0}).json()
            if found["seq"] > seq and found["fresh"]:
                break
            if time.monotonic() - begun > 60:
                raise RuntimeError(f"nothing came of it: {self.page.inner_text('#banner')}")
            time.sleep(0.03)
        self.wait(time.monotonic() - begun)
        self.page.reload()  # the walls as they are now, not a moment ago
        self.page.wait_for_selector("#clusters:not([hidden]) .thumb[data-item]", timeout=90_000)

    def move(self, goal: str) -> None:
        """Move what is selected to a group, or to a new one by a name that none has."""
        self.spend("moves", MOVE)
        self.page.fill("#move-to", goal)
        self.acted(self.page.get_by_role("button", name="Move", exact=True).click)

    def merge(self, cluster: int, goal: str) -> None:
        """Merge a group into another."""
        self.spend("merges", MERGE)
        head = self.page.locator(f".cluster[data-cluster='{cluster}'] .head")
        head.get_by_role("button", name="Merge").click()
        self.page.fill("#merge-into", goal)
        button = self.page.locator("#merge").get_by_role("button", name="Merge", exact=True)
        self.acted(button.click)


@dataclass
class Work:
    """A collection that one or two people work through."""

    people: list[Person]
    client: httpx.Client
    truth: dict[str, str]
    ids: list[str]

    def error(self) -> float:
        """Share of items in a wrong cluster, by the truth."""
        labels = self.client.get("/api/labels").json()["labels"]
        kinds = np.unique([self.truth[one] for one in self.ids], return_inverse=True)[1]
        return float(clustering_error(kinds, labels))

    def free(self) -> Person:
        """Who is free first."""
        return min(self.people, key=lambda person: person.clock)

    @property
    def seconds(self) -> float:
        """When the work ended: by the clock of the one who was at it longest."""
        return max(person.clock for person in self.people)

    def done(self) -> bool:
        """Whether the goal is reached or the time is over."""
        return self.error() < GOAL or self.seconds * len(self.people) > BUDGET

    def meet(self) -> None:
        """Let people begin the next thing together."""
        for person in self.people:
            person.clock = self.seconds

    def pairs(self, count: int | None = None) -> bool:
        """Answer pairs, so many or to the end; False where none is left."""
        while count is None or count > 0:
            if self.done():
                return True
            if not self.free().answer():
                return False
            count = None if count is None else count - 1
        return True

    def worth_looking(self) -> bool:
        """Whether looking through the walls takes less time than the questions that are left."""
        for person in self.people:
            person.spend("looks", LOOK)
        found = self.client.get("/api/progress").json()
        left = found["questions_left"]
        walls = THUMB * (found["items"] - found["set_aside"] - found["settled"])
        if left is None:
            return bool(found["error_left"]["estimate"] > MANY)
        return bool(left * PAIR > walls)

    def groups(self) -> list[dict[str, Any]]:
        """Walls as they stand, the largest first, each with the kind that most of it is."""
        found = self.client.get("/api/clusters", params={"limit": 0}).json()["clusters"]
        for group in found:
            group["items"] = self._wall(group["cluster"])
            kinds = Counter(self.truth[entry["id"]] for entry in group["items"])
            group["kind"] = kinds.most_common(1)[0][0]
            group["title"] = group["name"] or f"Cluster {group['number']}"
        return found

    def _wall(self, cluster: int) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        while True:
            given = {"offset": len(items), "limit": 1000}
            found = self.client.get(f"/api/clusters/{cluster}", params=given).json()
            items += found["items"]
            if len(items) >= found["size"]:
                return items

    def merges(self) -> None:
        """Merge groups of one kind, as long as there are any."""
        self.meet()
        groups = self.groups()
        for n, _ in enumerate(groups):
            self.people[n % len(self.people)].spend("thumbnails", THUMB, HEAD)
        while not self.done():
            person, first = self.free(), {}
            person.to_walls()
            for group in self.groups():
                if group["kind"] in first:
                    person.merge(group["cluster"], first[group["kind"]])
                    break
                first[group["kind"]] = group["title"]
            else:
                return

    def walls(self) -> None:
        """Look through the walls once and move what is wrong."""
        self.meet()
        looked: set[str] = set()
        while not self.done():
            todo = [group for group in self.groups() if group["kind"] not in looked]
            if not todo:
                return
            person, group = self.free(), todo[0]
            looked.add(group["kind"])
            person.to_walls()
            unseen = [entry for entry in group["items"] if not entry["certain"]]
            person.spend("thumbnails", THUMB, len(unseen))
            found = {
                entry["id"]
                for entry in unseen
                if self.truth[entry["id"]] != group["kind"] and not person.slips()
            }
            self._put_right(person, found)

    def _put_right(self, person: Person, found: set[str]) -> None:
        """Move items that were found to be wrong, kind by kind and wall by wall."""
        while found and not self.done():
            groups = self.groups()  # an act may have brought some home by itself
            for group in groups:
                here = [
                    (n, self.truth[entry["id"]], entry["id"])
                    for n, entry in enumerate(group["items"])
                    if entry["id"] in found
                ]
                home = [one for _, kind, one in here if kind == group["kind"]]
                found -= set(home)
                away = [one for one in here if one[1] != group["kind"]]
                if away:
                    break
            else:
                return
            kind = Counter(kind for _, kind, _ in away).most_common(1)[0][0]
            chosen = [(n, one) for n, other, one in away if other == kind]
            goals = {g["kind"]: g["title"] for g in reversed(groups) if g is not group}
            goal = goals.get(kind, f"kind {kind}")
            if person.slips():
                others = [g["title"] for g in groups if g is not group]
                goal = others[int(person.rng.integers(len(others)))] if others else goal
            person.select(group["cluster"], [n for n, _ in chosen], len(group["items"]))
            person.move(goal)
            found -= {one for _, one in chosen}


@contextmanager
def at_work(name: str, people: int, seed: int) -> Iterator[Work]:
    """Start the page on a collection, with people before it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="superpac-page-")))
        given = collection(name, folder, seed)
        server = PlainServer(folder, given.given[0], *given.given[1:])
        stack.callback(server.stop)
        server.wait_ready(600)
        client = stack.enter_context(server.client())
        ids = client.get("/api/labels", timeout=300).json()["ids"]
        truth = {one: given.kind_of(one) for one in ids}
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        stack.callback(browser.close)
        found = []
        for n in range(people):
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            rng = np.random.default_rng([seed, n])
            found.append(Person(page, client, f"person-{n + 1}", rng, truth))
            found[-1].begin(server.url)
        yield Work(found, client, truth, ids)


def trial(name: str, people: int, use: str, seed: int) -> dict[str, Any]:
    """One collection, worked through."""
    with at_work(name, people, seed) as work:
        start = work.error()
        if use == "pairs only":
            work.pairs()
        else:
            more = work.pairs(FIRST)
            while not work.done():
                if work.worth_looking() or not more:
                    work.merges()
                    work.walls()
                if not work.done():
                    more = work.pairs(AGAIN)
        error = work.error()
        acts: Counter[str] = sum((person.acts for person in work.people), Counter())
        return {
            "key": [name, people, use, seed],
            "seconds": round(work.seconds, 1),
            "waited": round(sum(person.waited for person in work.people), 1),
            "acts": dict(acts),
            "start": round(start, 4),
            "error": round(error, 4),
            "reached": error < GOAL,
            "items": len(work.ids),
            "machine": machine(),
        }


def paint(count: int, seed: int) -> dict[str, Any]:
    """From a key press to the next pair painted, on 10,000 handwritten digits."""
    truth = [str(kind) for kind in load("mnist").y]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="superpac-page-")))
        server = LabelServer(folder, "mnist", k=10)
        stack.callback(server.stop)
        server.wait_ready(900)
        client = stack.enter_context(server.client())
        ids = client.get("/api/labels", timeout=300).json()["ids"]
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        stack.callback(browser.close)
        rng = np.random.default_rng(seed)
        known = dict(zip(ids, truth, strict=True))
        person = Person(browser.new_page(), client, "person-1", rng, known)
        person.begin(server.url)
        for _ in range(count):
            person.answer()
        times = person.page.evaluate(
            "() => performance.getEntriesByName('answer-to-paint').map(e => e.duration)"
        )
    p50, p95 = np.percentile(times, [50, 95])
    return {
        "key": ["paint", len(ids), count, seed],
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """What it ran on, and how busy that was."""
    return {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def table(trials: list[dict[str, Any]]) -> str:
    """Seconds and acts of each use, and what one has of the other's."""
    rows = [
        "| collection | people | wrong at first | pairs only | the page | of pairs only |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    found = {tuple(one["key"]): one for one in trials if one["key"][0] != "paint"}
    for name in SETS:
        for people in (1, 2):
            of = [
                [found[key] for key in found if key[:3] == (name, people, use)] for use in USES
            ]  # fmt: skip
            if not all(of):
                continue
            start = np.mean([one["start"] for one in of[0]])
            cells = [f"{100 * start:.1f}%", _told(of[0]), _told(of[1]), _ratio(*of)]
            rows.append(f"| {name} | {people} | {' | '.join(cells)} |")
    rows += [
        f"\nKey press to the next pair painted, {one['key'][1]:,} items, {one['key'][2]} answers: "
        f"p50 {one['p50_ms']} ms, p95 {one['p95_ms']} ms."
        for one in trials
        if one["key"][0] == "paint"
    ]
    return "\n".join(rows)


def _ratio(pairs: list[dict[str, Any]], page: list[dict[str, Any]]) -> str:
    """Seconds of the page over those of pairs only; a bound where pairs alone did not get there."""
    before, after = (float(np.mean([one["seconds"] for one in some])) for some in (pairs, page))
    if before < 1 or not all(one["reached"] for one in page):
        return "–"
    bound = "" if all(one["reached"] for one in pairs) else "< "
    return f"{bound}{after / before:.2f}"


def _told(some: list[dict[str, Any]]) -> str:
    """Seconds of some trials, what was done in them, and where the goal was not reached."""
    acts: Counter[str] = sum((Counter(one["acts"]) for one in some), Counter())
    each = ", ".join(
        f"{round(acts[what] / len(some))} {what}"
        for what in ("pairs", "thumbnails", "clicks", "moves", "merges")
        if acts[what]
    )
    seconds = np.mean([one["seconds"] for one in some])
    missed = [one["error"] for one in some if not one["reached"]]
    rest = f"; {100 * np.mean(missed):.0f}% wrong still" if missed else ""
    return f"{seconds:.0f} s ({each or 'nothing to do'}){rest}"


def main() -> None:
    """Run what is not there yet and print the table."""
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--sets", nargs="*", default=SETS, help="which collections")
    parser.add_argument("--people", nargs="*", type=int, default=(1, 2))
    parser.add_argument("--trials", type=int, default=1)
    args = parser.parse_args()
    tasks: list[tuple[list[Any], tuple[Any, ...]]] = [
        ([name, people, use, seed], (name, people, use, seed))
        for seed in range(FIRST_SEED, FIRST_SEED + args.trials)
        for people in args.people
        for name in args.sets
        for use in USES
    ]
    trials = kept_trials(args, trial, tasks)
    if 1 in args.people and not args.only_table:
        trials = kept_trials(args, paint, [(["paint", 10_000, 100, FIRST_SEED], (100, FIRST_SEED))])
    print(table(trials))


if __name__ == "__main__":
    main()
