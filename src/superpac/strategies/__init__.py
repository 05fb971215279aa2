"""Which question next. One file a strategy, all behind one small base."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from superpac.errors import InputError
from superpac.strategies.base import Beliefs, Count, Problem, Proposal, State, Strategy
from superpac.strategies.baselines.a3s import A3S
from superpac.strategies.baselines.biswas import Biswas
from superpac.strategies.baselines.cobras import Cobras
from superpac.strategies.baselines.explore_consolidate import ExploreConsolidate
from superpac.strategies.baselines.min_max import MinMax
from superpac.strategies.baselines.npu import Npu
from superpac.strategies.baselines.random_pairs import RandomPairs
from superpac.strategies.baselines.scal import Scal
from superpac.strategies.baselines.urasc import Urasc, UrascN
from superpac.strategies.superpac import Superpac, SuperpacPinned, SuperpacS
from superpac.strategies.superpac_d.strategy import SuperpacD

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
    "check_strategy",
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


def check_strategy(name: str, options: Mapping[str, Any]) -> None:
    """Say what is wrong with a strategy's name or the names of its options, before any work.

    Parameters
    ----------
    name : str
        One of ``STRATEGIES``.
    options : mapping
        Its options.

    Raises
    ------
    InputError
        With what is allowed.

    Examples
    --------
    >>> check_strategy("superpac-d", {"colour": "red"})
    Traceback (most recent call last):
        ...
    superpac.errors.InputError: The strategy 'superpac-d' has no option 'colour'; it takes: ...
    """
    if name not in STRATEGIES:
        known = ", ".join(sorted(STRATEGIES))
        raise InputError(f"There is no strategy {name!r}; choose one of: {known}.")
    taken = _option_names(STRATEGIES[name])
    for option in options:
        if option not in taken:
            allowed = f"it takes: {', '.join(sorted(taken))}" if taken else "it takes none"
            raise InputError(f"The strategy {name!r} has no option {option!r}; {allowed}.")


def _option_names(kind: type[Strategy]) -> set[str]:
    """Names of a strategy's options, with those that it passes on to what it is built upon."""
    found: set[str] = set()
    for one in kind.__mro__:
        if "__init__" not in vars(one):
            continue
        given = signature(vars(one)["__init__"]).parameters.values()
        found |= {option.name for option in given if option.kind is Parameter.KEYWORD_ONLY}
        if not any(option.kind is Parameter.VAR_KEYWORD for option in given):
            break
    return found


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
    check_strategy(name, options)
    try:
        return STRATEGIES[name](problem, **options)
    except TypeError as error:
        raise InputError(
            f"The strategy {name!r} was given an option of a wrong kind: {error}."
        ) from None
