"""Affinities and the spectral step beside their peers, in CPU seconds of one run.

Prints Markdown tables: EnSC, SSC-OMP and the spectral step beside their peers with the ratio of
CPU seconds; the error of every method beside the reference; time and memory of TSC on 70,000
digits. Peers solve the same problem for a sample of the points; their time is scaled up to all of
them. Everybody runs on one thread, where CPU seconds hold no busy waiting. spams and skglm come
with `make bench`.

    python benchmarks/affinities.py                       # USPS beside peers, then TSC on 70,000
    python benchmarks/affinities.py --only compare        # USPS: EnSC, SSC-OMP, spectral step
    python benchmarks/affinities.py --only figures        # error on every set beside the reference
    python benchmarks/affinities.py --only tsc70k         # TSC on 70,000 digits: memory and time
    python benchmarks/affinities.py --json out.json       # the same numbers, to a file as well
"""

from __future__ import annotations

import json
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.linear_model import ElasticNet, orthogonal_mp
from threadpoolctl import threadpool_limits

from common import parser_of
from superpac.affinity.base import unit_rows
from superpac.affinity.registry import make_affinity
from superpac.data import Dataset, load
from superpac.graph.spectral import spectral_clustering
from superpac.metrics import clustering_error

# data, affinity, error in per cent of the reference (a range where the reference has one)
FIGURES = (
    ("coil20", "ensc:gamma=50", (24.1, 24.1)),
    ("coil20", "ensc:gamma=10", (15.8, 15.8)),
    ("coil20", "ensc:gamma=5", (16.0, 16.0)),
    ("coil20", "tsc:q=4", (16.9, 16.9)),
    ("coil20", "tsc:q=6", (17.3, 17.3)),
    ("coil20", "tsc:q=10", (21.3, 21.3)),
    ("coil20", "ssc-omp:k=2", (48.7, 48.7)),
    ("coil20", "ssc-omp:k=3", (49.2, 49.2)),
    ("yaleb", "ssc-omp:k=5", (19.2, 22.3)),
    ("yaleb", "ssc-omp:k=5,to_affinity=raw", (16.7, 16.7)),
    ("yaleb", "ensc:gamma=50", (36.0, 36.0)),
    ("yaleb", "tsc:q=3", (50.7, 50.7)),
    ("usps", "tsc:q=5", (34.5, 34.5)),
    ("usps", "tsc:q=10", (34.8, 34.8)),
    ("usps", "tsc:q=20", (34.4, 34.4)),
    ("usps", "ensc:gamma=50", (48.9, 48.9)),
    ("usps", "ensc:gamma=10", (36.8, 36.8)),
    ("usps", "ensc:gamma=5", (36.2, 36.2)),
    ("usps", "ensc:gamma=3", (35.1, 35.1)),
    ("usps", "ssc-omp:k=10", (74.9, 74.9)),
    ("mnist", "tsc:q=5", (32.0, 32.0)),
    ("mnist", "ensc:gamma=5", (31.4, 31.4)),
    ("coil100", "ensc:gamma=5", (31.2, 31.2)),
    ("coil100", "tsc:q=4", (29.5, 31.0)),
)


