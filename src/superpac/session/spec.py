"""What a session does with its data: clusters, affinity, strategy, dimension, seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import numpy as np

from superpac.errors import InputError
from superpac.strategies import FIND_COUNT, STRATEGIES

DEFAULT_AFFINITY = "ensc:gamma=5"
DEFAULT_STRATEGY = "superpac-d"
AUTO = "auto"
STAND_IN = 10


@dataclass(frozen=True)
class Spec:
    """Everything that, together with the data and the answers, determines a session.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it while asking, with a strategy that can (superpac-d).
    affinity : str, default="ensc:gamma=5"
        Affinity by name, such as ``tsc:q=5``, or a file.
    strategy : str, default="superpac-d"
        Which questions are asked.
    options : mapping
        Options of the strategy.
    dim : int, tuple of int or None, default=None
        Subspace dimension; None takes the literature's value for a benchmark set and the automatic
        choice elsewhere.
    seed : int, default=0
        Every random draw derives from it.
    normalize : bool or None, default=None
        Whether points are scaled to unit length first. None scales them, except beside a graph of
        distances (knn, rbf), which says that length matters.

    Examples
    --------
    >>> Spec(10, affinity="tsc:q=5").to_dict()["affinity"]
    'tsc:q=5'
    >>> Spec.from_dict(Spec(3).to_dict()) == Spec(3)
    True
    """

    n_clusters: int | Literal["auto"]
    affinity: str = DEFAULT_AFFINITY
    strategy: str = DEFAULT_STRATEGY
    options: Mapping[str, Any] = field(default_factory=dict)
    dim: int | tuple[int, ...] | None = None
    seed: int = 0
    normalize: bool | None = None

    def __post_init__(self) -> None:
        if self.n_clusters == AUTO:
            if self.strategy in STRATEGIES and self.strategy not in FIND_COUNT:
                able = ", ".join(sorted(FIND_COUNT))
                raise InputError(
                    f"The strategy {self.strategy!r} needs the number of clusters; give it, or "
                    f"take one that finds it: {able}."
                )
        elif not isinstance(self.n_clusters, (int, np.integer)) or self.n_clusters < 1:
            raise InputError(
                "The number of clusters must be a positive integer or 'auto'. "
                f"Got {self.n_clusters!r}."
            )
        if self.dim is not None and np.min(self.dim) < 1:
            raise InputError(f"The subspace dimension must be at least 1. Got {self.dim!r}.")

    @property
    def clusters(self) -> int:
        """Number of clusters as given; ten stands in for an unknown one until data are seen."""
        return STAND_IN if self.n_clusters == AUTO else int(self.n_clusters)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as they are kept with the log."""
        plain = asdict(self)
        plain["options"] = dict(self.options)
        plain["dim"] = list(self.dim) if isinstance(self.dim, tuple) else self.dim
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Spec:
        """Build a spec from :meth:`to_dict`."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(plain) - known)
        if unknown:
            raise InputError(
                f"A session's spec has unknown entries {', '.join(unknown)}; it was made by a "
                "newer version: upgrade superpac."
            )
        values = dict(plain)
        if isinstance(values.get("dim"), list):
            values["dim"] = tuple(values["dim"])
        return cls(**values)
