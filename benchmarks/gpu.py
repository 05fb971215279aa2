"""A session on a graphics processor: how soon it is ready, and how long a question takes.

Points are MNIST's digits, beyond 70,000 turned, scaled and moved a little (`gpu_affinities.py`).
For each size: seconds until the first question, by stages (affinity, opening), the median and 95th
percentile of a question (taking in an answer, the labels, the next question), the error that it
came to, and the memory it took. First the questions of a small session are compared with those of
the processor.

Every stage is printed when it begins and ends, with the seconds since the start, so that a run
which is ended says how far it came. After the questions, and on the same session:

- `--parts N`: N more with a clock around each part of a question, which slows them a little;
- `--kernels`: what a question is made of, one by one, and the share that each reaches of what the
  memory can move (`--tbps`), from the bytes that it cannot do without.

`--profile` lists the functions that take longest, `--stacks S` where the program is, every S
seconds.

    python benchmarks/gpu.py --sizes 70000 1000000 --out benchmarks/results/gpu.jsonl
    python benchmarks/gpu.py --sizes 4000000 --questions 40 --kernels --no-check

Wall clock: the graphics processor works beside the program. Lines are JSON.
"""

from __future__ import annotations

import argparse
import cProfile
import faulthandler
import gc
import json
import pstats
import resource
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

import superpac.graph.diffusion as diffusion
import superpac.strategies.superpac_d.posterior as posterior
import superpac.strategies.superpac_d.strategy as strategy
import superpac.strategies.superpac_d.view_scores as views
from gpu_affinities import moved
from superpac import Dataset, Session, Spec, TruthOracle, clustering_error, load
from superpac.simulation.loop import AnswerLoop

AFFINITY, DIM, CLUSTERS = "tsc:q=5", 9, 10
SAME_AT, SAME_QUESTIONS = 6_000, 60
COMPILING = 5  # questions that are not counted: the first ones compile
TOLD_EVERY = 20  # questions

PARTS = [  # of a question; some are within others
    (diffusion.Claims, "follow"),
    (diffusion.Diffusion, "columns"),
    (diffusion.Diffusion, "unreached"),
    (posterior.Posterior, "_read"),
    (posterior.Posterior, "_refresh"),
    (posterior.Posterior, "_logits"),
    (posterior.Posterior, "settle"),
    (posterior.Posterior, "_label"),
    (posterior, "fit_weights"),
    (views.SubspaceView, "_column"),
    (views.KernelView, "_column"),
    (views, "leading_there"),
    (strategy, "worth_of_points"),
    (strategy, "learn_reliability"),
    (strategy.SuperpacD, "_chances"),
    (strategy.SuperpacD, "_most_doubt"),
]


class Lines:
    """JSON lines with the seconds since the start, printed and added to a file at once."""

    def __init__(self, out: Path | None) -> None:
        self.begun = time.perf_counter()
        self.file = out.open("a", encoding="utf-8") if out else None

    def add(self, **facts: Any) -> None:
        """Print one line."""
        text = json.dumps({"at": round(time.perf_counter() - self.begun, 1), **facts})
        print(text, flush=True)
        if self.file:
            print(text, file=self.file, flush=True)

    @contextmanager
    def stage(self, name: str, **facts: Any) -> Iterator[None]:
        """Tell when something began and how long it took."""
        self.add(stage=name, begins=True, **facts)
        begun = time.perf_counter()
        yield
        wait()
        self.add(stage=name, s=round(time.perf_counter() - begun, 2), gb=host_gb(), **facts)

    def attempt(self, name: str, work: Callable[[], Any], **facts: Any) -> Any:
        """Do some work; an error becomes a line, and what follows is done nevertheless."""
        try:
            return work()
        except Exception as error:
            traceback.print_exc()
            self.add(failed=name, error=f"{type(error).__name__}: {error}"[:300], **facts)
            return None


