"""Which encoder is taken where none was named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from superpac.data.sound_files import Sound, as_wav
from superpac.data.things import Things, as_things, read_things
from superpac.errors import InputError
from superpac.features.choice import choose_encoder
from superpac.features.models import MODELS
from superpac.features.reading import read_encoded


@pytest.fixture
def without(monkeypatch, tmp_path):
    """Take the weights of encoders away."""
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))

    def take(*names):
        for name in names:
            away = replace(MODELS[name], module="no_such_package_here")
            monkeypatch.setitem(MODELS, name, away)

    return take


def images(folder, *shapes):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for k, shape in enumerate(shapes):
        Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(folder / f"{k}.png")
    return read_things(folder)


@pytest.mark.parametrize(
    ("shapes", "encoder"),
    [
        ([(28, 28)] * 3, "pixels"),
        ([(192, 168)] * 3, "pixels"),
        ([(201, 40)] * 3, "image"),
        ([(28, 28), (28, 28), (28, 29)], "image"),
        ([(28, 28, 3)] * 3, "image"),
    ],
)
def test_small_grey_images_of_one_size_stay_pixels(tmp_path, shapes, encoder):
    choice = choose_encoder(images(tmp_path / "a", *shapes))
    assert choice.encoder == encoder
    assert not choice.second_best
    assert ("grey" in choice.why) == (encoder == "pixels")


def test_the_line_says_at_which_size_pixels_are_taken(tmp_path):
    folder = images(tmp_path / "a", *[(28, 20)] * 3)
    assert "Pixels as they are" in choose_encoder(folder).why
    assert read_encoded(tmp_path / "a").X.shape == (3, 28 * 20)
    listed = [tmp_path / "a" / f"{k}.png" for k in range(3)]
    assert "Pixels at 32 x 32" in choose_encoder(as_things(listed)).why
    assert read_encoded(listed).X.shape == (3, 32 * 32)


def test_grey_is_what_the_pixels_are_however_they_are_stored(tmp_path):
    grey = np.linspace(0, 255, 30 * 20).reshape(30, 20).astype(np.uint8)
    same = Image.fromarray(np.repeat(grey[..., None], 3, axis=2))
    for k, (name, options) in enumerate({"a.png": {}, "b.jpg": {"quality": 90}}.items()):
        same.rotate(180 * k).save(tmp_path / name, **options)
    Image.fromarray(grey).convert("P").save(tmp_path / "c.png")
    assert choose_encoder(read_things(tmp_path)).as_they_are
    tinted = np.array(same)
    tinted[4:9, 4:9, 0] = 250
    tinted[4:9, 4:9, 2] = 10
    Image.fromarray(tinted).save(tmp_path / "d.png")
    choice = choose_encoder(read_things(tmp_path))
    assert not choice.as_they_are
    assert "in colour" in choice.why


def test_photos_without_an_encoder_are_told_what_to_install(tmp_path, without):
    without("image")
    choice = choose_encoder(images(tmp_path / "a", (90, 80, 3), (70, 80, 3)))
    assert choice.encoder == "pixels"
    assert choice.second_best
    assert "hardly" in choice.why
    assert choice.why.endswith('pip install "superpac[features]"')


def test_texts_without_a_network_go_by_letters(without):
    without("text")
    choice = choose_encoder(Things("text", texts=("a", "b")))
    assert choice.encoder == "text-plain"
    assert choice.why.endswith("superpac features get text")


def test_sounds_need_their_network(tmp_path, without):
    without("speaker")
    for k in range(2):
        sound = Sound(np.full(800, 0.1, dtype=np.float32), 8000)
        (tmp_path / f"{k}.wav").write_bytes(as_wav(sound))
    with pytest.raises(InputError, match="superpac features get speaker$"):
        choose_encoder(read_things(tmp_path))


def test_rows_of_a_table_have_none():
    with pytest.raises(InputError, match="module:function"):
        choose_encoder(Things("table", rows=(("1",), ("2",)), columns=("a",)))
