"""People's own material, as `superpac label` takes it: what the vectors buy, and each strategy.

Every trial goes the way of the command line: the encoder and the affinity that are chosen where
nothing is named, or the encoder below. Prints the tables of docs/material.md: a row per material
and encoder, the error without a question, the questions to 5 and 1%, and the error after 300, means
over seeds, which draw the order of the items (for the bank the twenty intents, too).

Files are looked for in SUPERPAC_DATA, and rows without their file or encoder are left out: photos
and sounds as a zip with a folder per class, texts as a CSV with the columns text and category. The
drawings need no file.

    python benchmarks/material.py --out benchmarks/results/material.jsonl
    python benchmarks/material.py --out benchmarks/results/material.jsonl --only-table
    python benchmarks/material.py --out - --speed  # CPU seconds of the vectors
"""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from common import kept_trials, parser_of, rounded
from superpac import Dataset, Session, Spec, TruthOracle
from superpac.cache import DiskCache
from superpac.data.benchmarks import data_folder
from superpac.data.drawings import write_drawings
from superpac.features.models import MODELS, is_here
from superpac.features.reading import read_encoded
from superpac.simulation.loop import simulate

FIRST_SEED = 300  # none that a setting was chosen on
SEEDS = 3
QUESTIONS = 300
OURS, UNKNOWN, PAPER, COBRAS = "superpac-d", "superpac-d, K unknown", "superpac", "cobras"


@dataclass(frozen=True)
class Material:
    """What a person has, and the encoders to compare: the fitting one first."""

    title: str
    file: str
    encoders: tuple[str, ...]
    classes: int | None = None  # drawn by the seed; all of them without a number


MATERIAL = (
    Material("240 drawings of 16 things", "", ("image", "pixels")),
    Material("800 photos of 20 kinds of things", "photos_caltech20.zip", ("image", "pixels")),
    Material("800 photos of hand signs for 0 to 9", "photos_signdigits.zip", ("image", "pixels")),
    Material("321 faces of 35 people", "photos_lfw_half.zip", ("face", "image", "pixels")),
    Material(
        "800 questions to a bank, 20 intents", "text_banking77.csv", ("text", "text-plain"), 20
    ),
    Material("240 spoken digits, 6 speakers", "audio_fsdd.zip", ("speaker",)),
)
BY_TITLE = {material.title: material for material in MATERIAL}


def here(material: Material, encoder: str) -> bool:
    """Whether the file and the encoder's network are on this machine."""
    file = not material.file or (data_folder() / material.file).is_file()
    return file and (encoder not in MODELS or is_here(MODELS[encoder]))


def items_of(material: Material, encoder: str, seed: int) -> Dataset:
    """Vectors and classes of one seed, in its order."""
    with unpacked(material) as (what, labels):
        items = read_encoded(what, features=encoder, labels=labels, cache=DiskCache())
    if material.classes:
        return items.sample_classes(material.classes, None, seed)
    return items.shuffled(seed)


@contextmanager
def unpacked(material: Material) -> Iterator[tuple[Path, str]]:
    """Where the things are, and what tells their classes."""
    with TemporaryDirectory() as place:
        if not material.file:
            write_drawings(Path(place) / "drawings", by_kind=True)
        elif material.file.endswith(".zip"):
            with zipfile.ZipFile(data_folder() / material.file) as file:
                file.extractall(place)
        else:
            yield data_folder() / material.file, "category"
            return
        (what,) = Path(place).iterdir()
        yield what, "folders"


def trial(title: str, encoder: str, strategy: str, seed: int) -> dict:
    """Error after every question, and the number of groups found."""
    items = items_of(BY_TITLE[title], encoder, seed)
    clusters = "auto" if strategy == UNKNOWN else items.n_classes
    named = OURS if strategy == UNKNOWN else strategy
    options = {"refit": "warm"} if strategy == PAPER else {}
    session = Session.create(items, Spec(clusters, strategy=named, options=options, seed=seed))
    run = simulate(session, TruthOracle(items.y), items.y, QUESTIONS)
    found = session.progress().get("clusters") if strategy == UNKNOWN else None
    key = [title, encoder, strategy, seed]
    return {"key": key, "errors": rounded(run.error), "clusters": found, "truth": items.n_classes}


