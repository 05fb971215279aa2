"""A labelling page on things: texts, sounds, rows or photos that are made here."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from labelling import LabelServer
from superpac.data.cuts import Cut
from superpac.data.dataset import Dataset
from superpac.data.sound_files import Sound, as_wav
from superpac.data.things import read_things
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web import security
from superpac.web.server import bind, serve
from superpac.web.workspace import Workspace, find_or_create

GROUPS, EACH = 3, 12
COLOURS = ("crimson", "seagreen", "royalblue")
ASKED = (
    ("card", "Where is the {} that I ordered last week?"),
    ("charge", "Why was I charged a fee of {} on my statement?"),
    ("transfer", "How long does a transfer to {} take <b>usually</b>?"),
)
THINGS = ("card", "watch", "ring", "book", "lamp", "phone", "chair", "shirt", "coat", "bike")
CASES = (*THINGS, "table", "cup")


def truth() -> np.ndarray:
    """Groups of the things, in their order."""
    return np.repeat(np.arange(GROUPS), EACH)


def make_things(folder: Path, kind: str) -> Path:
    """Write things of three groups; give what is to be read."""
    rng = np.random.default_rng(7)
    place = folder / kind
    if kind == "text":
        lines = [f'"{form.format(case)}",{name}' for name, form in ASKED for case in CASES]
        path = folder / "asked.csv"
        path.write_text("text,about\n" + "\n".join(lines))
        return path
    if kind == "table":
        rows = [
            f"{colour},{w + rng.normal(0, 0.1):.2f},{rng.integers(1, 9)}"
            for colour, w in zip(COLOURS, (1.0, 5.0, 20.0), strict=True)
            for _ in range(EACH)
        ]
        path = folder / "fruit.csv"
        path.write_text("colour,weight,age\n" + "\n".join(rows))
        return path
    place.mkdir(parents=True)
    for n, group in enumerate(truth()):
        if kind == "sound":
            t = np.arange(4000) / 8000
            loud = np.exp(-6 * t) * np.sin(2 * np.pi * (200 + 300 * group + 5 * n) * t)
            sound = Sound((0.8 * loud).astype(np.float32), 8000)
            (place / f"{n:03d}.wav").write_bytes(as_wav(sound))
        else:
            image = Image.new("RGB", (1500 + 10 * n, 1000), "white")
            pen = ImageDraw.Draw(image)
            if kind == "face":
                pen.ellipse(_box(n), fill=COLOURS[group])
            else:
                pen.ellipse([300, 200, 900 + 10 * n, 800], fill=COLOURS[group])
            image.save(place / f"{n:03d}.jpg")
    return place


def _box(n: int) -> tuple[int, int, int, int]:
    """Where in its photo a face is: left, top, right, bottom."""
    return 200 + 20 * n, 300, 400 + 20 * n, 540


def vectors() -> np.ndarray:
    """Well separated vectors, as a good encoder would give them."""
    rng = np.random.default_rng(3)
    return np.eye(6)[2 * truth()] + 0.1 * rng.normal(size=(GROUPS * EACH, 6))


def make_dataset(folder: Path, kind: str) -> Dataset:
    """Things with vectors beside them."""
    path = folder / {"text": "asked.csv", "table": "fruit.csv"}.get(kind, kind)
    if not path.exists():
        make_things(folder, kind)
    things = read_things(path, labels="about") if kind == "text" else read_things(path)
    if kind == "face":
        cuts = []
        for n, file in enumerate(things.paths or ()):
            left, top, right, bottom = _box(n)
            cuts.append(Cut(file, (1500 + 10 * n, 1000), (left, top, right - left, bottom - top)))
        things = replace(things, cuts=tuple(cuts))
    return things.dataset(vectors(), "made for tests")


def make_things_workspace(folder: Path, data: Dataset, store: str | Path) -> Workspace:
    """A page's session on things."""
    kept = open_store(store)
    spec = Spec(GROUPS, "tsc:q=4", dim=2)
    log, _ = find_or_create(kept, data, spec, None, {"what": str(folder)})
    return Workspace(data, kept, log)


class ThingsServer(LabelServer):
    """Serves things of a kind from a process of its own."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.store = str(folder / "answers.sqlite3")
        self.token_file = folder / "token"
        self.command = [sys.executable, __file__, str(folder), kind]
        self.port = 0
        self.process = None
        self.start()


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    data = make_dataset(given.folder, given.kind)
    workspace = make_things_workspace(given.folder, data, given.folder / "answers.sqlite3")
    sock = bind("127.0.0.1", given.port)
    token = security.read_token(given.folder / "token")
    serve(workspace, sock, token, announce=lambda url: print(url, flush=True), browser=False)


if __name__ == "__main__":
    main()
