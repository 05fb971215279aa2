"""Opening one sound file safely: what is decoded, how long it may be, no links followed.

WAV is read here, since it needs nothing but NumPy. FLAC, OGG and MP3 need the library soundfile.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from superpac.data import limits
from superpac.data.checks import reading
from superpac.data.image_files import open_plain
from superpac.errors import DataError

PLAIN = frozenset({".wav", ".wave"})
PACKED = frozenset({".flac", ".ogg", ".oga", ".mp3"})
SUFFIXES = PLAIN | PACKED

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_UNKNOWN_LENGTH = 0xFFFFFF00  # a program that wrote into a pipe did not know how much would come


@dataclass(frozen=True)
class Sound:
    """Samples from -1 to 1, all channels averaged, and how many there are in a second."""

    samples: NDArray[np.float32]
    rate: int

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return len(self.samples) / self.rate


@dataclass(frozen=True)
class _Header:
    coding: int
    channels: int
    rate: int
    width: int  # bytes of one sample of one channel
    start: int
    size: int
    there: int

    @property
    def frame(self) -> int:
        return self.channels * self.width


def read_sound(path: Path) -> Sound:
    """Decode a sound file; what is broken, cut off or too long is refused in one sentence.

    Parameters
    ----------
    path : Path
        A ``.wav`` file, or ``.flac``, ``.ogg`` or ``.mp3`` where soundfile is installed; no part
        of the path may be a link.

    Returns
    -------
    Sound

    Examples
    --------
    >>> import io, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder).resolve() / "a.wav"
    ...     _ = path.write_bytes(as_wav(Sound(np.zeros(800, np.float32), 8000)))
    ...     read_sound(path).seconds
    0.1
    """
    with reading(path, "a sound"), open_plain(path) as file:
        if path.suffix.lower() in PLAIN:
            header = _check_wav(file, path)
            file.seek(header.start)
            values = _decode(file.read(header.size), header)
            rate = header.rate
        else:
            values, rate = _unpack(file, path)
    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    return Sound(np.clip(values.mean(axis=1, dtype=np.float32), -1.0, 1.0), rate)


def check_sound(path: Path) -> None:
    """Refuse a file that `read_sound` would refuse, reading no more than a header of a WAV."""
    with reading(path, "a sound"), open_plain(path) as file:
        if path.suffix.lower() in PLAIN:
            _check_wav(file, path)
        else:
            _check_packed(file, path)


def as_wav(sound: Sound) -> bytes:
    """Write a sound as WAV of 16 bits, which every browser plays; nothing else is in it."""
    body = np.rint(sound.samples * 32767).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", _PCM, 1, sound.rate, 2 * sound.rate, 2, 16)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form
    chunks += b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def _check_wav(file: IO[bytes], path: Path) -> _Header:
    header = _wav_header(file, path)
    if header.size // header.frame == 0:
        raise DataError(f"{path}: the sound is empty; remove it.")
    _check_length(path, header.size / header.frame / header.rate)
    if header.there < header.size:
        second = header.frame * header.rate
        raise DataError(
            f"{path}: the sound is cut off, {header.there / second:.2g} of "
            f"{header.size / second:.2g} seconds are there; copy it again, or remove it."
        )
    return header


def _wav_header(file: IO[bytes], path: Path) -> _Header:
    """Walk through the chunks to the samples."""
    start = file.read(12)
    if start[:4] != b"RIFF" or start[8:] != b"WAVE":
        raise DataError(f"{path}: not a WAV file, whatever its name says; save it as WAV again.")
    form = b""
    while len(chunk := file.read(8)) == 8:
        size = int.from_bytes(chunk[4:], "little")
        if chunk[:4] == b"data" and len(form) >= 16:
            return _with_form(form, file, size, path)
        if chunk[:4] == b"fmt ":
            form = file.read(min(size, 64))
            size -= len(form)
        file.seek(size + size % 2, 1)
    raise DataError(f"{path}: the sound has no samples; copy it again, or remove it.")


def _with_form(form: bytes, file: IO[bytes], size: int, path: Path) -> _Header:
    coding, channels, rate, _, _, bits = struct.unpack("<HHIIHH", form[:16])
    if coding == _EXTENSIBLE and len(form) >= 26:
        coding = int.from_bytes(form[24:26], "little")
    sizes = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}
    if bits not in sizes.get(coding, ()) or channels == 0 or rate == 0:
        raise DataError(
            f"{path}: a WAV file of coding {coding} with {bits} bits, {channels} channels and "
            f"{rate} samples a second is not read; save it as WAV with 16 bits (PCM)."
        )
    at = file.tell()
    there = file.seek(0, 2) - at
    if size >= _UNKNOWN_LENGTH:
        size = there
    frame = channels * bits // 8
    return _Header(coding, channels, rate, bits // 8, at, size - size % frame, there)


def _decode(body: bytes, header: _Header) -> NDArray[np.float32]:
    """Samples from -1 to 1, one column a channel."""
    values: NDArray[np.float32]
    if header.coding == _FLOAT:
        values = np.frombuffer(body, dtype=f"<f{header.width}").astype(np.float32)
    elif header.width == 1:  # bytes alone have no sign
        values = np.frombuffer(body, dtype=np.uint8).astype(np.float32) / np.float32(128) - 1
    else:
        # the highest bytes of a whole number of 32 bits: 24 of them have no type of their own
        wide = np.zeros((len(body) // header.width, 4), dtype=np.uint8)
        wide[:, 4 - header.width :] = np.frombuffer(body, np.uint8).reshape(-1, header.width)
        values = wide.view("<i4")[:, 0].astype(np.float32) / np.float32(2**31)
    return values.reshape(-1, header.channels)


def can_unpack() -> bool:
    """Whether FLAC, OGG and MP3 can be read."""
    return find_spec("soundfile") is not None


def _check_packed(file: IO[bytes], path: Path) -> None:
    if not can_unpack():
        raise DataError(
            f"{path}: {path.suffix.lower()} needs the library soundfile, which is not installed; "
            "run pip install soundfile, or save it as WAV."
        )
    facts = import_module("soundfile").info(file)
    if facts.frames == 0:
        raise DataError(f"{path}: the sound is empty; remove it.")
    _check_length(path, facts.frames / facts.samplerate)


def _unpack(file: IO[bytes], path: Path) -> tuple[NDArray[np.float32], int]:
    _check_packed(file, path)
    file.seek(0)
    values, rate = import_module("soundfile").read(file, dtype="float32", always_2d=True)
    return values, int(rate)


def _check_length(path: Path, seconds: float) -> None:
    if seconds > limits.SECONDS:
        raise DataError(
            f"{path}: the sound takes {seconds:,.0f} seconds, at most {limits.SECONDS:,} are read; "
            "cut it into pieces."
        )
