"""How often is the advice within 2 points of the best affinity?

For each set every affinity clusters the points that `superpac advise` looks at, and the error is
measured against the truth; the advice sees the points alone. Also shown: what one would have got by
taking the same affinity everywhere.

    python benchmarks/advise.py                       # the small sets: minutes
    python benchmarks/advise.py --sets usps mnist     # some by name
    python benchmarks/advise.py --all                 # every set that is there
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from superpac.affinity.base import unit_rows
from superpac.affinity.registry import make_affinity
from superpac.data import Dataset, load
from superpac.data.benchmarks import available
from superpac.graph.spectral import spectral_clustering
from superpac.metrics import clustering_error
from superpac.research.advise import ORDINARY, SUBSPACE, advise, uneven_columns

SMALL = ("iris", "wine", "glass", "ionosphere", "ecoli", "sonar", "parkinsons", "wdbc")
AFFINITIES = SUBSPACE + ORDINARY
WITHIN = 0.02


def drawn(name: str, limit: int, seed: int) -> Dataset:
    """Take at most so many points, and so many classes that each has at least 20 of them."""
    data = load(name)
    classes = min(data.n_classes, limit // 20)
    if classes < data.n_classes:
        data = data.sample_classes(classes, None, seed)
    return data.shuffled(seed).subset(np.arange(min(limit, len(data))))


def one(name: str, limit: int, seeds: int) -> dict:
    gaps, rows = [], []
    for seed in range(seeds):
        data = drawn(name, limit, seed)
        clusters = int(np.unique(data.y).size)
        begun = time.process_time()
        advice = advise(data, clusters, seed=seed, sample=limit)
        cpu = time.process_time() - begun
        scaled = data.standardised() if uneven_columns(data) else data
        X = unit_rows(scaled.points())
        errors = {}
        for affinity in AFFINITIES:
            graph = make_affinity(affinity, clusters, random_state=seed).affinity(X)
            labels = spectral_clustering(graph, clusters, random_state=seed)
            errors[affinity] = clustering_error(data.y, labels)
        gaps.append(errors[advice.affinity] - min(errors.values()))
        rows.append({"chosen": advice.affinity, "errors": errors, "cpu": cpu})
    return {"name": name, "n": len(data), "k": clusters, "gaps": gaps, "runs": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SMALL))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--points", type=int, default=600, help="At most so many of a set.")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    names = [x.name for x in available() if x.present] if args.all else args.sets
    print("| data | N | K | advice | its error | best | its error | gap | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    found = []
    for name in names:
        result = one(name, args.points, args.seeds)
        found.append(result)
        for gap, run in zip(result["gaps"], result["runs"], strict=True):
            errors = run["errors"]
            best = min(errors, key=errors.get)
            print(
                f"| {name} | {result['n']} | {result['k']} | {run['chosen']} | "
                f"{100 * errors[run['chosen']]:.1f}% | {best} | {100 * errors[best]:.1f}% | "
                f"{100 * gap:.1f} | {run['cpu']:.1f} |",
                flush=True,
            )
    if args.out:
        args.out.write_text(json.dumps(found, indent=1))
    gaps = np.concatenate([result["gaps"] for result in found])
    runs = [run["errors"] for result in found for run in result["runs"]]
    print(
        f"\nWithin 2 points of the best in {np.sum(gaps <= WITHIN)} of {gaps.size} runs; "
        f"mean gap {100 * gaps.mean():.1f} points, largest {100 * gaps.max():.1f}."
    )
    for affinity in AFFINITIES:
        fixed = np.array([errors[affinity] - min(errors.values()) for errors in runs])
        print(
            f"Always {affinity}: {np.sum(fixed <= WITHIN)} of {fixed.size}, mean gap "
            f"{100 * fixed.mean():.1f} points."
        )


if __name__ == "__main__":
    main()
