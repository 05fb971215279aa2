"""The sentence network in ONNX, against the same network in plain NumPy; weights are drawn."""

from __future__ import annotations

import numpy as np
from scipy.special import erf, softmax

from superpac.features.onnx_encoder import open_network
from superpac.features.weights.minilm import build

WIDTH, INNER, HEADS = 384, 1536, 12


def drawn(layers=2, words=50, seed=0):
    """Weights with the names and shapes that are published."""
    rng = np.random.default_rng(seed)

    def some(*shape):
        return (rng.normal(size=shape) * 0.05).astype(np.float32)

    def linear(name, out, into):
        return {f"{name}.weight": some(out, into), f"{name}.bias": some(out)}

    def norm(name):
        return {f"{name}.weight": 1 + some(WIDTH), f"{name}.bias": some(WIDTH)}

    w = {
        "embeddings.word_embeddings.weight": some(words, WIDTH),
        "embeddings.position_embeddings.weight": some(512, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
        **norm("embeddings.LayerNorm"),
    }
    for k in range(layers):
        at = f"encoder.layer.{k}"
        for part in ("query", "key", "value"):
            w |= linear(f"{at}.attention.self.{part}", WIDTH, WIDTH)
        w |= linear(f"{at}.attention.output.dense", WIDTH, WIDTH)
        w |= norm(f"{at}.attention.output.LayerNorm")
        w |= linear(f"{at}.intermediate.dense", INNER, WIDTH)
        w |= linear(f"{at}.output.dense", WIDTH, INNER)
        w |= norm(f"{at}.output.LayerNorm")
    return w


def plain(w, tokens, layers=2):
    """One sentence without padding, as the papers write it."""

    def linear(x, name):
        return x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]

    def norm(x, name):
        x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][tokens].astype(np.float64)
    x = x + w["embeddings.position_embeddings.weight"][: len(tokens)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for k in range(layers):
        at = f"encoder.layer.{k}"
        q, key, v = (
            linear(x, f"{at}.attention.self.{part}").reshape(len(tokens), HEADS, -1)
            for part in ("query", "key", "value")
        )
        seen = [
            softmax(q[:, h] @ key[:, h].T / np.sqrt(WIDTH / HEADS), axis=1) @ v[:, h]
            for h in range(HEADS)
        ]
        out = linear(np.concatenate(seen, axis=1), f"{at}.attention.output.dense")
        x = norm(x + out, f"{at}.attention.output.LayerNorm")
        y = linear(x, f"{at}.intermediate.dense")
        y = y * 0.5 * (1 + erf(y / np.sqrt(2)))
        x = norm(x + linear(y, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_the_network_gives_what_the_plain_one_gives_whatever_the_padding(tmp_path):
    w = drawn()
    network = open_network(build(w), tmp_path / "minilm.onnx")
    rng = np.random.default_rng(1)
    sentences = [rng.integers(0, 50, length) for length in (3, 9, 17)]
    ids = np.full((3, 17), 7, dtype=np.int64)  # a word where padding is: the mask must hide it
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(sentences):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    found = network.run(None, {"ids": ids, "mask": mask})[0]
    expected = np.stack([plain(w, tokens) for tokens in sentences])
    np.testing.assert_allclose(found, expected, atol=2e-6)
