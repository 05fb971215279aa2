from __future__ import annotations

import struct
import wave

import numpy as np
import pytest
from scipy.io import wavfile

from superpac.data import limits
from superpac.data.sound_files import Sound, as_wav, check_sound, read_sound
from superpac.errors import DataError

RATE = 8000
TONE = np.sin(2 * np.pi * 440 * np.arange(2000) / RATE) * 0.5


@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 2])
def test_wav_of_every_width_is_the_same_sound(tmp_path, kind, channels):
    scale = {"uint8": 127, "int16": 2**15 - 1, "int32": 2**31 - 1}.get(kind, 1)
    values = TONE * scale + (128 if kind == "uint8" else 0)
    values = values.astype(kind)
    wavfile.write(tmp_path / "a.wav", RATE, np.column_stack([values] * channels).squeeze())
    sound = read_sound(tmp_path / "a.wav")
    assert sound.rate == RATE
    assert sound.seconds == len(TONE) / RATE
    assert sound.samples.dtype == np.float32
    assert np.allclose(sound.samples, TONE, atol=0.02 if kind == "uint8" else 1e-4)


def test_24_bits_are_read(tmp_path):
    whole = np.rint(TONE * (2**23 - 1)).astype("<i4")
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(3)
        file.setframerate(RATE)
        file.writeframes(whole.view(np.uint8).reshape(-1, 4)[:, :3].tobytes())
    assert np.allclose(read_sound(tmp_path / "a.wav").samples, TONE, atol=1e-6)


def test_what_is_written_is_read_by_others(tmp_path):
    (tmp_path / "a.wav").write_bytes(as_wav(Sound(TONE.astype(np.float32), RATE)))
    rate, values = wavfile.read(tmp_path / "a.wav")
    assert (rate, values.dtype) == (RATE, np.int16)
    assert np.allclose(values / 32767, TONE, atol=1e-4)


def test_channels_are_averaged(tmp_path):
    wavfile.write(tmp_path / "a.wav", RATE, np.array([[0.5, -0.5], [0.5, 0.25]], np.float32))
    assert read_sound(tmp_path / "a.wav").samples.tolist() == [0.0, 0.375]


def test_what_is_no_number_is_silent(tmp_path):
    wavfile.write(tmp_path / "a.wav", RATE, np.array([np.nan, np.inf, 0.5], np.float32))
    assert read_sound(tmp_path / "a.wav").samples.tolist() == [0.0, 0.0, 0.5]


WHOLE = as_wav(Sound(TONE.astype(np.float32), RATE))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a WAV file"),
        (b"ID3" + WHOLE, "not a WAV file"),
        (WHOLE[:20], "no samples"),
        (WHOLE[:44], "cut off"),
        (WHOLE[: len(WHOLE) // 2], "cut off"),
        (as_wav(Sound(np.zeros(0, np.float32), RATE)), "empty"),
        (WHOLE.replace(struct.pack("<HHI", 1, 1, RATE), struct.pack("<HHI", 7, 1, RATE)), "PCM"),
        (WHOLE.replace(struct.pack("<HHI", 1, 1, RATE), struct.pack("<HHI", 1, 0, RATE)), "PCM"),
        (WHOLE.replace(struct.pack("<HHI", 1, 1, RATE), struct.pack("<HHI", 1, 1, 0)), "PCM"),
    ],
)
def test_broken_ones_are_refused_in_one_sentence_that_names_them(tmp_path, content, words):
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    for read in (read_sound, check_sound):
        with pytest.raises(DataError, match=words) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")


def test_no_broken_byte_does_more_than_refuse(tmp_path):
    path = tmp_path / "a.wav"
    rng = np.random.default_rng(0)
    refused = []
    for at in range(44):
        for value in rng.integers(0, 256, 4).tolist():
            path.write_bytes(WHOLE[:at] + bytes([value]) + WHOLE[at + 1 :])
            try:
                assert np.isfinite(read_sound(path).samples).all()
            except DataError as error:
                refused.append(str(error))
    assert refused
    assert all(words.startswith(f"{path}: ") for words in refused)


def test_a_stream_that_did_not_know_its_length_is_read_to_its_end(tmp_path):
    size = struct.pack("<I", 2 * len(TONE))
    assert WHOLE.count(size) == 1
    (tmp_path / "a.wav").write_bytes(WHOLE.replace(size, b"\xff\xff\xff\xff"))
    assert len(read_sound(tmp_path / "a.wav").samples) == len(TONE)


def test_a_long_one_is_refused_unread(tmp_path):
    path = tmp_path / "a.wav"
    slow = Sound(np.zeros(limits.SECONDS + 1, np.float32), 1)
    path.write_bytes(as_wav(slow))
    with pytest.raises(DataError, match="cut it into pieces"):
        check_sound(path)


def test_links_are_not_followed(tmp_path):
    (tmp_path / "a.wav").write_bytes(WHOLE)
    (tmp_path / "b.wav").symlink_to("a.wav")
    with pytest.raises(DataError, match="link"):
        read_sound(tmp_path / "b.wav")
