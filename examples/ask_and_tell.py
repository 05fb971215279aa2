"""The loop behind everything: ask for a pair, tell the answer, look at the clusters.

    python examples/ask_and_tell.py --questions 100

A function stands for the person here; put your own in its place, or `input()`.
"""

from __future__ import annotations

import argparse

from superpac import Session, Spec, clustering_error, load

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--questions", type=int, default=100)
parser.add_argument("--per-class", type=int, default=40, help="digits of each kind")
args = parser.parse_args()

digits = load("digits").sample_classes(10, args.per_class, seed=0)
truth = digits.y  # known for these digits, so that the example can say how well it went


def person(i: int, j: int) -> str:
    """Look at two items and say "same", "different" or "unsure"."""
    return "same" if truth[i] == truth[j] else "different"


session = Session.create(digits, Spec(n_clusters=10, affinity="tsc:q=5"))
print(f"{len(digits)} pictures, 10 kinds of digit, nothing is known yet.")
print(f"Clustered without a question, {clustering_error(truth, session.labels()):.1%} are wrong.")

for number in range(1, args.questions + 1):
    question = session.ask()
    if question is None:
        print("Everything is settled: there is nothing left to ask.")
        break
    answer = person(question.i, question.j)
    session.tell(answer)
    if number <= 3:
        print(f"Question {number}: are {question.i} and {question.j} the same? ({question.reason})")
        print(f"  The person says: {answer}.")

left = session.progress()["error_left"]
print(f"After {session.progress()['questions']} answers:")
print(f"  estimated, without knowing the truth: at most {left['high']:.1%} are wrong;")
print(f"  counted, against the truth: {clustering_error(truth, session.labels()):.1%} are wrong.")
