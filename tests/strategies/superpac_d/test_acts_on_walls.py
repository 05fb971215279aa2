"""Acts on walls: what people say unasked, of many items at once."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data import load
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec


@pytest.mark.parametrize(("data", "act"), [("iris", "all one"), ("wine", "not this group")])
def test_true_acts_on_walls_do_no_harm(data, act):
    items = load(data, standardise=data == "wine").shuffled(100)
    session = Session.create(items, Spec(3, seed=100))
    labels = session.labels("model")
    errors = [clustering_error(items.y, labels)]
    for step in range(9):
        walls = [np.flatnonzero(labels == group) for group in np.unique(labels)]
        usual = [np.bincount(items.y[wall]).argmax() for wall in walls]
        right = [wall[items.y[wall] == c].tolist() for wall, c in zip(walls, usual, strict=True)]
        wrong = [wall[items.y[wall] != c].tolist() for wall, c in zip(walls, usual, strict=True)]
        if act == "all one":
            session.join(right[step % 3])
        elif any(wrong):
            session.exclude(max(wrong, key=len))
        labels = session.labels("model")
        errors.append(clustering_error(items.y, labels))
    assert max(errors) <= errors[0] + 0.02
    assert errors[-1] < errors[0]
