"""Networks of others' libraries, where PyTorch is installed and their hub can be reached."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from superpac.errors import InputError
from superpac.features.base import Encoder, digest, unit
from superpac.features.photo import open_photo
from superpac.system.optional import MissingLibraryError


class _HubFeatures(Encoder):
    """What both share: a name behind a prefix, a library, and PyTorch's own threads."""

    alone: ClassVar[bool] = True
    prefix: ClassVar[str]
    library: ClassVar[str]
    package: ClassVar[str]

    def __init__(self, model: str = "", *, n_jobs: int | None = None) -> None:
        self.model = model
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return f"{self.prefix}:{self.model}"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the weights, of the library's version and of the name."""
        weights = hashlib.sha256()
        for key, values in sorted(self._network.state_dict().items()):
            weights.update(key.encode())
            weights.update(np.ascontiguousarray(values.cpu().float().numpy()).tobytes())
        return digest(
            encoder=self.name,
            revision=1,
            library=version(self.package),
            weights=weights.hexdigest(),
        )

    def _prepare(self) -> None:
        self._network  # noqa: B018

    @cached_property
    def _network(self) -> Any:
        try:
            library = import_module(self.library)
        except ImportError as error:
            raise MissingLibraryError(
                f"{self.name} needs {self.package} and PyTorch, which are not installed; install "
                f"them with: pip install {self.package}"
            ) from error
        try:
            return self._load(library)
        except Exception as error:  # an unknown name, no connection, no room: whatever the hub says
            reason = (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(".")
            raise InputError(
                f"{self.name} cannot be loaded ({reason}); look at the name and the connection."
            ) from error

    def _load(self, library: Any) -> Any:
        raise NotImplementedError


class TimmFeatures(_HubFeatures):
    """Photos through a network of the library timm, before its classifier.

    Parameters
    ----------
    model : str
        Its name in timm, such as ``vit_small_patch14_dinov2``.
    n_jobs : int or None
        Ignored: PyTorch has threads of its own.

    Examples
    --------
    >>> TimmFeatures("resnet18").name
    'timm:resnet18'
    """

    kind: ClassVar[str] = "image"
    prefix: ClassVar[str] = "timm"
    library: ClassVar[str] = "timm"
    package: ClassVar[str] = "timm"

    def _load(self, library: Any) -> Any:
        return library.create_model(self.model, pretrained=True, num_classes=0).eval()

    @cached_property
    def _how(self) -> Any:
        data = import_module("timm.data")
        return data.create_transform(**data.resolve_model_data_config(self._network))

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._network.num_features)

    def _encode(self, batch: Sequence[Path]) -> NDArray:
        torch = import_module("torch")
        photos = []
        for path in batch:
            with open_photo(path, 512) as image:
                photos.append(self._how(image))
        with torch.inference_mode():
            return unit(self._network(torch.stack(photos)).numpy())


class SentenceFeatures(_HubFeatures):
    """Texts through a network of the library sentence-transformers.

    Parameters
    ----------
    model : str
        Its name in the hub, or a folder that holds it.
    n_jobs : int or None
        Ignored: PyTorch has threads of its own.

    Examples
    --------
    >>> SentenceFeatures("all-mpnet-base-v2").name
    'sentence:all-mpnet-base-v2'
    """

    kind: ClassVar[str] = "text"
    batch: ClassVar[int] = 32
    prefix: ClassVar[str] = "sentence"
    library: ClassVar[str] = "sentence_transformers"
    package: ClassVar[str] = "sentence-transformers"

    def _load(self, library: Any) -> Any:
        return library.SentenceTransformer(self.model)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._network.get_sentence_embedding_dimension())

    def _encode(self, batch: Sequence[str]) -> NDArray:
        return unit(np.asarray(self._network.encode(list(batch), show_progress_bar=False)))
