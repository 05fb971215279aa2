"""Somebody who compares items gets what a person would see of them, and never the truth."""

from __future__ import annotations

import numpy as np
from PIL import Image

from superpac.data import Dataset, load
from superpac.data.seen_item import seen_item


def test_a_row_of_a_table_comes_by_column_as_it_was_before_scaling(tmp_path):
    (tmp_path / "iris.csv").write_text("width,height,kind\n1.5,2,a\n3,4,b\n5,7,b\n")
    data = load(tmp_path / "iris.csv", labels="kind", standardise=True)
    assert seen_item(data, 1) == {"width": 3.0, "height": 4.0}


def test_a_picture_from_a_file_comes_as_its_path(tmp_path):
    for k in range(2):
        Image.fromarray(np.full((4, 4), 60 * k, dtype=np.uint8)).save(tmp_path / f"{k}.png")
    assert seen_item(load(tmp_path), 1) == (tmp_path / "1.png").resolve()


def test_things_that_an_encoder_made_vectors_of_come_as_they_were(tmp_path):
    X = [[1.0, 2.0], [3.0, 4.0]]
    assert seen_item(Dataset(X, texts=("one", "two")), 1) == "two"
    assert seen_item(Dataset(X, sounds=(tmp_path / "a.wav", tmp_path / "b.wav")), 0).name == "a.wav"
    rows = Dataset(X, rows=(("red", "7"), ("blue", "8")), columns=("colour", "size"))
    assert seen_item(rows, 1) == {"colour": "blue", "size": "8"}


def test_a_picture_without_a_file_comes_upright_and_a_vector_as_it_is():
    digits = load("digits")
    np.testing.assert_array_equal(seen_item(digits, 5), digits.X[5].reshape(8, 8))
    points = Dataset([[1.0, 2.0], [3.0, 4.0]])
    seen = seen_item(points, 0)
    seen[:] = 9.0  # whoever gets it cannot change the data
    np.testing.assert_array_equal(points.X[0], [1.0, 2.0])
