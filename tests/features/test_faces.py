"""Photos to faces: what is found, how it is called, what is set aside, what is kept."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image, ImageFilter

from drawn_faces import TALL, background, draw_face, install_faces
from superpac.cache import DiskCache
from superpac.data.things import Things, read_things
from superpac.errors import DataError, InputError
from superpac.features import encode, find_faces
from superpac.features.faces import BLURRED, NONE, TOO_SMALL, FaceFinder, Photo, decode, detail


@pytest.fixture(autouse=True)
def networks(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    install_faces(monkeypatch, tmp_path / "packages")
    return tmp_path / "packages"


@pytest.fixture
def album(tmp_path):
    """Three faces, one face, a small and a blurred one beside a good one, and no face."""
    folder = tmp_path / "album"
    (folder / "trip").mkdir(parents=True)
    three = background((640, 480))
    for k, x in enumerate((500, 120, 300)):
        draw_face(three, (x, 200 + 20 * k), 80, who=k)
    three.save(folder / "three.png")
    one = background((400, 300), seed=1)
    draw_face(one, (200, 150), 100, who=1)
    one.save(folder / "trip" / "one.png")
    mixed = background((640, 480), seed=2)
    draw_face(mixed, (100, 200), 18, who=0)
    draw_face(mixed, (300, 200), 90, who=2)
    draw_face(mixed, (500, 200), 90, who=1)
    box = (440, 130, 560, 270)
    dot = mixed.crop((500, 200, 504, 204))
    mixed.paste(mixed.crop(box).filter(ImageFilter.GaussianBlur(9)), box)
    mixed.paste(dot, (500, 200))
    mixed.save(folder / "mixed.png")
    background((500, 300), seed=3).save(folder / "sea.png")
    return folder


def test_each_face_is_a_thing_named_by_its_photo_and_number(album):
    faces = find_faces(read_things(album))
    assert faces.names == (
        "mixed.png#2",
        "three.png#1",
        "three.png#2",
        "three.png#3",
        "trip/one.png",
    )
    lefts = [cut.box[0] for cut in faces.cuts[1:4]]
    assert lefts == sorted(lefts)
    left, top, width, height = faces.cuts[4].box
    assert abs(left - 152) <= 2
    assert abs(width - 100) <= 2
    assert abs(height - TALL * 100) <= 2
    assert abs(top - (150 - TALL * 50)) <= 2
    assert faces.cuts[4].size == (400, 300)
    assert set(faces.set_aside) == {
        ("mixed.png#1", TOO_SMALL),
        ("mixed.png#3", BLURRED),
        ("sea.png", NONE),
    }
    assert find_faces(faces) is faces


def test_a_face_has_the_class_of_its_photo(album):
    things = read_things(album, labels=["m", "s", "t", "o"])
    faces = find_faces(things)
    named = [faces.class_names[k] for k in faces.y]
    assert named == [{"mixed": "m", "three": "t", "one": "o"}[cut.path.stem] for cut in faces.cuts]


def test_turned_photos_are_looked_at_upright(tmp_path):
    photo = background((480, 320))
    draw_face(photo, (120, 160), 80, who=0)
    photo.save(tmp_path / "plain.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.rotate(90, expand=True).save(tmp_path / "turned.png", exif=exif)
    plain, turned = (
        FaceFinder().find((tmp_path / name).resolve()) for name in ("plain.png", "turned.png")
    )
    assert plain == turned
    data = encode(read_things(tmp_path), "face")
    np.testing.assert_allclose(data.X[0], data.X[1], atol=1e-6)
    assert data.draw(0).tobytes() == data.draw(1).tobytes()


def test_a_large_photo_is_looked_at_smaller_and_cut_out_of_the_whole(tmp_path):
    small = background((1024, 768))
    draw_face(small, (300, 200), 100, who=1)
    large = small.resize((4096, 3072), Image.Resampling.NEAREST)
    large.save(tmp_path / "large.png")
    large.save(tmp_path / "large.jpg", quality=95, subsampling=0)
    for name in ("large.png", "large.jpg"):
        (face,) = FaceFinder().find((tmp_path / name).resolve())
        assert face.size == (4096, 3072)
        assert abs(face.box[0] + face.box[2] / 2 - 4 * 302) < 40
        straight = Photo((tmp_path / name).resolve()).straight(face.points)
        assert straight.shape == (150, 150, 3)


def test_a_small_picture_is_one_face(tmp_path):
    filled, none, wide = (background((120, 120)), background((100, 120)), background((200, 60)))
    draw_face(filled, (60, 60), 90, who=0)
    draw_face(filled, (12, 12), 24, who=1)
    filled.save(tmp_path / "filled.png")
    none.save(tmp_path / "none.png")
    wide.save(tmp_path / "wide.png")
    faces = find_faces(read_things(tmp_path))
    assert faces.names == ("filled.png", "none.png")
    assert [len(cut.points) for cut in faces.cuts] == [5, 0]
    assert faces.cuts[1].box == (0, 0, 100, 120)
    assert faces.cuts[1].whole
    assert faces.set_aside == (("wide.png", NONE),)
    assert encode(faces, "face").X.shape == (2, 128)


def test_what_was_found_is_kept_by_content(album, tmp_path, networks):
    cache = DiskCache(tmp_path / "cache")
    first = encode(read_things(album), "face", cache=cache)
    shutil.rmtree(networks)
    shutil.rmtree(tmp_path / "models")
    (album / "three.png").rename(album / "other.png")
    again = encode(read_things(album), "face", cache=cache)  # no network is left to ask
    assert sorted(again.contents) == sorted(first.contents)
    assert "other.png#2" in again.ids
    assert {len(data.cuts) for data in (first, again)} == {5}


def test_a_broken_photo_is_set_aside_and_copies_are_looked_at_once(album, tmp_path):
    content = (album / "three.png").read_bytes()
    (album / "copy.png").write_bytes(content)
    things = read_things(album)
    (album / "sea.png").write_bytes(content[:200])
    counts = []
    faces = find_faces(things, progress=lambda done, total: counts.append((done, total)))
    assert counts[0] == (1, 5)
    assert counts[-1] == (5, 5)
    assert any(name == "sea.png" and why != NONE for name, why in faces.set_aside)
    same = [cut for cut in faces.cuts if cut.path.stem in ("copy", "three")]
    assert len(same) == 6
    assert len({cut.box for cut in same}) == 3


def test_what_is_interrupted_is_not_lost(album, tmp_path):
    cache = DiskCache(tmp_path / "cache")

    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_faces(read_things(album), cache=cache, progress=stop, n_jobs=1)
    counts = []
    find_faces(read_things(album), cache=cache, progress=lambda d, t: counts.append(d), n_jobs=1)
    assert counts[0] >= 2


def test_faces_are_set_straight(tmp_path):
    photo = background((480, 480))
    draw_face(photo, (240, 240), 120, who=0)
    path = (tmp_path / "upright.png").resolve()
    photo.save(path)
    (face,) = FaceFinder().find(path)
    upright = Photo(path).straight(face.points)
    middle = np.array([240.0, 240.0])
    for turn in (-30, 15, 60):
        turned = (tmp_path / "turned.png").resolve()
        photo.rotate(turn, Image.Resampling.BICUBIC).save(turned)
        angle = np.deg2rad(-turn)
        spin = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        points = (np.array(face.points) - middle) @ spin.T + middle
        found = Photo(turned).straight([(x, y) for x, y in points])
        inner = np.s_[30:120, 30:120]
        apart = np.abs(found[inner].astype(float) - upright[inner]).mean()
        assert apart < 12
        assert apart < np.abs(found[inner].astype(float) - upright[inner][::-1]).mean() / 2


def test_detail_falls_with_blur():
    rng = np.random.default_rng(0)
    coarse = Image.fromarray(rng.integers(0, 255, (6, 6, 3), dtype=np.uint8))
    smooth = coarse.resize((150, 150), Image.Resampling.BICUBIC)
    noise = rng.integers(-60, 60, (150, 150, 3))
    sharp = np.clip(np.asarray(smooth).astype(int) + noise, 0, 255).astype(np.uint8)
    shares = [
        detail(np.asarray(Image.fromarray(sharp).filter(ImageFilter.GaussianBlur(k))))
        for k in (0, 1, 2, 4)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 3 * shares[-1]


def test_two_boxes_of_one_face_are_one():
    heat = np.zeros((1, 8, 8), dtype=np.float32)
    heat[0, 3, 3], heat[0, 3, 4], heat[0, 3, 7], heat[0, 6, 1] = 0.9, 0.8, 0.7, 0.4
    sizes = np.full((2, 8, 8), np.log(3.0), dtype=np.float32)
    nothing = np.zeros((2, 8, 8), dtype=np.float32)
    points = np.full((10, 8, 8), 0.5, dtype=np.float32)
    boxes, marks = decode(heat, sizes, nothing, points)
    np.testing.assert_allclose(boxes, [[8, 8, 20, 20], [24, 8, 36, 20]], atol=1e-5)
    np.testing.assert_allclose(marks[0], [[14, 14]] * 5, atol=1e-5)
    none, empty = decode(heat * 0, sizes, nothing, points)
    assert none.shape == (0, 4)
    assert empty.shape == (0, 5, 2)


def test_other_things_and_photos_without_faces_are_one_sentence(tmp_path):
    with pytest.raises(InputError, match="faces are found in images; got text"):
        find_faces(Things("text", texts=("a", "b")))
    with pytest.raises(InputError, match="The encoder face takes images; got texts"):
        encode(Things("text", texts=("a", "b")), "face")
    for name in ("a.png", "b.png"):
        background((600, 300)).save(tmp_path / name)
    with pytest.raises(DataError, match=r"0 faces can be used \(a\.png: no face"):
        find_faces(read_things(tmp_path))


def test_small_pictures_of_other_things_are_no_faces(tmp_path):
    folder = tmp_path / "things"
    folder.mkdir()
    for k in range(3):
        background((120, 120), seed=k).save(folder / f"{k}.png")
    with pytest.raises(DataError, match="no face was found in 3 pictures; leave --features face"):
        find_faces(read_things(folder))
    one = background((120, 120), seed=9)
    draw_face(one, (60, 60), 60, who=1)
    one.save(folder / "face.png")
    assert len(find_faces(read_things(folder))) == 4
