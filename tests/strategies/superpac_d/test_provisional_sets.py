"""Provisional sets."""

from __future__ import annotations

from superpac.answers.links import Link
from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets


def test_two_sets_known_to_differ_are_not_merged_by_one_more_answer():
    sets = ProvisionalSets(4, seeds=[0, 1])
    sets.take(Link(1, 0, 1, "different"))
    sets.take(Link(2, 0, 1, "same"))
    assert sets.members == {0: [0], 1: [1]}
    sets.refold([Link(2, 0, 1, "same")])
    assert sets.members == {0: [0, 1]}
