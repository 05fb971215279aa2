"""Two data sets of one kind become one, or it is said in a sentence why they cannot."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data import Dataset
from superpac.data.joining import join, rows_of
from superpac.errors import DataError


def test_everything_of_each_point_stays_with_it():
    first = Dataset([[1, 2], [3, 4]], ids=["a", "b"], y=["cat", "dog"], extras={"bad": [1, 0]})
    more = Dataset([[5, 6]], ids=["c"], y=["cow"], extras={"bad": [1], "other": [7]})
    both = join(first, more)
    np.testing.assert_array_equal(both.X, [[1, 2], [3, 4], [5, 6]])
    assert both.ids.tolist() == ["a", "b", "c"]
    assert [both.class_names[k] for k in both.y] == ["cat", "dog", "cow"]
    assert {key: list(values) for key, values in both.extras.items()} == {"bad": [1, 0, 1]}
    again = join(both, Dataset([[7, 8]], ids=["d"], y=["dog"]))
    assert [again.class_names[k] for k in again.y] == ["cat", "dog", "cow", "dog"]
    assert join(first, Dataset([[0, 0]], ids=["x"])).y is None


def test_things_that_an_encoder_made_vectors_of_stay_with_them():
    first = Dataset([[1, 2], [3, 4]], texts=("one", "two"), features="text")
    assert join(first, Dataset([[5, 6]], texts=("three",), features="text")).texts[2] == "three"
    with pytest.raises(DataError, match="made by words, not by text"):
        join(first, Dataset([[5, 6]], texts=("three",), features="words"))


def test_rows_that_nobody_named_are_numbered_through():
    whole = Dataset(np.arange(12.0).reshape(6, 2))
    pieces = join(rows_of(whole, 0, 4), rows_of(whole, 4, 2))
    assert pieces.fingerprint == whole.fingerprint


def test_names_that_are_taken_are_refused_or_changed_where_content_counts():
    first = Dataset([[1, 2], [3, 4]], ids=["a", "b"])
    with pytest.raises(DataError, match="the name 'b' is taken"):
        join(first, Dataset([[5, 6]], ids=["b"]))
    images = Dataset([[1, 2], [3, 4]], ids=["a", "b (2)"], by_content=True)
    more = Dataset([[5, 6], [7, 8]], ids=["b", "a"], by_content=True)
    assert join(images, more).ids.tolist() == ["a", "b (2)", "b", "a (2)"]
    twice = join(join(images, more), Dataset([[9, 9]], ids=["b"], by_content=True))
    assert len(set(twice.ids.tolist())) == 5


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (Dataset([[1, 2]], columns=("w", "h")), "of kind table, not vector"),
        (Dataset([[1, 2, 3]]), "has 3 values for each point, not 2"),
    ],
)
def test_other_kinds_and_lengths_are_refused(more, said):
    with pytest.raises(DataError, match=said):
        join(Dataset([[1, 2], [3, 4]]), more)


@pytest.mark.parametrize(
    ("columns", "said"),
    [(("w", "d"), "missing: h"), (("w", "h", "d"), "new: d"), (("h", "w"), "another order")],
)
def test_other_columns_are_named(columns, said):
    table = Dataset([[1, 2], [3, 4]], columns=("w", "h"))
    with pytest.raises(DataError, match=said):
        join(table, Dataset([list(range(len(columns)))], columns=columns))


def test_images_of_other_sizes_and_depths_are_refused():
    images = Dataset(np.zeros((2, 6), np.uint8), image_shape=(2, 3), by_content=True)
    with pytest.raises(DataError, match="images of 3x2 pixels, but there they have 2x3"):
        join(images, Dataset(np.ones((1, 6), np.uint8), image_shape=(3, 2), by_content=True))
    with pytest.raises(DataError, match="uint16 values, not uint8"):
        join(images, Dataset(np.ones((1, 6), np.uint16), image_shape=(2, 3), by_content=True))
