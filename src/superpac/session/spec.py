"""What a session does with its data: clusters, affinity, strategy, dimension, seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import numpy as np

from superpac.errors import InputError
from superpac.strategies import FIND_COUNT, STRATEGIES

if TYPE_CHECKING:
    from superpac.data import Dataset

AUTO = "auto"
DEFAULT_AFFINITY = AUTO
DEFAULT_STRATEGY = "superpac-d"
AFFINITY_OF_VALUES = "ensc:gamma=5"
"""Default affinity of pixels and tables, whose classes are near subspaces."""

AFFINITY_OF_VECTORS = "tsc:q=5"
"""Default affinity of what an encoder made, which puts near one another what is alike."""

# encoders whose vectors did no better with TSC: docs/features.md has the figures
AS_VALUES = ("pixels", "text", "sentence", "speaker")

STAND_IN = 10
LARGEST_SEED = 2**32 - 1  # what NumPy's generators take
EARLIER_NAMES = {"k": "n_clusters"}
_SEEDS = f"a whole number from 0 to {LARGEST_SEED}"


@dataclass(frozen=True)
class Spec:
    """Everything that, together with the data and the answers, determines a session.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it while asking, with a strategy that can (superpac-d).
    affinity : str, default="auto"
        Affinity by name, such as ``tsc:q=5``, or a file. "auto" is settled when a session begins,
        by what its items are (:meth:`settled`); its log holds what it became.
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
        Whether points are scaled to unit length before subspaces are fitted to them. None scales
        them, except for the paper's strategies, whose paper does not, and beside a graph of
        distances (knn, rbf), which says that length matters. An affinity scales them by itself
        where its authors do.

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
        self._check_kinds()
        if self.n_clusters == AUTO:
            if self.strategy in STRATEGIES and self.strategy not in FIND_COUNT:
                able = ", ".join(sorted(FIND_COUNT))
                raise InputError(
                    f"The strategy {self.strategy!r} needs the number of clusters; give it, or "
                    f"take one that finds it: {able}."
                )
        elif not _whole(self.n_clusters) or self.n_clusters < 1:
            raise InputError(
                "The number of clusters must be a positive integer or 'auto'. "
                f"Got {self.n_clusters!r}."
            )
        dims: tuple[object, ...] = self.dim if isinstance(self.dim, tuple) else (self.dim,)
        if self.dim is not None and not (dims and all(_whole(d) and d >= 1 for d in dims)):
            raise InputError(
                "The subspace dimension must be a whole number, at least 1, or one for each "
                f"cluster. Got {self.dim!r}."
            )

    def _check_kinds(self) -> None:
        """Say which value is of another kind than it should be: a spec may come from a file."""
        for name, good, allowed in (
            ("affinity", isinstance(self.affinity, str), "text"),
            ("strategy", isinstance(self.strategy, str), "text"),
            ("options", _plain_options(self.options), "names with numbers, texts or yes and no"),
            ("seed", _whole(self.seed) and 0 <= self.seed <= LARGEST_SEED, _SEEDS),
            ("normalize", self.normalize in (None, False, True), "true, false or none"),
        ):
            if not good:
                raise InputError(
                    f"The {name} of a session must be {allowed}. Got {ascii(getattr(self, name))}."
                )

    @property
    def clusters(self) -> int:
        """Number of clusters as given; ten stands in for an unknown one until data are seen."""
        return STAND_IN if self.n_clusters == AUTO else int(self.n_clusters)

    def settled(self, data: Dataset) -> Spec:
        """Give the spec with the affinity for these items, where none was named.

        Parameters
        ----------
        data : Dataset
            The items.

        Returns
        -------
        Spec
            With ``tsc:q=5`` for vectors of an encoder, and ``ensc:gamma=5`` for all else: tables,
            pixels, and vectors of the networks for sentences and voices.

        Examples
        --------
        >>> from superpac.data import Dataset
        >>> Spec(3).settled(Dataset([[1, 0], [0, 1], [1, 1]])).affinity
        'ensc:gamma=5'
        """
        if self.affinity != AUTO:
            return self
        as_values = not data.features or data.features.partition(":")[0] in AS_VALUES
        return replace(self, affinity=AFFINITY_OF_VALUES if as_values else AFFINITY_OF_VECTORS)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as they are kept with the log."""
        plain = asdict(self)
        plain["options"] = dict(self.options)
        plain["dim"] = list(self.dim) if isinstance(self.dim, tuple) else self.dim
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Spec:
        """Build a spec from :meth:`to_dict`, or from what the first stores and archives hold."""
        plain = {EARLIER_NAMES.get(name, name): value for name, value in plain.items()}
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(plain) - known)
        if unknown:
            raise InputError(
                f"A session's spec has unknown entries {', '.join(unknown)}; it was made by a "
                "newer version: upgrade superpac."
            )
        if "n_clusters" not in plain:
            raise InputError("A session's spec names no number of clusters (n_clusters); add it.")
        values = dict(plain)
        if isinstance(values.get("dim"), list):
            values["dim"] = tuple(values["dim"])
        return cls(**values)


def _whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _plain_options(options: object) -> bool:
    """Whether options are names with plain values."""
    plain = (str, int, float, np.generic, type(None))
    return isinstance(options, Mapping) and all(
        isinstance(name, str) and isinstance(value, plain) for name, value in options.items()
    )
