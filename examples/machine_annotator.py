"""A function answers what it is sure of, a person the rest: how often does the function err?

    python examples/machine_annotator.py --questions 150

The same function answers in a session that is kept, beside people, with

    superpac answer SESSION --with examples/machine_annotator.py:alike
"""

from __future__ import annotations

import argparse

import numpy as np

from superpac import Session, Spec, TruthOracle, clustering_error, load
from superpac.session.suspects import people_of, person_in_words
from superpac.simulation.loop import AnswerLoop
from superpac.simulation.machine import MachineOracle


def alike(first, second):
    """Compare two pictures, given as arrays; None leaves them to people."""
    near = np.corrcoef(np.ravel(first), np.ravel(second))[0, 1]
    return "same" if near > 0.85 else "different" if near < 0.45 else None


def main():
    """Let the function answer, then a person; say whose answers are taken to be wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=150, help="of the function")
    parser.add_argument("--per-class", type=int, default=50, help="digits of each kind")
    args = parser.parse_args()

    digits = load("digits").sample_classes(4, args.per_class, seed=1)
    session = Session.create(digits, Spec(n_clusters=4, affinity="tsc:q=5"))

    machine = MachineOracle(alike, digits)
    loop = AnswerLoop(session, machine, args.questions, annotator="alike", passes=True)
    print(
        f"The function answered {len(list(loop))} questions and left {len(loop.passed)} to people."
    )
    print(f"Wrong then: {clustering_error(digits.y, session.labels()):.1%} of the pictures.")

    person = AnswerLoop(session, TruthOracle(digits.y), args.questions // 2, annotator="Ada")
    print(f"A person answered {len(list(person))} more.")
    reliability = session.strategy.reliability(session.state)
    for name, (count, rate) in people_of(session.state, reliability).items():
        print(person_in_words(name, count, rate))
    print(f"Wrong now: {clustering_error(digits.y, session.labels()):.1%} of the pictures.")


if __name__ == "__main__":
    main()
