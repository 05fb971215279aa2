"""Encoders by name."""

from __future__ import annotations

import pytest
from sklearn.preprocessing import StandardScaler

from superpac.errors import InputError
from superpac.features.base import PLURALS, Encoder
from superpac.features.registry import DEFAULTS, ENCODERS, encoder_names, make_encoder


@pytest.mark.parametrize("name", encoder_names())
def test_every_name_makes_an_encoder_that_says_so(name):
    encoder = make_encoder(name, n_jobs=1)
    assert isinstance(encoder, Encoder)
    assert encoder.name == name
    assert encoder.kind in PLURALS
    assert encoder.n_jobs == 1


@pytest.mark.parametrize("text", ["onnx:net.onnx", "timm:resnet18", "sentence:all-MiniLM-L6-v2"])
def test_a_prefix_takes_what_stands_behind_it(text):
    assert make_encoder(text).name == text


def test_defaults_take_the_kind_that_they_are_for():
    for kind, name in DEFAULTS.items():
        assert name in ENCODERS
        assert make_encoder(name).kind == kind


def test_a_transformer_is_given_back():
    scaler = StandardScaler()
    assert make_encoder(scaler) is scaler


@pytest.mark.parametrize("what", ["", "magic", "onnx:", "a b:c", ":f", "m:", 5, None, "timm:"])
def test_anything_else_is_one_sentence_with_all_that_is_allowed(what):
    with pytest.raises(InputError, match="text-plain") as caught:
        make_encoder(what)
    assert "onnx:FILE" in str(caught.value)
    assert "module:function" in str(caught.value)
