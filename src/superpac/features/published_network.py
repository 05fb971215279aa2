"""What encoders share that run a network with published weights (`superpac.features.models`)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from superpac.features.base import Encoder
from superpac.features.models import MODELS, Model, kept_file, load_network
from superpac.features.onnx_encoder import open_network


class PublishedNetwork(Encoder):
    """Base of the encoders that stand in `MODELS` under their own name."""

    model_name: ClassVar[str]
    """Name of the encoder, and of its network in `MODELS`."""

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @property
    def name(self) -> str:
        """Text from which `make_encoder` makes this encoder."""
        return self.model_name

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._model.dimension

    @property
    def _model(self) -> Model:
        return MODELS[self.model_name]

    @cached_property
    def _network(self) -> Any:
        return open_network(load_network(self._model), kept_file(self._model))

    def _prepare(self) -> None:
        self._network  # noqa: B018
