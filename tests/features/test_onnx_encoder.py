"""Networks in ONNX files: a real one, built here, run by ONNX Runtime."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from superpac.errors import DataError, NotFoundError
from superpac.features.onnx_encoder import OnnxFeatures, Preprocessing
from superpac.features.weights.graph import Graph

W = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)


def network(layout="nchw", side=4, batch="n", pooled=True, channels=3):
    """Average of each channel, then five sums of them."""
    graph = Graph()
    shape = [batch, channels, side, side] if layout == "nchw" else [batch, side, side, channels]
    x = graph.input("x", np.float32, shape)
    if layout == "nhwc":
        x = graph.node("Transpose", x, perm=[0, 3, 1, 2])
    x = graph.node("Conv", x, graph.constant(W[:, :channels, None, None]))
    if not pooled and layout == "nhwc":
        return graph.finish(graph.node("Transpose", x, perm=[0, 2, 3, 1]), [batch, side, side, 5])
    if not pooled:
        return graph.finish(x, [batch, 5, side, side])
    return graph.finish(graph.node("Flatten", graph.node("GlobalAveragePool", x)), [batch, 5])


def photos(folder, n=5):
    rng = np.random.default_rng(4)
    values = rng.integers(0, 256, (n, 4, 4, 3), dtype=np.uint8)
    for k, photo in enumerate(values):
        Image.fromarray(photo).save(folder / f"{k}.png")
    return values, sorted(folder.glob("*.png"))


def encoder(folder, content, **facts):
    (folder / "net.onnx").write_bytes(content)
    if facts:
        (folder / "net.json").write_text(json.dumps(facts))
    return OnnxFeatures(folder / "net.onnx")


PLAIN = {"scale": 1, "mean": 0, "deviation": 1, "unit_length": False}


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("batch", ["n", 1])
@pytest.mark.parametrize("pooled", [True, False])
def test_vectors_are_what_the_network_says(tmp_path, layout, batch, pooled):
    values, files = photos(tmp_path)
    made = encoder(tmp_path, network(layout, 4, batch, pooled), **PLAIN)
    assert made.dimension == 5
    expected = values.astype(float).mean(axis=(1, 2)) @ W.T
    np.testing.assert_allclose(made.transform(files), expected, rtol=1e-4, atol=1e-3)


def test_without_a_json_file_photos_are_scaled_as_for_imagenet(tmp_path):
    values, files = photos(tmp_path)
    made = encoder(tmp_path, network())
    assert made.preprocessing == Preprocessing(size=(4, 4))
    x = (values / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    expected = x.mean(axis=(1, 2)) @ W.T
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(made.transform(files), expected, rtol=1e-4, atol=1e-5)


def test_channels_mean_and_deviation_are_those_of_the_json_file(tmp_path):
    values, files = photos(tmp_path)
    facts = PLAIN | {"channels": "bgr", "mean": [1, 2, 3], "deviation": [4, 5, 6], "scale": 0.5}
    made = encoder(tmp_path, network(), **facts)
    x = (values[..., ::-1] * 0.5 - [1, 2, 3]) / [4, 5, 6]
    np.testing.assert_allclose(
        made.transform(files), x.mean(axis=(1, 2)) @ W.T, rtol=1e-4, atol=1e-3
    )


def test_a_network_of_one_channel_gets_grey_photos(tmp_path):
    values, files = photos(tmp_path)
    made = encoder(tmp_path, network(channels=1), **PLAIN)
    assert made.preprocessing.channels == "grey"
    grey = (values @ np.array([0.299, 0.587, 0.114])).mean(axis=(1, 2))
    np.testing.assert_allclose(made.transform(files), grey[:, None] * W[:, 0], rtol=1e-4)


def test_a_size_left_open_is_taken_from_the_json_file(tmp_path):
    _, files = photos(tmp_path)
    made = encoder(tmp_path, network(side="s"), size=8)
    assert made.preprocessing.size == (8, 8)
    assert made.transform(files).shape == (5, 5)


def test_the_fingerprint_changes_with_weights_and_preprocessing(tmp_path):
    marks = set()
    for name, content, facts in (
        ("a", network(), {}),
        ("b", network(), {"crop": "squeeze"}),
        ("c", network(side="s"), {"size": 4}),
    ):
        (tmp_path / name).mkdir()
        marks.add(encoder(tmp_path / name, content, **facts).fingerprint)
    assert len(marks) == 3
    (tmp_path / "d").mkdir()
    assert encoder(tmp_path / "d", network()).fingerprint in marks


@pytest.mark.parametrize(
    "facts",
    [
        {"size": 0},
        {"size": [1, 2, 3]},
        {"crop": "left"},
        {"mean": "red"},
        {"deviation": [0, 1, 1]},
        {"scale": None},
        {"channels": "cmyk"},
        {"layout": "chw"},
        {"output": 3},
        {"output": "nothing"},
        {"unit_length": 1},
        {"magic": True},
        [1, 2],
    ],
)
def test_a_wrong_fact_is_one_sentence_with_the_files_name(tmp_path, facts):
    (tmp_path / "net.json").write_text(json.dumps(facts))
    made = encoder(tmp_path, network())
    with pytest.raises(DataError, match=r"net\.json") as caught:
        made.transform([])
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_are_no_networks_for_photos_are_refused(tmp_path):
    with pytest.raises(NotFoundError, match=r"none\.onnx"):
        OnnxFeatures(tmp_path / "none.onnx").transform([])
    (tmp_path / "net.json").write_text("{")
    with pytest.raises(DataError, match=r"net\.json"):
        encoder(tmp_path, network()).transform([])
    (tmp_path / "net.json").unlink()
    with pytest.raises(DataError, match=r"net\.onnx"):
        encoder(tmp_path, b"no network").transform([])
    graph = Graph()
    rows = graph.finish(graph.node("Abs", graph.input("rows", np.float32, ["n", 3])), ["n", 3])
    with pytest.raises(DataError, match="four axes"):
        encoder(tmp_path, rows).transform([])


def test_a_size_that_the_network_does_not_take_is_one_sentence(tmp_path):
    _, files = photos(tmp_path)
    with pytest.raises(DataError, match=r"net\.onnx"):
        encoder(tmp_path, network(side=4), size=9).transform(files)
