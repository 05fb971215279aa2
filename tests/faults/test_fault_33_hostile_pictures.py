"""Fault 33: pictures that are bombs, broken or something else are refused or drawn anew."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import psutil
import pytest
from PIL import Image

from labelling import LabelServer
from superpac.web.thumbnails import SIZES


def png_bomb(side: int = 50_000) -> bytes:
    """A valid head of a huge picture with a little data."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1_000_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def good(value: int, form: str = "PNG", **more) -> bytes:
    rng = np.random.default_rng(value)
    image = Image.fromarray(rng.integers(0, 255, (24, 24), dtype=np.uint8))
    buffer = io.BytesIO()
    image.save(buffer, form, **more)
    return buffer.getvalue()


SECRET = b"<script>window.pwned = 1</script>"


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for n in range(22):
        (folder / f"{n:02d}.png").write_bytes(good(n))
    for n in (22, 23):
        (folder / f"{n}.jpg").write_bytes(good(n, "JPEG", comment=SECRET) + SECRET)
    found = LabelServer(tmp_path, folder, k=2).wait_ready()
    # after the data were read, the files are changed under the server's hands
    changed = {
        0: png_bomb(),
        1: good(1)[:60],
        2: b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
        3: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n",
        4: good(4, "GIF") + SECRET,
        5: b"",
        6: b"GIF89a" + SECRET * 9,
        7: good(7, "JPEG", comment=SECRET),
        8: good(8, "TIFF"),
    }
    for n, content in changed.items():
        (folder / f"{n:02d}.png").write_bytes(content)
    (folder / "09.png").unlink()
    (folder / "09.png").symlink_to("/etc/passwd")
    yield found
    found.stop()


def test_only_our_own_pictures_are_sent(server: LabelServer):
    process = psutil.Process(server.pid)
    sent = 0
    with server.client() as client:
        for item in range(24):
            form = "PNG" if item < 22 else "JPEG"  # as the files were called
            for size in SIZES:
                reply = client.get(f"/picture/{item}?size={size}")
                assert reply.status_code in (200, 404, 422), (item, reply.text)
                assert SECRET not in reply.content
                assert b"root:" not in reply.content
                if reply.status_code == 200:
                    sent += 1
                    assert reply.headers["content-type"] == f"image/{form.lower()}"
                    with Image.open(io.BytesIO(reply.content)) as image:
                        assert image.format == form
                        assert max(image.size) <= size
                        assert not image.info.get("comment")
                else:
                    assert reply.json()["detail"]
    assert sent >= len(SIZES) * 14
    assert process.memory_info().rss <= 500e6
