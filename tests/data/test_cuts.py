"""Parts of photos as items: what is shown of them, and the photo behind."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from superpac.data import Dataset
from superpac.data.cuts import Cut
from superpac.data.joining import join
from superpac.data.seen_item import seen_item
from superpac.errors import InputError

RED, BLUE = (220, 30, 30), (30, 30, 220)


@pytest.fixture(params=["png", "jpg"])
def data(tmp_path, request):
    """A grey photo with a red and a blue square, as two items."""
    photo = Image.new("RGB", (1600, 1200), "grey")
    boxes = ((200, 300, 100, 100), (1000, 600, 200, 200))
    for (left, top, width, height), colour in zip(boxes, (RED, BLUE), strict=True):
        photo.paste(colour, (left, top, left + width, top + height))
    path = (tmp_path / f"photo.{request.param}").resolve()
    photo.save(path)
    cuts = tuple(Cut(path, photo.size, box) for box in boxes)
    return Dataset(np.eye(2), ids=["photo#1", "photo#2"], cuts=cuts)


def near(pixel, colour):
    return np.abs(np.array(pixel[:3]).astype(int) - np.array(colour)).max() < 40


@pytest.mark.parametrize("size", [96, 320, 4096])
def test_an_item_is_drawn_cut_out_and_its_photo_whole(data, size):
    assert data.kind == "image"
    assert data.paths == (data.cuts[0].path,) * 2
    for item, colour in enumerate((RED, BLUE)):
        drawn = data.draw(item, size)
        assert max(drawn.size) <= size
        wide, high = drawn.size
        assert near(drawn.getpixel((wide // 2, high // 2)), colour)
        assert near(drawn.getpixel((wide // 20, high // 20)), (128, 128, 128))
        whole = data.draw_behind(item, size)
        assert abs(whole.width / whole.height - 4 / 3) < 0.05
        left, top, width, height = data.cuts[item].box
        factor = whole.width / 1600
        middle = (round((left + width / 2) * factor), round((top + height / 2) * factor))
        assert near(whole.getpixel(middle), colour)
        frame = np.asarray(whole).astype(int)
        yellow = (frame[..., 0] > 180) & (frame[..., 1] > 150) & (frame[..., 2] < 90)
        rows, columns = np.nonzero(yellow)
        assert abs(columns.mean() - middle[0]) < 3
        assert abs(rows.mean() - middle[1]) < 3


def test_a_part_at_the_edge_stays_within_the_photo(tmp_path):
    path = (tmp_path / "photo.png").resolve()
    Image.new("RGB", (300, 200), RED).save(path)
    corner = Cut(path, (300, 200), (250, 150, 50, 50))
    assert corner.shown == (235, 135, 300, 200)
    assert not corner.whole
    assert Cut(path, (300, 200), (20, 5, 260, 190)).whole
    picture = Dataset(np.eye(2), cuts=(corner, corner)).draw(0)
    assert near(picture.getpixel((picture.width - 1, picture.height - 1)), RED)


def test_turned_photos_are_cut_upright(tmp_path):
    photo = Image.new("RGB", (400, 300), "grey")
    photo.paste(BLUE, (40, 60, 100, 120))
    exif = Image.Exif()
    exif[0x0112] = 6
    path = (tmp_path / "turned.jpg").resolve()
    photo.rotate(90, expand=True).save(path, exif=exif)
    turned = Dataset(np.eye(2), cuts=(Cut(path, (400, 300), (40, 60, 60, 60)),) * 2)
    drawn = turned.draw(0, 96)
    assert near(drawn.getpixel((drawn.width // 2, drawn.height // 2)), BLUE)


def test_parts_go_along_with_their_items(data):
    assert data.subset([1]).cuts == data.cuts[1:]
    both = join(Dataset(data.X, cuts=data.cuts), Dataset(data.X, cuts=data.cuts))
    assert both.cuts == data.cuts * 2
    seen = seen_item(data, 1)
    assert near(seen[seen.shape[0] // 2, seen.shape[1] // 2], BLUE)


def test_other_items_have_no_photo_behind_them():
    with pytest.raises(InputError, match="no parts of photos"):
        Dataset(np.eye(4), image_shape=(2, 2)).draw_behind(0)
