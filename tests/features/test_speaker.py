"""Voices as vectors: the whole way with drawn weights."""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from drawn_models import install
from superpac.data.sound_files import Sound, as_wav
from superpac.features.models import MODELS
from superpac.features.speaker import SpeakerFeatures
from superpac.system.optional import MissingLibraryError
from torch_files import Tensor, stand_in, write


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    rng = np.random.default_rng(0)
    shapes = {"linear.weight": (256, 256), "linear.bias": (256,)}
    for k in range(3):
        shapes[f"lstm.weight_ih_l{k}"] = (1024, 40 if k == 0 else 256)
        shapes[f"lstm.weight_hh_l{k}"] = (1024, 256)
        shapes |= {f"lstm.bias_{part}_l{k}": (1024,) for part in ("ih", "hh")}
    storages, state = {}, OrderedDict()
    for k, (name, shape) in enumerate(shapes.items()):
        storages[str(k)] = (rng.normal(size=int(np.prod(shape))) * 0.1).astype("<f4")
        strides = (shape[1], 1) if len(shape) == 2 else (1,)
        state[name] = Tensor(storages[str(k)], str(k), 0, shape, strides)
    path = tmp_path / "pretrained.pt"
    with monkeypatch.context() as only_here:
        stand_in(only_here)
        write(path, OrderedDict(model_state=state), storages, "row")
    assert "torch" not in sys.modules or find_spec("torch")
    install(monkeypatch, tmp_path / "packages", "speaker", {"pretrained.pt": path.read_bytes()})


@pytest.fixture
def sounds(tmp_path):
    rng = np.random.default_rng(3)
    files = []
    for k, seconds in enumerate([0.3, 1.0, 4.0, 0.7, 60.0, 1.6]):
        samples = (rng.normal(size=int(seconds * 8000)) * 0.05).astype(np.float32)
        files.append(tmp_path / f"{k}.wav")
        files[-1].write_bytes(as_wav(Sound(samples, 8000)))
    return files


def test_a_vector_depends_on_its_sound_alone(drawn, sounds):
    encoder = SpeakerFeatures()
    together = encoder.transform(sounds)
    assert together.shape == (6, 256)
    alone = np.vstack([encoder.transform([file]) for file in sounds])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)


def test_louder_and_softer_recordings_of_one_sound_are_alike(drawn, tmp_path, sounds):
    samples = np.random.default_rng(4).normal(size=8000) * 1e-3
    for k, factor in enumerate((1.0, 3.0)):
        sound = Sound((samples * factor).astype(np.float32), 8000)
        (tmp_path / f"v{k}.wav").write_bytes(as_wav(sound))
    a, b = SpeakerFeatures().transform([tmp_path / "v0.wav", tmp_path / "v1.wav"])
    other = SpeakerFeatures().transform(sounds[1:2])[0]
    assert np.abs(a - b).max() < np.abs(a - other).max()


def test_without_weights_the_command_that_fetches_them_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path))
    away = replace(MODELS["speaker"], module="no_such_package_here")
    monkeypatch.setitem(MODELS, "speaker", away)
    with pytest.raises(MissingLibraryError, match="superpac features get speaker$"):
        SpeakerFeatures().transform([])
