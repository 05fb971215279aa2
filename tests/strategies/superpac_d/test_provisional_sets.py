"""Provisional sets."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.answers.links import Link
from superpac.data import load
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets


def test_two_sets_known_to_differ_are_not_merged_by_one_more_answer():
    sets = ProvisionalSets(4, seeds=[0, 1])
    sets.take(Link(1, 0, 1, "different"))
    sets.take(Link(2, 0, 1, "same"))
    assert sets.members == {0: [0], 1: [1]}
    sets.refold([Link(2, 0, 1, "same")])
    assert sets.members == {0: [0, 1]}


def test_what_is_said_unasked_opens_no_set():
    """Off two walls is not between two likeliest sets: it says little of where an item belongs."""
    sets = ProvisionalSets(8, seeds=[0, 1, 2, 3])
    for seq, (i, j) in enumerate([(5, 0), (6, 0), (5, 1), (6, 1), (7, 1)]):
        sets.take(Link(seq, i, j, "different", unasked=True))
    assert sets.members == {0: [0], 1: [1], 2: [2], 3: [3]}
    assert sets.apart(5) == {0, 1}
    assert not sets.pending
    for seq, k in enumerate((2, 3), start=5):  # of all sets there are: it must be something new
        sets.take(Link(seq, 5, k, "different", unasked=True))
    assert sets.members[4] == [5]


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
