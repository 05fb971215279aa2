"""A long campaign against a real server: hours of answers, kills, restarts and full disks.

    python tests/faults/campaign.py --minutes 60 --kills 500 --seed 0 --out campaign.json

It is run by hand; the tests in this folder are its short form. After each round the log is held
against every receipt that people got (`people_at_work.check_log`). What is done is written to the
file after each round, and the same command goes on from there when it was interrupted. In the end
it prints the table that stands in docs/faults.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import httpx
import numpy as np
import psutil
import pytest

from disks import fill_disk, mounted_disk
from labelling import LabelServer, digits_file, wait_until
from people_at_work import PeopleAtWork, check_log
from postgres import PostgresServer

PEOPLE = 4
PAUSE = (0.3, 1.2)  # seconds that people look before each act: leaves most of a core free
WARM_UP = 0.1  # share of a soak that is not judged: caches fill
GROWTH = 1.1  # memory may end at so many times what it was after the warm-up
KEPT_FAULTS = 50
MEASURED = (
    "server, own MB",
    "server, resident MB",
    "computing, own MB",
    "computing, resident MB",
    "handles",
    "threads",
)


class Results:
    """What was done so far, in a JSON file that is replaced whole after each round."""

    def __init__(self, path: Path, options: dict[str, Any]) -> None:
        self.path = path
        self.parts: dict[str, dict[str, Any]] = {}
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["seed"] != options["seed"]:
                sys.exit(f"{path} was begun with --seed {kept['seed']}; name another file.")
            self.parts = kept["parts"]
        self.options = options

    def part(self, name: str) -> dict[str, Any]:
        """Figures of a part, kept from before or empty."""
        empty = {"rounds": 0, "acts": 0, "again": 0, "unheard": 0, "faults": [], "ways": {}}
        return self.parts.setdefault(name, empty)

    def save(self) -> None:
        draft = self.path.with_name(self.path.name + ".draft")
        draft.write_text(json.dumps({**self.options, "parts": self.parts}))
        os.replace(draft, self.path)


class Campaign:
    """Runs the parts one after the other and keeps their figures."""

    def __init__(self, results: Results, seed: int, say: Callable[[str], None] = print) -> None:
        self.results, self.seed, self.say = results, seed, say
        self._seen: set[str] = set()  # a fault in the log stays there: it is told once

    # an hour of answers

    def soak(self, minutes: float) -> None:
        """Let people work for so long and watch memory, handles, threads and waiting times."""
        part = self.results.part("soak")
        part.setdefault("seconds", 0.0)
        part.setdefault("segments", [])
        part.setdefault("waits", {})
        left = 60 * minutes - part["seconds"]
        if left <= 1:
            return
        earlier = {kind: list(waits) for kind, waits in part["waits"].items()}
        seconds, acts = part["seconds"], part["acts"]
        samples: list[list[float]] = []
        part["segments"].append(samples)

        def keep(people: PeopleAtWork, passed: float) -> None:
            part["seconds"] = seconds + passed
            part["acts"] = acts + people.work.answers()
            for kind, waits in list(people.work.waits.items()):
                now = [round(1000 * wait, 1) for wait in list(waits)]
                part["waits"][kind] = earlier.get(kind, []) + now
            self.results.save()

        with (
            self.served() as server,
            self.people([server], f"soak/{len(part['segments'])}") as people,
        ):
            begun = time.monotonic()
            while (passed := time.monotonic() - begun) < left and people.working:
                if server.process.poll() is not None:
                    part["faults"].append(f"the server ended by itself after {passed:.0f} s")
                    break
                samples.append([round(passed, 1), *measure(server.pid)])
                keep(people, passed)
                time.sleep(min(max(1.0, 60 * minutes / 360), left - passed))
            people.stop()
            keep(people, min(passed, left))
            self.judge("soak", [server], people)
        part["rounds"] += 1
        part["faults"] += flatness(samples)
        self.results.save()

    # kills

    def kills(self, count: int) -> None:
        """kill -9 and SIGTERM of the server, at random moments under load and while it starts."""

        def one(draw: random.Random, servers: list[LabelServer], people: PeopleAtWork) -> str:
            server = servers[0]
            how = draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
            time.sleep(draw.uniform(0.0, 1.5))
            self.end_server("kills", server, how)
            server.start()
            if draw.random() < 0.15:
                time.sleep(draw.uniform(0.0, 1.5))
                self.end_server("kills", server, how)
                server.start()
                return f"{how.name} while it starts"
            return how.name

        with self.served() as server:
            self.rounds("kills", count, [server], one)

    def worker(self, count: int) -> None:
        """The computing process is killed or stopped, or the process that starts it is killed."""

        def one(draw: random.Random, servers: list[LabelServer], people: PeopleAtWork) -> str:
            time.sleep(draw.uniform(0.0, 1.5))
            starter, computing = helpers_of(servers[0].pid)
            way = draw.choices(("SIGKILL", "SIGSTOP", "starter"), (8, 1, 1))[0]
            victims = starter if way == "starter" else computing
            for process in victims:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGSTOP if way == "SIGSTOP" else signal.SIGKILL)
            return way if victims else "nothing ran"

        with self.served() as server:
            self.rounds("worker", count, [server], one)

    def postgres(self, count: int) -> None:
        """Two servers on one database, which is killed or restarted, or one of the two is."""
        database = PostgresServer(fsync=True)

        def one(draw: random.Random, servers: list[LabelServer], people: PeopleAtWork) -> str:
            time.sleep(draw.uniform(0.0, 1.5))
            way = draw.choice(("database killed", "database restarted", "server killed"))
            if way == "database killed":
                database.kill()
                time.sleep(draw.uniform(0.0, 2.0))
                database.start()
            elif way == "database restarted":
                database.restart()
            else:
                server = draw.choice(servers)
                self.end_server("postgres", server, signal.SIGKILL)
                server.start()
            return way

        try:
            url = database.database()
            with (
                self.served(store=url) as first,
                self.served(store=url) as second,
            ):
                self.rounds("postgres", count, [first, second], one)
        finally:
            database.stop()

    def disk(self, count: int) -> None:
        """The disk fills up under load, and is freed; now and then the server is killed on it."""
        with (
            tempfile.TemporaryDirectory(prefix="superpac-campaign-") as place,
            mounted_disk(Path(place) / "disk", "24m") as small,
            self.served(store=str(small / "answers.sqlite3")) as server,
        ):

            def one(draw: random.Random, servers: list[LabelServer], people: PeopleAtWork) -> str:
                time.sleep(draw.uniform(0.0, 1.0))
                before, end = people.work.codes[507], time.monotonic() + 60
                with contextlib.suppress(OSError):  # an answer may have taken the last bytes
                    fill_disk(small, leave=draw.randrange(0, 12_000))
                while people.work.codes[507] == before and time.monotonic() < end:
                    time.sleep(0.05)
                way = "full" if people.work.codes[507] > before else "full, nobody noticed"
                if draw.random() < 0.2:
                    self.end_server("disk", server, signal.SIGKILL)
                    way += ", killed"
                (small / "ballast").unlink(missing_ok=True)
                if server.process is None:
                    server.start()
                return way

            self.rounds("disk", count, [server], one)

    # what the parts share

    @contextlib.contextmanager
    def served(self, store: str | None = None) -> Iterator[LabelServer]:
        """A server on 200 digits; every tenth pair goes to two people."""
        with tempfile.TemporaryDirectory(prefix="superpac-campaign-") as place:
            folder = Path(place)
            server = LabelServer(folder, digits_file(folder), "--overlap", "0.1", store=store)
            try:
                yield server.wait_ready()
            finally:
                server.stop()

    def people(self, servers: list[LabelServer], seed: str) -> PeopleAtWork:
        return PeopleAtWork(servers, PEOPLE, seed=f"{self.seed}/{seed}", pause=PAUSE)

    def rounds(
        self,
        name: str,
        count: int,
        servers: list[LabelServer],
        one: Callable[[random.Random, list[LabelServer], PeopleAtWork], str],
    ) -> None:
        """Let something happen so many times under load; after each, everything must be right."""
        part = self.results.part(name)
        if part["rounds"] >= count:
            return
        begun, told = time.monotonic(), 0
        acts, again = part["acts"], part["again"]
        with self.people(servers, f"{name}/{part['rounds']}") as people:
            while part["rounds"] < count and len(part["faults"]) < KEPT_FAULTS:
                draw = random.Random(f"{self.seed}/{name}/{part['rounds']}")
                way = one(draw, servers, people)
                for server in servers:
                    if wait_usable(server):
                        way += ", given up and begun again"
                if not people.wait_for(4):
                    part["faults"].append(f"round {part['rounds']} ({way}): no answers any more")
                self.judge(name, servers, people)
                part["rounds"] += 1
                part["ways"][way] = part["ways"].get(way, 0) + 1
                part["acts"] = acts + people.work.answers()
                part["again"] = again + people.work.again
                self.results.save()
                if not people.working:
                    break
                if time.monotonic() - begun > 60 * (told + 1):
                    told += 1
                    self.say(f"{name}: {part['rounds']} of {count}, faults {len(part['faults'])}")
        self.judge(name, servers, people)
        part["unheard"] += people.work.unheard
        self.results.save()

    def judge(self, name: str, servers: list[LabelServer], people: PeopleAtWork) -> None:
        """Hold the log against what people were told, and note down what does not fit."""
        part = self.results.part(name)
        told = people.work.so_far()
        unheard, people.work.faults[:] = list(people.work.faults), []
        found = unheard + check_log(servers[0].events(), told)
        new = [f"round {part['rounds']}: {fault}" for fault in found if fault not in self._seen]
        self._seen.update(found)
        for fault in new:
            self.say(f"{name}: {fault}")
        part["faults"] += new
        if any(": 500 " in fault for fault in new):  # what the servers themselves said about it
            said = [(server.folder / "stderr.txt").read_text()[-6000:] for server in servers]
            part.setdefault("stderr", []).extend(said)

    def end_server(self, name: str, server: LabelServer, how: signal.Signals) -> None:
        """End a server; nothing that it started may outlive it."""
        started = psutil.Process(server.pid).children(recursive=True)
        server.kill(how)
        _, alive = psutil.wait_procs(started, timeout=30)
        if alive:
            names = ", ".join(" ".join(p.cmdline()[-3:])[:80] for p in alive if p.is_running())
            self.results.part(name)["faults"].append(f"{how.name} left running: {names}")
            for process in alive:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()


def wait_usable(server: LabelServer) -> bool:
    """Wait until questions can be asked; True if the page's "Start again" had to be pressed."""
    pressed = False

    def usable() -> bool:
        nonlocal pressed
        with server.client() as client, contextlib.suppress(httpx.TransportError):
            found = client.get("/api/session").json()
            if found["phase"] == "failed":
                client.post("/api/again", json={}).raise_for_status()
                pressed = True
            return bool(found["phase"] == "ready" and found["usable"])
        return False

    wait_until(usable)
    return pressed