def speed() -> str:
    """CPU seconds to read and encode each material, with nothing kept from before and again."""
    lines = [
        "| material | vectors | CPU seconds, first time | again | each, first time |",
        "| --- | --- | --- | --- | --- |",
    ]
    for material in MATERIAL:
        for encoder in material.encoders:
            if not here(material, encoder):
                continue
            with TemporaryDirectory() as kept, unpacked(material) as (what, labels):
                given = {"features": encoder, "labels": labels}
                # what is made once per machine, such as the network itself, is not counted
                read_encoded(what, **given, cache=DiskCache(Path(kept) / "before"))
                took = []
                for _ in range(2):
                    begun = time.process_time()
                    items = read_encoded(what, **given, cache=DiskCache(Path(kept) / "now"))
                    took.append(time.process_time() - begun)
            name = material.title if not material.classes else f"{len(items):,} questions to a bank"
            each = f"{1e3 * took[0] / len(items):.1f} ms"
            lines.append(f"| {name} | `{encoder}` | {took[0]:.1f} | {took[1]:.1f} | {each} |")
    return "\n".join(lines)


def to_level(curves: list[np.ndarray], level: float) -> str:
    """Questions until the mean error is at most a level."""
    mean = np.mean(curves, axis=0)
    below = np.flatnonzero(mean <= level + 1e-9)
    return str(int(below[0])) if below.size else "-"


def table(trials: list[dict]) -> str:
    """The tables of docs/material.md."""
    curves: dict[tuple[str, str, str], list] = {}
    counts: dict[str, list[str]] = {}
    for found in trials:
        title, encoder, strategy, _ = found["key"]
        errors = found["errors"]
        whole = np.array(errors + [errors[-1]] * (QUESTIONS + 1 - len(errors)))
        curves.setdefault((title, encoder, strategy), []).append(whole)
        if strategy == UNKNOWN:
            counts.setdefault(title, []).append(f"{found['clusters']}")

    def cells(each: list) -> str:
        mean = np.mean(each, axis=0)
        levels = f"{to_level(each, 0.05)} / {to_level(each, 0.01)}"
        return f"{100 * mean[0]:.1f}% | {levels} | {100 * mean[-1]:.1f}%"

    lines = [
        f"| material | vectors | without a question | questions to 5 / 1% | after {QUESTIONS} |",
        "| --- | --- | --- | --- | --- |",
    ]
    for material in MATERIAL:
        for encoder in material.encoders:
            each = curves.get((material.title, encoder, OURS))
            if each:
                lines.append(f"| {material.title} | `{encoder}` | {cells(each)} |")
    lines += [
        "",
        "| material, K unknown | without a question | questions to 5 / 1% "
        f"| after {QUESTIONS} | groups found |",
        "| --- | --- | --- | --- | --- |",
    ]
    for material in MATERIAL:
        each = curves.get((material.title, material.encoders[0], UNKNOWN))
        if each:
            found = ", ".join(counts[material.title])
            lines.append(f"| {material.title} | {cells(each)} | {found} |")
    lines += [
        "",
        f"| material, error after {QUESTIONS} questions | SUPERPAC-D | the paper's SUPERPAC "
        "| COBRAS |",
        "| --- | --- | --- | --- |",
    ]
    for material in MATERIAL:
        groups = [
            curves.get((material.title, material.encoders[0], strategy))
            for strategy in (OURS, PAPER, COBRAS)
        ]
        if all(groups):
            last = (f"{100 * np.mean(each, axis=0)[-1]:.1f}%" for each in groups if each)
            lines.append(f"| {material.title} | {' | '.join(last)} |")
    return "\n".join(lines)


def main() -> None:
    parser = parser_of(__doc__, kept=True)
    parser.add_argument("--speed", action="store_true", help="measure the vectors alone")
    args = parser.parse_args()
    if args.speed:
        print(speed())
        return
    wanted = [
        (material.title, encoder, strategy, seed)
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS)
        for material in MATERIAL
        for number, encoder in enumerate(material.encoders)
        if here(material, encoder)
        for strategy in ((OURS, UNKNOWN, PAPER, COBRAS) if number == 0 else (OURS,))
    ]
    print(table(kept_trials(args, trial, ((list(each), each) for each in wanted))))


if __name__ == "__main__":
    main()
