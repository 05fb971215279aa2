"""How long a person waits with SUPERPAC-D: milliseconds from an answer to the next question.

python benchmarks/waiting.py usps                      # 9,298 points
python benchmarks/waiting.py mnist70k --questions 150  # 70,000 points
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from superpac.data import load
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--affinity", default="tsc:q=10")
    parser.add_argument("--dim", type=int, default=9)
    parser.add_argument("--questions", type=int, default=300)
    args = parser.parse_args()
    items = load(args.data).shuffled(0)
    spec = Spec(items.n_classes, args.affinity, "superpac-d", dim=args.dim)
    begun = time.perf_counter()
    session = Session.create(items, spec)
    ready = time.perf_counter() - begun
    session.ask()
    oracle = TruthOracle(items.y)
    waits, work = [], []
    for _ in range(args.questions):
        question = session.ask()
        answer = oracle(question)
        told, cpu = time.perf_counter(), time.process_time()
        session.tell(answer, (question.i, question.j))
        session.labels("model")
        session.ask()
        waits.append(1e3 * (time.perf_counter() - told))
        work.append(1e3 * (time.process_time() - cpu))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"{len(items)} points, {args.questions} questions: p50 {np.percentile(waits, 50):.0f} ms, "
        f"p95 {np.percentile(waits, 95):.0f} ms (processor: p95 {np.percentile(work, 95):.0f} ms); "
        f"ready after {ready:.0f} s; {session.problem.affinity.nnz / len(items):.0f} neighbours a "
        f"point, peak memory {peak:.1f} GB"
    )


if __name__ == "__main__":
    main()
