from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from superpac.data.drawings import KINDS, SIDE, draw, write_drawings
from superpac.errors import InputError


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_always_gives_the_same_drawing(kind):
    first, again, other = draw(kind, 3), draw(kind, 3), draw(kind, 4)
    assert first.size == (SIDE, SIDE)
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_thing_is_seen_on_its_paper(kind):
    for number in range(4):
        pixels = np.asarray(draw(kind, number), dtype=int)
        paper = pixels[0, 0]
        drawn = (np.abs(pixels - paper).sum(axis=2) > 60).mean()
        assert 0.02 < drawn < 0.9


def test_a_folder_holds_each_drawing_once_in_no_order(tmp_path):
    assert write_drawings(tmp_path / "plain", 2) == 2 * len(KINDS)
    assert write_drawings(tmp_path / "kinds", 2, by_kind=True) == 2 * len(KINDS)
    plain = [Image.open(p).tobytes() for p in sorted((tmp_path / "plain").rglob("*.png"))]
    kinds = [Image.open(p).tobytes() for p in sorted((tmp_path / "kinds").rglob("*.png"))]
    assert len(set(plain)) == len(plain) == len(kinds)
    assert sorted(plain) == sorted(kinds)
    assert plain != kinds
    assert sorted(p.name for p in (tmp_path / "kinds").iterdir()) == list(KINDS)


def test_what_cannot_be_drawn_is_told(tmp_path):
    with pytest.raises(InputError, match="apple, boat"):
        draw("dragon")
    with pytest.raises(InputError, match="1 or more"):
        write_drawings(tmp_path / "none", 0)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("kept")
    with pytest.raises(InputError, match="not empty"):
        write_drawings(tmp_path / "full")
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_make_start_begins_with_pictures_that_one_likes_to_look_at():
    root = Path(__file__).parents[2]
    planned = subprocess.run(
        ["make", "-n", "-B", "start"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
    ).stdout
    assert "superpac data draw drawings" in planned
    assert planned.rstrip().splitlines()[-1].endswith("superpac label drawings")
