"""Sentences as vectors of what they mean, from a small network trained on a billion pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.features.base import digest
from superpac.features.models import load_companion
from superpac.features.published_network import PublishedNetwork
from superpac.features.weights.minilm import LONGEST
from superpac.system.optional import require


class TextFeatures(PublishedNetwork):
    """What a sentence means, as 384 numbers: all-MiniLM-L6-v2.

    For sentences and short paragraphs in English; of a longer text the first 256 word pieces are
    read. Texts in other languages, or lists of names, may do better with ``text-plain``.

    Parameters
    ----------
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    References
    ----------
    N. Reimers and I. Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks",
    EMNLP 2019.

    Examples
    --------
    >>> TextFeatures().dimension
    384
    """

    kind: ClassVar[str] = "text"
    model_name: ClassVar[str] = "text"
    batch: ClassVar[int] = 16

    @property
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on."""
        model = self._model
        return digest(
            encoder="text",
            revision=1,
            model=model.fingerprint,
            files=list(model.files.values()),
            longest=LONGEST,
        )

    @cached_property
    def _tokenizer(self) -> Any:
        require("features", "The encoder text", "tokenizers")
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(load_companion(self._model).decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer

    def _prepare(self) -> None:
        self._tokenizer, self._network  # noqa: B018

    def _parts(self, things: Sequence[str]) -> list[list[int]]:
        """Batches of texts that are about as long, so that little is padding."""
        order = sorted(range(len(things)), key=lambda row: len(things[row]))
        return [order[k : k + self.batch] for k in range(0, len(order), self.batch)]

    def _encode(self, batch: Sequence[str]) -> NDArray:
        # lone surrogates are no text to the tokenizer
        words = [text.encode(errors="replace").decode() for text in batch]
        pieces = [found.ids for found in self._tokenizer.encode_batch(words)]
        longest = max(map(len, pieces))
        ids = np.zeros((len(pieces), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(pieces):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        return self._network.run(None, {"ids": ids, "mask": mask})[0]
