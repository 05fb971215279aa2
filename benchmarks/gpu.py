"""A session on a graphics processor: how soon it is ready, and how long a question takes.

Points are MNIST's digits, beyond 70,000 turned, scaled and moved a little (`gpu_affinities.py`).
For each size: seconds until the first question, by stages (affinity, opening), the median and 95th
percentile of a question (taking in an answer, the labels, the next question), the error that it
came to, and the memory it took. First the questions of a small session are compared with those of
the processor. `--profile` lists the functions that take longest.

    python benchmarks/gpu.py --sizes 70000 1000000 --out benchmarks/results/gpu.jsonl
    python benchmarks/gpu.py --sizes 4000000 --questions 100

Wall clock: the graphics processor works beside the program. Lines are JSON.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import time
from pathlib import Path

import numpy as np
import torch

from gpu_affinities import moved
from superpac import Dataset, Session, Spec, TruthOracle, clustering_error, load
from superpac.simulation.loop import AnswerLoop

AFFINITY, DIM, CLUSTERS = "tsc:q=5", 9, 10
SAME_AT, SAME_QUESTIONS = 6_000, 60


def digits(count: int) -> Dataset:
    """So many digits, in a drawn order."""
    items = load("mnist70k")
    order = np.random.default_rng(3).permutation(len(items))
    X, y = items.X[order].astype(np.float32), np.resize(items.y[order], count)
    if count <= len(items):
        return Dataset(X[:count], y=y, name=f"{count} digits")
    there, chance = torch.from_numpy(X).cuda(), torch.Generator("cuda").manual_seed(0)
    grown = np.empty((count, X.shape[1]), dtype=np.float32)
    grown[: len(X)] = X
    for start in range(len(X), count, 50_000):
        index = torch.arange(start, min(start + 50_000, count), device="cuda") % len(X)
        grown[start : start + 50_000] = moved(there[index], chance).cpu().numpy()
    return Dataset(grown, y=y, name=f"{count} digits")


def session_on(items: Dataset, device: str) -> Session:
    """A session without answers."""
    spec = Spec(CLUSTERS, f"{AFFINITY},device={device}", dim=DIM)
    return Session.create(items, spec, device=device)


def same_questions() -> dict:
    """How many of the first questions are those that the processor asks."""
    items = digits(SAME_AT)
    asked = {}
    for device in ("cpu", "cuda"):
        session = session_on(items, device)
        loop = AnswerLoop(session, TruthOracle(items.y), SAME_QUESTIONS)
        asked[device] = [(q.i, q.j) for q in (session.ask() for _ in loop) if q is not None]
    pairs = list(zip(asked["cpu"], asked["cuda"], strict=True))
    first = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
    return {"points": SAME_AT, "questions": len(pairs), "first_other_question": first}


def measure(count: int, questions: int, profile: bool) -> dict:
    """One size."""
    items = digits(count)
    torch.cuda.reset_peak_memory_stats()
    watched = cProfile.Profile()
    begun = time.perf_counter()
    if profile:
        watched.enable()
    session = session_on(items, "cuda")
    session.problem  # noqa: B018 - builds the affinity
    built = time.perf_counter()
    session.ask()
    ready = time.perf_counter()
    if profile:
        report(watched, f"until the first question, {count} points")
        watched = cProfile.Profile()
        watched.enable()
    took, last = [], ready
    for _ in AnswerLoop(session, TruthOracle(items.y), questions):
        labels = session.labels("model")
        session.ask()
        now = time.perf_counter()
        took.append(now - last)
        last = now
    if profile:
        report(watched, f"{questions} questions, {count} points")
    wait = 1e3 * np.array(took[5:])  # the first ones compile
    return {
        "points": count,
        "affinity_s": round(built - begun, 2),
        "opening_s": round(ready - built, 2),
        "ready_s": round(ready - begun, 2),
        "question_p50_ms": round(float(np.percentile(wait, 50)), 1),
        "question_p95_ms": round(float(np.percentile(wait, 95)), 1),
        "questions": questions,
        "error": round(float(clustering_error(items.y, labels)), 4),
        "neighbours": round(session.problem.affinity.nnz / count, 1),
        "gpu_gb": round(torch.cuda.max_memory_allocated() / 1e9, 1),
        "host_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 1),
        "gpu": torch.cuda.get_device_name(),
    }


def report(watched: cProfile.Profile, words: str) -> None:
    """Print what took longest."""
    watched.disable()
    print(f"--- {words}", flush=True)
    pstats.Stats(watched).sort_stats("tottime").print_stats(18)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[70_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--no-check", action="store_true", help="do not compare with the processor")
    parser.add_argument("--out", type=Path, help="add the lines to this file")
    args = parser.parse_args()
    work = [] if args.no_check else [same_questions]
    work += [lambda n=n: measure(n, args.questions, args.profile) for n in args.sizes]
    for each in work:
        line = json.dumps(each())
        print(line, flush=True)
        if args.out:
            with args.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
