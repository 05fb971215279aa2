"""How long work tells how far it is: one kind of function, called as ``progress(done, total)``.

Work in several stages calls it from 0 again for each. Who shows them by name gives an object with
a method ``stage(name)``, which gives the function of that stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Progress = Callable[[int, int], None]

WHOLE = 10_000
"""What work of unlike parts counts to: ten-thousandths of the time that it is likely to take."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default of every ``progress`` argument."""


def stage_of(progress: Progress, name: str) -> Progress:
    """Progress of one named stage.

    Parameters
    ----------
    progress : callable
        Called as ``progress(done, total)``; one with a method ``stage(name)`` is asked for another.
    name : str
        The stage.

    Returns
    -------
    callable
        Where stages have no names it is `progress` itself.

    Examples
    --------
    >>> stage_of(no_progress, "map") is no_progress
    True
    """
    named: Callable[[str], Progress] | None = getattr(progress, "stage", None)
    return progress if named is None else named(name)


def parts_of(progress: Progress, sizes: Sequence[float]) -> list[Progress]:
    """One progress for each part of some work, which together move a single one.

    Parameters
    ----------
    progress : callable
        Called as ``progress(done, total)`` of the whole, where `total` is 10,000; it never goes
        back.
    sizes : sequence of float
        How long each part is likely to take, in any unit.

    Returns
    -------
    list of callable
        The parts' own, to be used one after the other.

    Examples
    --------
    >>> first, second = parts_of(lambda done, total: print(done, total), [1, 3])
    >>> first(1, 2), first(2, 2), second(7, 7)
    1250 10000
    2500 10000
    10000 10000
    (None, None, None)
    """
    if progress is no_progress:
        return [no_progress] * len(sizes)
    whole, furthest = float(sum(sizes)), -1

    def part(before: float, size: float) -> Progress:
        def tell(done: int, total: int) -> None:
            nonlocal furthest
            share = before + size * (min(1.0, done / total) if total else 1.0)
            at = min(WHOLE, round(WHOLE * share / whole)) if whole else WHOLE
            if at > furthest:
                furthest = at
                progress(at, WHOLE)

        return tell

    return [part(float(sum(sizes[:i])), float(size)) for i, size in enumerate(sizes)]
