"""Texts as vectors without a network."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from superpac.affinity import TSC
from superpac.errors import InputError
from superpac.features.text_plain import PlainTextFeatures
from superpac.metrics import clustering_error

WORDS = (
    ("card", "lost", "stolen", "replace", "new card", "arrive"),
    ("rate", "exchange", "currency", "euro", "foreign"),
    ("Kontostand", "Überweisung", "Buchung", "Auszug"),
)


def sentences(seed=0, n=20):
    rng = np.random.default_rng(seed)
    texts, kinds = [], []
    for k in range(3 * n):
        kinds.append(k % 3)
        texts.append(" ".join(rng.choice(WORDS[k % 3], 4)) + rng.choice([".", "?", "!"]))
    return texts, np.array(kinds)


def test_texts_about_one_thing_come_together():
    texts, kinds = sentences()
    pipeline = make_pipeline(PlainTextFeatures(), TSC(3, q=5, random_state=0))
    assert clustering_error(kinds, pipeline.fit_predict(texts)) == 0


def test_vectors_are_of_unit_length_no_longer_than_asked_and_the_same_again():
    texts, _ = sentences()
    first = PlainTextFeatures(size=20).fit_transform(texts)
    assert first.shape == (60, 20)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)
    assert (PlainTextFeatures(size=20).fit_transform(texts) == first).all()
    assert PlainTextFeatures().fit_transform(texts[:5]).shape == (5, 5)


def test_a_text_of_unknown_letters_is_zero_and_no_error():
    texts, _ = sentences()
    encoder = PlainTextFeatures().fit(texts)
    assert (encoder.transform(["漢字", ""]) == 0).all()


@pytest.mark.parametrize(("texts", "size"), [(["", "  "], 5), (["a", "b"], 0), (["a"], "x")])
def test_nothing_to_learn_from_is_one_sentence(texts, size):
    with pytest.raises(InputError, match="text-plain"):
        PlainTextFeatures(size=size).fit(texts)
    with pytest.raises(InputError, match="call fit"):
        PlainTextFeatures(size=size).dimension  # noqa: B018
