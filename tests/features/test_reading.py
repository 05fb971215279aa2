"""A folder, a table or numbers as points, with or without a named encoder."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from superpac.data import load
from superpac.errors import DataError, NotFoundError
from superpac.features.reading import read_encoded


def picture(path, number, shape):
    path.parent.mkdir(exist_ok=True, parents=True)
    pixels = np.random.default_rng([number, 5]).integers(0, 255, shape, dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def test_numbers_are_read_as_ever_and_nothing_is_chosen(tmp_path):
    rows = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "rows.npy", rows)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",")
    for what in ("digits", rows, tmp_path / "rows.npy", str(tmp_path / "rows.csv")):
        chosen = []
        data = read_encoded(what, tell=chosen.append)
        assert data.fingerprint == load(what).fingerprint
        assert not chosen
        assert not data.features


def test_photos_of_any_size_and_turn_are_read_and_what_was_chosen_is_told(tmp_path):
    for k in range(4):
        picture(tmp_path / "sub" / f"{k}.jpg", k, (40 + k, 30, 3))
    turned = Image.open(tmp_path / "sub" / "0.jpg")
    noted = Image.Exif()
    noted[0x0112] = 6
    turned.save(tmp_path / "turned.jpg", exif=noted)
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8 cut off")
    chosen, aside = [], {}
    data = read_encoded(tmp_path, tell=chosen.append, aside=aside.__setitem__)
    assert data.ids.tolist() == ["sub/0.jpg", "sub/1.jpg", "sub/2.jpg", "sub/3.jpg", "turned.jpg"]
    assert [choice.encoder for choice in chosen] == [data.features] == ["image"]
    assert list(aside) == ["broken.jpg"]


def test_grey_images_of_one_size_are_their_own_pixels(tmp_path):
    for k in range(4):
        picture(tmp_path / f"{k}.png", k, (9, 7))
    data = read_encoded(tmp_path)
    assert data.fingerprint == load(tmp_path).fingerprint
    assert data.image_shape == (9, 7)
    assert read_encoded(tmp_path, features="pixels").X.shape == (4, 32 * 32)


def test_one_thing_does_where_it_is_added_to_others(tmp_path):
    picture(tmp_path / "a" / "0.png", 0, (9, 7))
    (tmp_path / "one.csv").write_text("text\nwhere is my card\n")
    for what in (tmp_path / "a", tmp_path / "one.csv"):
        with pytest.raises(DataError, match="at least two"):
            read_encoded(what)
    assert len(read_encoded(tmp_path / "a", fewest=1)) == 1
    assert len(read_encoded(tmp_path / "a", features="pixels", fewest=1)) == 1


def test_what_is_not_there_is_told_as_ever(tmp_path):
    for what in ("digit", tmp_path / "none", "a\0b", ""):
        with pytest.raises(NotFoundError):
            read_encoded(what)
    (tmp_path / "words.csv").write_text("a,b\nx,u\ny,v\n")
    with pytest.raises(DataError, match="none of its 2 columns holds numbers"):
        read_encoded(tmp_path / "words.csv")
    (tmp_path / "two.csv").write_text("a,b\n" + "".join(f"a b c {k},d e f {k}\n" for k in range(5)))
    with pytest.raises(DataError, match="--text"):
        read_encoded(tmp_path / "two.csv")
