"""Voices as vectors: who is speaking, whatever is said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.features import speech
from superpac.features.base import Encoder, digest, unit
from superpac.features.models import MODELS, kept_file, load_network
from superpac.features.onnx_encoder import open_network

_PIECES_AT_ONCE = 32


class SpeakerFeatures(Encoder):
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
    batch: ClassVar[int] = 4

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return "speaker"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return MODELS["speaker"].dimension

    @property
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on."""
        return digest(
            encoder="speaker",
            revision=1,
            model=MODELS["speaker"].fingerprint,
            rate=speech.RATE,
            volume=speech.VOLUME,
        )

    @cached_property
    def _network(self) -> Any:
        model = MODELS["speaker"]
        return open_network(load_network(model), kept_file(model))

    def _prepare(self) -> None:
        self._network  # noqa: B018

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
