"""A photo as a network takes it, whatever its size, mode and orientation."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from superpac.errors import DataError
from superpac.features.photo import read_photo


def halves(width: int, height: int) -> Image.Image:
    """Left half red, right half blue."""
    image = Image.new("RGB", (width, height), (255, 0, 0))
    image.paste((0, 0, 255), (width // 2, 0, width, height))
    return image


@pytest.mark.parametrize("size", [(30, 30), (300, 40), (41, 203), (1000, 700), (1, 1), (3, 500)])
@pytest.mark.parametrize("crop", ["centre", "squeeze"])
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_any_size_fills_the_square(tmp_path, size, crop, suffix):
    path = tmp_path / f"a.{suffix}"
    halves(*size).save(path, quality=95)
    photo = read_photo(path, (32, 48), crop)
    assert photo.shape == (32, 48, 3)
    assert photo.dtype == np.uint8
    if size[0] > 30:
        assert (photo[:, 2] > [200, -1, -1]).all()
        assert (photo[:, -3] > [-1, -1, 200]).all()


def test_the_middle_is_cut_out_and_all_of_it_is_squeezed(tmp_path):
    image = Image.new("RGB", (90, 30), (0, 255, 0))
    image.paste((255, 0, 0), (30, 0, 60, 30))
    path = tmp_path / "wide.png"
    image.save(path)
    middle = read_photo(path, (30, 30), "centre")
    assert (middle == [255, 0, 0]).all()
    squeezed = read_photo(path, (30, 30), "squeeze")
    assert (squeezed[:, 2] == [0, 255, 0]).all()
    assert (squeezed[:, 15] == [255, 0, 0]).all()


@pytest.mark.parametrize("tag", range(1, 9))
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_a_photo_is_turned_as_its_camera_says(tmp_path, tag, suffix):
    # what the camera did to the picture, as the definition of the tag has it
    done = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}
    upright = halves(640, 480)
    stored = upright.transpose(Image.Transpose(done[tag])) if tag > 1 else upright
    exif = Image.Exif()
    exif[0x0112] = tag
    path = tmp_path / f"turned.{suffix}"
    stored.save(path, exif=exif)
    plain = tmp_path / "plain.png"
    upright.save(plain)
    difference = read_photo(path, (24, 24)).astype(int) - read_photo(plain, (24, 24))
    assert np.abs(difference).mean() <= (0 if suffix == "png" else 3)


def test_a_large_jpeg_gives_what_the_whole_of_it_gives(tmp_path):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    whole = Image.fromarray(small).resize((1600, 1200), Image.Resampling.BICUBIC)
    whole.save(tmp_path / "a.jpg", quality=95)
    whole.save(tmp_path / "a.png")
    reduced = read_photo(tmp_path / "a.jpg", (60, 60)).astype(int)
    plain = read_photo(tmp_path / "a.png", (60, 60)).astype(int)
    assert np.abs(reduced - plain).mean() < 2


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
def test_any_mode_becomes_rgb(tmp_path, mode):
    ramp = np.tile(np.arange(64, dtype=np.uint8) * 4, (64, 1))
    if mode == "I;16":
        image = Image.fromarray(ramp.astype(np.uint16) * 250)
    elif mode == "F":
        image = Image.fromarray(ramp.astype(np.float32) / 7)
    else:
        image = Image.fromarray(ramp).convert(mode)
    path = tmp_path / ("a.tif" if mode in ("CMYK", "F") else "a.png")
    image.save(path)
    photo = read_photo(path, (16, 16)).astype(int)
    assert photo.shape == (16, 16, 3)
    assert photo[:, 14].mean() > photo[:, 1].mean() + 150


def test_a_broken_photo_is_named(tmp_path):
    path = tmp_path / "cut.jpg"
    halves(400, 300).save(path)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(DataError, match=r"cut\.jpg"):
        read_photo(path, (32, 32))
    path.write_text("no image")
    with pytest.raises(DataError, match=r"cut\.jpg"):
        read_photo(path, (32, 32))


def test_pixels_that_are_no_numbers_are_refused(tmp_path):
    values = np.ones((8, 8), dtype=np.float32)
    values[2, 3] = np.nan
    Image.fromarray(values).save(tmp_path / "a.tif")
    with pytest.raises(DataError, match="NaN"):
        read_photo(tmp_path / "a.tif", (8, 8))
