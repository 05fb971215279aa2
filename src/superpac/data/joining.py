"""Two data sets of one kind as one: points that come later stand after those that were there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from superpac.data.dataset import Dataset
from superpac.errors import DataError

# what a point was before it became a vector
_THINGS = ("paths", "texts", "sounds", "rows", "cuts", "marks")


def join(first: Dataset, more: Dataset) -> Dataset:
    """Put the points of one data set after those of another.

    Parameters
    ----------
    first, more : Dataset
        Of one kind, with the same columns or the same shape of images; not rescaled.

    Returns
    -------
    Dataset
        Named as the first. Points that are called by their row number get their new one; other
        names must differ, except where points are known by content: then a name that is taken is
        changed.

    Raises
    ------
    DataError
        Naming what does not fit.

    Examples
    --------
    >>> join(Dataset([[1, 0], [0, 1]]), Dataset([[2, 2]])).ids.tolist()
    ['0', '1', '2']
    """
    _check(first, more)
    facts: dict[str, Any] = {}
    for name in _THINGS:
        here, there = getattr(first, name), getattr(more, name)
        facts[name] = None if here is None or there is None else (*here, *there)
    y, names = _classes(first, more)
    shared = [key for key in first.extras if key in more.extras]
    return replace(
        first,
        X=np.concatenate([first.X, more.X]),
        ids=_ids(first, more),
        y=y,
        class_names=names,
        absent=(*first.absent, *(len(first) + k for k in more.absent)),
        whole="",
        made_by=first.made_by if first.made_by == more.made_by else "",
        extras={key: np.concatenate([first.extras[key], more.extras[key]]) for key in shared},
        **facts,
    )


def with_stand_ins(
    data: Dataset, rows: Sequence[int | None], names: Sequence[str], marks: Sequence[str]
) -> Dataset:
    """Give points in an order in which some are missing: another one's values stand in for these.

    A copy of a point changes little in a graph of neighbours, where a point far from all would be
    a group of its own.

    Parameters
    ----------
    data : Dataset
        The points that are there, not rescaled.
    rows : sequence of int or None
        Row of each point in the new order; None where it is missing.
    names, marks : sequence of str
        Name of each, and its content in hexadecimal digits.

    Returns
    -------
    Dataset
        With the missing ones as `absent`.

    Examples
    --------
    >>> two = Dataset([[1, 0], [0, 1]], ids=["a", "c"])
    >>> three = with_stand_ins(two, [0, None, 1], ["a", "b", "c"], ["0", "1", "2"])
    >>> three.ids.tolist(), three.absent
    (['a', 'b', 'c'], (1,))
    """
    there = [row for row in rows if row is not None]
    taken = {str(data.ids[row]) for row in there}
    filled, ids = [], []
    for k, row in enumerate(rows):
        filled.append(there[int(marks[k][:8], 16) % len(there)] if row is None else row)
        name = str(names[k] if row is None else data.ids[row])
        while row is None and name in taken:  # another file has its name now
            name += " (before)"
        taken.add(name)
        ids.append(name)
    facts: dict[str, Any] = {}
    for part in _THINGS:
        held = getattr(data, part)
        facts[part] = None if held is None else tuple(held[row] for row in filled)
    if facts["marks"] is not None:
        known = zip(facts["marks"], marks, rows, strict=True)
        facts["marks"] = tuple(mark if row is None else own for own, mark, row in known)
    return replace(
        data,
        X=data.X[filled],
        ids=np.array(ids),
        y=None if data.y is None else data.y[filled],
        extras={key: values[filled] for key, values in data.extras.items()},
        absent=tuple(k for k, row in enumerate(rows) if row is None),
        **facts,
    )


def numbered(data: Dataset) -> bool:
    """Whether points are called by their row numbers, as where nobody named them."""
    return bool(data.ids.tolist() == [str(k) for k in range(len(data))])


def rows_of(data: Dataset, start: int, count: int) -> Dataset:
    """Neighbouring rows, called by number from 0 on where all are called by number."""
    part = data.subset(range(start, start + count))
    return replace(part, ids=None) if numbered(data) else part  # type: ignore[arg-type]


def _check(first: Dataset, more: Dataset) -> None:
    """Say what keeps two data sets from being one."""
    if first.kind != more.kind:
        raise DataError(f"{more.source}: is of kind {more.kind}, not {first.kind}; give the same.")
    if first.features != more.features:
        raise DataError(
            f"{more.source}: its vectors were made by {more.features or 'no encoder'}, not by "
            f"{first.features or 'none'}; take the same for both."
        )
    if first.columns != more.columns:
        here, there = first.columns or (), more.columns or ()
        missing = [name for name in here if name not in there]
        new = [name for name in there if name not in here]
        words = f"missing: {', '.join(missing[:3])}" if missing else f"new: {', '.join(new[:3])}"
        words = words if missing or new else "they stand in another order"
        raise DataError(f"{more.source}: has other columns ({words}); give the same columns.")
    if first.image_shape != more.image_shape:
        raise DataError(
            f"{more.source}: images of {_shape(more)} pixels, but there they have {_shape(first)}; "
            "give images of the same size."
        )
    if first.X.shape[1] != more.X.shape[1]:
        raise DataError(
            f"{more.source}: has {more.X.shape[1]} values for each point, not "
            f"{first.X.shape[1]}; give the same."
        )
    if first.by_content and first.X.dtype != more.X.dtype:
        raise DataError(
            f"{more.source}: has {more.X.dtype} values, not {first.X.dtype}, whose scales differ; "
            "convert them first."
        )


def _shape(data: Dataset) -> str:
    return "x".join(map(str, (data.image_shape or ())[:2]))


def _ids(first: Dataset, more: Dataset) -> Any:
    """Names of all points, each once."""
    if numbered(first) and numbered(more):
        return None
    here, there = first.ids.tolist(), more.ids.tolist()
    taken = set(here)
    if not first.by_content:
        twice = next((name for name in there if name in taken), None)
        if twice is not None:
            raise DataError(
                f"{more.source}: the name {twice!r} is taken by an item that is there already; "
                "give new items names of their own, or name another column with --ids."
            )
        return here + there
    for k, name in enumerate(there):
        free, number = name, 1
        while free in taken:
            number += 1
            free = f"{name} ({number})"
        there[k] = free
        taken.add(free)
    return here + there


def _classes(first: Dataset, more: Dataset) -> tuple[Any, tuple[str, ...] | None]:
    """True classes of all points, where both know them."""
    if first.y is None or more.y is None or first.class_names is None or more.class_names is None:
        return None, None
    names = list(first.class_names)
    names += [name for name in more.class_names if name not in names]
    number = np.array([names.index(name) for name in more.class_names], dtype=np.intp)
    return np.concatenate([first.y, number[more.y]]), tuple(names)
