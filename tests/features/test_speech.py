"""Speech as the voice encoder takes it."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data.sound_files import Sound, as_wav
from superpac.errors import DataError
from superpac.features import speech


def tone(hertz, seconds=1.0, rate=speech.RATE, volume=0.1):
    return volume * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)


def save(path, samples, rate):
    path.write_bytes(as_wav(Sound(samples.astype(np.float32), rate)))
    return path


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 44100, 48000])
def test_any_rate_becomes_sixteen_thousand(tmp_path, rate):
    read = speech.read_speech(save(tmp_path / "a.wav", tone(440, 1.0, rate), rate))
    assert abs(len(read) - speech.RATE) <= 1
    power = np.abs(np.fft.rfft(read)) ** 2
    assert abs(power.argmax() * speech.RATE / len(read) - 440) < 2


def test_quiet_speech_is_raised_and_loud_speech_left():
    quiet, loud = tone(300, volume=1e-3), tone(300, volume=0.5)
    level = 20 * np.log10(np.sqrt(np.mean(speech.louder(quiet) ** 2)))
    assert level == pytest.approx(speech.VOLUME)
    assert (speech.louder(loud) == loud).all()


def test_long_pauses_are_cut_and_short_ones_stay():
    word = tone(200, 0.6)
    nothing = np.zeros(speech.RATE * 3)
    cut = speech.without_pauses(np.concatenate([word, nothing, word, nothing]))
    assert len(word) * 2 < len(cut) < len(word) * 2 + 0.6 * speech.RATE
    short = np.concatenate([word, np.zeros(speech.RATE // 20), word])
    assert (speech.without_pauses(short) == short).all()
    assert len(speech.without_pauses(word[:300])) == 300


def test_nothing_to_hear_is_one_sentence(tmp_path):
    path = save(tmp_path / "a.wav", np.zeros(8000), 8000)
    with pytest.raises(DataError, match=r"a\.wav: nothing is to be heard"):
        speech.read_speech(path)


@pytest.mark.parametrize("seconds", [0.05, 0.5, 1.6, 2.0, 2.9, 10.0, 100.0])
def test_pieces_overlap_and_cover_the_whole(seconds):
    samples = tone(500, seconds)
    pieces = speech.mel_pieces(samples)
    assert {piece.shape for piece in pieces} == {(160, 40)}
    whole = speech.mel_spectrogram(np.pad(samples, (0, 40_000)))
    for k, piece in enumerate(pieces):
        np.testing.assert_allclose(piece[:-3], whole[k * 77 : k * 77 + 157], rtol=1e-5, atol=1e-7)
    end = (len(pieces) - 1) * 0.77 + 1.6
    assert end > seconds - 0.77 * 1.6  # at most what is too short for a piece is left out


def test_a_tone_is_loudest_in_the_band_that_holds_it():
    edges = np.linspace(0, 15 + 27 * np.log(8) / np.log(6.4), 42)
    centres = np.where(edges < 15, edges * 200 / 3, 1000 * 6.4 ** ((edges - 15) / 27))[1:-1]
    for band in range(2, 40, 5):
        mels = speech.mel_spectrogram(tone(centres[band], 0.5))
        assert (mels[5:-5].argmax(axis=1) == band).all()


def test_the_spectrogram_is_what_its_definition_says():
    samples = np.random.default_rng(0).normal(size=2000)
    found = speech.mel_spectrogram(samples)
    assert found.shape == (1 + 2000 // 160, 40)
    at = 6 * 160
    piece = samples[at - 200 : at + 200]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(201), np.arange(400)) / 400)
    power = np.abs(waves @ (piece * hann)) ** 2
    np.testing.assert_allclose(found[6], speech.mel_filters() @ power, rtol=1e-5)


def test_filters_are_triangles_of_one_area():
    filters = speech.mel_filters()
    assert filters.shape == (40, 201)
    assert (filters >= 0).all()
    # wide ones have many frequencies under them, so their sum is close to the area
    areas = filters[25:].sum(axis=1) * (speech.RATE / 2 / 200)
    np.testing.assert_allclose(areas, 1, rtol=0.02)
