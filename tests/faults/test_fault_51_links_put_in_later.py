"""Fault 51: a file that became a link or a pipe after the folder was read is not followed."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from superpac.data import load
from superpac.data.sound_files import Sound, as_wav
from superpac.data.things import read_things
from superpac.errors import DataError
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.web.sounds import Sounds

SECRET = b"a file outside"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for part in ("a", "b"):
        (tmp_path / "in" / part).mkdir(parents=True)
        for n in range(4):
            pixels = rng.integers(0, 255, (6, 6), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "in" / part / f"{n}.png")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "0.png").write_bytes(SECRET)
    return tmp_path / "in"


@pytest.fixture
def session(folder: Path) -> Session:
    return Session.create(load(folder), Spec(2, affinity="tsc:q=2", dim=1))


def file_link(folder: Path) -> None:
    (folder / "a" / "0.png").unlink()
    (folder / "a" / "0.png").symlink_to(folder.parent / "secret" / "0.png")


def folder_link(folder: Path) -> None:
    (folder / "a").rename(folder.parent / "moved")
    (folder / "a").symlink_to(folder.parent / "secret")


def pipe(folder: Path) -> None:
    (folder / "a" / "0.png").unlink()
    os.mkfifo(folder / "a" / "0.png")


@pytest.mark.parametrize("change", [file_link, folder_link, pipe])
def test_nothing_that_became_a_link_or_a_pipe_is_exported_or_drawn(
    change, folder, session, tmp_path
):
    session.labels()
    change(folder)
    out = tmp_path / "out"
    for form in exports.FOLDERS:
        with pytest.raises(DataError, match=r"a/0\.png: not a plain file, or a link"):
            exports.export(session, out, form)
        assert not out.exists()
    bundle = io.BytesIO()
    with pytest.raises(DataError, match=r"a/0\.png: not a plain file, or a link"):
        exports.folders_zip(session, bundle)
    assert SECRET not in bundle.getvalue()
    with pytest.raises(DataError, match=r"a/0\.png: not a plain file, or a link"):
        session.data.draw(0)
    assert not list(tmp_path.glob(".superpac-*"))


@pytest.mark.parametrize("change", ["link", "folder", "pipe"])
def test_no_sound_that_became_a_link_or_a_pipe_is_played_or_exported(change, tmp_path):
    place, secret = tmp_path / "in" / "a", tmp_path / "secret"
    place.mkdir(parents=True)
    secret.mkdir()
    for n in range(4):
        tone = np.sin(np.arange(400) * (n + 1) / 9).astype(np.float32)
        (place / f"{n}.wav").write_bytes(as_wav(Sound(tone, 8000)))
    hidden = as_wav(Sound(np.full(400, 0.123, np.float32), 8000))
    (secret / "0.wav").write_bytes(hidden)
    data = read_things(tmp_path / "in").dataset(np.eye(4))
    session = Session.create(data, Spec(2, affinity="tsc:q=2", dim=1))
    session.labels()
    if change == "folder":
        place.rename(tmp_path / "moved")
        place.symlink_to(secret)
    else:
        (place / "0.wav").unlink()
        if change == "link":
            (place / "0.wav").symlink_to(secret / "0.wav")
        else:
            os.mkfifo(place / "0.wav")
    bundle = io.BytesIO()
    for use in (
        lambda: Sounds(data).wav(0),
        lambda: data.draw(0),
        lambda: exports.folders_zip(session, bundle),
    ):
        with pytest.raises(DataError, match=r"a/0\.wav: not a plain file, or a link"):
            use()
    assert hidden not in bundle.getvalue()
