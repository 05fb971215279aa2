"""Pixels as vectors."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from superpac.errors import InputError
from superpac.features.pixels import PixelFeatures


def test_small_grey_images_keep_their_pixels(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (5, 12, 12), dtype=np.uint8)
    for k, values in enumerate(pixels):
        Image.fromarray(values).save(tmp_path / f"{k}.png")
    vectors = PixelFeatures(size=12).transform(sorted(tmp_path.iterdir()))
    assert vectors.dtype == np.float32
    assert (vectors == pixels.reshape(5, -1)).all()


@pytest.mark.parametrize("size", [0, 5000, "large", 2.5])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(InputError, match="1 to 1024"):
        PixelFeatures(size=size).transform([])


def test_the_fingerprint_is_that_of_the_settings():
    assert PixelFeatures(size=8).fingerprint == PixelFeatures(size=8, n_jobs=1).fingerprint
    assert PixelFeatures(size=8).fingerprint != PixelFeatures(size=9).fingerprint
