from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superpac.data import load
from superpac.errors import DataError


def write(tmp_path, text, name="t.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def test_header_labels_and_ids(tmp_path):
    path = write(tmp_path, "name,w,h,kind\nann,1,2.5,x\nbob,3,4,y\ncy,5,6,x\n")
    data = load(path, labels="kind", ids="name")
    assert data.columns == ("w", "h")
    assert data.kind == "table"
    assert data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert data.ids.tolist() == ["ann", "bob", "cy"]
    assert data.class_names == ("x", "y")
    assert data.describe(0) == [("w", "1"), ("h", "2.5")]


def test_labels_and_ids_keep_their_text(tmp_path):
    path = write(tmp_path, "id,a,c\n007,1,01\n008,2,1\n")
    data = load(path, labels="c", ids="id")
    assert data.ids.tolist() == ["007", "008"]
    assert data.class_names == ("01", "1")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_delimiters_and_line_ends(tmp_path, delimiter, ending):
    rows = [["a", "b"], ["1", "2"], ["3", "4"]]
    text = ending.join(delimiter.join(r) for r in rows)
    assert load(write(tmp_path, text)).X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("1,2\n3,4\n", 2, None),
        ("a,b\n1,2\n3,4\n", 2, ("a", "b")),
        ("2019,b\n1,2\n3,4\n", 2, ("2019", "b")),
        ("0,1,2,3\n5,6,7,8\n5,6,7,9\n", 2, ("0", "1", "2", "3")),
        ("\ufeffa,b\n1,2\n3,4\n", 2, ("a", "b")),
        ("\n\na,b\n1,2\n\n3,4\n\n", 2, ("a", "b")),
        ('"a\nb",c\n1,2\n3,4\n', 2, ("a\nb", "c")),
        ("a,a\n1,2\n3,4\n", 2, ("a", "a")),
        ("x\n1\n2\n3\n", 3, ("x",)),
    ],
)
def test_header_detection(tmp_path, text, rows, columns):
    data = load(write(tmp_path, text))
    assert len(data) == rows
    assert data.columns == columns


