"""Photos as vectors, with the real network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw
from sklearn.pipeline import make_pipeline

from superpac.affinity import TSC
from superpac.features.image import ImageFeatures
from superpac.features.models import MODELS
from superpac.features.onnx_encoder import OnnxFeatures
from superpac.metrics import clustering_error


def draw(kind: int, rng) -> Image.Image:
    """Discs, stripes or a chequered board, in any size, colour and place."""
    width, height = rng.integers(120, 400, 2).tolist()
    dark, light = (tuple(rng.integers(a, a + 100, 3).tolist()) for a in (0, 150))
    image = Image.new("RGB", (width, height), light)
    pen = ImageDraw.Draw(image)
    step = int(rng.integers(18, 30))
    if kind == 0:
        radius = min(width, height) // 3
        pen.ellipse(
            [width / 2 - radius, height / 2 - radius, width / 2 + radius, height / 2 + radius], dark
        )
    for k in range(0, width, 2 * step):
        if kind == 1:
            pen.rectangle([k, 0, k + step, height], dark)
        for j in range(0, height, step):
            if kind == 2:
                left = k + (j // step % 2) * step
                pen.rectangle([left, j, left + step, j + step], dark)
    return image


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(5)
    files, kinds = [], []
    for k in range(36):
        files.append(str(folder / f"{k}.jpg"))
        kinds.append(k % 3)
        draw(k % 3, rng).save(files[-1])
    return files, np.array(kinds)


def test_a_pipeline_of_photos_finds_the_kinds(photos):
    files, kinds = photos
    pipeline = make_pipeline(ImageFeatures(), TSC(3, q=4, random_state=0))
    assert clustering_error(kinds, pipeline.fit_predict(files)) == 0


def test_vectors_are_of_unit_length_and_the_same_on_one_core(photos):
    files, _ = photos
    vectors = ImageFeatures().transform(files)
    assert vectors.shape == (36, ImageFeatures().dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(ImageFeatures(n_jobs=1).transform(files), vectors, atol=1e-6)


def test_the_network_kept_gives_the_same_through_its_file(photos, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path))
    files, _ = photos
    vectors = ImageFeatures().transform(files[:4])
    (kept,) = tmp_path.glob("image-*.onnx")
    kept.with_suffix(".json").write_text('{"scale": 1, "mean": 127, "deviation": 128}')
    np.testing.assert_allclose(OnnxFeatures(kept).transform(files[:4]), vectors, atol=1e-6)


def test_the_fingerprint_names_the_weights(monkeypatch):
    before = ImageFeatures().fingerprint
    assert before == ImageFeatures(n_jobs=1).fingerprint
    monkeypatch.setitem(MODELS, "image", replace(MODELS["image"], revision=2))
    assert ImageFeatures().fingerprint != before
