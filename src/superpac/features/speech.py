"""Speech as the voice encoder takes it: 16,000 samples a second, even volume, mel spectrogram.

The steps are those of Resemblyzer, in NumPy and SciPy. Pauses are found by their energy instead of
by a library of compiled code.
"""

from __future__ import annotations

from functools import cache
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation
from scipy.signal import resample_poly

from superpac.data.sound_files import read_sound
from superpac.errors import DataError
from superpac.features.weights.voice_encoder import CHANNELS, FRAMES

RATE = 16_000
VOLUME = -30.0
"""Decibels below full scale to which a quiet recording is raised."""

_WINDOW, _HOP = 400, 160
_FILTER_LENGTH = 201  # frequencies of a window of 400 samples
_FRAMES_AT_ONCE = 4096
_PART_STEP = 77  # frames from one piece to the next: 1.3 pieces a second
_COVERAGE = 0.75  # share of the last piece that must be there
_PAUSE_WINDOW = 480  # 30 ms
_PAUSE = 40.0  # decibels below the loudest where nobody speaks
_LONGEST_PAUSE = 6  # windows of silence that stay


def read_speech(path: Path) -> NDArray[np.float32]:
    """Read a sound file as mono at 16,000 samples a second, long pauses cut out.

    Parameters
    ----------
    path : Path
        Without links in any part of it.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    DataError
        Where it cannot be read, or nothing is to be heard.
    """
    sound = read_sound(path)
    samples = sound.samples
    if not np.abs(samples).max(initial=0.0) > 1e-5:
        raise DataError(f"{path}: nothing is to be heard; remove it.")
    if sound.rate != RATE:
        shared = gcd(RATE, sound.rate)
        samples = resample_poly(samples, RATE // shared, sound.rate // shared)
    return without_pauses(louder(samples)).astype(np.float32, copy=False)


def louder(samples: NDArray) -> NDArray:
    """Raise what is quieter than `VOLUME` to it; leave what is louder.

    Examples
    --------
    >>> bool(np.isclose(np.sqrt(np.mean(louder(np.full(9, 1e-4)) ** 2)), 10 ** (VOLUME / 20)))
    True
    """
    level = 20 * np.log10(np.sqrt(np.mean(samples**2, dtype=np.float64)) + 1e-12)
    # a plain number keeps samples of 32 bits what they are
    return samples * float(10 ** (max(VOLUME - level, 0.0) / 20))


def without_pauses(samples: NDArray) -> NDArray:
    """Cut pauses down to a fifth of a second."""
    count = len(samples) // _PAUSE_WINDOW
    if count < 2:
        return samples
    windows = samples[: count * _PAUSE_WINDOW].reshape(count, -1)
    energy = np.mean(windows**2, axis=1)
    spoken = energy > energy.max() * 10 ** (-_PAUSE / 10)
    reach = binary_dilation(spoken, np.ones(_LONGEST_PAUSE + 1))
    return samples if reach.all() else windows[reach].reshape(-1)


def mel_pieces(samples: NDArray) -> list[NDArray[np.float32]]:
    """Cut speech into overlapping pieces of 1.6 seconds, each as a mel spectrogram.

    Returns
    -------
    list of ndarray of float32, shape (160, 40)
        At least one; silence is added where it is too short. They share their memory.

    Examples
    --------
    >>> [piece.shape for piece in mel_pieces(np.ones(16_000))]
    [(160, 40)]
    """
    frames = int(np.ceil((len(samples) + 1) / _HOP))
    starts = list(range(0, max(1, frames - FRAMES + _PART_STEP + 1), _PART_STEP))
    there = (len(samples) - starts[-1] * _HOP) / (FRAMES * _HOP)
    if there < _COVERAGE and len(starts) > 1:
        starts.pop()
    length = max(len(samples), (starts[-1] + FRAMES) * _HOP)
    mels = mel_spectrogram(np.pad(samples, (0, length - len(samples))))
    return [mels[k : k + FRAMES] for k in starts]


def mel_spectrogram(samples: NDArray) -> NDArray[np.float32]:
    """Power in 40 bands of the mel scale, every 10 ms; shape (1 + samples // 160, 40)."""
    padded = np.pad(samples, _WINDOW // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::_HOP]
    # a periodic Hann window: a symmetric one of one sample more, the last left out
    hann = np.hanning(_WINDOW + 1)[:-1]
    mels = np.empty((len(windows), CHANNELS), dtype=np.float32)
    for k in range(0, len(windows), _FRAMES_AT_ONCE):  # of a long one, all at once are a gigabyte
        part = slice(k, k + _FRAMES_AT_ONCE)
        power = np.abs(np.fft.rfft(windows[part] * hann, axis=1)) ** 2
        mels[part] = power @ mel_filters().T
    return mels


@cache
def mel_filters() -> NDArray:
    """Triangles over the frequencies, of equal area, evenly spaced on Slaney's mel scale.

    M. Slaney, "Auditory Toolbox", Interval Research Corporation, 1998: linear below 1,000 Hz,
    logarithmic above.
    """
    edges = _hertz(np.linspace(0.0, _mel(RATE / 2), CHANNELS + 2))
    frequencies = np.linspace(0.0, RATE / 2, _FILTER_LENGTH)
    rising = (frequencies - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - frequencies) / np.diff(edges)[1:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None]


def _mel(hertz: float) -> float:
    return hertz * 3 / 200 if hertz < 1000 else 15 + 27 * float(np.log(hertz / 1000) / np.log(6.4))


def _hertz(mels: NDArray) -> NDArray:
    return np.where(mels < 15, mels * 200 / 3, 1000 * 6.4 ** ((mels - 15) / 27))
