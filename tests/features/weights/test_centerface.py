"""A network that was published for ten photos of 32 x 32 takes photos of any size."""

from __future__ import annotations

import numpy as np
import onnx

from drawn_faces import published_finder
from superpac.features.onnx_encoder import open_network
from superpac.features.weights.centerface import MULTIPLE, STRIDE, build


def test_photos_of_any_size_are_taken_and_weights_are_no_inputs(tmp_path):
    content = build(published_finder())
    network = open_network(content, tmp_path / "finder.onnx")
    assert [given.name for given in network.get_inputs()] == ["photos"]
    wanted = {"heat": 1, "sizes": 2, "shifts": 2, "points": 10}
    assert [output.name for output in network.get_outputs()] == list(wanted)
    for height, width in ((MULTIPLE, 2 * MULTIPLE), (5 * MULTIPLE, 3 * MULTIPLE)):
        found = network.run(None, {"photos": np.zeros((1, 3, height, width), np.float32)})
        places = (height // STRIDE, width // STRIDE)
        assert [each.shape for each in found] == [(1, n, *places) for n in wanted.values()]


def test_it_gives_the_same_as_the_published_one(tmp_path):
    photos = np.random.default_rng(0).uniform(0, 255, (10, 3, 32, 32)).astype(np.float32)
    before = open_network(published_finder(), tmp_path / "a.onnx").run(None, {"input.1": photos})
    after = open_network(build(published_finder()), tmp_path / "b.onnx").run(
        None, {"photos": photos}
    )
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_what_is_written_is_a_sound_network():
    onnx.checker.check_model(onnx.load_from_string(build(published_finder())), full_check=True)
