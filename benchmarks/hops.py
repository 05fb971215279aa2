"""Which functions of the package an act passes through, and in how many files.

    python benchmarks/hops.py [--list]

Counts the functions of superpac that run in the page's process between the arrival of an answer and
the reply with the next question; when a session is opened and asked for its next question; in one
question of a trial; and in `superpac cluster digits`. With --list it names them in the order in
which they are first entered. A kernel compiled by Numba counts as one call.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import superpac

ROOT = str(Path(superpac.__file__).parent)


SMALL = ("<genexpr>", "<lambda>", "<listcomp>", "<dictcomp>", "<setcomp>", "<module>")
Hops = list[tuple[str, str]]


class Tracer:
    """Notes (file, function) of the package's functions while it is on, in every new thread."""

    def __init__(self) -> None:
        self.on = False
        self.found: dict[tuple[str, str], None] = {}
        threading.setprofile(self._call)
        sys.setprofile(self._call)

    def _call(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if not self.on or event != "call" or not code.co_filename.startswith(ROOT):
            return
        # the thread that watches the computing process works beside the answer, not for it
        if threading.current_thread().name != "models" and not code.co_qualname.endswith(SMALL):
            self.found.setdefault((code.co_filename[len(ROOT) + 1 :], code.co_qualname))

    def stop(self) -> Hops:
        """Give what was noted, and note no more."""
        self.on = False
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        return list(self.found)


@contextmanager
def traced() -> Iterator[Hops]:
    """Collect the functions of a block."""
    tracer, result = Tracer(), []  # type: ignore[var-annotated]
    tracer.on = True
    try:
        yield result
    finally:
        result += tracer.stop()


def one_answer() -> Hops:
    """An answer in the page's process: request, log, state, next question, reply."""
    from fastapi.testclient import TestClient

    from superpac.data import load
    from superpac.session.spec import Spec
    from superpac.store import open_store
    from superpac.web.app import create_app
    from superpac.web.workspace import Workspace, find_or_create

    items = load("digits").sample_classes(5, 40, seed=1)
    tracer = Tracer()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "s.sqlite3")
        log, _ = find_or_create(store, items, Spec(5, "tsc:q=4", dim=3), None, {"what": "digits"})
        with TestClient(create_app(Workspace(items, store, log))) as client:
            while not client.get("/api/session").json()["usable"]:
                time.sleep(0.05)
            asked = client.post("/api/question", json={}).json()["question"]
            body = {"i": asked["item"]["item"], "j": asked["others"][0]["item"]}
            body |= {"seq": asked["seq"], "answer": "same", "key": "key-00000001"}
            while not client.get("/api/ahead").json()["ready"]:
                time.sleep(0.05)
            tracer.on = True
            client.post("/api/answers", json=body)
            hops = tracer.stop()
    return hops


def an_opening() -> Hops:
    """A session with answers opened again, up to its next question."""
    session, items = _session()
    with traced() as hops:
        superpac.Session.open(items, session.log).ask()
    return hops


def one_trial_question() -> Hops:
    """One question of a simulation: ask, answer, error."""
    session, items = _session()
    superpac.simulate(session, superpac.TruthOracle(items.y), items.y, 1)
    with traced() as hops:
        superpac.simulate(session, superpac.TruthOracle(items.y), items.y, 1)
    return hops


def _session() -> tuple[superpac.Session, superpac.Dataset]:
    items = superpac.load("digits").sample_classes(5, 40, seed=1)
    session = superpac.Session.create(items, superpac.Spec(5, "tsc:q=4", dim=3))
    superpac.simulate(session, superpac.TruthOracle(items.y), items.y, 20)
    return session, items


def a_clustering() -> Hops:
    """`superpac cluster digits -k 10`."""
    from superpac.cli import main

    saved = sys.argv
    sys.argv = ["superpac", "cluster", "digits", "-k", "10", "--json"]
    with open(os.devnull, "w") as nowhere, traced() as hops:
        out, sys.stdout = sys.stdout, nowhere
        try:
            main()
        except SystemExit:
            pass
        finally:
            sys.stdout, sys.argv = out, saved
    return hops


ACTS: dict[str, Callable[[], Hops]] = {
    "one answer, in the page's process": one_answer,
    "an opening": an_opening,
    "one question of a trial": one_trial_question,
    "superpac cluster digits": a_clustering,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the functions")
    wanted = parser.parse_args()
    os.environ["SUPERPAC_CACHE"] = "off"
    for name, act in ACTS.items():
        hops = act()
        files = {file for file, _ in hops}
        print(f"{name}: {len(hops)} functions in {len(files)} files")
        if wanted.list:
            for file, function in hops:
                print(f"    {file}: {function}")


if __name__ == "__main__":
    main()
