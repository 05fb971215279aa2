"""A person's own function as an encoder."""

from __future__ import annotations

import pytest

from superpac.cache import DiskCache
from superpac.data.things import Things
from superpac.errors import DataError, InputError, NotFoundError
from superpac.features.encoding import encode
from superpac.features.registry import make_encoder

OWN = """
def lengths(texts):
    return [[len(text), text.count("a")] for text in texts]

def one(texts):
    return [[1.0, 2.0]]

def growing(texts):
    return [[1.0] * (len(texts) + 1) for _ in texts]

def breaks(texts):
    if "b" in texts:
        raise KeyError("b is not known")
    return [[1.0] for _ in texts]

def cells(rows):
    return [[float(cell) for cell in row] for row in rows]

number = 5
"""


@pytest.fixture
def own(tmp_path, monkeypatch, request):
    """Name of a module of its own for each test: Python imports a name only once."""
    name = "own_" + "".join(c if c.isalnum() else "_" for c in request.node.name)
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_function_beside_the_program_makes_vectors(own):
    encoder = make_encoder(f"{own}:lengths", kind="text")
    assert encoder.transform(["aa", "abc"] * 40).tolist() == [[2, 2], [3, 1]] * 40
    assert encoder.dimension == 2


def test_rows_of_a_table_are_handed_over_as_cells(own, tmp_path):
    things = Things("table", rows=(("1", "2"), ("3", "4"), ("1", "2")), columns=("a", "b"))
    data = encode(things, f"{own}:cells", cache=DiskCache(tmp_path / "cache"))
    assert data.X.tolist() == [[1, 2], [3, 4], [1, 2]]
    assert data.features == f"{own}:cells"


def test_the_fingerprint_is_that_of_the_file(own, tmp_path):
    before = make_encoder(f"{own}:lengths").fingerprint
    assert before == make_encoder(f"{own}:lengths").fingerprint
    (tmp_path / f"{own}.py").write_text(OWN + "\n# changed\n")
    assert before != make_encoder(f"{own}:lengths").fingerprint


@pytest.mark.parametrize(("function", "said"), [("one", "one row"), ("growing", "as many")])
def test_rows_that_do_not_fit_are_refused(own, function, said):
    with pytest.raises(InputError, match=said):
        make_encoder(f"{own}:{function}", kind="text").transform(["a", "b", "c"])


def test_a_function_that_stops_is_named_with_the_thing(own):
    with pytest.raises(DataError, match=r"^b: .*breaks stopped with KeyError"):
        make_encoder(f"{own}:breaks", kind="text").transform(["a", "b"])


def test_a_file_of_its_own_will_do(own, tmp_path):
    encoder = make_encoder(f"{tmp_path / own}.py:lengths", kind="text")
    assert encoder.transform(["aa"]).tolist() == [[2, 2]]
    assert encoder.fingerprint != make_encoder(f"{tmp_path / own}.py:one").fingerprint


def test_a_misspelt_name_is_told_at_once(own):
    with pytest.raises(NotFoundError, match="missing"):
        make_encoder(f"{own}:missing")
    with pytest.raises(NotFoundError, match="no_such_module_here"):
        make_encoder("no_such_module_here:f")
