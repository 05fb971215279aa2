from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.data.cuts import Cut
from superpac.web import thumbnails
from superpac.web.thumbnails import FULL, SMALL, Pictures, picture_kind


@pytest.fixture
def photos(tmp_path) -> Dataset:
    rng = np.random.default_rng(0)
    paths = []
    for n, ending in enumerate(("jpg", "png", "jpg")):
        image = Image.fromarray(rng.integers(0, 256, (1100, 1400, 3)).astype(np.uint8))
        paths.append(tmp_path / f"{n}.{ending}")
        exif = Image.Exif()
        exif[0x010E] = "taken at home"
        image.save(paths[-1], exif=exif)
    return Dataset(np.eye(3), paths=tuple(paths))


def test_photos_are_written_anew_in_the_form_that_suits_them(photos):
    pictures = Pictures(photos)
    kinds = [picture_kind(pictures.draw(n, 960)) for n in range(2)]
    assert kinds == ["image/jpeg", "image/png"]
    for n in range(2):
        for size, wide in ((960, 960), (FULL, 1400)):
            content = pictures.draw(n, size)
            assert b"taken at home" not in content
            with Image.open(io.BytesIO(content)) as image:
                assert image.width == wide


def drawn(monkeypatch) -> list[int]:
    """Numbers of the items that are drawn from now on."""
    found: list[int] = []
    draw = Dataset.draw
    monkeypatch.setattr(
        Dataset, "draw", lambda self, i, size: found.append(i) or draw(self, i, size)
    )
    return found


def test_small_pictures_are_made_once_for_all_runs(photos, tmp_path, monkeypatch):
    seen = drawn(monkeypatch)
    cache = DiskCache(tmp_path / "cache")
    first = Pictures(photos, cache)
    before = [first.draw(n, SMALL) for n in range(3)]
    first.save()
    assert seen == [0, 1, 2]
    again = Pictures(photos, cache)
    assert [again.draw(n, SMALL) for n in range(3)] == before
    assert seen == [0, 1, 2]
    again.draw(0, 320)
    assert seen == [0, 1, 2, 0]


def test_a_photo_that_changed_is_drawn_again(photos, tmp_path):
    cache = DiskCache(tmp_path / "cache")
    first = Pictures(photos, cache)
    before = first.draw(0, SMALL)
    first.save()
    Image.new("RGB", (50, 50), "red").save(photos.paths[0])
    assert Pictures(photos, cache).draw(0, SMALL) != before
    photos.paths[0].unlink()
    (photos.paths[0]).symlink_to(photos.paths[1])
    with pytest.raises(Exception, match="link"):
        Pictures(photos, cache).draw(0, SMALL)


def test_without_a_cache_and_with_a_broken_one_pictures_are_drawn(photos, tmp_path):
    wanted = Pictures(photos).draw(0, SMALL)
    cache = DiskCache(tmp_path / "cache")
    first = Pictures(photos, cache)
    first.draw(0, SMALL)
    first.save()
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:200])
    assert Pictures(photos, cache).draw(0, SMALL) == wanted
    assert Pictures(photos, DiskCache("off")).draw(0, SMALL) == wanted


def test_only_the_last_ones_stay_in_memory(monkeypatch):
    pictures = Pictures(Dataset(np.eye(4), image_shape=(2, 2)))
    size = len(pictures.draw(0, SMALL))
    monkeypatch.setattr(thumbnails, "KEPT_BYTES", int(2.5 * size))
    for n in range(4):
        pictures.draw(n, SMALL)
    assert [pictures.held(n, SMALL) is not None for n in range(4)] == [False, False, True, True]


def test_the_photo_behind_a_part_is_kept_apart_from_the_part(photos, tmp_path):
    cuts = tuple(Cut(path, (1400, 1100), (100, 100, 200, 200)) for path in photos.paths)
    pictures = Pictures(Dataset(np.eye(3), cuts=cuts), DiskCache(tmp_path / "cache"))
    sizes = {}
    for behind in (False, True):
        for size in (SMALL, 320):
            with Image.open(io.BytesIO(pictures.draw(0, size, behind))) as drawn:
                sizes[behind, size] = drawn.size
                assert not drawn.getexif()
            assert pictures.held(0, size, behind) is not None
    assert sizes[False, SMALL] == (96, 96)
    assert sizes[True, SMALL][1] < 96 == sizes[True, SMALL][0]
    assert sizes[True, 320][1] < 320 == sizes[True, 320][0]
    pictures.save()
    again = Pictures(Dataset(np.eye(3), cuts=cuts), DiskCache(tmp_path / "cache"))
    assert again.draw(0, SMALL) == pictures.draw(0, SMALL)
