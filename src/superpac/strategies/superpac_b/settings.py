"""Every number of SUPERPAC-B; `docs/method-b.md` shows them as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _is(value: Any, meaning: str) -> Any:
    """Give a field its value and what it means."""
    return field(default=value, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """Numbers of SUPERPAC-B. One choice serves all data; change one with ``replace``.

    What the views themselves are made of (the walk, the kernel, the residuals) is as in SUPERPAC-D.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(Settings(), pieces=1.0).pieces
    1.0
    """

    pieces: float = _is(2.0, "starting sets per cluster")
    dimensions: tuple[int, ...] = _is((1, 2, 4), "subspaces fitted, as multiples of the dimension")
    points_per_dimension: float = _is(3.0, "points of a mean cluster per dimension, at least")
    residual_spread: float = _is(1.0, "variance of a log residual that is not chance")
    weights: tuple[float, float, float] = _is(
        (1.5, 1.3, 0.5), "weights of diffusion, subspaces and kernel before any answer"
    )
    weights_strength: float = _is(10.0, "how many placed items this counts for")
    lean: float = _is(0.6, "chance from which an item asked about counts for its likeliest set")
    merge_chance: float = _is(0.07, "two sets this likely to be one may be asked about")
    open_below: float = _is(0.15, "an item that no set is this likely for opens one of its own")
    new_chance: float = _is(0.05, "least chance that an item is in a cluster not met yet")
    reach_power: float = _is(0.5, "exponent of the doubt within a few steps, in an item's worth")
    doubt: float = _is(0.2, "items expected to be misplaced by an answer that is asked again")
    rate_matters: float = _is(1.5, "times the usual error rate beyond which votes are read anew")


DEFAULT = Settings()