class Told:
    """Progress that prints a line at each quarter of a stage."""

    def __init__(self, lines: Lines, name: str = "") -> None:
        self.lines, self.name, self.quarter = lines, name, -1

    def stage(self, name: str) -> Told:
        """Progress of one stage."""
        return Told(self.lines, name)

    def __call__(self, done: int, total: int) -> None:
        """Tell."""
        quarter = 4 * done // max(1, total)
        if quarter > self.quarter:
            self.quarter = quarter
            self.lines.add(stage=self.name, done=round(done / max(1, total), 2))


def wait() -> None:
    """Until the graphics processor is done."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def host_gb() -> float:
    """Memory of the processor that was taken at most so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 1)


def digits(count: int) -> tuple[np.ndarray, np.ndarray]:
    """So many digits in a drawn order, and their classes."""
    items = load("mnist70k")
    order = np.random.default_rng(3).permutation(len(items))
    X, y = items.X[order].astype(np.float32), np.resize(items.y[order], count)
    if count <= len(items):
        return X[:count], y
    there, chance = torch.from_numpy(X).cuda(), torch.Generator("cuda").manual_seed(0)
    grown = np.empty((count, X.shape[1]), dtype=np.float32)
    grown[: len(X)] = X
    out = torch.from_numpy(grown)
    for start in range(len(X), count, 50_000):
        index = torch.arange(start, min(start + 50_000, count), device="cuda") % len(X)
        out[start : start + 50_000].copy_(moved(there[index], chance))
    return grown, y


def session_on(items: Dataset, device: str, told: Told | None = None) -> Session:
    """A session without answers."""
    spec = Spec(CLUSTERS, f"{AFFINITY},device={device}", dim=DIM)
    return Session.create(items, spec, device=device, progress=told)


def same_questions(lines: Lines) -> None:
    """How many of the first questions are those that the processor asks."""
    X, y = digits(SAME_AT)
    items, asked = Dataset(X, y=y), {}
    for device in ("cpu", "cuda"):
        with lines.stage(f"{SAME_QUESTIONS} questions", device=device, points=SAME_AT):
            session = session_on(items, device)
            loop = AnswerLoop(session, TruthOracle(items.y), SAME_QUESTIONS)
            asked[device] = [(q.i, q.j) for q in (session.ask() for _ in loop) if q is not None]
    pairs = list(zip(asked["cpu"], asked["cuda"], strict=True))
    first = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
    lines.add(points=SAME_AT, questions=len(pairs), first_other_question=first)


