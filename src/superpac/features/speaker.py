"""Voices as vectors: who is speaking, whatever is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.features import speech
from superpac.features.base import digest, unit
from superpac.features.published_network import PublishedNetwork

_PIECES_AT_ONCE = 32


class SpeakerFeatures(PublishedNetwork):
    """Who is speaking, as 256 numbers: Resemblyzer's voice encoder.

    For recordings of one voice each, of a second or more.

    Parameters
    ----------
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    References
    ----------
    L. Wan, Q. Wang, A. Papir and I. Lopez Moreno, "Generalized End-to-End Loss for Speaker
    Verification", ICASSP 2018.

    Examples
    --------
    >>> SpeakerFeatures().dimension
    256
    """

    kind: ClassVar[str] = "sound"
    model_name: ClassVar[str] = "speaker"
    batch: ClassVar[int] = 4

    @property
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on."""
        return digest(
            encoder="speaker",
            revision=1,
            model=self._model.fingerprint,
            rate=speech.RATE,
            volume=speech.VOLUME,
        )

    def _encode(self, batch: Sequence[Path]) -> NDArray:
        """Average over the pieces of each recording; a few dozen pieces are computed at once."""
        pieces = [speech.mel_pieces(speech.read_speech(path)) for path in batch]
        together = [piece for each in pieces for piece in each]
        vectors = np.concatenate(
            [
                self._network.run(None, {"mels": np.stack(together[k : k + _PIECES_AT_ONCE])})[0]
                for k in range(0, len(together), _PIECES_AT_ONCE)
            ]
        )
        ends = np.cumsum([len(each) for each in pieces])
        return unit(np.stack([part.mean(axis=0) for part in np.split(vectors, ends[:-1])]))
