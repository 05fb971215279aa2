"""Inside scikit-learn: questions and answers as the last step of a pipeline.

    python examples/sklearn_pipeline.py --questions 80

The estimator asks its `oracle` about pairs while it is fitted; everything before it in the pipeline
is scikit-learn's own.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from superpac import ActiveSubspaceClustering

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--questions", type=int, default=80)
parser.add_argument("--points", type=int, default=400)
args = parser.parse_args()

X, y = load_digits(return_X_y=True)
X, y = X[: args.points], y[: args.points]


def person(i: int, j: int) -> str:
    """Say whether two pictures show the same digit."""
    return "same" if y[i] == y[j] else "different"


def agreement(questions: int) -> float:
    """Fit the pipeline with so many questions; 1 means that the clusters are the true digits."""
    model = make_pipeline(
        MinMaxScaler(),
        PCA(30, random_state=0),
        ActiveSubspaceClustering(10, affinity="tsc:q=5", oracle=person, questions=questions),
    )
    return adjusted_rand_score(y, model.fit_predict(X))


print(f"{len(X)} digits, scaled and reduced to 30 numbers each.")
print(f"Agreement with the true digits without a question: {agreement(0):.2f} (1 is perfect).")
print(f"With {args.questions} answers: {agreement(args.questions):.2f}.")