class Run:
    """A session of one size."""

    def __init__(self, lines: Lines, count: int, profile: bool) -> None:
        self.lines, self.count, self.profile = lines, count, profile
        with lines.stage("digits", points=count):
            X, y = digits(count)
        with lines.stage("data set", points=count):
            self.items = Dataset(X, y=y, name=f"{count} digits")
        self.oracle = TruthOracle(self.items.y)

    def open(self) -> dict[str, float]:
        """Seconds until the first question, from the array in memory."""
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
        with self.watched("until the first question"):
            begun = time.perf_counter()
            with self.lines.stage("fingerprint"):
                self.session = session_on(self.items, "cuda", Told(self.lines))
            with self.lines.stage("affinity, scaled points"):
                self.session.problem  # noqa: B018 - builds the affinity
            built = time.perf_counter()
            with self.lines.stage("clustering, kernel"):
                self.session.strategy  # noqa: B018 - begins
            with self.lines.stage("first model, first question"):
                self.session.ask()
            ready = time.perf_counter()
        return {
            "affinity_s": round(built - begun, 2),
            "opening_s": round(ready - built, 2),
            "ready_s": round(ready - begun, 2),
        }

    def ask(self, questions: int, before: Callable[[int], None] | None = None) -> list[float]:
        """Milliseconds of each of some questions; `before` is called with the number of each."""
        took: list[float] = []
        last = time.perf_counter()
        for _ in AnswerLoop(self.session, self.oracle, questions):
            self.labels = self.session.labels("model")
            self.session.ask()
            now = time.perf_counter()
            took.append(1e3 * (now - last))
            if len(took) % TOLD_EVERY == 0:
                self.lines.add(points=self.count, asked=len(took), **spread(took[COMPILING:]))
            if before is not None:
                before(len(took))
            last = time.perf_counter()
        return took

    def parts(self, questions: int) -> None:
        """Ask with a clock around each part, the graphics processor's work included."""
        spent: dict[str, float] = defaultdict(float)
        seen: list[dict[str, float]] = []

        def clocked(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
            def run(*given: Any, **named: Any) -> Any:
                wait()
                begun = time.perf_counter()
                result = work(*given, **named)
                wait()
                spent[name] += 1e3 * (time.perf_counter() - begun)
                return result

            return run

        def note(asked: int) -> None:
            seen.append(dict(spent))
            spent.clear()

        kept = [(owner, name, getattr(owner, name)) for owner, name in PARTS]
        try:
            for owner, name, work in kept:
                setattr(owner, name, clocked(f"{owner.__name__.split('.')[-1]}.{name}", work))
            took = self.ask(questions, note)
        finally:
            for owner, name, work in kept:
                setattr(owner, name, work)
        slowest = int(np.argmax(took))
        for name in sorted({name for each in seen for name in each}):
            values = np.array([each.get(name, 0.0) for each in seen])
            often = round(float((values > 0).mean()), 2)
            at_slowest = round(seen[slowest].get(name, 0.0), 2)
            self.lines.add(
                part=name, **spread(values), share_of_questions=often, slowest=at_slowest
            )
        self.lines.add(part="whole", **spread(took), slowest=round(took[slowest], 2))

    @contextmanager
    def watched(self, words: str) -> Iterator[None]:
        """List the functions that took longest, if so wanted."""
        if not self.profile:
            yield
            return
        with cProfile.Profile() as seen:
            yield
        print(f"--- {words}, {self.count} points", flush=True)
        pstats.Stats(seen).sort_stats("tottime").print_stats(18)

    def measure(self, args: argparse.Namespace) -> None:
        """Everything that was asked for."""
        opened = self.open()
        with self.watched(f"{args.questions} questions"):
            took = self.ask(args.questions)
        facts = {f"question_{key}": value for key, value in spread(took[COMPILING:]).items()}
        self.lines.add(
            points=self.count,
            **opened,
            **facts,
            questions=len(took),
            error=round(float(clustering_error(self.items.y, self.labels)), 4),
            neighbours=round(self.session.problem.affinity.nnz / self.count, 1),
            gpu_gb=round(torch.cuda.max_memory_allocated() / 1e9, 1),
            host_gb=host_gb(),
            gpu=torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        )
        self.lines.add(slowest_ms=[round(each, 1) for each in sorted(took[COMPILING:])[-12:]])
        if args.parts:
            self.lines.attempt("parts", lambda: self.parts(args.parts))
        if args.kernels:
            self.lines.attempt("kernels", lambda: Kernels(self, args.tbps).all())


def spread(values: Any) -> dict[str, float]:
    """Median and 95th percentile."""
    if len(values) == 0:
        return {}
    middle, high = np.percentile(np.asarray(values), [50, 95])
    return {"p50_ms": round(float(middle), 2), "p95_ms": round(float(high), 2)}


class Kernels:
    """What a question is made of, one by one, on the session as it is.

    Bytes are those that have to be read and written once, had each kernel room for all it needs.
    """

    def __init__(self, run: Run, tbps: float) -> None:
        self.lines, self.tbps = run.lines, tbps
        self.strategy = run.session.strategy
        self.model, self.walk = self.strategy.model, self.strategy.diffusion
        self.n, self.nnz = self.walk.n, self.walk.graph.nnz
        self.sets = len(self.model.keys)
        self.subspaces, self.kernel = self.model._views
        self.columns = 8 * self.n  # bytes of a column
        self.matrix = 12 * self.nnz + 4 * self.n

    def time(self, name: str, least: float, work: Callable[[], Any], times: int = 10) -> None:
        """Print the median time, and how much of the memory's ceiling `least` bytes in it are."""

        def run() -> None:
            for _ in range(3):
                work()
            took = []
            for _ in range(times):
                wait()
                begun = time.perf_counter()
                work()
                wait()
                took.append(time.perf_counter() - begun)
            seconds = float(np.median(took))
            share = round(least / seconds / (1e12 * self.tbps), 3)
            self.lines.add(
                kernel=name, ms=round(1e3 * seconds, 3), mb=round(least / 1e6), share=share
            )

        self.lines.attempt(name, run, kernel=name)

    def all(self) -> None:
        """All of them."""
        n, sets, model, column = self.n, self.sets, self.model, self.columns
        self.lines.add(points=n, entries=self.nnz, sets=sets, groups=model.groups.shape[1])
        there = model.groups
        self.copy(there.device)
        v = torch.rand(n, dtype=torch.float64, device=there.device)
        self.time("S v", self.matrix + 2 * column, lambda: self.walk.product(v))
        self.time("sum of products", column, lambda: torch.dot(v, v))
        point = int(np.flatnonzero(~model.certain)[0])
        self.time("a solve", 0.0, lambda: self.walk.columns([point]))
        self.walk.diagonal.pop(point, None)
        key = max(model.keys, key=lambda key: len(model.members[model.number[key]]))
        key = next((k for k in model.keys if k in self.subspaces._sums), key)
        mask = self.subspaces._masks[key]
        points = self.subspaces._short
        read = points.nbytes + 2 * column + n
        self.time("residual column", read, lambda: self.subspaces._column(key, mask))
        if key in self.subspaces._sums:
            moment = self.subspaces._sums[key].to(points.dtype)
            work = lambda: views.leading_there(moment, self.subspaces.dim)  # noqa: E731
            self.time("leading directions", 2.0 * moment.nbytes, work)
        read = self.kernel.factor.nbytes + 2 * column + n
        self.time("kernel column", read, lambda: self.kernel._column(key, mask))
        claims = self.model._claims
        both = [claims.total[key] for key in model.keys]
        self.time("columns stacked anew", 2.0 * sets * column, lambda: torch.stack(both, dim=1))
        beside = claims.matrix(model.keys)
        column_in_place = lambda: beside[:, 0].copy_(both[0])  # noqa: E731
        self.time("one column put beside the others", 2.0 * column, column_in_place)
        seeded = np.zeros(sets, dtype=np.bool_)
        self.time(
            "shares by diffusion", 3.0 * sets * column, lambda: model._diffused(beside, seeded)
        )
        self.time(
            "residuals compared",
            2.0 * sets * column,
            lambda: self.subspaces.comparable(model.keys),
        )
        self.time("scores of all views", 6.0 * sets * column, model._scores)
        self.time("posterior", 4.0 * sets * column, lambda: posterior.softmax(model._logits()))

        def settle() -> None:
            model.settled = False
            model.settle(self.strategy.sets)

        self.time("posterior, relations of sets, labels", 4.0 * sets * column, settle)
        among = torch.from_numpy(np.flatnonzero(~model.certain)).to(there.device)
        walked = self.strategy.settings.walk_steps * (self.matrix + 2 * column)
        self.time(
            "worth of all questions",
            there.nbytes + walked,
            lambda: strategy.worth_of_points(there, among, self.strategy._steps),
        )

    def copy(self, device: torch.device) -> None:
        """What the memory can move."""
        some = torch.empty(2 * 10**9, dtype=torch.uint8, device=device)
        other = torch.empty_like(some)
        self.time("copy", 2.0 * some.nbytes, lambda: other.copy_(some))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[70_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--parts", type=int, default=0, help="questions taken apart after")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--stacks", type=float, help="show every so many seconds what is done")
    parser.add_argument("--no-check", action="store_true", help="do not compare with the processor")
    parser.add_argument("--tbps", type=float, default=4.3)
    parser.add_argument("--out", type=Path, help="add the lines to this file")
    args = parser.parse_args()
    lines = Lines(args.out)
    if args.stacks:
        faulthandler.dump_traceback_later(args.stacks, repeat=True)
    if not args.no_check:
        lines.attempt("check", lambda: same_questions(lines))
    for count in args.sizes:
        lines.attempt(
            "size", lambda count=count: Run(lines, count, args.profile).measure(args), points=count
        )
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