def helpers_of(pid: int) -> tuple[list[psutil.Process], list[psutil.Process]]:
    """The process that starts computing ones, and those, of a server."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children():
            computing = child.children()
            if computing:
                return [child], computing
    return [], []


def measure(pid: int) -> list[float]:
    """One row of `MEASURED`."""
    server = psutil.Process(pid)
    row = []
    for processes in ([server], helpers_of(pid)[1]):
        own = resident = 0
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                found = process.memory_full_info()
                # pages of libraries come and go with what else the machine does; these do not
                own += found.uss + found.swap
                resident += found.rss
        row += [round(own / 2**20, 2), round(resident / 2**20, 2)]
    return [*row, server.num_fds(), server.num_threads()]


def judged(samples: list[list[float]]) -> dict[str, tuple[float, float, float]]:
    """First, last and slope per hour of what a soak measured, after the warm-up."""
    if len(samples) < 10:
        return {}
    rows = np.array([s for s in samples if s[0] >= WARM_UP * samples[-1][0]])
    fifth = max(1, len(rows) // 5)
    found = {}
    for column, name in enumerate(MEASURED, 1):
        slope = 3600 * np.polyfit(rows[:, 0], rows[:, column], 1)[0]
        first, last = np.median(rows[:fifth, column]), np.median(rows[-fifth:, column])
        found[name] = float(first), float(last), float(slope)
    return found


def flatness(samples: list[list[float]]) -> list[str]:
    """What grew through a soak that should not."""
    found = []
    for name, (first, last, _) in judged(samples).items():
        # a few handles and threads come and go with what people look at
        spare = 0 if name.endswith("MB") else 6
        if "resident" not in name and last > GROWTH * first + spare:
            found.append(f"{name} grew from {first:.0f} to {last:.0f}")
    return found


def summary(parts: dict[str, dict[str, Any]]) -> str:
    """Return the table that stands in docs/faults.md."""
    lines = [
        "| part | rounds | what happened | acts acknowledged | sent again | faults |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, part in parts.items():
        if "skipped" in part:
            lines.append(f"| {name} | - | not run: {part['skipped']} | - | - | - |")
            continue
        ways = ", ".join(f"{n} {way}" for way, n in sorted(part["ways"].items()))
        if name == "soak":
            ways = f"{part['seconds'] / 60:.0f} minutes, {PEOPLE} people"
        lines.append(
            f"| {name} | {part['rounds']} | {ways} | {part['acts']} | {part['again']} "
            f"| {len(part['faults'])} |"
        )
    soak = parts.get("soak", {})
    for number, samples in enumerate(soak.get("segments", ()), 1):
        lines += ["", f"| soak, server {number} | first | last | slope per hour |"]
        lines.append("| --- | --- | --- | --- |")
        for name, (first, last, slope) in judged(samples).items():
            lines.append(f"| {name} | {first:.1f} | {last:.1f} | {slope:+.2f} |")
    if soak.get("waits"):
        lines += ["", "| request | number | p50 ms | p95 ms | p99 ms |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for kind, waits in sorted(soak["waits"].items(), key=lambda item: -len(item[1])):
            shown = [f"{np.percentile(waits, q):.0f}" for q in (50, 95, 99)]
            lines.append(f"| {kind} | {len(waits)} | {' | '.join(shown)} |")
    for name, part in parts.items():
        lines += [f"- {name}: {fault}" for fault in part.get("faults", ())]
    return "\n".join(lines)


def main() -> None:
    """Run what is left of the campaign and print the table."""
    names = ("soak", "kills", "worker", "postgres", "disk")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="length of the soak")
    parser.add_argument("--kills", type=int, default=500, help="kills of the server")
    parser.add_argument("--worker-kills", type=int, help="by default a fifth of --kills")
    parser.add_argument("--restarts", type=int, help="of PostgreSQL; by default a tenth of --kills")
    parser.add_argument("--full-disks", type=int, help="by default a tenth of --kills")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="JSON file; it is gone on with")
    parser.add_argument("--only", default=",".join(names), help=f"some of {','.join(names)}")
    given = parser.parse_args()
    wanted = given.only.split(",")
    if not set(wanted) <= set(names):
        parser.error(f"--only takes some of {','.join(names)}; got {given.only}")
    fifth, tenth = -(-given.kills // 5), -(-given.kills // 10)
    amounts = {
        "soak": given.minutes,
        "kills": given.kills,
        "worker": fifth if given.worker_kills is None else given.worker_kills,
        "postgres": tenth if given.restarts is None else given.restarts,
        "disk": tenth if given.full_disks is None else given.full_disks,
    }
    results = Results(given.out, {"seed": given.seed})
    campaign = Campaign(results, given.seed, lambda text: print(text, flush=True))
    for name in wanted:
        print(f"{name}: {amounts[name]}", flush=True)
        try:
            getattr(campaign, name)(amounts[name])
        except pytest.skip.Exception as reason:
            results.parts[name] = {"skipped": str(reason)}
        results.save()
    print(summary(results.parts))
    sys.exit(any(part.get("faults") for part in results.parts.values()))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; the same command goes on"))
    with tempfile.TemporaryDirectory(prefix="superpac-cache-") as kept:
        os.environ["SUPERPAC_CACHE"] = kept
        main()
