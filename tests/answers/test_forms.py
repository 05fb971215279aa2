"""Which pairs a person's marks answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superpac.answers.forms import BOARD, MOST, STRIP, WALL, pairs_answered
from superpac.errors import InputError


@given(st.data())
def test_true_marks_give_true_answers_only(data):
    form = data.draw(st.sampled_from([STRIP, WALL, BOARD]))
    count = data.draw(st.integers(1, MOST[form]))
    classes = data.draw(st.lists(st.integers(0, 2), min_size=count + 1, max_size=count + 1))
    options = list(range(1, count + 1))
    alike = [o for o in options if classes[o] == classes[0]]
    if form == STRIP:  # who sees one group that fits need not look for another
        marked = alike[: data.draw(st.integers(min(1, len(alike)), len(alike)))]
    else:
        marked = alike if form == BOARD else [o for o in options if o not in alike]
    told = pairs_answered(form, 0, options, marked)
    for i, j, answer in told:
        assert answer == ("same" if classes[i] == classes[j] else "different")
        assert 0 in (i, j)
    if form != STRIP or not marked:
        assert {i or j for i, j, _ in told} == set(options), "every one shown is answered"


@pytest.mark.parametrize(
    ("form", "options", "marked"),
    [
        ("pair", [1], []),
        (STRIP, [], []),
        (STRIP, [1, 1], []),
        (STRIP, list(range(1, 11)), []),
        (WALL, list(range(1, 26)), []),
        (WALL, [0, 1], []),
        (BOARD, [1, 2], [3]),
        (BOARD, [1, 2], [2, 2]),
    ],
)
def test_marks_that_make_no_sense_are_refused(form, options, marked):
    with pytest.raises(InputError):
        pairs_answered(form, 0, options, marked)
