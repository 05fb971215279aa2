from __future__ import annotations

import numpy as np
import pytest

from superpac.data import available, load
from superpac.data.benchmarks import data_folder
from superpac.data.catalogue import CATALOGUE
from superpac.errors import DataError, NotFoundError

STEMS = sorted({f.removesuffix(".npz") for b in CATALOGUE.values() for f in b.files})


@pytest.mark.realdata
@pytest.mark.parametrize("name", list(CATALOGUE))
def test_every_benchmark_is_what_the_catalogue_says(need_data, name):
    facts = CATALOGUE[name]
    for file in facts.files:
        need_data(file.removesuffix(".npz"))
    data = load(name)
    assert data.X.shape == (facts.n, facts.dim)
    assert data.n_classes == facts.n_classes == len(data.class_names)
    assert data.kind == facts.kind
    assert data.default_dim == facts.default_dim
    assert data.draw(0).width > 1


@pytest.mark.realdata
def test_yale_has_all_rows_and_flags_the_bad_ones(need_data):
    stored = np.load(need_data("yaleb"))
    data = load("yaleb")
    assert np.array_equal(data.X, stored["X"])
    assert np.array_equal(data.y, stored["y"])
    assert data.extras["bad"].sum() == 18
    assert len(data.subset(~data.extras["bad"])) == 2414
    assert not data.X[877].any()
    assert data.class_names[13] == "yaleB15"


@pytest.mark.realdata
def test_mnist70k_starts_with_mnist(need_data):
    need_data("mnist_test")
    train = np.load(need_data("mnist_train"))
    all_, test = load("mnist70k"), load("mnist")
    assert np.array_equal(all_.X[:10000], test.X)
    assert np.array_equal(all_.y[:10000], test.y)
    assert np.array_equal(all_.y[10000:], train["y"])
    assert np.array_equal(all_.X[10000::997], train["X"][::997])


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["iris", "wine", "wdbc"])
def test_what_scikit_learn_brings_equals_the_file(need_data, name, tmp_path, monkeypatch):
    need_data(f"uci_{name}")
    filed = load(name)
    monkeypatch.setenv("SUPERPAC_DATA", str(tmp_path))
    brought = load(name)
    assert brought.fingerprint == filed.fingerprint
    assert np.array_equal(brought.y, filed.y)
    assert brought.columns == filed.columns


def test_a_missing_benchmark_names_file_folder_and_command(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_DATA", str(tmp_path))
    with pytest.raises(NotFoundError) as caught:
        load("yaleb")
    for word in ("yaleb.npz", str(tmp_path), "superpac data import yaleb", "CroppedYale"):
        assert word in str(caught.value)
    with pytest.raises(NotFoundError, match=r"mnist_test\.npz and mnist_train\.npz"):
        load("mnist70k")
    present = {b.name for b in available() if b.present}
    assert present == {"digits", "iris", "wine", "wdbc"}


def test_a_foreign_file_under_a_benchmark_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_DATA", str(tmp_path))
    np.savez(tmp_path / "usps.npz", X=np.eye(5), y=np.arange(5))
    with pytest.raises(DataError, match=r"usps\.npz: is not the file of usps"):
        load("usps")


def test_the_folder_is_the_named_one_or_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("SUPERPAC_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder().parts[-2:] == ("superpac", "data")


def test_a_name_wins_over_a_file_and_a_path_over_the_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").mkdir()
    assert load("digits").X.shape == (1797, 64)
    with pytest.raises(DataError, match="no image"):
        load("./digits")
