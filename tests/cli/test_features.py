"""``superpac features``: what there is, and fetching it."""

from __future__ import annotations

import json

import pytest

from command_line import superpac
from superpac.features.models import MODELS
from superpac.features.registry import encoder_names


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))


def test_the_list_names_every_encoder_with_origin_licence_size_and_hash():
    shown = superpac("features", "list").stdout
    listed = json.loads(superpac("features", "list", "--json").stdout)
    facts = {each["name"]: each for each in listed}
    assert list(facts) == encoder_names()
    for name, model in MODELS.items():
        assert name in shown
        assert model.origin in shown
        assert facts[name]["licence"] == model.licence
        assert facts[name]["dimension"] == model.dimension
        assert facts[name]["bytes"] == model.size
        assert facts[name]["sha256"] == model.weights
    assert facts["image"]["here"]


def test_one_encoder_is_shown():
    shown = superpac("features", "show", "image").stdout
    assert MODELS["image"].weights in shown
    assert "1280" in shown
    assert json.loads(superpac("features", "show", "pixels", "--json").stdout)["here"]


def test_what_is_here_is_not_fetched():
    assert "here already" in superpac("features", "get", "image").stdout


def test_a_file_that_is_another_is_refused(tmp_path):
    wrong = tmp_path / "wrong.whl"
    wrong.write_bytes(b"not it")
    done = superpac("features", "get", "text", "--from", wrong, check=False)
    assert done.returncode == 2
    assert "SHA-256" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("word", ["get", "show"])
def test_a_name_that_is_none_is_one_sentence(word):
    done = superpac("features", word, "magic", check=False)
    assert done.returncode == 2
    assert "text" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