def test_without_a_header_columns_go_by_number(tmp_path):
    path = write(tmp_path, "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    for labels in ("2", 2, -1):
        data = load(path, labels=labels)
        assert data.X.shape == (2, 2)
        assert data.class_names == ("setosa", "virginica")
        assert data.kind == "vector"


def test_what_pandas_writes_comes_back(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 5)))
    frame.index = [f"row{k}" for k in range(20)]
    frame.to_csv(tmp_path / "a.csv")
    frame.rename(columns=str).to_parquet(tmp_path / "a.parquet")
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        data = load(path)
        assert np.array_equal(data.X, frame.to_numpy())
        assert data.ids.tolist() == frame.index.tolist()
    assert np.array_equal(load(frame).X, frame.to_numpy())
    assert load(frame).ids.tolist() == frame.index.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3,4,5\n", r"t\.csv: line 3 has 3 values, the first line has 2"),
        ("a,b\n1,2\n3\n", r"t\.csv: line 3 has 1 values"),
        ("a,b\n1,2\n3,four\n", r"t\.csv: line 3, column 'b' holds 'four'.*--labels"),
        ("a,b\n1,2\n\n3,\n", r"t\.csv: line 4, column 'b' is empty"),
        ("a,b\n1,2\n3,nan\n", r"t\.csv: line 3, column 'b' is NaN"),
        ("a,b\n1,2\n-inf,4\n", r"t\.csv: line 3, column 'a' is infinite"),
        ("a,b\n1,2\n9007199254740993,4\n", r"line 3, column 'a' .*beyond 2\*\*53.*--ids"),
        ("a,b\n1,2\n99999999999999999999999,4\n", r"line 3, column 'a' .*beyond 2\*\*53"),
        ("a,b\n1,2\n1_000,4\n", r"line 3, column 'a' holds '1_000'"),
        ("a,b\n1,2\n", "1 point, at least two"),
        ("a,b\n", "no rows"),
        ("\n\n  \n", "empty"),
        ('a,b\n1,"2\n3,4\n', r"t\.csv"),
        ("a b c\n1 2 3\n4 5 6\n", "not a number"),
    ],
)
def test_bad_csv_names_line_column_and_remedy(tmp_path, text, words):
    with pytest.raises(DataError, match=words) as caught:
        load(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_bad_labels_and_ids_are_named(tmp_path):
    path = write(tmp_path, "i,a,c\np,1,x\np,2,\n")
    with pytest.raises(DataError, match="no column 'd' for labels=; its columns are 'i', 'a', 'c'"):
        load(path, labels="d", ids="i")
    with pytest.raises(DataError, match="line 3, column 'c' is empty"):
        load(path, labels="c", ids="i")
    with pytest.raises(DataError, match="no column is left"):
        load(write(tmp_path, "i\np\nq\n", "u.csv"), ids="i")
    repeated = write(tmp_path, "i,a\np,1\np,2\n", "v.csv")
    with pytest.raises(DataError, match="'p' is used for rows 0 and 1"):
        load(repeated, ids="i")
    with pytest.raises(DataError, match="several columns 'a'"):
        load(write(tmp_path, "a,a,b\n1,2,3\n4,5,6\n", "w.csv"), labels="a")


def test_other_encodings_are_named(tmp_path):
    path = write(tmp_path, "größe,b\n1,2\n3,4\n", encoding="latin-1")
    with pytest.raises(DataError, match="UTF-8"):
        load(path)


def test_parquet_types(tmp_path):
    frame = pd.DataFrame(
        {
            "a": np.array([1, 2, 3], dtype=np.int8),
            "b": np.array([0.5, 1.5, 2.5], dtype=np.float32),
            "c": [True, False, True],
            "kind": pd.Categorical(["x", "y", "x"]),
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    data = load(tmp_path / "a.parquet", labels="kind")
    assert data.X.tolist() == [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]]
    assert data.y.tolist() == [0, 1, 0]
    with pytest.raises(DataError, match=r"a\.parquet: row 0 .*column 'kind' holds 'x'"):
        load(tmp_path / "a.parquet")


def test_parquet_and_frames_with_gaps(tmp_path):
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 3]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: row 1 .*column 'a' is empty"):
        load(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="DataFrame: row 1 .*column 'a'"):
        load(frame)
    with pytest.raises(DataError, match="row 0 .*column 'when' .*not a number"):
        load(pd.DataFrame({"when": pd.to_datetime(["2020", "2021"]), "b": [1, 2]}))
    with pytest.raises(DataError, match="DataFrame: "):
        load(pd.DataFrame({"a": [object(), object()]}))
    with pytest.raises(DataError, match="D = 0"):
        load(pd.DataFrame(index=range(3)))


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(st.tuples(finite, finite, finite), min_size=2, max_size=20))
def test_csv_gives_back_every_float_exactly(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    body = "\n".join(",".join(repr(v) for v in r) for r in rows)
    path.write_text("a,b,c\n" + body + "\n")
    assert np.array_equal(load(path).X, np.array(rows))


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6
)
column_kinds = {
    "whole": st.integers(-(2**53), 2**53).map(str),
    "real": finite.map(repr),
    "either": st.one_of(st.integers(-99, 99).map(str), finite.map(repr)),
    "padded": st.integers(-99, 99).map(lambda v: f" {v} "),
    "truth": st.sampled_from(["true", "false", "True", "FALSE", "0", "1"]),
    "quoted": st.integers(0, 9).map(lambda v: f'"{v}"'),
}


@given(st.data())
def test_csv_is_read_as_pyarrow_reads_it(tmp_path_factory, data):
    n = data.draw(st.integers(2, 6))
    kinds = data.draw(st.lists(st.sampled_from(sorted(column_kinds)), min_size=1, max_size=4))
    columns = [data.draw(st.lists(column_kinds[k], min_size=n, max_size=n)) for k in kinds]
    names = data.draw(st.lists(words, min_size=n, max_size=n))
    columns.append(['"' + name.replace('"', '""') + '"' for name in names])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    head = [f"column {k}" for k in range(len(kinds))] + ["kind"]
    path.write_bytes(end.join(map(",".join, [head, *zip(*columns, strict=True)])).encode())
    found = load(path, labels="kind")
    expected = pyarrow.csv.read_csv(path)
    parts = [expected.column(k).to_numpy() for k in range(len(kinds))]
    parts = [p.astype(np.uint8) if p.dtype == bool else p for p in parts]
    X = np.column_stack(parts)
    assert found.X.dtype == X.dtype
    assert np.array_equal(found.X, X)
    assert [found.class_names[k] for k in found.y] == names


def test_numbers_beside_true_and_false_are_refused(tmp_path):
    with pytest.raises(DataError, match="column 'a' holds numbers as well as true or false"):
        load(write(tmp_path, "a,b\n0.5,1\ntrue,2\n"))
