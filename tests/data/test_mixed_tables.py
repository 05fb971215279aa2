"""Tables with texts, empty cells, decimal commas and ids."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import superpac
from superpac.data import load
from superpac.data.mixed_tables import id_column, load_mixed
from superpac.errors import DataError
from superpac.store import open_store


def written(folder, text, name="plants.csv"):
    path = folder / name
    path.write_text(text)
    return path


def plants(folder, rows=24):
    """Two kinds of plants: a number for each, a place in words, some cells empty."""
    rng = np.random.default_rng(0)
    lines = ["id;place;length;width;height"]
    for n in range(rows):
        values = rng.normal(size=3) + (9 if n % 2 else 1, 4, 0)
        cells = [f"{v:.2f}".replace(".", ",") for v in values]
        cells[n % 3] = "" if n % 7 == 3 else cells[n % 3]
        lines.append(";".join([str(1000 - n), ("hill", "lake")[n % 2], *cells]))
    return written(folder, "\n".join(lines) + "\n")


def test_texts_gaps_and_decimal_commas_are_read_and_told_in_one_sentence(tmp_path):
    said = []
    data = load(plants(tmp_path), ids="id", tell=said.append)
    assert data.X.shape == (24, 3)
    assert np.isfinite(data.X).all()
    assert data.columns == ("place", "length", "width", "height")
    assert data.ids[0] == "1000"
    assert len(said) == 1
    assert said[0].startswith("Used: length, width, height. Shown only: place (text). Filled in")
    assert dict(data.describe(3))["length"] == ""  # people see what stands there
    with pytest.raises(DataError, match="line 2"):
        load(plants(tmp_path), ids="id")  # nobody is told: the first obstacle is an error


def test_a_gap_gets_the_median_of_its_column(tmp_path):
    path = written(tmp_path, "a,b\n1,5\n3,NA\n8,7\n,6\n")
    data = load_mixed(path, tell=lambda words: None)
    assert data.X.tolist() == [[1, 5], [3, 6], [8, 7], [3, 6]]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("1,5", "2,25"), [1.5, 2.25]),
        (("1.234,5", "12,0"), [1234.5, 12.0]),
        (("1.5", "2"), [1.5, 2.0]),
        (("yes", "no"), [1.0, 0.0]),
    ],
)
def test_numbers_as_people_write_them(tmp_path, cells, numbers):
    path = written(tmp_path, "a;b;c\n" + "".join(f"word;{cell};1\n" for cell in cells))
    assert load_mixed(path, tell=lambda words: None).X[:, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("id,a\n5,1.5\n7,2.5\n", "id"),
        ("a,customer_id\n1.5,9\n2.5,3\n", "customer_id"),
        ("a,customer_id\n1.5,9\n2.5,9\n", None),  # two rows of one customer
        ("n,a\n" + "".join(f"{k},{k * k}\n" for k in range(1, 12)), "n"),
        ("width,height\n1,2\n2,4\n", None),
        ("paid,a\n1,2\n2,4\n", None),
        ("1,2\n3,4\n", None),
    ],
)
def test_which_column_numbers_the_rows(tmp_path, text, found):
    assert id_column(written(tmp_path, text)) == found


def test_a_table_as_it_is_clusters_with_one_command_and_ids_are_names(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    path = plants(tmp_path)
    done = superpac("new", path, "-k", 2, "-a", "tsc:q=4", "-d", 1)
    ids, told = done.stderr.splitlines()
    assert ids.startswith("The column 'id' only numbers the rows: it names them")
    assert told.startswith("Used: length, width, height.")
    with open_store(tmp_path / "store.sqlite3", read_only=True) as store:
        assert store.open("plants").info.source["ids"] == "id"
    status = superpac("status", "plants", "--model", "--json")
    assert json.loads(status.stdout)["items"] == 24
    superpac("export", "plants", "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith("1000,")
    less = superpac("cluster", path, "-k", 2, "-a", "tsc:q=4", "--show", "width", "--json")
    assert "Shown only: place (text), width." in less.stderr
    refused = superpac("cluster", path, "--show", "colour", check=False)
    assert refused.returncode == 2
    assert "no column 'colour' for show=" in refused.stderr


def test_a_table_of_words_alone_is_refused_in_one_sentence(tmp_path):
    path = written(tmp_path, "a,b\nred,big\nblue,small\n")
    refused = superpac("cluster", path, check=False)
    assert refused.returncode == 2
    assert "none of its 2 columns holds numbers" in refused.stderr
