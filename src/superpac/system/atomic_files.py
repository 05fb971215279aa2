"""Writing files and folders so that they are there whole or not at all: the one place that does.

What a name stands for is looked at first. A new name or a plain file is written beside its place,
synced and renamed. Standard output (``-``), what the shell hands on (``/dev/stdout``,
``/dev/fd/N``) and ``/dev/null`` are written to as they are. Anything else - a folder, a link, a
device, a pipe or a socket with a name - is refused: renaming would put a file in its place.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from superpac.errors import InputError

DRAFT = ".draft"
STANDARD_OUTPUT = 1
_NAMED = {"-": STANDARD_OUTPUT, "/dev/stdout": STANDARD_OUTPUT, "/dev/stderr": 2}
_IN_MEMORY = 32 << 20
_KINDS = (
    (stat.S_ISLNK, "a link; name the file that it leads to"),
    (stat.S_ISDIR, "a folder; name a file in it"),
    (stat.S_ISFIFO, "a pipe; name a file, or - for standard output"),
    (stat.S_ISSOCK, "a socket; name a file, or - for standard output"),
)


def sync_folder(folder: Path) -> None:
    """Make renames and links in the folder durable, where the system can."""
    # Windows cannot open a folder, and some network file systems cannot sync one.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def stream_of(path: str | Path) -> int | str | None:
    """Open file that a name stands for: its number, ``/dev/null``, or None for a file on disk.

    Examples
    --------
    >>> stream_of("-"), stream_of("/dev/fd/7"), stream_of("out.csv")
    (1, 7, None)
    """
    text = str(path)
    if text == os.devnull:
        return os.devnull
    handed = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", text)
    return int(handed[1]) if handed else _NAMED.get(text)


def check_file(path: str | Path) -> None:
    """Refuse a name that stands for anything but a plain file, or nothing yet.

    Examples
    --------
    >>> check_file("/")
    Traceback (most recent call last):
    superpac.errors.InputError: / cannot be written: it is a folder; name a file in it.
    """
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):  # not there; or writing will say what is wrong with the name
        return
    if not stat.S_ISREG(mode):
        default = "a device; name a file, or - for standard output"
        words = next((words for test, words in _KINDS if test(mode)), default)
        raise InputError(f"{path} cannot be written: it is {words}.")


@contextlib.contextmanager
def atomic_write(
    path: Path, *, private: bool = True, sync: bool = True, streams: bool = False
) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` only if all goes well.

    Parameters
    ----------
    path : Path
        Its place; the folder must be there.
    private : bool, default=True
        Whether only its owner may read it (mode 0600), or whoever the umask lets.
    sync : bool, default=True
        Whether it must outlive a power failure.
    streams : bool, default=False
        Whether the names of `stream_of` mean open files; what is written reaches them at the end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "out.txt"
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"whole")
    ...     target.read_bytes(), oct(target.stat().st_mode & 0o777)
    (b'whole', '0o600')
    """
    stream = stream_of(path) if streams else None
    if stream is not None:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as whole:
            yield whole  # type: ignore[misc]
            whole.seek(0)
            _pour(whole, stream)
        return
    check_file(path)
    # a short name of its own: that of the target may be as long as names can be
    draft = path.with_name(f".superpac-{secrets.token_hex(8)}{DRAFT}")
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    handle = os.open(draft, flags, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def _pour(whole: IO[bytes], stream: int | str) -> None:
    """Copy what was written to an open file."""
    if stream == STANDARD_OUTPUT and hasattr(sys.stdout, "buffer"):
        shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.flush()
        return
    handle = os.open(stream, os.O_WRONLY) if isinstance(stream, str) else os.dup(stream)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(whole, file)


@contextlib.contextmanager
def output(path: str | Path, *, private: bool = True) -> Iterator[BinaryIO]:
    """Open a file that a person named, or standard output; its folder is made.

    Whatever the disk says is one sentence.

    Examples
    --------
    >>> with output("/") as file:
    ...     _ = file.write(b"x")
    Traceback (most recent call last):
    superpac.errors.InputError: / cannot be written: it is a folder; name a file in it.
    """
    with _told(path):
        if stream_of(path) is None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(Path(path), private=private, streams=True) as file:
            yield file


def write_whole(path: str | Path, content: bytes, *, private: bool = True) -> Path:
    """Write a file that a person named, or to standard output, as `output` does."""
    with output(path, private=private) as file:
        file.write(content)
    return Path(path)


@contextlib.contextmanager
def output_folder(path: str | Path) -> Iterator[Path]:
    """Make a folder that a person named; it has nothing in it until all goes well.

    Parameters
    ----------
    path : path
        A folder that is not there yet, or is empty.

    Yields
    ------
    Path
        Where to write meanwhile: a hidden folder on the same disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with output_folder(Path(place) / "out") as draft:
    ...         _ = (draft / "a.txt").write_text("a")
    ...     [str(p.relative_to(place)) for p in Path(place).rglob("*")]
    ['out', 'out/a.txt']
    """
    root = Path(os.path.abspath(path))
    with _told(path):
        there = root.is_dir() and not root.is_symlink()
        if not there:
            _check_free(path, root)
        elif any(root.iterdir()):
            raise InputError(f"{path} is not empty; name a new folder.")
        root.parent.mkdir(parents=True, exist_ok=True)
        # An empty folder stays itself: it may be a disk of its own, or where the person is now.
        draft = (root if there else root.parent) / f".superpac-{secrets.token_hex(8)}{DRAFT}"
        draft.mkdir()
        try:
            yield draft
            if there:
                for part in sorted(draft.iterdir()):
                    part.rename(root / part.name)
                draft.rmdir()
            else:
                draft.rename(root)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        sync_folder(root if there else root.parent)


def _check_free(path: str | Path, root: Path) -> None:
    """Refuse a name for a folder that stands for something else."""
    if stream_of(path) is not None or os.path.lexists(root):
        raise InputError(f"{path} cannot be written: it is no folder; name a new one.")


@contextlib.contextmanager
def _told(path: str | Path) -> Iterator[None]:
    """Turn what the disk says into a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}; choose another place."
        ) from error
