"""Vectors from a file beside the things that they are of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from superpac.data.things import Things, read_things
from superpac.errors import DataError, NotFoundError
from superpac.features.vectors_file import put_vectors

NAMES = ("a/one.png", "a/two.png", "b/three.png")
X = np.arange(12.0).reshape(3, 4) / 7


@pytest.fixture
def photos(tmp_path):
    for name in NAMES:
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8), len(name)).save(path)
    return read_things(tmp_path / "photos")


def write(path, names, values):
    columns = [f"v{k}" for k in range(values.shape[1])]
    if path.suffix == ".npz":
        given = {} if names is None else {"ids": np.array(names)}
        np.savez(path, X=values, **given)
    elif path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".parquet":
        table = {} if names is None else {"photo": list(names)}
        table |= {c: values[:, k] for k, c in enumerate(columns)}
        pq.write_table(pa.table(table), path)
    else:
        head = ([] if names is None else ["photo"]) + columns
        rows = [
            ([] if names is None else [names[k]]) + [repr(float(v)) for v in row]
            for k, row in enumerate(values)
        ]
        path.write_text("\n".join(",".join(cells) for cells in [head, *rows]) + "\n")
    return path


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
@pytest.mark.parametrize("short", [str, lambda n: n.split("/")[1], lambda n: n[2:-4]])
def test_rows_are_found_by_name_in_any_order(photos, tmp_path, suffix, short):
    order = [2, 0, 1]
    names = [short(NAMES[k]) for k in order] + ["of nothing"]
    values = np.vstack([X[order], np.full((1, 4), 99.0)])
    data = put_vectors(photos, write(tmp_path / f"v{suffix}", names, values))
    assert (data.X == X).all()
    assert data.ids.tolist() == list(NAMES)
    assert data.kind == "image"
    assert data.draw(0).size


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_rows_without_names_are_in_order(photos, tmp_path, suffix):
    assert (put_vectors(photos, write(tmp_path / f"v{suffix}", None, X)).X == X).all()


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_as_many_rows_as_things_or_names(photos, tmp_path, suffix):
    with pytest.raises(DataError, match="2 rows for 3 things"):
        put_vectors(photos, write(tmp_path / f"v{suffix}", None, X[:2]))


def test_rows_of_texts_that_were_left_out_keep_their_numbers(tmp_path):
    (tmp_path / "a.csv").write_text('text\n"a b c"\n""\n"d e f"\n')
    things = read_things(tmp_path / "a.csv", text="text")
    assert len(things) == 2
    data = put_vectors(things, write(tmp_path / "v.npy", None, X))
    assert (X[[0, 2]] == data.X).all()


def test_a_name_without_a_row_is_told(photos, tmp_path):
    path = write(tmp_path / "v.npz", NAMES[:2], X[:2])
    with pytest.raises(DataError, match=r"no row for 'b/three\.png' \(1 of 3"):
        put_vectors(photos, path)


def test_the_same_file_name_twice_is_not_guessed(tmp_path):
    things = Things("text", names=("a/x.txt", "b/x.txt"), texts=("one", "two"))
    path = write(tmp_path / "v.npz", ["x.txt", "y.txt"], X[:2])
    with pytest.raises(DataError, match="names of several"):
        put_vectors(things, path)


def test_two_columns_of_texts_need_a_word(photos, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("a,b,v\n" + "".join(f"{n},x,{k}\n" for k, n in enumerate(NAMES)))
    with pytest.raises(DataError, match="'a', 'b' hold texts"):
        put_vectors(photos, path)


def test_a_column_can_be_named(photos, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("where,v,w\n" + "".join(f"{n},{k},1\n" for k, n in enumerate(NAMES)))
    assert put_vectors(photos, path, ids="where").X.tolist() == [[0, 1], [1, 1], [2, 1]]


def test_files_that_are_none_are_one_sentence(photos, tmp_path):
    with pytest.raises(NotFoundError, match=r"none\.npz"):
        put_vectors(photos, tmp_path / "none.npz")
    (tmp_path / "a.txt").write_text("1 2")
    with pytest.raises(DataError, match=r"\.npz"):
        put_vectors(photos, tmp_path / "a.txt")
    (tmp_path / "a.npz").write_bytes(b"PK no")
    with pytest.raises(DataError, match=r"a\.npz"):
        put_vectors(photos, tmp_path / "a.npz")
