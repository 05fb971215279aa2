"""What the benchmarks share: points drawn by a seed, sessions on them, trials kept in a file."""

from __future__ import annotations

import argparse
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from joblib import Parallel, delayed

from superpac import Dataset, Session, Spec, adjusted_rand, load
from superpac.cache import DiskCache
from superpac.data.benchmarks import data_folder
from superpac.data.things import read_things
from superpac.errors import NotFoundError
from superpac.features import Encoder, encode, make_encoder
from superpac.features.shelves import content_mark
from superpac.simulation.loop import AnswerLoop
from superpac.simulation.oracles import Oracle

FIRST_SEED = 100  # no setting was chosen on draws with seeds from here on


@dataclass(frozen=True)
class Draw:
    """Points that a seed draws from a benchmark set, and the graph and dimension for them.

    Without `classes` all points are taken, in an order that the seed decides.
    """

    data: str
    affinity: str
    dim: int | None = None
    classes: int | None = None
    per_class: int | None = None
    standardise: bool = False

    def whole(self) -> Dataset:
        """All points of the set."""
        return load(self.data, standardise=self.standardise)

    def items(self, seed: int) -> Dataset:
        """The points of one seed."""
        items = self.whole()
        if self.classes:
            return items.sample_classes(self.classes, self.per_class, seed)
        return items.shuffled(seed)

    def session(
        self,
        items: Dataset,
        seed: int,
        strategy: str = "superpac-d",
        options: Mapping[str, Any] | None = None,
        clusters: Any = None,
        affinity: Any = None,
    ) -> Session:
        """A fresh session on the points of one seed; it is told their number of clusters."""
        spec = Spec(
            clusters or items.n_classes, self.affinity, strategy, options or {}, self.dim, seed
        )
        return Session.create(items, spec, affinity=affinity)

    def graph(self, items: Dataset, seed: int) -> Any:
        """The affinity of one seed's points, kept on disk for other rows and later runs."""
        key = repr(("benchmark", items.fingerprint, self.affinity, items.n_classes, seed))
        return DiskCache().sparse(key, lambda: self.session(items, seed).problem.affinity)


MNIST5 = Draw("mnist", "tsc:q=5", 3, 5, 100)
MNIST10 = Draw("mnist", "tsc:q=5", 3, 10, 100)
YALE5 = Draw("yaleb", "ssc-faces", 9, 5)
YALE10 = Draw("yaleb", "ssc-faces", 9, 10)
COIL20 = Draw("coil20", "ensc:gamma=10", 9)
DIGITS10 = Draw("digits", "tsc:q=5", 5, 10, 100)


@dataclass(frozen=True)
class Encoded(Draw):
    """Vectors that an encoder of superpac's makes of photos, sounds or texts.

    `data` is a file of the folder of benchmark sets: a zip of one folder with a folder per class,
    or a table with a column `category`. Of its classes, sorted by name, those within `part` are
    taken.
    """

    encoder: str = ""
    part: tuple[int, int] | None = None

    def whole(self) -> Dataset:
        """All vectors, made once and kept in the cache."""
        path, encoder = data_folder() / self.data, make_encoder(self.encoder)
        if not path.exists():
            raise NotFoundError(f"{self.data} is not in {path.parent}; set SUPERPAC_DATA.")
        key = f"benchmark {content_mark(path)} {encoder.fingerprint}"
        kept = DiskCache().lasting().get_or_make(key, lambda: _vectors(path, encoder))
        items = Dataset(kept["X"], y=kept["y"], name=f"{path.stem}, {self.encoder}")
        if self.part is None:
            return items
        inside = (items.y >= self.part[0]) & (items.y < self.part[1])
        return Dataset(items.X[inside], y=items.y[inside], name=items.name)


def _vectors(path: Path, encoder: Encoder) -> dict[str, Any]:
    """Vectors and classes of the things in a file."""
    if path.suffix != ".zip":
        return _arrays(encode(read_things(path, labels="category"), encoder))
    with TemporaryDirectory() as place:
        with zipfile.ZipFile(path) as file:
            file.extractall(place)
        (folder,) = Path(place).iterdir()
        return _arrays(encode(read_things(folder, labels="folders"), encoder))


def _arrays(items: Dataset) -> dict[str, Any]:
    return {"X": items.X, "y": items.y}


CALTECH20 = Encoded("photos_caltech20.zip", "tsc:q=5", encoder="image")  # 20 kinds of things
CALTECH10 = replace(CALTECH20, classes=10, per_class=40)
SIGNS = Encoded("photos_signdigits.zip", "tsc:q=5", encoder="image")  # hand signs for 0 to 9
FACES35 = Encoded("photos_lfw_half.zip", "tsc:q=5", encoder="face")  # Labeled Faces in the Wild
FACES15 = replace(FACES35, classes=15)
BANK77 = Encoded("text_banking77.csv", "tsc:q=5", encoder="text")  # questions to a bank, intents
BANK20 = replace(BANK77, part=(0, 20))  # the first 20 intents by name
BANK20B = replace(BANK77, part=(20, 40))
VOICES = Encoded("audio_fsdd.zip", "tsc:q=5", encoder="speaker")  # spoken digits, 6 speakers
SEGMENT = Draw("segment", "ensc:gamma=5", None, 7, 60)
PENDIGITS = Draw("pendigits", "knn", 3, 10, 60, standardise=True)


def rand_curve(session: Session, oracle: Oracle, y: Any, questions: int) -> list[float]:
    """Adjusted Rand index after 0, 1, 2, ... questions."""
    first = adjusted_rand(y, session.labels("model"))
    rest = (
        adjusted_rand(y, session.labels("model")) for _ in AnswerLoop(session, oracle, questions)
    )
    return rounded([first, *rest])


def rounded(values: Iterable[float]) -> list[float]:
    """A curve as it is kept in a file."""
    return [round(float(value), 6) for value in values]


def parser_of(description: str | None, *, kept: bool = False) -> argparse.ArgumentParser:
    """A parser that shows a script's own text; with `kept` for trials that are kept in a file."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if kept:
        parser.add_argument("--out", type=Path, required=True, help="file of finished trials")
        parser.add_argument("--jobs", type=int, default=2, help="trials at once")
        parser.add_argument("--only-table", action="store_true", help="run nothing")
    return parser


def kept_trials(
    args: argparse.Namespace,
    work: Callable[..., dict],
    tasks: Iterable[tuple[list[Any], tuple[Any, ...]]],
) -> list[dict]:
    """Run the trials that are not in the file yet, add each to it, and give all that it holds.

    A task is a trial's key and the arguments of `work`, which gives a dict with that ``key``. A
    trial is on disk before the next is taken in, so a run that was stopped goes on where it was.
    """
    done: dict[str, dict] = {}
    if args.out.exists():
        for line in args.out.read_text().splitlines():
            trial = json.loads(line)
            done[_text(trial["key"])] = trial
    todo = [] if args.only_table else [given for key, given in tasks if _text(key) not in done]
    if todo:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with args.out.open("a") as file:
            many = Parallel(n_jobs=args.jobs, return_as="generator_unordered")
            for trial in many(delayed(work)(*given) for given in todo):
                done[_text(trial["key"])] = trial
                file.write(json.dumps(trial) + "\n")
                file.flush()
                os.fsync(file.fileno())
    return list(done.values())


def _text(key: Any) -> str:
    return json.dumps(key, sort_keys=True)
