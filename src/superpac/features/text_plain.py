"""Texts as vectors without a network: which groups of letters they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.errors import InputError
from superpac.features.base import Encoder, digest, unit
from superpac.system.threads import one_thread

_LETTERS = (2, 4)


class PlainTextFeatures(Encoder):
    """Groups of two to four letters, weighed by how rare they are, brought to a few numbers.

    TF-IDF of characters within words, then the leading singular directions over all texts. It
    works in any language and needs nothing to be fetched, but two texts are near only where they
    share words or parts of words. What it learns is from the texts themselves, so vectors change
    where texts are added.

    Parameters
    ----------
    size : int, default=128
        Numbers in a vector at most; fewer where there are fewer texts.
    n_jobs : int or None
        Present for consistency: it takes milliseconds.

    References
    ----------
    S. Deerwester and others, "Indexing by latent semantic analysis", Journal of the American
    Society for Information Science 41(6), 1990.

    Examples
    --------
    >>> texts = ["my card is lost", "I lost my card", "what is the rate", "which rate do I get"]
    >>> X = PlainTextFeatures().fit_transform(texts)
    >>> bool(X[0] @ X[1] > X[0] @ X[2])
    True
    """

    kind: ClassVar[str] = "text"
    batch: ClassVar[int] = 4096
    by_itself: ClassVar[bool] = False

    def __init__(self, size: int = 128, *, n_jobs: int | None = None) -> None:
        self.size = size
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return "text-plain"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, once texts were seen."""
        if not hasattr(self, "directions_"):
            raise InputError("text-plain learns from the texts; call fit first.")
        return int(self.directions_.shape[1])

    @property
    def fingerprint(self) -> str:
        """Hash of the settings; vectors depend on the other texts, too."""
        return digest(encoder="text-plain", revision=1, size=int(self.size), letters=_LETTERS)

    def fit(self, X: Any = None, y: object = None) -> PlainTextFeatures:
        """Learn which groups of letters there are, and in which directions texts differ.

        Parameters
        ----------
        X : list of str or Things
            The texts.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self : object
        """
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.utils.extmath import randomized_svd

        texts = self._things(X)
        if not isinstance(self.size, int | np.integer) or self.size < 1:
            raise InputError(f"The size of text-plain must be at least 1; got {self.size!r}.")
        self.counts_ = TfidfVectorizer(
            analyzer="char_wb", ngram_range=_LETTERS, sublinear_tf=True, dtype=np.float32
        )
        try:
            rows = self.counts_.fit_transform(texts)
        except ValueError as error:  # no text has a letter
            raise InputError("text-plain: all texts are empty; give some words.") from error
        size = min(int(self.size), *rows.shape)
        # the same seed for all: a data set has one set of vectors. Two threads take twenty times
        # the CPU of one on such small matrices.
        with one_thread():
            _, _, directions = randomized_svd(rows, size, n_iter=5, random_state=0)
        self.directions_ = directions.T.astype(np.float32)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "directions_")

    def _encode(self, batch: Sequence[str]) -> NDArray:
        return unit(self.counts_.transform(batch) @ self.directions_)
