from __future__ import annotations

import os
import resource
import struct
import sys
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from superpac.data import load
from superpac.errors import DataError, InputError, NotFoundError

RNG = np.random.default_rng(0)


def grey(shape=(6, 5)) -> np.ndarray:
    return RNG.integers(0, 256, shape).astype(np.uint8)


def save(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


def peak_memory() -> int:
    """Most bytes that this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def png(width: int, height: int, body: bytes = b"") -> bytes:
    """A PNG whose header claims this size, whatever its body holds."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(body))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("suffix", ["png", "pgm", "bmp", "tif", "gif", "webp", "tga", "ppm"])
def test_lossless_formats_give_the_pixels(tmp_path, suffix):
    a, b = grey(), grey()
    options = {"lossless": True, "exact": True} if suffix == "webp" else {}
    save(tmp_path / f"a.{suffix}", a, **options)
    save(tmp_path / f"b.{suffix}", b, **options)
    data = load(tmp_path)
    assert data.image_shape == (6, 5)
    assert data.kind == "image"
    assert data.X.dtype == np.uint8
    assert data.ids.tolist() == [f"a.{suffix}", f"b.{suffix}"]
    assert np.array_equal(data.X, [a.ravel(), b.ravel()])


def test_order_is_by_name_and_folders_are_no_truth_unless_asked(tmp_path):
    names = ["z/1.png", "a/10.png", "a/2.png", "b.png"]
    for name in names:
        save(tmp_path / name, grey())
    data = load(tmp_path)
    assert data.ids.tolist() == ["a/10.png", "a/2.png", "b.png", "z/1.png"]
    assert data.y is None
    assert data.class_names is None
    with pytest.raises(DataError, match=r"b\.png: lies in no sub-folder"):
        load(tmp_path, labels="folders")
    (tmp_path / "b.png").unlink()
    labelled = load(tmp_path, labels="folders")
    assert labelled.y.tolist() == [0, 0, 1]
    assert labelled.class_names == ("a", "z")
    assert load(tmp_path, labels=[7, 8, 7]).y.tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="'folders'"):
        load(tmp_path, labels="column")


def test_other_files_and_hidden_ones_are_passed_over(tmp_path):
    save(tmp_path / "a.png", grey())
    save(tmp_path / "b.png", grey())
    save(tmp_path / ".hidden" / "c.png", grey())
    save(tmp_path / "__MACOSX" / "d.png", grey())
    (tmp_path / "._a.png").write_bytes(b"resource fork")
    (tmp_path / "README.txt").write_text("hello")
    assert load(tmp_path).ids.tolist() == ["a.png", "b.png"]


def test_differing_sizes_name_the_file_and_the_remedy(tmp_path):
    save(tmp_path / "a.png", grey((6, 5)))
    save(tmp_path / "b.png", grey((7, 5)))
    with pytest.raises(DataError, match=r"b\.png: 7x5 .* a\.png has 6x5; .*--size 6x5"):
        load(tmp_path)
    assert load(tmp_path, size=(4, 3)).image_shape == (4, 3)
    assert load(tmp_path, size=4).X.shape == (2, 16)
    for size in (0, (3,), (2.5, 1), "big"):
        with pytest.raises(InputError, match="size"):
            load(tmp_path, size=size)


def test_resize_is_antialiased(tmp_path):
    board = (np.indices((64, 64)).sum(axis=0) % 2 * 255).astype(np.uint8)
    save(tmp_path / "a.png", board)
    save(tmp_path / "b.png", 255 - board)
    assert np.abs(load(tmp_path, size=8).X.astype(int) - 127).max() <= 3


def test_colours_palettes_transparency_and_orientation(tmp_path):
    colour = RNG.integers(0, 256, (4, 6, 3)).astype(np.uint8)
    save(tmp_path / "a.png", colour)
    alpha = np.dstack([colour, np.full((4, 6), 255, np.uint8)])
    alpha[0, 0, 3] = 0
    save(tmp_path / "b.png", alpha)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = Image.fromarray(np.ascontiguousarray(np.rot90(colour)))
    turned.save(tmp_path / "c.png", exif=exif)
    data = load(tmp_path, grey=False)
    assert data.image_shape == (4, 6, 3)
    assert np.array_equal(data.X[0], colour.ravel())
    composed = colour.copy()
    composed[0, 0] = 0
    assert np.array_equal(data.X[1], composed.ravel())
    assert np.array_equal(data.X[2], colour.ravel())
    luma = np.asarray(Image.fromarray(colour).convert("L"))
    assert np.array_equal(load(tmp_path).X[0], luma.ravel())


def test_transparent_palettes_and_keys_become_black(tmp_path):
    image = Image.new("P", (4, 4), 0)
    image.putpalette([255, 0, 0, 0, 255, 0] + [0] * 750)
    image.putpixel((0, 0), 1)
    image.save(tmp_path / "a.png", transparency=0)
    image.save(tmp_path / "b.gif", transparency=0)
    Image.new("L", (4, 4), 77).save(tmp_path / "c.png", transparency=77)
    data = load(tmp_path, grey=False)
    for row in data.X[:2].reshape(2, 16, 3):
        assert row[0].tolist() == [0, 255, 0]
        assert not row[1:].any()
    assert not data.X[2].any()
    assert data.draw(0).getpixel((0, 0)) == (0, 255, 0)


