"""Does the code still ask the same questions? Fixed small cases, compared question by question.

Writes, or compares with a file, every question of every case: the two points, the answer and the
number of points in a wrong cluster after it. Prints a line per case: its questions, its error at
the start and at the end, CPU seconds, and where it first differs from the file. Ends with status 1
if any case differs. Cases on MNIST and Yale need the benchmark files in SUPERPAC_DATA and are left
out where they are not there.

    python benchmarks/golden.py --write benchmarks/results/golden.json
    python benchmarks/golden.py --check benchmarks/results/golden.json
    python benchmarks/golden.py --check ... --only digits yale5/superpac-d

Only public names of the package are used, so that one file can judge versions that are laid out
differently. The figures hold for one set of library versions; others may differ in the last bits,
and a tie then falls another way.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("SUPERPAC_CACHE", "off")  # what is judged is what the code computes

import numba
from threadpoolctl import threadpool_limits

from superpac import NoisyOracle, Session, Spec, SuperpacError, TruthOracle, load, simulate

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
SEED = 0

# name of the points: benchmark set, classes, points per class (None: all), affinity, dimension,
# questions
POINTS: dict[str, tuple[str, int, int | None, str, int | None, int]] = {
    "digits": ("digits", 10, 50, "ensc:gamma=5", None, 300),
    "mnist10": ("mnist", 10, 50, "tsc:q=5", 3, 300),
    "yale5": ("yaleb", 5, None, "ssc-faces", 9, 150),
}

# name of the method: strategy, share of wrong answers, whether the number of clusters is known
METHODS: dict[str, tuple[str, float, bool]] = {
    "superpac": ("superpac", 0.0, True),
    "superpac-s": ("superpac-s", 0.0, True),
    "superpac-d": ("superpac-d", 0.0, True),
    "superpac-d-wrong": ("superpac-d", 0.05, True),
    "superpac-d-auto": ("superpac-d", 0.0, False),
    "urasc-n": ("urasc-n", 0.0, True),
}


def run_case(points: str, method: str) -> dict[str, Any]:
    """Every question of a case, in columns; `same` has a 1 for every answer that said so."""
    name, classes, per_class, affinity, dim, questions = POINTS[points]
    strategy, wrong, known = METHODS[method]
    data = load(name).sample_classes(classes, per_class, SEED)
    clusters = classes if known else "auto"
    spec = Spec(clusters, affinity=affinity, strategy=strategy, dim=dim, seed=SEED)
    oracle = NoisyOracle(data.y, wrong, SEED) if wrong else TruthOracle(data.y)
    asked: list[tuple[int, int, str]] = []

    def answer(question: Any) -> str:
        said = oracle(question)
        asked.append((int(question.i), int(question.j), said))
        return said

    run = simulate(Session.create(data, spec), answer, data.y, questions)
    return {
        "n": len(data),
        "i": [i for i, _, _ in asked],
        "j": [j for _, j, _ in asked],
        "same": "".join("1" if said == "same" else "0" for _, _, said in asked),
        "wrong": [round(float(error) * len(data)) for error in run.error],
    }


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Where a case first differs, in words; empty where it does not."""
    if before == now:
        return ""
    if before["n"] != now["n"] or before["wrong"][0] != now["wrong"][0]:
        return f"start: {before['wrong'][0]} of {before['n']} points wrong before"
    steps = [
        list(zip(case["i"], case["j"], case["same"], case["wrong"][1:], strict=True))
        for case in (before, now)
    ]
    for number, (old, new) in enumerate(zip(*steps, strict=False), start=1):
        if old != new:
            return f"question {number}: {old} before, {new} now (i, j, same, points wrong)"
    return f"{len(steps[0])} questions before, {len(steps[1])} now"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--check", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="*", help="points, such as digits, or points/method")
    args = parser.parse_args()
    used = {name: version(name) for name in LIBRARIES}
    reference = json.loads(args.check.read_text()) if args.check else {"cases": {}}
    if args.check and reference["libraries"] != used:
        print(f"The file was made with {reference['libraries']}, this run with {used}.")
    cases: dict[str, dict[str, Any]] = {}
    differ, compared = [], 0
    numba.set_num_threads(1)
    with threadpool_limits(1):  # sums in another order would differ in the last bits
        for points in POINTS:
            for method in METHODS:
                case = f"{points}/{method}"
                if args.only and not {points, case} & set(args.only):
                    continue
                if args.check and case not in reference["cases"]:
                    print(f"{case:25} not in the file")
                    continue
                begun = time.process_time()
                try:
                    found = run_case(points, method)
                except SuperpacError as error:
                    print(f"{case:25} left out: {error}")
                    continue
                cases[case] = found
                said = ""
                if args.check:
                    compared += 1
                    said = difference(reference["cases"][case], found)
                    differ += [case] if said else []
                    said = f"DIFFERS at {said}" if said else "same"
                first, last = (100 * found["wrong"][at] / found["n"] for at in (0, -1))
                cpu = time.process_time() - begun
                print(
                    f"{case:25} {len(found['i']):4} questions  "
                    f"error {first:5.1f}% -> {last:4.1f}%  {cpu:5.1f} CPU s  {said}",
                    flush=True,
                )
    if args.write:
        rows = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(case, separators=(',', ':'))}"
            for name, case in cases.items()
        )
        head = f'"libraries": {json.dumps(used)}'
        args.write.write_text(f'{{{head}, "cases": {{\n{rows}\n}}}}\n')
    else:
        print(f"{compared - len(differ)} of {compared} cases are the same.")
        sys.exit(1 if differ or not compared else 0)


if __name__ == "__main__":
    main()
