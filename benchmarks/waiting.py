"""How long a person waits with SUPERPAC-D: milliseconds from an answer to the next question.

Prints one line: the median and the 95th percentile of the wait (labels included), of the wall
clock and of the processor; the seconds until the first question, of both; neighbours per point;
peak memory.

    python benchmarks/waiting.py usps                      # 9,298 points
    python benchmarks/waiting.py mnist70k --questions 150  # 70,000 points
    python benchmarks/waiting.py mnist --points 200000     # grown by small affine changes
"""

from __future__ import annotations

import os
import resource
import time

import numpy as np

from common import Draw, parser_of
from sized import Sized
from superpac import TruthOracle
from superpac.simulation.loop import AnswerLoop


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("data")
    parser.add_argument("--points", type=int, help="of 'mnist' or 'subspaces', cut or grown")
    parser.add_argument("--affinity", default="tsc:q=10")
    parser.add_argument("--dim", type=int, default=9)
    parser.add_argument("--questions", type=int, default=300)
    args = parser.parse_args()
    os.environ["SUPERPAC_CACHE"] = "off"  # ready from nothing, not from what an earlier run kept
    draw = Draw(args.data, args.affinity, args.dim)
    if args.points:
        draw = Sized(args.data, args.affinity, args.dim, points=args.points)
    items = draw.items(0)
    begun, worked = time.perf_counter(), time.process_time()
    session = draw.session(items, 0)
    session.ask()
    ready, opening = time.perf_counter() - begun, time.process_time() - worked
    waits, work = [], []
    cpu = time.process_time()
    for step in AnswerLoop(session, TruthOracle(items.y), args.questions):
        session.labels("model")
        session.ask()
        waits.append(1e3 * (time.perf_counter() - step.told_at))
        work.append(1e3 * (time.process_time() - cpu))
        cpu = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"{len(items)} points, {len(waits)} questions: p50 {np.percentile(waits, 50):.0f} ms, "
        f"p95 {np.percentile(waits, 95):.0f} ms (processor: p95 {np.percentile(work, 95):.0f} ms); "
        f"ready after {ready:.0f} s (processor: {opening:.0f} s); "
        f"{session.problem.affinity.nnz / len(items):.0f} neighbours per point, "
        f"peak memory {peak:.1f} GB"
    )


if __name__ == "__main__":
    main()
