"""Two people answer, one of them carelessly: whose answers are doubted?

    python examples/noisy_people.py --questions 200

No truth is used to find out: answers are weighed by how well they fit each other and the clusters.
"""

from __future__ import annotations

import argparse

from superpac import NoisyOracle, Session, Spec, clustering_error, load
from superpac.session.suspects import find_suspects

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--questions", type=int, default=200)
parser.add_argument("--per-class", type=int, default=50, help="digits of each kind")
args = parser.parse_args()

digits = load("digits").sample_classes(4, args.per_class, seed=1)
people = {
    "Ada": NoisyOracle(digits.y, wrong=0.01, seed=1),
    "Bob": NoisyOracle(digits.y, wrong=0.15, seed=2),
}

session = Session.create(digits, Spec(n_clusters=4, affinity="tsc:q=5"))
for number in range(args.questions):
    question = session.ask()
    if question is None:
        break
    name = ("Ada", "Bob")[number % 2]
    session.tell(people[name](question), annotator=name)

print(f"{session.progress()['questions']} answers by two people on {len(digits)} pictures.")
found = find_suspects(session.state, session.strategy.reliability(session.state))
for name, (count, rate) in found.people.items():
    print(f"{name}: {count} answers, {people[name].mistakes} of them wrong in truth;")
    print(f"  estimated without the truth: {rate:.1%} of them wrong.")
print(f"Contradictions: {len(found.contradictions)}; other answers in doubt: {len(found.doubts)}.")
if found.contradictions:
    worst = found.contradictions[0]
    cut = ", ".join(f"#{link.seq} by {link.annotator}" for link in worst.cut)
    print(f"For example: {worst.words}. Cheapest to take back: {cut}.")
elif found.doubts:
    print(f"For example: {found.doubts[0].words}.")
wrong = clustering_error(digits.y, session.labels())
print(f"All the same, only {wrong:.1%} of the pictures are in a wrong cluster.")
