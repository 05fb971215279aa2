"""Which question next. One file a strategy, all behind one small base."""

from __future__ import annotations

from typing import Any

from superpac.errors import InputError
from superpac.strategies.a3s import A3S
from superpac.strategies.base import Beliefs, Count, Problem, Proposal, State, Strategy
from superpac.strategies.biswas import Biswas
from superpac.strategies.cobras import Cobras
from superpac.strategies.explore import ExploreConsolidate
from superpac.strategies.minmax import MinMax
from superpac.strategies.npu import Npu
from superpac.strategies.random_pairs import RandomPairs
from superpac.strategies.scal import Scal
from superpac.strategies.superpac import Superpac, SuperpacPinned, SuperpacS
from superpac.strategies.superpac_d import SuperpacD
from superpac.strategies.urasc import Urasc, UrascN

__all__ = [
    "A3S",
    "STRATEGIES",
    "Beliefs",
    "Count",
    "Biswas",
    "Cobras",
    "ExploreConsolidate",
    "MinMax",
    "Npu",
    "Problem",
    "Proposal",
    "RandomPairs",
    "Scal",
    "State",
    "Strategy",
    "Superpac",
    "SuperpacD",
    "SuperpacPinned",
    "SuperpacS",
    "Urasc",
    "UrascN",
    "make_strategy",
]

STRATEGIES: dict[str, type[Strategy]] = {
    strategy.name: strategy
    for strategy in (
        Superpac,
        SuperpacD,
        SuperpacPinned,
        SuperpacS,
        RandomPairs,
        UrascN,
        Urasc,
        ExploreConsolidate,
        MinMax,
        Cobras,
        Npu,
        Scal,
        A3S,
        Biswas,
    )
}


def make_strategy(name: str, problem: Problem, **options: Any) -> Strategy:
    """Build a strategy by its name.

    Parameters
    ----------
    name : str
        One of ``STRATEGIES``.
    problem : Problem
        What to work on.
    **options
        Options of the strategy.

    Returns
    -------
    Strategy
    """
    if name not in STRATEGIES:
        known = ", ".join(sorted(STRATEGIES))
        raise InputError(f"There is no strategy {name!r}; choose one of: {known}.")
    try:
        return STRATEGIES[name](problem, **options)
    except TypeError as error:
        raise InputError(
            f"The strategy {name!r} was given an option it does not know: {error}."
        ) from None