def test_a_large_photograph_is_drawn_in_little_memory(tmp_path):
    for k in range(2):
        Image.new("RGBA", (7000, 7000), (200, 100, k, 255)).save(
            tmp_path / f"{k}.png", compress_level=1
        )
    data = load(tmp_path, size=8)
    used = peak_memory()
    assert data.draw(0, 200).getpixel((100, 100)) == (200, 100, 0)
    assert peak_memory() - used < 200 * 2**20


def test_sixteen_bits_are_kept_and_not_mixed(tmp_path):
    deep = RNG.integers(0, 2**16, (4, 4)).astype(np.uint16)
    save(tmp_path / "a.png", deep)
    save(tmp_path / "b.png", deep[::-1].copy())
    data = load(tmp_path)
    assert data.X.dtype == np.uint16
    assert np.array_equal(data.X[0], deep.ravel())
    assert load(tmp_path, size=2).X.dtype == np.uint16
    save(tmp_path / "c.png", grey((4, 4)))
    with pytest.raises(DataError, match=r"c\.png: has uint8 pixels but a\.png has uint16"):
        load(tmp_path)


def test_damaged_images_are_named(tmp_path):
    save(tmp_path / "a.png", grey())
    save(tmp_path / "z.png", grey((64, 64)))
    whole = (tmp_path / "z.png").read_bytes()
    for content in (whole[: len(whole) // 2], whole[:20], b"", b"just some text"):
        (tmp_path / "z.png").write_bytes(content)
        with pytest.raises(DataError, match=r"z\.png: ") as caught:
            load(tmp_path, size=4)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["jpg", "pgm", "tif", "webp", "bmp"])
def test_truncated_images_are_named(tmp_path, suffix):
    save(tmp_path / f"a.{suffix}", grey((64, 64)))
    save(tmp_path / f"b.{suffix}", grey((64, 64)))
    path = tmp_path / f"b.{suffix}"
    path.write_bytes(path.read_bytes()[:-900])
    with pytest.raises(DataError, match=rf"b\.{suffix}: "):
        load(tmp_path)


@pytest.mark.parametrize("name", ["a.svg", "a.eps", "a.pdf", "a.ps", "a.png"])
def test_vector_graphics_are_refused_by_name_and_by_content(tmp_path, name):
    save(tmp_path / "b.png", grey())
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    (tmp_path / name).write_bytes(svg)
    with pytest.raises(DataError, match=name):
        load(tmp_path)
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    (tmp_path / name).write_bytes(eps)
    with pytest.raises(DataError, match=name):
        load(tmp_path)


@pytest.mark.parametrize("side", [50_000, 12_000, 2**31 - 1])
def test_bombs_are_refused_undecoded(tmp_path, side):
    (tmp_path / "a.png").write_bytes(png(side, side))
    save(tmp_path / "b.png", grey())
    used = peak_memory()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with pytest.raises(DataError, match=r"a\.png: .*(pixels|image)"):
            load(tmp_path, size=8)
    assert peak_memory() - used < 200 * 2**20


def test_the_pixel_limit_can_be_set_and_leaves_pillow_alone(tmp_path):
    before = Image.MAX_IMAGE_PIXELS
    save(tmp_path / "a.png", grey((10, 10)))
    save(tmp_path / "b.png", grey((10, 10)))
    with pytest.raises(DataError, match="10 x 10 pixels, at most 99"):
        load(tmp_path, limit_pixels=99)
    data = load(tmp_path, limit_pixels=100)
    save(tmp_path / "a.png", grey((11, 10)))
    with pytest.raises(DataError, match="at most 100"):
        data.draw(0)
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_png_with_more_data_than_its_header_says_is_only_what_it_says(tmp_path):
    (tmp_path / "a.png").write_bytes(png(4, 4, bytes(10**6)))
    (tmp_path / "b.png").write_bytes(png(4, 4, bytes(20)))
    assert load(tmp_path).X.shape == (2, 16)


def test_links_out_of_the_folder_are_refused(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "in-secret"
    save(inside / "a.png", grey())
    save(inside / "b.png", grey())
    save(outside / "s.png", grey())
    (inside / "c.png").symlink_to(inside / "a.png")
    assert len(load(inside)) == 3
    (inside / "d.png").symlink_to(outside / "s.png")
    with pytest.raises(DataError, match=r"d\.png: a link that leads out"):
        load(inside)
    (inside / "d.png").unlink()
    (inside / "sub").symlink_to(outside, target_is_directory=True)
    assert len(load(inside)) == 3


def test_a_link_or_pipe_put_in_place_later_is_not_followed(tmp_path):
    folder = tmp_path / "in"
    save(folder / "a.png", grey())
    save(folder / "b.png", grey())
    save(tmp_path / "secret.png", grey())
    data = load(folder)
    (folder / "a.png").unlink()
    with pytest.raises(NotFoundError, match=r"a\.png"):
        data.draw(0)
    (folder / "a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(DataError, match=r"a\.png"):
        data.draw(0)
    (folder / "b.png").unlink()
    os.mkfifo(folder / "b.png")
    with pytest.raises(DataError, match="not a plain file"):
        data.draw(1)


def test_folders_without_images_and_single_images(tmp_path):
    with pytest.raises(DataError, match="no image in this folder"):
        load(tmp_path)
    (tmp_path / "a.xyz").write_text("hello")
    with pytest.raises(DataError, match=r"1 x \.xyz"):
        load(tmp_path)
    save(tmp_path / "a.png", grey())
    with pytest.raises(DataError, match="single image"):
        load(tmp_path / "a.png")
    with pytest.raises(DataError, match="at least two"):
        load(tmp_path)
