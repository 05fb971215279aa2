"""Declaring an estimator's parameters: each with its default and the values that it may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from superpac.errors import InputError


def parameter(default: Any, allowed: str, holds: Callable[[Any], bool]) -> Any:
    """Declare a parameter; `allowed` completes the sentence "The parameter must be ..."."""
    return field(default=default, metadata={"allowed": allowed, "holds": holds})


def integer(default: int | None, *, minimum: int = 1, optional: bool = False) -> Any:
    """Declare an integer of at least `minimum`, or None where that is `optional`."""
    allowed = f"{'None or ' if optional else ''}an integer of at least {minimum}"
    return parameter(
        default, allowed, lambda v: (optional and v is None) or (is_integer(v) and v >= minimum)
    )


def real(default: float, interval: str) -> Any:
    """Declare a number in an interval such as ``"(0, 1]"``."""
    low, high = (float(end) for end in interval[1:-1].split(","))

    def holds(value: Any) -> bool:
        number = is_integer(value) or isinstance(value, (float, np.floating))
        above = number and (value > low if interval[0] == "(" else value >= low)
        return above and (value < high if interval[-1] == ")" else value <= high)

    return parameter(default, f"a number in {interval}", holds)


def flag(default: bool = False) -> Any:
    """Declare a truth value, which may also be written as 1 or 0."""
    return parameter(
        default,
        "True or False",
        lambda v: isinstance(v, (bool, np.bool_)) or (is_integer(v) and v in (0, 1)),
    )


def choice(default: str, choices: tuple[str, ...]) -> Any:
    """Declare one of a few words."""
    return parameter(
        default, f"one of {', '.join(choices)}", lambda v: isinstance(v, str) and v in choices
    )


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number; truth values are not numbers."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_declared(estimator: Any) -> None:
    """Raise InputError for the first parameter whose value is not allowed."""
    for each in fields(estimator):
        holds = each.metadata.get("holds")
        if holds is not None and not holds(getattr(estimator, each.name)):
            raise parameter_error(estimator, each.name, each.metadata["allowed"])


def parameter_error(estimator: BaseEstimator, name: str, allowed: str) -> InputError:
    """Put the sentence together that refuses the value of a parameter."""
    return InputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {allowed}. "
        f"Got {getattr(estimator, name)!r} instead."
    )
