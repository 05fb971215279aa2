"""What opening a session costs, the first time and again: CPU seconds in processes of their own.

    SUPERPAC_DATA=folder python benchmarks/opening.py [--data usps] [--clusters 10]

Answers questions from the truth in a session of the default strategy, then opens it three times up
to its next question: without anything kept on disk, with an empty cache, and with what that left.
Prints the CPU seconds of each (libraries loaded before, compilers warm) and whether all three ask
the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def answer(data: str, clusters: int, questions: int, path: Path) -> None:
    """Write the answers to a session's questions, from the truth, to a file."""
    from superpac import Session, Spec, TruthOracle, load

    items = load(data)
    session, oracle = Session.create(items, Spec(clusters)), TruthOracle(items.y)
    told = []
    for _ in range(questions):
        question = session.ask()
        said = oracle(question)
        session.tell(said)
        told.append(session.events[-1].body)
    path.write_text(json.dumps(told))


def reopen(data: str, clusters: int, path: Path, cache: str) -> None:
    """Open the session and ask; prints seconds and the question as JSON."""
    from superpac import Session, Spec, load
    from superpac.cache import DiskCache

    items = load(data)
    log = Session.create(items, Spec(clusters)).log
    for body in json.loads(path.read_text()):
        log.append("answer", body)
    # compile what is compiled on first use, on other points
    small = load("digits")
    Session.create(small, Spec(10)).ask()
    begun = time.process_time()
    question = Session.open(items, log, cache=DiskCache(cache)).ask()
    seconds = time.process_time() - begun
    print(json.dumps({"seconds": seconds, "asks": [question.i, question.j]}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="usps")
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--reopen", nargs=2, metavar=("ANSWERS", "CACHE"), help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.reopen:
        reopen(wanted.data, wanted.clusters, Path(wanted.reopen[0]), wanted.reopen[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        answers, cache = Path(folder) / "answers.json", Path(folder) / "cache"
        answer(wanted.data, wanted.clusters, wanted.questions, answers)
        found = []
        for name, place in (("nothing kept", "off"), ("first", cache), ("again", cache)):
            command = [sys.executable, __file__, "--data", wanted.data, "--clusters"]
            command += [str(wanted.clusters), "--reopen", str(answers), str(place)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
            print(f"{name:<13} {found[-1]['seconds']:6.2f} CPU s")
        same = all(one["asks"] == found[0]["asks"] for one in found)
        print(
            f"again / first {found[2]['seconds'] / found[1]['seconds']:.3f}; same question: {same}"
        )


if __name__ == "__main__":
    main()
