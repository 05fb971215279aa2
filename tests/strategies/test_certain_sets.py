from __future__ import annotations

from superpac.answers.links import Link
from superpac.strategies.certain_sets import CertainSets


def test_volunteered_answers_between_free_points():
    sets = CertainSets(8, seeds=[0])
    sets.take(Link(1, 3, 4, "same"))
    assert sorted(map(sorted, sets.members.values())) == [[0], [3, 4]]
    assert sets.known().different is not None  # nobody said that 0 and 3 differ
    sets.take(Link(2, 0, 4, "different"))
    assert sets.known().different is None


def test_sets_merge_when_somebody_says_so():
    sets = CertainSets(8, seeds=[0])
    sets.take(Link(1, 3, 4, "same"))
    sets.take(Link(2, 5, 4, "different"))
    sets.take(Link(3, 0, 3, "same"))
    # 5 is known to differ from the only set left, so it is one itself
    assert sorted(map(sorted, sets.members.values())) == [[0, 3, 4], [5]]


def test_free_pair_becomes_knowledge_once_one_is_placed():
    sets = CertainSets(8, seeds=[0])
    sets.take(Link(1, 5, 6, "different"))
    sets.take(Link(2, 5, 0, "same"))
    assert sorted(map(sorted, sets.members.values())) == [[0, 5], [6]]
