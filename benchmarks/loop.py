"""How fast and how faithful the warm-started loop is: SUPERPAC on USPS, 2,000 truthful questions.

Prints, from one run: milliseconds from an answer to the next question, the ratio to re-clustering
the same affinity with scikit-learn's SpectralClustering, memory, and the error beside the loop
that clusters from scratch after every placed point.

    python benchmarks/loop.py                  # 1 seed, 2,000 questions
    python benchmarks/loop.py --seeds 5        # warm against exact, mean of 5 seeds
    python benchmarks/loop.py --beside --seeds 5   # every warm clustering beside one from scratch

The two loops drift apart, since one point labelled differently may change the next question; with
`--beside` both clusterings are given the same answers, step by step.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering

from superpac.data import Dataset, load
from superpac.graph.imputed_spectral import ImputedSpectral, KnownSets
from superpac.metrics import align_labels, clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec, build_problem
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
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

    done = {}
    if args.out and args.out.exists():
        done = {tuple(r["key"]): r for r in map(json.loads, args.out.read_text().splitlines())}
    runs: dict[str, list[dict]] = {"warm": [], "exact": []}
    items = load(args.data)
    graph = None
    if args.beside:
        marks = []
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            spec = Spec(
                items.n_classes, args.affinity, "superpac", {"refit": "warm"}, args.dim, seed
            )
            marks.append(beside(items.shuffled(seed), spec, args.questions))
        gaps = 100 * np.mean(marks, axis=0)
        print("mean gap at every 100 questions, points:", *(f"{gap:+.3f}" for gap in gaps))
        return
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        shuffled = items.shuffled(seed)
        for refit in ("warm",) if args.no_exact else ("warm", "exact"):
            key = (args.data, args.affinity, args.dim, args.questions, seed, refit)
            if key not in done:
                options = {"refit": refit}
                spec = Spec(items.n_classes, args.affinity, "superpac", options, args.dim, seed)
                problem = build_problem(shuffled, spec)
                graph = problem.affinity
                session = Session.create(shuffled, spec, affinity=graph)
                cpu = time.process_time()
                run = simulate(session, TruthOracle(shuffled.y), shuffled.y, args.questions)
                done[key] = {
                    "key": key,
                    "cpu": time.process_time() - cpu,
                    "error": [run.error_at(q) for q in range(0, args.questions + 1, 100)],
                    "p50": float(np.percentile(run.ask_ms, 50)),
                    "p95": float(np.percentile(run.ask_ms, 95)),
                    "questions": len(run.ask_ms),
                    "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                }
                if args.out:
                    with args.out.open("a") as file:
                        file.write(json.dumps(done[key]) + "\n")
            runs[refit].append(done[key])

    for name, found in runs.items():
        if found:
            per = np.mean([r["cpu"] / r["questions"] for r in found])
            p50, p95 = (np.mean([r[p] for r in found]) for p in ("p50", "p95"))
            print(
                f"{name:6} CPU s a question {per:.4f}   p50 {p50:.0f} ms   p95 {p95:.0f} ms   "
                f"peak memory {max(r['rss_mb'] for r in found):.0f} MB"
            )
    for q, *errors in zip(
        range(0, args.questions + 1, 100),
        *(np.mean([r["error"] for r in found], axis=0) for found in runs.values() if found),
        strict=True,
    ):
        gap = f"   gap {100 * (errors[0] - errors[1]):+.2f} points" if len(errors) == 2 else ""
        print(f"{q:5} questions  " + "  ".join(f"{100 * e:6.2f}%" for e in errors) + gap)

    if not args.no_sklearn:
        shuffled = items.shuffled(0)
        if graph is None:
            graph = build_problem(
                shuffled, Spec(items.n_classes, args.affinity, dim=args.dim)
            ).affinity
        model = SpectralClustering(
            items.n_classes, affinity="precomputed", eigen_solver="arpack", random_state=0
        )
        cpu = time.process_time()
        labels = model.fit(graph).labels_
        cpu = time.process_time() - cpu
        per = np.mean([r["cpu"] / r["questions"] for r in runs["warm"]])
        error = clustering_error(items.shuffled(0).y, labels)
        print(
            f"scikit-learn's SpectralClustering once: {cpu:.1f} CPU s, error {100 * error:.1f}%; "
            f"a question of the warm loop costs {cpu / per:.0f}x less"
        )


def beside(items: Dataset, spec: Spec, questions: int) -> list[float]:
    """Run the warm loop and cluster from scratch, too, whenever it clusters.

    Returns how much larger the warm error is after every 100 questions.
    """
    session = Session.create(items, spec)
    model = session.strategy.model
    scratch = ImputedSpectral(session.problem.affinity, spec.n_clusters, seed=spec.seed)
    warm, moved, gaps, marks = model.warm, [], [0.0], []

    def both(known: KnownSets, *, step: int) -> np.ndarray:
        labels = warm(known, step=step)
        exact = scratch.exact(known, step=step)
        moved.append(np.mean(align_labels(exact, labels) != labels))
        gaps.append(clustering_error(items.y, labels) - clustering_error(items.y, exact))
        return labels

    def mark(asked: int, _: float) -> None:
        if asked % 100 == 0:
            marks.append(gaps[-1])

    model.warm = both
    simulate(session, TruthOracle(items.y), items.y, questions, watch=mark)
    gap = 100 * np.abs(gaps[1:])
    print(
        f"seed {spec.seed}: {gap.size} clusterings, labels differ at {100 * np.mean(moved):.3f}% "
        f"of the points on average; error differs by {gap.mean():.3f} points on average, by more "
        f"than one point in {np.sum(gap > 1)}, at most by {gap.max():.2f}",
        flush=True,
    )
    return marks


if __name__ == "__main__":
    main()