def cpu(work: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of a call, and what it gave."""
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def warm_up(name: str) -> None:
    """Compile before anything is timed."""
    rng = np.random.default_rng(0)
    make_affinity(name, 2).affinity(rng.normal(size=(60, 8)))


class Dictionary:
    """All points as columns; the point being solved for is blanked out in place, not copied."""

    def __init__(self, X: np.ndarray) -> None:
        self.columns = np.asfortranarray(X.T)

    def without(self, j: int) -> Iterator[np.ndarray]:
        """Give the dictionary with column j zero, which no solver selects."""
        kept = self.columns[:, j].copy()
        self.columns[:, j] = 0.0
        yield kept
        self.columns[:, j] = kept


def net(solve: Callable, X: np.ndarray, sample: np.ndarray, gamma: float, tau: float) -> None:
    """Solve the elastic net of each sampled point with a peer."""
    D = Dictionary(X)
    for j in sample:
        for x in D.without(j):
            g = gamma * tau / np.abs(D.columns.T @ x).max()
            solve(D.columns, x, g, tau)


def spams_net(D: np.ndarray, x: np.ndarray, g: float, tau: float) -> None:
    import spams

    spams.lasso(
        np.asfortranarray(x[:, None]), D=D, lambda1=tau / g, lambda2=(1 - tau) / g, numThreads=1
    )


def skglm_net(D: np.ndarray, x: np.ndarray, g: float, tau: float) -> None:
    import skglm

    alpha = 1.0 / (g * x.size)
    # its tolerance is on the gradient, in units of alpha; at 1e-4 it stops 0.3 to 12% off
    skglm.ElasticNet(
        alpha=alpha, l1_ratio=tau, fit_intercept=False, tol=1e-3 * alpha, max_iter=200
    ).fit(D, x)


def sklearn_net(D: np.ndarray, x: np.ndarray, g: float, tau: float) -> None:
    alpha = 1.0 / (g * x.size)
    ElasticNet(alpha=alpha, l1_ratio=tau, fit_intercept=False, max_iter=5000).fit(D, x)


def sklearn_omp(X: np.ndarray, sample: np.ndarray, k: int) -> None:
    D = Dictionary(X)
    for j in sample:
        for x in D.without(j):
            orthogonal_mp(D.columns, x, n_nonzero_coefs=k)


def beside(step: str, ours: float, peer: str, theirs: float | None) -> dict:
    """Print one row of the table, and give it as a record."""
    right = "not installed | |" if theirs is None else f"{theirs:.0f} | {theirs / ours:.0f}x |"
    print(f"| {step} | {ours:.2f} | {peer} | {right}", flush=True)
    ratio = None if theirs is None else theirs / ours
    return {"step": step, "cpu_s": ours, "peer": peer, "peer_cpu_s": theirs, "ratio": ratio}


def peer_cpu(work: Callable[[np.ndarray], object], n: int, size: int) -> float | None:
    """CPU seconds of a peer for all `n` points, from `size` of them; None when it is missing."""
    sample = np.random.default_rng(0).choice(n, size + 2, replace=False)
    try:
        with threadpool_limits(1):
            work(sample[size:])  # compilation and caches
            return cpu(lambda: work(sample[:size]))[0] * n / size
    except ImportError:
        return None


def compare(items: Dataset, arpack: bool) -> list[dict]:
    """EnSC, SSC-OMP and the spectral step on one set, beside their peers."""
    X = unit_rows(items.points())
    n, K = len(items), items.n_classes
    rows = []
    print("| step | this project, CPU s | peer | peer, CPU s | ratio |")
    print("| --- | --- | --- | --- | --- |")
    graphs = {}
    for gamma in (5.0, 50.0):
        name = f"ensc:gamma={gamma:g}"
        warm_up(name)
        ours, graphs[gamma] = cpu(lambda name=name: make_affinity(name, K, n_jobs=1).affinity(X))
        for peer, solve, size in (
            ("spams", spams_net, 150),
            ("skglm", skglm_net, 60),
            ("scikit-learn ElasticNet", sklearn_net, 2),
        ):
            theirs = peer_cpu(
                lambda part, solve=solve, g=gamma: net(solve, X, part, g, 0.9), n, size
            )
            rows.append(beside(f"EnSC gamma {gamma:g}", ours, f"{peer} ({size} points)", theirs))
    warm_up("ssc-omp:k=5")
    ours, _ = cpu(lambda: make_affinity("ssc-omp:k=10", K, n_jobs=1).affinity(X))
    theirs = peer_cpu(lambda part: sklearn_omp(X, part, 10), n, 60)
    rows.append(beside("SSC-OMP k 10", ours, "scikit-learn orthogonal_mp (60 points)", theirs))
    if arpack:
        graph = graphs[5.0]
        spectral_clustering(np.ones((40, 40)), 2, random_state=0)
        model = SpectralClustering(K, affinity="precomputed", eigen_solver="arpack", random_state=0)
        with threadpool_limits(1):
            ours, labels = cpu(lambda: spectral_clustering(graph, K, random_state=0))
            theirs, fitted = cpu(lambda: model.fit(graph))
        error, other = (
            100 * clustering_error(items.y, found) for found in (labels, fitted.labels_)
        )
        step = f"spectral step after EnSC gamma 5, error {error:.1f}%"
        peer = f"scikit-learn SpectralClustering (arpack), error {other:.1f}%"
        rows.append({**beside(step, ours, peer, theirs), "error": error, "peer_error": other})
    return rows


def figures() -> list[dict]:
    """Error of every method beside the reference."""
    print("| data | affinity | neighbours per row | CPU s | error | reference | within 2 points |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for data, name, (low, high) in FIGURES:
        items = load(data)
        if data == "yaleb":
            items = items.subset(np.flatnonzero(~items.extras["bad"]))
        warm_up(name)
        maker = make_affinity(name, items.n_classes)
        seconds, graph = cpu(lambda maker=maker, items=items: maker.affinity(items.points()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error = np.median(
                [
                    100
                    * clustering_error(
                        items.y,
                        spectral_clustering(graph, items.n_classes, n_init=20, random_state=s),
                    )
                    for s in range(3)
                ]
            )
        span = f"{low:g}%" if low == high else f"{low:g}-{high:g}%"
        good = "yes" if low - 2 <= error <= high + 2 else "NO"
        row = f"| {data} | {name} | {graph.nnz / len(items):.1f} | {seconds:.1f} | {error:.1f}% "
        print(f"{row}| {span} | {good} |", flush=True)
        rows.append({"data": data, "affinity": name, "cpu_s": seconds, "error": float(error)})
    return rows


def tsc70k() -> list[dict]:
    """TSC on all 70,000 MNIST digits: neighbours by approximate search, then by looking at all."""
    items = load("mnist70k")
    print(
        "| data | method | neighbours found | wall s | CPU s | spectral step, CPU s | peak GB "
        "| error |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    found = []
    # the exact search last: peak memory is that of the process so far
    for search in ("approximate", "exact"):
        name = f"tsc:q=5,search={search}"
        warm_up(name)
        model = make_affinity(name, 10)
        begun, used = time.perf_counter(), time.process_time()
        graph = model.affinity(items.points())
        wall, used = time.perf_counter() - begun, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        after = time.process_time()
        labels = spectral_clustering(graph, 10, random_state=0)
        after = time.process_time() - after
        error = 100 * clustering_error(items.y, labels)
        print(
            f"| MNIST, {len(items)} digits | TSC q 5, {search} | {100 * model.recall_:.1f}% "
            f"| {wall:.0f} | {used:.0f} | {after:.0f} | {peak:.1f} | {error:.1f}% |",
            flush=True,
        )
        found.append(
            {"data": "mnist70k", "affinity": name, "recall": model.recall_, "wall_s": wall,
             "cpu_s": used, "spectral_cpu_s": after, "peak_gb": peak, "error": error}
        )  # fmt: skip
    return found


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--only", choices=["compare", "figures", "tsc70k"])
    parser.add_argument("--data", default="usps")
    parser.add_argument("--no-arpack", action="store_true", help="leave out the slow spectral peer")
    parser.add_argument("--json", type=Path, help="file for the numbers as JSON")
    args = parser.parse_args()
    found: dict[str, list[dict]] = {}
    # the 70,000 first: peak memory is that of the whole process
    if args.only in (None, "tsc70k"):
        found["tsc70k"] = tsc70k()
        print()
    if args.only in (None, "compare"):
        found["compare"] = compare(load(args.data), not args.no_arpack)
    if args.only == "figures":
        found["figures"] = figures()
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
