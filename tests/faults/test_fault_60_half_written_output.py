"""Fault 60: output that does not fit is not left half-written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from postgres import unavailable
from superpac.data import Dataset, load
from superpac.data.overview import save_picture
from superpac.errors import InputError
from superpac.plots import draw_curves
from superpac.research import theory
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.spec import Spec

ROOM = 100_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    if os.getuid() != 0 or shutil.which("mount") is None:
        unavailable("mounting a small disk needs root")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(place)], capture_output=True
    )
    if made.returncode:
        unavailable(f"a small disk cannot be mounted: {made.stderr.decode()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def pictures(tmp_path: Path) -> Dataset:
    (tmp_path / "in").mkdir()
    rng = np.random.default_rng(0)
    for n in range(12):
        noise = rng.integers(0, 255, (120, 120), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / "in" / f"{n:02d}.png")
    return load(tmp_path / "in")


def test_folders_that_do_not_fit_are_not_left_half_there(small_disk, pictures):
    session = Session.create(pictures, Spec(2, affinity="tsc:q=2", dim=1))
    drawn = Session.create(Dataset(pictures.X, image_shape=(120, 120)), session.spec)
    empty = small_disk / "empty"
    empty.mkdir()
    for made, form in ((session, "folders-copy"), (drawn, "folders")):
        for place in (small_disk / "out", empty):
            with pytest.raises(InputError, match="No space left"):
                exports.export(made, place, form)
            assert list(small_disk.rglob("*")) == [empty]


def test_a_file_that_does_not_fit_leaves_the_old_one(small_disk, tmp_path):
    old = small_disk / "out.png"
    old.write_bytes(b"old")
    (small_disk / "ballast").write_bytes(b"x" * (ROOM - 8192))
    before = sorted(small_disk.iterdir())
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (200, 200), dtype=np.uint8))
    curve = np.linspace(1, 0, 50)
    for write in (
        lambda: save_picture(noise, old),
        lambda: draw_curves(old, {"a": [curve]}),
        lambda: theory.draw(old, n_samples=100),
        lambda: exports.write_whole(old, os.urandom(ROOM)),
    ):
        with pytest.raises(InputError, match="No space left"):
            write()
        assert old.read_bytes() == b"old"
        assert sorted(small_disk.iterdir()) == before
