"""Affinities on a graphics processor: seconds, how right they are, and how much of it they use.

Points are the 70,000 MNIST digits, and beyond these copies of them that are turned by up to 8
degrees, scaled by up to 8% and moved by up to a pixel. The kernels alone are timed on points that
are on the device already; "estimator" is a call as people make it, from an array in the processor's
memory to a SciPy matrix. Before anything is timed, 5,000 points are compared with the processor.

    python benchmarks/gpu_affinities.py                          # 70,000, 250,000 and 1,000,000
    python benchmarks/gpu_affinities.py --sizes 4000000 --only tsc
    python benchmarks/gpu_affinities.py --sizes 1000000 --only ensc --all-conditions
    python benchmarks/gpu_affinities.py --out gpu.jsonl          # the same lines, to a file as well

Each line is JSON. `share` is of the ceilings given by --tflops and --tbps (measured on an H200:
matrix products in half precision, and copies).
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from superpac.affinity._kernels.ensc import ensc_coefficients
from superpac.affinity._kernels.omp import omp_coefficients
from superpac.affinity._kernels.top_k import top_inner_products
from superpac.affinity._kernels.torch_ensc import conditions, ensc_rows
from superpac.affinity._kernels.torch_graph import affinity, symmetric
from superpac.affinity._kernels.torch_groups import compiled
from superpac.affinity._kernels.torch_omp import omp_rows
from superpac.affinity._kernels.torch_search import SINGLE_UP_TO, UPLOAD, Search
from superpac.affinity._kernels.torch_top_k import top_rows
from superpac.affinity.base import no_progress, unit_rows
from superpac.affinity.registry import make_affinity
from superpac.data import load
from superpac.device.choice import Torch

KERNELS = ("tsc", "ensc", "ssc-omp", "estimator")
Q, TAU = 5, 0.9
BOUND = 1e-3  # share of tau by which an optimality condition may be broken


class Counted(Search):
    """A search that counts the vectors that it compared with all points."""

    looked = 0

    def look(self, queries: torch.Tensor, passed_over: torch.Tensor) -> Any:
        """Count, and compare."""
        self.looked += len(queries)
        return super().look(queries, passed_over)


class Bench:
    """Runs one kernel after the other, and goes on where one fails."""

    def __init__(self, args: Any) -> None:
        self.args, self.device = args, Torch(args.device)
        self.file = args.out.open("a", encoding="utf-8") if args.out else None

    def line(self, **facts: Any) -> None:
        """Print one line, to the file as well."""
        text = json.dumps(facts)
        print(text, flush=True)
        if self.file:
            print(text, file=self.file, flush=True)

    def attempt(self, kernel: str, work: Callable[[], dict], **facts: Any) -> None:
        """Run one kernel; an error becomes a line."""
        if self.device.name == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        try:
            found = work()
        except Exception as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {error}"[:300]}
        if self.device.name == "cuda":
            found["peak_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 1)
        self.line(kernel=kernel, **facts, **found)

    def timed(self, work: Callable[[], Any]) -> tuple[float, Any]:
        """Seconds of a call, the device's work included."""
        self.wait()
        begun = time.perf_counter()
        result = work()
        self.wait()
        return time.perf_counter() - begun, result

    def wait(self) -> None:
        """Until the device is done."""
        if self.device.name == "cuda":
            torch.cuda.synchronize()

    def use(self, search: Counted, seconds: float) -> dict[str, float]:
        """How much arithmetic and how many bytes the looks over all pairs took, as rates."""
        products = search.looked * search.n
        flops = 2e-12 * products * search.d / seconds
        moved = 2e-12 * products * search.coarse.itemsize / seconds  # written once, read once
        return {
            "looks": round(search.looked / search.n, 3),
            "tflops": round(flops, 1),
            "share": round(flops / self.args.tflops, 3),
            "tbps": round(moved, 2),
            "share_of_memory": round(moved / self.args.tbps, 3),
        }

    def points(self, n: int) -> torch.Tensor:
        """Unit rows on the device: digits, and moved digits."""
        kind = torch.float32 if n * 784 <= SINGLE_UP_TO else torch.float16
        X = load("mnist70k").X[:n].reshape(-1, 784)
        digits = torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32)).to(self.device.where)
        rows = torch.empty((n, 784), dtype=kind, device=digits.device)
        chance = torch.Generator(digits.device).manual_seed(0)
        for start in range(0, n, 50_000):
            index = torch.arange(start, min(start + 50_000, n), device=digits.device)
            part = digits[index % len(digits)]
            first = max(0, len(digits) - start)  # what is beyond the digits
            if first < len(part):
                part[first:] = moved(part[first:], chance)
            part = part / part.norm(dim=1, keepdim=True).clamp(min=1e-9)
            rows[start : start + 50_000] = part.to(kind)
        return rows

    def check(self) -> dict:
        """Differences from the processor on 5,000 digits."""
        X = unit_rows(load("mnist70k").X[:5000].reshape(-1, 784))
        search = Search.of(X, self.device, unit=True)
        columns, values = (each.cpu().numpy() for each in top_rows(search, Q))
        indices, cosines = top_inner_products(X, Q)
        found: dict[str, Any] = {
            "tsc_same": float((columns == indices).mean()),
            "tsc_apart": float(np.abs(values - cosines).max()),
        }
        options: dict[str, Any] = {"working_memory": 1e9, "progress": no_progress}
        for gamma in (5.0, 50.0):
            ours = ensc_rows(search, gamma, TAU, tol=1e-4)
            theirs = ensc_coefficients(X, gamma, TAU, tol=1e-4, **options)
            found[f"ensc_{gamma:g}_apart"] = float(abs(ours - theirs).max())
            found[f"ensc_{gamma:g}_conditions"] = self.breaches(search.rows, ours, gamma)
        ours, theirs = omp_rows(search, 10, 1e-6), omp_coefficients(X, 10, 1e-6, **options)
        found["omp_same_atoms"] = float(1 - abs(abs(ours).sign() - abs(theirs).sign()).mean())
        found["omp_apart"] = float(np.quantile(abs(ours - theirs).max(axis=1).toarray(), 0.999))
        return found

    def breaches(self, rows: torch.Tensor, C: Any, gamma: float) -> list[float]:
        """Largest breach of the conditions, in units of tau, over zeros and over the support."""
        sample = np.random.default_rng(0).choice(len(rows), min(256, len(rows)), replace=False)
        where = torch.from_numpy(np.sort(sample)).to(rows.device)
        return [float(each.max()) / TAU for each in conditions(rows, C, gamma, TAU, where)]

    def tsc(self, rows: torch.Tensor) -> dict:
        """Neighbours, and the share found of the true ones."""
        search = Counted(rows, self.device)
        seconds, (columns, values) = self.timed(lambda: top_rows(search, Q))
        n = len(rows)
        own = torch.arange(n, device=rows.device)[:, None].expand(columns.shape)
        graph, A = self.timed(
            lambda: symmetric(own.flatten(), columns.flatten(), values.flatten(), n)
        )
        sample = torch.randperm(n, device=rows.device)[: min(1000, 10**9 // n)]
        x = rows[sample].double()
        blocks = range(0, n, UPLOAD)
        full = torch.cat([x @ rows[at : at + UPLOAD].double().T for at in blocks], 1).abs_()
        full[torch.arange(len(sample), device=rows.device), sample] = 0.0
        least = full.topk(Q, dim=1).values[:, -1:]
        recall = (full.gather(1, columns[sample]) >= least - 1e-7).double().mean()
        return {
            "s": round(seconds, 2), "graph_s": round(graph, 2), "nnz": A.nnz,
            "recall": float(recall), **self.use(search, seconds),
        }  # fmt: skip

    def ensc(self, rows: torch.Tensor, gamma: float) -> dict:
        """Elastic nets, and how far their conditions are from holding."""
        search = Counted(rows, self.device)
        seconds, C = self.timed(lambda: ensc_rows(search, gamma, TAU, tol=1e-4))
        graph, _ = self.timed(lambda: affinity(C, "unit", self.device))
        found: dict[str, Any] = {
            "gamma": gamma, "s": round(seconds, 2), "graph_s": round(graph, 2),
            "per_row": round(C.nnz / len(rows), 1), **self.use(search, seconds),
        }  # fmt: skip
        found["excess"], found["stationarity"] = self.breaches(rows, C, gamma)
        if self.args.all_conditions:
            try:
                seconds, (beyond, worst) = self.timed(lambda: beyond_bound(search, C, gamma))
                found |= {
                    "conditions_s": round(seconds, 2),
                    "points_beyond": beyond,
                    "stationarity_of_all": worst / TAU,
                }
            except Exception as error:  # what was measured before it is told nevertheless
                found["conditions_failed"] = f"{type(error).__name__}: {error}"[:300]
        return found

    def omp(self, rows: torch.Tensor, k: int) -> dict:
        """Pursuits."""
        search = Counted(rows, self.device)
        seconds, C = self.timed(lambda: omp_rows(search, k, 1e-6))
        return {
            "k": k, "s": round(seconds, 2), "per_row": round(C.nnz / len(rows), 1),
            **self.use(search, seconds),
        }  # fmt: skip

    def estimator(self, name: str, X: np.ndarray) -> dict:
        """A call as people make it."""
        model = make_affinity(f"{name},device={self.args.device}", 10)
        seconds, A = self.timed(lambda: model.affinity(X))
        return {"name": name, "s": round(seconds, 2), "nnz": A.nnz}

    def size(self, n: int) -> None:
        """All kernels on so many points."""
        seconds, rows = self.timed(lambda: self.points(n))
        self.line(kernel="points", n=n, s=round(seconds, 2), dtype=str(rows.dtype))
        only = self.args.only or KERNELS
        if "tsc" in only:
            self.attempt("tsc", lambda: self.tsc(rows), n=n)
        if "ensc" in only:
            for gamma in self.args.gammas:
                self.attempt("ensc", lambda gamma=gamma: self.ensc(rows, gamma), n=n)
        if "ssc-omp" in only:
            self.attempt("ssc-omp", lambda: self.omp(rows, self.args.k), n=n)
        if "estimator" in only and rows.dtype != torch.float16:
            X = rows.cpu().numpy()
            del rows
            for name in self.args.names:
                self.attempt("estimator", lambda name=name: self.estimator(name, X), n=n)

    def profile(self, n: int) -> None:
        """Where the time goes, kernel by kernel."""
        rows = self.points(n)
        search = Search(rows, self.device)
        for name, work in (
            ("tsc", lambda: top_rows(search, Q)),
            ("ensc", lambda: ensc_rows(search, self.args.gammas[0], TAU, tol=1e-4)),
        ):
            with torch.profiler.profile() as seen:
                work()
                self.wait()
            print(name, seen.key_averages().table(sort_by="cuda_time_total", row_limit=14,
                  max_name_column_width=60))  # fmt: skip


def beyond_bound(search: Search, C: Any, gamma: float) -> tuple[int, float]:
    """Points with a zero coefficient whose condition is broken by more than `BOUND`, of all.

    The search that the solver looks for violators with bounds what half precision may have missed,
    and compares whatever that leaves open in the precision of the points. Beside the count it gives
    the largest breach of the condition of the other coefficients, in double precision.
    """
    where = search.rows.device
    starts = torch.from_numpy(C.indptr.astype(np.int64)).to(where)
    columns = torch.from_numpy(C.indices.astype(np.int64)).to(where)
    values = torch.from_numpy(C.data).to(where).double()
    beyond = torch.zeros((), dtype=torch.int64, device=where)
    worst = torch.zeros((), dtype=torch.float64, device=where)
    for block in search.blocks(search.size):
        counts = starts[block + 1] - starts[block]
        place = torch.arange(max(1, int(counts.max())), device=where)
        filled = place < counts[:, None]
        entry = torch.where(filled, starts[block][:, None] + place, 0)
        atoms = torch.where(filled, columns[entry], block[:, None])
        c = torch.where(filled, values[entry], 0.0)
        most = search.look(search.taken(block), block[:, None]).best(1)[1][:, 0].double()
        weights = torch.where(most > 0, gamma * TAU / most, 0.0)
        deltas = []
        for part in torch.arange(len(block), device=where).split(
            1024
        ):  # all atoms of these at once
            A = search.taken(atoms[part]).double()
            x = search.taken(block[part]).double()
            delta = weights[part, None] * (x - (c[part, None, :] @ A)[:, 0])
            b, coef = (A @ delta[:, :, None])[:, :, 0], c[part]
            breach = (b - TAU * coef.sign() - (1 - TAU) * coef).abs()
            worst = worst.maximum(torch.where(coef != 0, breach, 0.0).max())
            deltas.append(delta.to(search.precision))
        bar = torch.full((len(block),), TAU * (1 + BOUND), dtype=search.precision, device=where)
        others = torch.cat([block[:, None], atoms], 1)
        beyond += (search.look(torch.cat(deltas), others).above(bar, 1)[:, 0] >= 0).sum()
    return int(beyond), float(worst)


def moved(digits: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    """Digits turned, scaled and moved a little."""
    count = len(digits)

    def drawn(reach: float) -> torch.Tensor:
        span = torch.rand(count, generator=chance, device=digits.device)
        return (2 * span - 1) * reach

    angle, scale = drawn(np.pi * 8 / 180), 1 + drawn(0.08)
    cos, sin = scale * angle.cos(), scale * angle.sin()
    pixel = 2 / 28
    theta = torch.stack([cos, -sin, drawn(pixel), sin, cos, drawn(pixel)], 1).view(count, 2, 3)
    grid = torch.nn.functional.affine_grid(theta, [count, 1, 28, 28], align_corners=False)
    images = digits.view(count, 1, 28, 28)
    return torch.nn.functional.grid_sample(images, grid, align_corners=False).view(count, 784)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=[70_000, 250_000, 1_000_000])
    parser.add_argument("--only", nargs="*", choices=KERNELS)
    parser.add_argument("--gammas", type=float, nargs="*", default=[5.0])
    parser.add_argument("--k", type=int, default=10, help="atoms of SSC-OMP")
    parser.add_argument(
        "--names", nargs="*", default=["tsc:q=5", "ensc:gamma=5"], help="estimators timed as such"
    )
    parser.add_argument(
        "--all-conditions", action="store_true", help="check EnSC's conditions at all points"
    )
    parser.add_argument("--device", default="cuda", help="cuda, or cpu for PyTorch without a GPU")
    parser.add_argument("--no-check", action="store_true", help="leave out the comparison")
    parser.add_argument("--profile", type=int, help="show kernels at this many points as well")
    parser.add_argument("--tflops", type=float, default=790.0)
    parser.add_argument("--tbps", type=float, default=4.3)
    parser.add_argument("--out", type=Path, help="file for the lines")
    args = parser.parse_args()
    bench = Bench(args)
    name = torch.cuda.get_device_name() if args.device == "cuda" else "cpu"
    triton = compiled() is not None
    bench.line(device=name, torch=torch.__version__, triton=triton)
    if args.device == "cuda":  # the first product sets the libraries up
        torch.ones((64, 64), device="cuda").half() @ torch.ones((64, 64), device="cuda").half()
        few = Search(bench.points(2000), bench.device)  # kernels are compiled when first used
        ensc_rows(few, args.gammas[0], TAU, tol=1e-4)
        omp_rows(few, 3, 1e-6)
    if not args.no_check:
        bench.attempt("check", bench.check, n=5000)
    for n in args.sizes:
        bench.size(n)
    if args.profile:
        bench.profile(args.profile)


if __name__ == "__main__":
    main()
