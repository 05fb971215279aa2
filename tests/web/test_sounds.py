from __future__ import annotations

import io

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import wavfile

from superpac.data import Dataset
from superpac.data.sound_files import Sound, as_wav
from superpac.web import sounds
from superpac.web.app import create_app
from superpac.web.sounds import Sounds, asked_part
from things_page import make_dataset, make_things_workspace


@pytest.fixture
def client(tmp_path):
    data = make_dataset(tmp_path, "sound")
    workspace = make_things_workspace(tmp_path, data, tmp_path / "s.sqlite3")
    yield TestClient(create_app(workspace))
    workspace.stop()


def test_a_sound_is_sent_decoded_and_written_anew(tmp_path):
    secret = b"LIST" + (20).to_bytes(4, "little") + b"recorded at home now"
    whole = as_wav(Sound(np.linspace(-0.5, 0.5, 80).astype(np.float32), 8000))
    (tmp_path / "a.wav").write_bytes(whole + secret)
    found = Sounds(Dataset([[1.0]], sounds=(tmp_path / "a.wav",))).wav(0)
    assert b"recorded" not in found
    rate, values = wavfile.read(io.BytesIO(found))
    assert rate == 8000
    assert np.allclose(values / 32767, np.linspace(-0.5, 0.5, 80), atol=1e-3)


def test_only_the_last_ones_are_kept(tmp_path, monkeypatch):
    paths = []
    for n in range(3):
        paths.append(tmp_path / f"{n}.wav")
        paths[-1].write_bytes(as_wav(Sound(np.zeros(500, np.float32), 8000)))
    monkeypatch.setattr(sounds, "KEPT_BYTES", 2500)
    held = Sounds(Dataset(np.eye(3), sounds=tuple(paths)))
    for n in range(3):
        held.wav(n)
    assert [held.held(n) is not None for n in range(3)] == [False, True, True]


def test_a_browser_gets_the_part_that_it_asks_for(client):
    whole = client.get("/sound/3")
    assert whole.status_code == 200
    assert whole.headers["content-type"] == "audio/wav"
    assert whole.headers["accept-ranges"] == "bytes"
    size = len(whole.content)
    part = client.get("/sound/3", headers={"range": "bytes=44-143"})
    assert part.status_code == 206
    assert part.content == whole.content[44:144]
    assert part.headers["content-range"] == f"bytes 44-143/{size}"
    beyond = client.get("/sound/3", headers={"range": f"bytes={size}-"})
    assert beyond.status_code == 416
    assert beyond.headers["content-range"] == f"bytes */{size}"


def test_what_is_not_there_is_said_in_a_sentence(client, tmp_path):
    missing = client.get("/sound/36")
    assert missing.status_code == 404
    assert "numbered 0 to 35" in missing.json()["detail"]
    (tmp_path / "sound" / "005.wav").write_bytes(b"RIFF")
    broken = client.get("/sound/5")
    assert broken.status_code == 422
    assert "not a WAV file" in broken.json()["detail"]


def test_other_items_have_no_sound(tmp_path):
    data = make_dataset(tmp_path, "text")
    workspace = make_things_workspace(tmp_path, data, tmp_path / "s.sqlite3")
    assert TestClient(create_app(workspace)).get("/sound/0").status_code == 404
    workspace.stop()


numbers = st.one_of(st.just(""), st.integers(0, 300).map(str))


@given(
    st.one_of(
        st.text(max_size=20), st.tuples(numbers, numbers).map(lambda p: f"bytes={p[0]}-{p[1]}")
    ),
    st.integers(1, 200),
)
def test_any_range_header_gives_a_part_that_is_there(header, size):
    part = asked_part(header, size)
    assert part is None or 0 <= part[0] < part[1] <= size
