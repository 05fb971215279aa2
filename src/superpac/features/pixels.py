"""An image's own pixels as its vector: right for small, grey, aligned images, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from superpac.data.image_folder import REDUCED
from superpac.errors import InputError
from superpac.features.base import Encoder, digest
from superpac.features.photo import read_photo


class PixelFeatures(Encoder):
    """Grey values of an image, resized to a small square.

    Parameters
    ----------
    size : int, default=32
        Side of the square.
    n_jobs : int or None
        Threads; None or -1 uses all cores.

    Examples
    --------
    >>> PixelFeatures(size=16).dimension
    256
    """

    kind: ClassVar[str] = "image"

    def __init__(self, size: int = REDUCED, *, n_jobs: int | None = None) -> None:
        self.size = size
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return "pixels"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        if not isinstance(self.size, int | np.integer) or not 1 <= self.size <= 1024:
            raise InputError(f"The size of pixels must be 1 to 1024; got {self.size!r}.")
        return int(self.size) ** 2

    @property
    def fingerprint(self) -> str:
        """Hash of all that vectors depend on."""
        return digest(encoder="pixels", revision=1, size=int(self.size))

    def _encode(self, batch: Sequence[Path]) -> NDArray:
        side = int(self.size)
        photos = [read_photo(path, (side, side), "squeeze") for path in batch]
        grey = [np.asarray(Image.fromarray(photo).convert("L")) for photo in photos]
        return np.stack(grey).reshape(len(batch), -1)
