from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from superpac.data import Dataset, load
from superpac.data.overview import contact_sheet, facts, save_picture
from superpac.errors import InputError


def test_pixels_are_upright_enlarged_and_unsmoothed():
    data = load("digits")
    picture = np.asarray(data.draw(5, 80))
    assert picture.shape == (80, 80)
    blocks = picture.reshape(8, 10, 8, 10)
    assert (blocks == blocks[:, :1, :, :1]).all()
    expected = np.rint(data.X[5].reshape(8, 8) / 16 * 255)
    assert np.array_equal(blocks[:, 0, :, 0], expected)


@pytest.mark.parametrize("size", [None, 1, 7, 8, 100, 500])
def test_size_is_kept(size):
    for data in (
        load("digits"),
        Dataset(np.eye(3), columns=("a", "b", "c")),
        Dataset(np.random.default_rng(0).normal(size=(3, 50))),
    ):
        picture = data.draw(0, size)
        assert picture.mode in ("L", "RGB")
        assert max(picture.size) <= (size or 1024)


def test_contrast_is_that_of_the_whole_data():
    X = np.array([[0.0, 0.1, 0.2, 0.3], [0.0, 1.0, 0.5, 1.0]])
    data = Dataset(X, image_shape=(2, 2))
    assert np.asarray(data.draw(0)).max() == round(0.3 * 255)
    assert np.asarray(data.draw(1)).max() == 255
    dark = data.subset([0])
    assert np.asarray(dark.draw(0)).max() == 255


def test_extreme_and_constant_values_can_be_drawn():
    for X in (
        [[1.7e308, -1.7e308, 0.0, 1.0], [0.0] * 4],
        [[5e-324, 0.0, 0.0, 5e-324], [0.0] * 4],
        [[3.0] * 4, [3.0] * 4],
        [[0.0] * 4, [0.0] * 4],
    ):
        for facts_ in ({"image_shape": (2, 2)}, {}, {"columns": tuple("abcd")}):
            with np.errstate(all="raise", under="ignore"):
                Dataset(X, **facts_).draw(0)
    Dataset(np.tile(X, 10)).draw(0)


def test_colour_images():
    X = np.zeros((2, 12), dtype=np.uint8)
    X[0, 0], X[1, 4] = 255, 255
    data = Dataset(X, image_shape=(2, 2, 3))
    assert data.draw(0, 2).getpixel((0, 0)) == (255, 0, 0)
    assert data.draw(1, 2).getpixel((1, 0)) == (0, 255, 0)


def test_standardised_images_are_drawn_as_they_were():
    data = load("digits")
    assert np.array_equal(data.draw(3), data.standardised().draw(3))


def test_the_original_file_is_drawn(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (300, 200, 3)).astype(np.uint8)
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    for name in ("a.png", "b.png"):
        Image.fromarray(pixels).save(tmp_path / name, exif=exif)
    data = load(tmp_path, size=(10, 10))
    picture = data.draw(0)
    assert picture.size == (200, 300)
    assert np.array_equal(np.asarray(picture), pixels)
    assert "exif" not in picture.info
    assert max(data.draw(0, 64).size) == 64


def test_originals_of_every_depth_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    shapes = {
        "L": rng.integers(0, 256, (4, 4)).astype(np.uint8),
        "deep": rng.integers(0, 2**16, (4, 4)).astype(np.uint16),
        "RGBA": rng.integers(0, 256, (4, 4, 4)).astype(np.uint8),
    }
    for name, pixels in shapes.items():
        folder = tmp_path / name
        folder.mkdir()
        for k in range(2):
            Image.fromarray(pixels).save(folder / f"{k}.png")
        assert load(folder).draw(0).mode in ("L", "RGB")


def test_plots_differ_and_stay_on_the_canvas():
    data = Dataset(np.random.default_rng(0).normal(size=(4, 40)))
    pictures = [np.asarray(data.draw(i)) for i in range(4)]
    assert len({p.tobytes() for p in pictures}) == 4
    assert all((p[0] == 255).all() and (p[:, -1] == 255).all() for p in pictures)


def test_cards_show_every_column_up_to_many_and_survive_odd_names():
    names = ("<script>", "tab\there", "zero\0", "x" * 500, "名前")
    data = Dataset(np.ones((2, 5)), columns=names)
    assert data.draw(0).width < 700
    wide = Dataset(np.ones((2, 500)), columns=tuple(map(str, range(500))))
    assert max(wide.draw(0).size) < 1200


def test_describe_never_tells_the_truth():
    data = load("iris")
    assert [c for c, _ in data.describe(0)] == list(data.columns)
    assert data.describe(0)[0] == ("sepal_length", "5.1")


def test_rows_and_sizes_are_checked():
    data = load("digits")
    for i in (-1, 1797):
        with pytest.raises(InputError, match="0 to 1796"):
            data.draw(i)
    with pytest.raises(InputError, match="at least 1"):
        data.draw(0, 0)


def test_contact_sheet_and_facts(tmp_path):
    data = load("digits")
    sheet = contact_sheet(data, 10)
    assert sheet.width > sheet.height
    assert save_picture(sheet, tmp_path / "new" / "a.png").is_file()
    assert Image.open(tmp_path / "new" / "a.png").size == sheet.size
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["a.png"]
    assert dict(facts(data))["fingerprint"] == data.fingerprint
    with pytest.raises(InputError, match=r"\.png"):
        save_picture(sheet, tmp_path / "a.docx")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        save_picture(sheet, tmp_path / "file" / "a.png")
