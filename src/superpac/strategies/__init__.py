"""Which question next: the paper's strategies, SUPERPAC-D and rivals, all behind one small base.

Only names are here; a strategy is imported when it is used, so that reading a log or a command
line's help does not wait for compilers to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from superpac.errors import InputError

if TYPE_CHECKING:
    from superpac.strategies.base import Beliefs, Count, Problem, Proposal, Strategy

# name -> module and class
_PLACES = {
    "superpac": ("superpac", "Superpac"),
    "superpac-b": ("superpac_b.strategy", "SuperpacB"),
    "superpac-d": ("superpac_d.strategy", "SuperpacD"),
    "superpac-pinned": ("superpac", "SuperpacPinned"),
    "superpac-s": ("superpac", "SuperpacS"),
    "random": ("baselines.random_pairs", "RandomPairs"),
    "urasc-n": ("baselines.urasc", "UrascN"),
    "urasc": ("baselines.urasc", "Urasc"),
    "explore-consolidate": ("baselines.explore_consolidate", "ExploreConsolidate"),
    "min-max": ("baselines.min_max", "MinMax"),
    "cobras": ("baselines.cobras", "Cobras"),
    "npu": ("baselines.npu", "Npu"),
    "scal": ("baselines.scal", "Scal"),
    "a3s": ("baselines.a3s", "A3S"),
    "biswas": ("baselines.biswas", "Biswas"),
}
_CLASSES = {cls: module for module, cls in _PLACES.values()}
_BASE = ("Beliefs", "Count", "Problem", "Proposal", "Strategy")

#: strategies that take a contradiction in as evidence instead of refusing it
WEIGH_ANSWERS = frozenset({"superpac-b", "superpac-d"})
#: the paper's strategies: bases, residuals and margins of the points as they are, not scaled
AS_THEY_ARE = frozenset({"superpac", "superpac-pinned", "superpac-s"})
#: strategies that find the number of clusters while asking
FIND_COUNT = frozenset({"superpac-d"})
#: strategies that compute on a graphics processor where the problem has one
USE_DEVICES = frozenset({"superpac-d"})

__all__ = [
    "AS_THEY_ARE",
    "FIND_COUNT",
    "STRATEGIES",
    "USE_DEVICES",
    "WEIGH_ANSWERS",
    "Beliefs",
    "Count",
    "Problem",
    "Proposal",
    "Strategy",
    "check_strategy",
    "make_strategy",
]


class _Strategies(Mapping[str, "type[Strategy]"]):
    """Every strategy by its name, imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Strategy]:
        module, cls = _PLACES[name]
        found: type[Strategy] = getattr(import_module(f"superpac.strategies.{module}"), cls)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _PLACES  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


STRATEGIES: Mapping[str, type[Strategy]] = _Strategies()


def __getattr__(name: str) -> Any:
    module = "base" if name in _BASE else _CLASSES.get(name)
    if module is None:
        raise AttributeError(f"module 'superpac.strategies' has no attribute {name!r}")
    return getattr(import_module(f"superpac.strategies.{module}"), name)


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
    taken = _option_names(STRATEGIES[name]) if options else set()
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
    return found - {"settings"}  # numbers of the method, for research, not for a session's spec


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
