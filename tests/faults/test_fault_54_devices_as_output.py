"""Fault 54: naming a device, a link or a pipe as the output replaces nothing."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from command_line import superpac
from postgres import unavailable
from superpac.data import Dataset
from superpac.data.overview import save_picture
from superpac.errors import InputError
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.spec import Spec

POINTS = [[1, 0], [1, 0.1], [0.9, 0], [0, 1], [0.1, 1], [0, 0.9]]


@pytest.fixture
def session() -> Session:
    return Session.create(Dataset(POINTS), Spec(2, affinity="tsc:q=2", dim=1))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    table = tmp_path / "points.csv"
    table.write_text("a,b\n" + "".join(f"{x},{y}\n" for x, y in POINTS))
    superpac("new", table, "-k", 2, "-a", "tsc:q=2", "-d", 1, "--name", "points")
    return table


# A /dev of the command's own: code that replaces what it should not must not harm this computer.
OWN_DEVICES = """
mount -t tmpfs tmpfs /dev && mkdir /dev/shm && mknod -m 666 /dev/null c 1 3 &&
mknod -m 666 /dev/full c 1 7 && mknod -m 666 /dev/urandom c 1 9 && ln -s /proc/self/fd /dev/fd &&
ln -s /proc/self/fd/1 /dev/stdout && ln -s /proc/self/fd/2 /dev/stderr || exit 99
"$@"
code=$?
test -c /dev/null && test -c /dev/full && test -h /dev/stdout || exit 98
exit $code
"""


def apart(folder: Path, *words: object, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command where its devices are its own."""
    program = [sys.executable, "-m", "superpac", *map(str, words)]
    if os.getuid() == 0:  # nobody else can replace a device
        program = ["unshare", "--mount", "sh", "-c", OWN_DEVICES, "sh", *program]
    more = {"stdout": subprocess.PIPE, **more}
    done = subprocess.run(
        program, stderr=subprocess.PIPE, check=False, timeout=300, cwd=folder, **more
    )
    if done.returncode == 99 or done.stderr.startswith(b"unshare:"):
        unavailable("a /dev of its own cannot be made")
    assert done.returncode != 98, "a device was replaced"
    return done


@pytest.fixture(params=["device", "pipe", "socket", "link", "link to nothing", "folder"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    place = tmp_path / "out.png"
    if request.param == "device":
        try:
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 7))  # as /dev/full
        except PermissionError:
            unavailable("making a device needs root")
    elif request.param == "pipe":
        os.mkfifo(place)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(place))
    elif request.param == "folder":
        place.mkdir()
    else:
        if request.param == "link":
            (tmp_path / "elsewhere").write_text("mine")
        place.symlink_to("elsewhere")
    return place


def test_nothing_but_a_plain_file_is_replaced(no_file, session, kept, tmp_path):
    before = os.lstat(no_file)
    with pytest.raises(InputError, match="cannot be written: it is a"):
        exports.export(session, no_file, "csv")
    with pytest.raises(InputError, match="cannot be written: it is a"):
        save_picture(Image.new("L", (2, 2)), no_file)
    for words in (
        ("export", "points", "-o", no_file, "--format", "csv"),
        ("export", "points", "-o", no_file, "--format", "archive"),
        ("cluster", kept, "-k", 2, "-o", no_file),
        ("cluster", kept, "-k", 2, "--plot", no_file),
        ("data", "show", kept, "--out", no_file),
    ):
        done = superpac(*words, check=False)
        assert done.returncode == 2, words
        assert len(done.stderr.strip().splitlines()) == 1
    if not no_file.is_dir():
        done = superpac("export", "points", "-o", no_file, "--format", "folders", check=False)
        assert done.returncode == 2
    after = os.lstat(no_file)
    assert (after.st_ino, after.st_mode, after.st_rdev) == (
        before.st_ino,
        before.st_mode,
        before.st_rdev,
    )
    if no_file.is_symlink() and no_file.exists():
        assert (tmp_path / "elsewhere").read_text() == "mine"
    assert not list(tmp_path.glob(".superpac-*"))


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_written_to(name, kept, tmp_path):
    superpac("export", "points", "-o", tmp_path / "out.csv")
    whole = (tmp_path / "out.csv").read_bytes()
    done = apart(tmp_path, "export", "points", "-o", name, "--format", "csv")
    assert (done.returncode, done.stdout) == (0, whole)
    assert b"Written" in done.stderr
    done = apart(tmp_path, "cluster", kept, "-k", 2, "-a", "tsc:q=2", "-o", name)
    assert done.stdout.startswith(b"item,cluster\r\n0,")
    assert done.stdout.count(b"\n") == 1 + len(POINTS)
    done = apart(tmp_path, "export", "points", "-o", name, "--format", "archive")
    assert done.stdout.startswith(b"PK")
    assert not (tmp_path / "-").exists()


def test_a_full_standard_output_is_one_sentence(kept, tmp_path):
    with open("/dev/full", "wb") as full:
        done = apart(tmp_path, "export", "points", "-o", "-", "--format", "csv", stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("- cannot be written: No space left")
    assert len(done.stderr.strip().splitlines()) == 1


def test_nowhere_is_written_to_and_a_full_device_is_refused(kept, tmp_path):
    for form in ("csv", "archive"):
        done = apart(tmp_path, "export", "points", "-o", os.devnull, "--format", form)
        assert done.returncode == 0
        done = apart(tmp_path, "export", "points", "-o", "/dev/full", "--format", form)
        assert done.returncode == 2
        assert b"it is a device" in done.stderr
