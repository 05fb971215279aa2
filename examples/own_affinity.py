"""Your own idea of what is alike: hand over a matrix, and the questions follow it.

    python examples/own_affinity.py --questions 30

Any square matrix will do, dense or sparse, with large numbers where two items are alike. Here it
comes from words that texts share.
"""

from __future__ import annotations

import argparse

import numpy as np

from superpac import Session, Spec, clustering_error

TOPICS = {
    "cooking": "pan oven salt butter dough onion simmer knife garlic flour",
    "sailing": "mast wind harbour anchor rope tide hull keel sailor deck",
    "chess": "rook bishop check opening endgame pawn castle knight board clock",
}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--questions", type=int, default=30)
parser.add_argument("--texts", type=int, default=25, help="texts on each topic")
args = parser.parse_args()

rng = np.random.default_rng(0)
every_word = sorted(" ".join(TOPICS.values()).split())
texts, topic_of = [], []
for topic, words in TOPICS.items():
    for _ in range(args.texts):
        own = rng.choice(words.split(), 4)
        noise = rng.choice(every_word, 3)
        texts.append({*own, *noise})
        topic_of.append(topic)

# The one thing to bring: how alike each text is to each other, here the words that they share.
alike = np.array([[len(a & b) for b in texts] for a in texts], dtype=float)
np.fill_diagonal(alike, 0)

# The points themselves only tell items apart here, so any numbers will do: one column per word.
points = np.array([[word in text for word in every_word] for text in texts], dtype=float)

spec = Spec(n_clusters=len(TOPICS), dim=2)
session = Session.create(points, spec, affinity=alike)
print(f"{len(texts)} texts on {len(TOPICS)} topics.")
print(f"By shared words alone, {clustering_error(topic_of, session.labels()):.1%} are misplaced.")
for _ in range(args.questions):
    question = session.ask()
    if question is None:
        break
    session.tell("same" if topic_of[question.i] == topic_of[question.j] else "different")
asked = session.progress()["questions"]
print(f"After {asked} answers, {clustering_error(topic_of, session.labels()):.1%} are misplaced.")
