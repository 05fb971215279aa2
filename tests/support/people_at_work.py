"""People who answer a labelling server at the same time, in every way the page knows.

Whatever happens to the server, they wait for it and send again, under the same key, what nobody
acknowledged. They keep every receipt, so that `check_log` can hold the log against them.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from labelling import LabelServer, Robot
from superpac.answers.events import Event

# What people do, and how often: mostly they answer.
EVERYTHING = {
    "answer": 70,
    "unsure": 3,
    "wrong": 3,
    "strip": 5,
    "skip": 4,
    "undo": 5,
    "redo": 2,
    "name": 2,
    "aside": 1,
    "decide": 1,
    "look": 4,
    "export": 1,
}
VIEWS = ("progress", "labels", "clusters", "history", "map", "suspects", "agreement")
EXPORTS = ("csv", "jsonl", "answers", "links", "archive")
ONLY_ANSWERS = {"answer": 1}


@dataclass(frozen=True)
class Act:
    """Something that the server acknowledged: under which key, and its receipts."""

    kind: str
    who: str
    key: str
    receipts: tuple[tuple[int, str], ...]


@dataclass
class Work:
    """What became of what people did."""

    acts: list[Act] = field(default_factory=list)
    sent: dict[str, str] = field(default_factory=dict)  # key -> kind, acknowledged or not
    codes: Counter[int] = field(default_factory=Counter)
    again: int = 0  # requests that were sent again, since no reply came or the store could not
    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)  # replies that nobody should get
    unheard: int = 0  # people whose last request nobody acknowledged when they stopped

    def so_far(self) -> Work:
        """What was told until now: taken before the log is read, to hold it against."""
        acts = list(self.acts)
        return Work(acts=acts, sent=dict(self.sent))

    def answers(self) -> int:
        """Number of acknowledged acts that wrote something."""
        return sum(bool(act.receipts) for act in list(self.acts))


class PeopleAtWork:
    """Threads that work on one or several servers of the same session until they are stopped.

    Parameters
    ----------
    servers : sequence of LabelServer
        Person n works on server n modulo their number.
    people : int
        How many.
    seed : int
        Decides who does what when.
    pause : (float, float)
        Seconds to look before each act, at least and at most.
    mix : mapping
        What is done, by weight.
    """

    def __init__(
        self,
        servers: Sequence[LabelServer],
        people: int,
        *,
        seed: int = 0,
        pause: tuple[float, float] = (0.0, 0.0),
        mix: Mapping[str, int] = EVERYTHING,
    ) -> None:
        self.work = Work()
        self._servers, self._pause, self._mix = servers, pause, mix
        self._truth = servers[0].truth
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._person, args=(n, random.Random(f"{seed}/{n}")))
            for n in range(people)
        ]

    def __enter__(self) -> PeopleAtWork:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let everybody finish what they have begun, as far as the server lets them."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(timeout=120)
        if any(thread.is_alive() for thread in self._threads):
            self.work.faults.append("a request was never answered")

    @property
    def working(self) -> bool:
        """Whether anybody still works."""
        return any(thread.is_alive() for thread in self._threads)

    def wait_for(self, acts: int, timeout: float = 120.0) -> bool:
        """Wait until so many more acts that write are acknowledged; False if they never are."""
        enough, end = self.work.answers() + acts, time.monotonic() + timeout
        while self.work.answers() < enough:
            if time.monotonic() > end or not self.working:
                return False
            time.sleep(0.02)
        return True

    def _person(self, number: int, draw: random.Random) -> None:
        server = self._servers[number % len(self._servers)]
        # connections are not kept: the server that answers next may be another process
        with server.client() as client:
            person = _Person(self, client, f"person {number}", draw)
            try:
                while not self._stopping.is_set():
                    self._stopping.wait(draw.uniform(*self._pause))
                    person.do(draw.choices(list(self._mix), list(self._mix.values()))[0])
            except _StoppedError:
                self.work.unheard += 1
            except Exception as error:
                self.work.faults.append(f"{person.name}: {type(error).__name__}: {error}")

    def note(self, kind: str, code: int, seconds: float) -> None:
        with self._lock:
            self.work.codes[code] += 1
            self.work.waits[kind].append(seconds)


class _StoppedError(Exception):
    """Work ended before a reply came."""


class _Person:
    """One of them: has a question before them and does one thing after the other."""

    def __init__(
        self, people: PeopleAtWork, client: httpx.Client, name: str, draw: random.Random
    ) -> None:
        self.people, self.client, self.name, self.draw = people, client, name, draw
        self.robot = Robot(client, people._truth, name)
        self.doing: dict[str, Callable[[], None]] = {
            "answer": lambda: self.answer(None),
            "unsure": lambda: self.answer("unsure"),
            "wrong": self.err,
            "strip": self.choose,
            "skip": self.skip,
            "undo": lambda: self.act("undo", "/api/undo", {}),
            "redo": lambda: self.act("redo", "/api/redo", {}),
            "name": self.call,
            "aside": self.set_aside,
            "decide": self.decide,
            "look": lambda: self.look(draw.choice(VIEWS)),
            "export": lambda: self.look(f"export/{draw.choice(EXPORTS)}"),
        }

    def do(self, kind: str) -> None:
        self.doing[kind]()

    def question(self, shape: str = "pair") -> dict[str, Any] | None:
        """Take the next question; None if there is none just now. Makes room when all is done."""
        reply = self.send("ask", "/api/question", {"annotator": self.name, "shape": shape})
        found = reply.json()
        if reply.status_code != 200:
            return None
        if found["finished"]:
            for _ in range(10):
                self.act("undo", "/api/undo", {})
        self.robot.question = found["question"]
        return self.robot.question

    def answer(self, said: str | None) -> None:
        question = self.robot.question or self.question()
        if question is None:
            time.sleep(0.25)  # as the page does
        elif question["shape"] == "strip":
            self.take(question)
        else:
            body = self.robot.body(said)
            del body["key"]
            self.act("answer", "/api/answers", body)

    def err(self) -> None:
        """Give the answer that is not true."""
        if self.robot.question is not None and self.robot.question["shape"] != "strip":
            right = self.robot.body()["answer"]
            self.answer({"same": "different", "different": "same"}[right])

    def choose(self) -> None:
        question = self.question("strip")
        if question is not None and question["shape"] == "strip":
            self.take(question)

    def take(self, question: dict[str, Any]) -> None:
        """Choose from a strip."""
        item, options = question["item"]["item"], [o["item"] for o in question["others"]]
        truth = self.robot.truth
        own = [o for o in options if truth[o] == truth[item]][:1]
        body = {"item": item, "options": options, "marked": own, "seq": question["seq"]}
        self.act("strip", "/api/choices", {**body, "shape": "pair"})

    def skip(self) -> None:
        if self.robot.question is not None and self.robot.question["shape"] == "pair":
            body = self.robot.body()
            self.act("skip", "/api/skips", {name: body[name] for name in ("i", "j", "seq")})

    def call(self) -> None:
        item = self.draw.randrange(len(self.robot.truth))
        self.act("name", "/api/names", {"item": item, "name": f"group {self.robot.truth[item]}"})

    def set_aside(self) -> None:
        """Set an item aside and put it back, so that not all of them end aside."""
        item = self.draw.randrange(len(self.robot.truth))
        for back in (False, True):
            self.act("aside", "/api/aside", {"item": item, "back": back})

    def decide(self) -> None:
        found = self.send("look", "/api/agreement", None).json().get("disagreements", ())
        open_ones = [one["second"] for one in found if one["decided"] is None]
        if open_ones:
            keep = self.draw.choice(("first", "second"))
            self.act("decide", "/api/decisions", {"second": open_ones[0], "keep": keep})

    def look(self, what: str) -> None:
        self.send(what.partition("/")[0], f"/api/{what}", None)

    def act(self, kind: str, path: str, body: dict[str, Any]) -> None:
        """Do something under a key of its own; keeps the receipts."""
        self.robot.keys += 1
        key = f"{self.name.replace(' ', '-')}-{self.robot.keys:07d}-{self.draw.getrandbits(32):08x}"
        work = self.people.work
        work.sent[key] = kind
        given = {"annotator": self.name, "key": key, **body}
        reply = self.send(kind, path, given)
        found = reply.json()
        if reply.status_code == 200:
            receipts = tuple((r["seq"], r["hash"]) for r in found["receipts"] if r["recorded"])
            work.acts.append(Act(kind, self.name, key, receipts))
        self.robot.question = found.get("question")

    def send(self, kind: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        """Send a request until the server replies to it and can do what it says."""
        people, tries = self.people, 0
        while True:
            begun = time.monotonic()
            with contextlib.suppress(httpx.TransportError):
                reply = self.client.get(path) if body is None else self.client.post(path, json=body)
                people.note(kind, reply.status_code, time.monotonic() - begun)
                if not _later(reply):
                    if reply.status_code >= 500 or reply.status_code in (401, 403, 404, 422):
                        people.work.faults.append(f"{path}: {reply.status_code} {reply.text[:300]}")
                    return reply
            people.work.again += 1
            tries += 1
            # while it is down, nobody can be asked to finish what they have begun
            if people._stopping.is_set() and tries > 5:
                raise _StoppedError
            time.sleep(min(0.05 * tries, 0.5))


def _later(reply: httpx.Response) -> bool:
    """Whether the same request is to be sent again in a moment."""
    return reply.status_code in (503, 507)


def check_log(events: Sequence[Event], work: Work) -> list[str]:
    """Hold a log against what people were told before it was read; gives what does not fit."""
    found = []
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        found.append("the numbers of the events have a gap")
    hashes = {event.seq: event.hash for event in events}
    keys = Counter(event.key for event in events)
    found += [f"{key} is in the log {count} times" for key, count in keys.items() if count > 1]
    for act in list(work.acts):
        if any(hashes.get(seq) != digest for seq, digest in act.receipts):
            found.append(f"{act.kind} {act.key} was acknowledged and is not in the log")
        elif act.receipts and not (act.key in keys or f"{act.key}/0" in keys):
            found.append(f"{act.kind} {act.key} was acknowledged and its key is not in the log")
    return found + _halves(events, work.sent)


def _halves(events: Sequence[Event], sent: Mapping[str, str]) -> list[str]:
    """Acts of several events of which only some are there, or that others came between."""
    found = []
    groups: dict[str, set[int]] = defaultdict(set)
    parts: dict[str, list[tuple[int, int]]] = defaultdict(list)
    carried_out = set()  # decisions that have their answer
    for event in events:
        base, _, part = event.key.partition("/")
        if part.isdecimal():
            parts[base].append((int(part), event.seq))
        if "group" in event.body:
            groups[event.body["group"]].add(event.seq)
        why = event.body.get("why")
        if isinstance(why, dict) and "decided" in why:
            carried_out.add(why["decided"])
    for base, pairs in parts.items():
        first = pairs[0][1]
        if pairs != [(n, first + n) for n in range(len(pairs))]:
            found.append(f"the act {base} is in pieces: {pairs}")
    retracted: set[int] = set()
    for event in events:
        base = event.key.partition("/")[0]
        if event.kind == "retract":
            retracted.add(event.body["seq"])
            group = events[event.body["seq"] - 1].body.get("group")
            last = not parts[base] or parts[base][-1][1] == event.seq
            if last and sent.get(base) == "undo" and group and not groups[group] <= retracted:
                found.append(f"#{event.seq} took back only a part of the act {group}")
        elif event.kind == "restore":
            retracted.discard(event.body["seq"])
        elif event.kind == "note" and event.body.get("keep") == "second":
            second = event.body["decided"]
            first = events[second - 1].body["second"]
            if first not in retracted and second not in carried_out:
                found.append(f"the decision #{event.seq} was not carried out")
    return found
