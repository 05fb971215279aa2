"""How fast and how faithful the warm-started loop is: SUPERPAC on USPS, 2,000 truthful questions.

Prints, from one run: CPU seconds per question, milliseconds from an answer to the next question and
peak memory of the warm loop and of the one that clusters from scratch after every placed point;
their errors after every 100 questions; and how much longer it takes to cluster the same affinity
once with scikit-learn's SpectralClustering.

    python benchmarks/loop.py                  # 1 seed, 2,000 questions
    python benchmarks/loop.py --seeds 5        # warm against exact, mean of 5 seeds
    python benchmarks/loop.py --beside --seeds 5   # every warm clustering beside one from scratch

The two loops drift apart, since one point labelled differently may change the next question; with
`--beside` both clusterings are given the same answers, step by step.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering

from common import Draw, kept_trials, parser_of
from superpac import TruthOracle, clustering_error, simulate
from superpac.graph.imputed_spectral import ImputedSpectral, KnownSets

EVERY = 100


def trial(draw: Draw, questions: int, seed: int, refit: str) -> dict:
    """One loop: its error after every 100 questions and what it cost."""
    items = draw.items(seed)
    session = draw.session(items, seed, "superpac", {"refit": refit})
    session.ask()  # the affinity and the first clustering are not the loop's
    cpu = time.process_time()
    run = simulate(session, TruthOracle(items.y), items.y, questions)
    return {
        "key": [draw.data, draw.affinity, draw.dim, questions, seed, refit],
        "cpu": time.process_time() - cpu,
        "error": [run.error_at(q) for q in range(0, questions + 1, EVERY)],
        "p50": float(np.percentile(run.ask_ms, 50)),
        "p95": float(np.percentile(run.ask_ms, 95)),
        "questions": len(run.ask_ms),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def beside(draw: Draw, questions: int, seed: int) -> list[float]:
    """Run the warm loop and cluster from scratch, too, whenever it clusters.

    Returns how much larger the warm error is after every 100 questions.
    """
    items = draw.items(seed)
    session = draw.session(items, seed, "superpac", {"refit": "warm"})
    model, clusters = session.strategy.model, items.n_classes
    scratch = ImputedSpectral(session.problem.affinity, clusters, seed=seed)
    warm, moved, gaps, marks = model.warm, [], [0.0], []

    def both(known: KnownSets, *, step: int) -> np.ndarray:
        labels = warm(known, step=step)
        exact = scratch.exact(known, step=step)
        moved.append(clustering_error(labels, exact))
        gaps.append(clustering_error(items.y, labels) - clustering_error(items.y, exact))
        return labels

    def mark(asked: int, _: float) -> None:
        if asked % EVERY == 0:
            marks.append(gaps[-1])

    model.warm = both  # the one place where both can be given the same sets at the same step
    simulate(session, TruthOracle(items.y), items.y, questions, watch=mark)
    gap = 100 * np.abs(gaps[1:])
    print(
        f"seed {seed}: {gap.size} clusterings, labels differ at {100 * np.mean(moved):.3f}% "
        f"of the points on average; error differs by {gap.mean():.3f} points on average, by more "
        f"than one point in {np.sum(gap > 1)}, at most by {gap.max():.2f}",
        flush=True,
    )
    return marks


def report(runs: dict[str, list[dict]], questions: int) -> None:
    """Print costs and errors of the loops."""
    for name, found in runs.items():
        per = np.mean([r["cpu"] / r["questions"] for r in found])
        p50, p95 = (np.mean([r[p] for r in found]) for p in ("p50", "p95"))
        print(
            f"{name:6} CPU s per question {per:.4f}   p50 {p50:.0f} ms   p95 {p95:.0f} ms   "
            f"peak memory {max(r['rss_mb'] for r in found):.0f} MB"
        )
    means = [np.mean([r["error"] for r in found], axis=0) for found in runs.values()]
    for q, *errors in zip(range(0, questions + 1, EVERY), *means, strict=True):
        gap = f"   gap {100 * (errors[0] - errors[1]):+.2f} points" if len(errors) == 2 else ""
        print(f"{q:5} questions  " + "  ".join(f"{100 * e:6.2f}%" for e in errors) + gap)


def sklearn_once(draw: Draw, warm: list[dict]) -> None:
    """Print what scikit-learn takes to cluster the affinity once."""
    items = draw.items(0)
    graph = draw.session(items, 0, "superpac").problem.affinity
    model = SpectralClustering(
        items.n_classes, affinity="precomputed", eigen_solver="arpack", random_state=0
    )
    cpu = time.process_time()
    labels = model.fit(graph).labels_
    cpu = time.process_time() - cpu
    per = np.mean([r["cpu"] / r["questions"] for r in warm])
    print(
        f"scikit-learn's SpectralClustering once: {cpu:.1f} CPU s, error "
        f"{100 * clustering_error(items.y, labels):.1f}%; a question of the warm loop costs "
        f"{cpu / per:.0f}x less"
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", default="usps")
    parser.add_argument("--affinity", default="ensc:gamma=5")
    parser.add_argument("--dim", type=int, default=9)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0, help="for runs side by side")
    parser.add_argument("--no-exact", action="store_true", help="leave out the from-scratch loop")
    parser.add_argument("--beside", action="store_true", help="only compare step by step")
    parser.add_argument("--no-sklearn", action="store_true", help="leave out scikit-learn")
    parser.add_argument("--out", type=Path, help="append every finished run here, and skip those")
    args = parser.parse_args()
    draw = Draw(args.data, args.affinity, args.dim)
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    if args.beside:
        gaps = 100 * np.mean([beside(draw, args.questions, seed) for seed in seeds], axis=0)
        print("mean gap at every 100 questions, points:", *(f"{gap:+.3f}" for gap in gaps))
        return
    refits = ("warm",) if args.no_exact else ("warm", "exact")
    given = [(draw, args.questions, seed, refit) for seed in seeds for refit in refits]
    keys = [[args.data, args.affinity, args.dim, *rest] for _, *rest in given]
    with tempfile.TemporaryDirectory() as folder:
        # one at a time: they are timed
        where = argparse.Namespace(
            out=args.out or Path(folder) / "runs.jsonl", jobs=1, only_table=False
        )
        found = kept_trials(where, trial, zip(keys, given, strict=True))
    runs = {
        refit: [r for r in found if r["key"] in keys and r["key"][-1] == refit] for refit in refits
    }
    report(runs, args.questions)
    if not args.no_sklearn:
        sklearn_once(draw, runs["warm"])


if __name__ == "__main__":
    main()
