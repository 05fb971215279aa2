"""Items that enter a session later: which of some data are new, and how all are read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from superpac.answers.events import Draft, SessionInfo
from superpac.answers.growth import Part, addition, parts_of
from superpac.errors import DataError, InputError
from superpac.session.known_items import contents_as_noted, contents_of, how_to_add, of_contents

if TYPE_CHECKING:
    from superpac.data import Dataset


@dataclass(frozen=True)
class Addition:
    """Items to be added.

    Attributes
    ----------
    data : Dataset
        All items, the new ones last.
    count : int
        How many are new.
    passed : int
        How many of those given are there already.
    drafts : list of Draft
        Events that say so.
    """

    data: Dataset
    count: int
    passed: int
    drafts: list[Draft]


def plan_addition(
    data: Dataset, more: Dataset, info: SessionInfo, *, place: str = "", annotator: str = ""
) -> Addition:
    """Find what is new in some data, and put it after the items that are there.

    Images that are known by content are passed over where their content is there already. Rows of
    a table are new unless the place, or a file that begins with all rows of the session, gave them
    before.

    Parameters
    ----------
    data : Dataset
        The session's items.
    more : Dataset
        What may be new, not rescaled.
    info : SessionInfo
        The session's facts, with what was added before.
    place : str, optional
        Where `more` is.
    annotator : str, optional
        Who adds it.

    Returns
    -------
    Addition
        With a `count` of 0 and no drafts where nothing is new.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.session.questions import describe
    >>> from superpac.session.spec import Spec
    >>> old = Dataset([[1, 0], [0, 1]], ids=["a", "b"], by_content=True)
    >>> given = Dataset([[0, 1], [5, 5]], ids=["copy of b", "c"], by_content=True)
    >>> found = plan_addition(old, given, describe(old, Spec(2)))
    >>> found.data.ids.tolist(), found.count, found.passed
    (['a', 'b', 'c'], 1, 1)
    """
    from superpac.data.joining import numbered, rows_of
    from superpac.features.encoding import joined

    scaled = data.shown
    if scaled is not None and data.features:
        raise InputError(
            f"The vectors of the session {info.name!r} were made by {data.features}, which has "
            "learned from its items alone; begin a new session with all of them."
        )
    raw = data if scaled is None else replace(data, X=scaled, shown=None)
    if data.by_content != more.by_content:
        raise DataError(f"{more.source}: its items are known in another way than the session's.")
    by_content = data.by_content and not _by_row(data, info)
    if by_content:
        there = [content for content, _ in contents_of(info) or ()]
        rows = _unknown(there or contents_as_noted(raw, info), contents_as_noted(more, info))
        first, new = 0, more.subset(rows) if rows else None
        if new is not None and numbered(more):
            new = replace(new, ids=None)  # type: ignore[arg-type]
    else:
        first = _begin(raw, more, info, place)
        new = rows_of(more, first, len(more) - first) if first < len(more) else None
    if new is None:
        return Addition(data, 0, len(more), [])
    whole = joined(raw, new)
    if scaled is not None:
        whole = whole.standardised()
    contents, fingerprint = None, whole.fingerprint
    if by_content:
        if contents_of(info) is None:
            raise InputError(
                f"The session {info.name!r} has not noted what its items hold, so that none can "
                "be added; begin a new session with all of them."
            )
        pairs = zip(contents_as_noted(whole, info), whole.ids.tolist(), strict=True)
        contents = [f"{content} {name}" for content, name in pairs][len(data) :]
        if data.absent:
            noted = [(one.partition(" ")[0], "") for one in contents]
            fingerprint = of_contents([*(contents_of(info) or ()), *noted])
            whole = replace(whole, whole=fingerprint)
    drafts = addition(
        len(new),
        fingerprint,
        place=place,
        first=first,
        contents=contents,
        annotator=annotator,
    )
    return Addition(whole, len(new), len(more) - len(new), drafts)


def _by_row(data: Dataset, info: SessionInfo) -> bool:
    """Whether a session knows texts by their rows, as those of before did."""
    return data.kind == "text" and contents_of(info) is None


def _unknown(there: Sequence[str], more: Sequence[str]) -> list[int]:
    """Rows whose content is nowhere before them."""
    seen, rows = set(there), []
    for row, content in enumerate(more):
        if content not in seen:
            seen.add(content)
            rows.append(row)
    return rows


def _begin(data: Dataset, more: Dataset, info: SessionInfo, place: str) -> int:
    """First row that is new: those before it were taken from the same place, or are the session."""
    used = [part.first + part.count for part in parts_of(info) if place and part.where == place]
    if used:
        return max(used)
    n = len(data)
    begins = len(more) >= n and more.ids[:n].tolist() == data.ids.tolist()
    return n if begins and _same_points(data, more) else 0


def _same_points(data: Dataset, more: Dataset) -> bool:
    """Whether data begin with all points of others."""
    n = len(data)
    if data.marks is not None and more.marks is not None:
        return more.marks[:n] == data.marks
    same_width = more.X.shape[1] == data.X.shape[1]
    return same_width and bool((more.X[:n] == data.X).all())


def read_items(
    info: SessionInfo,
    read: Callable[[str], Dataset],
    moved: Sequence[str] = (),
    *,
    growing: bool = False,
) -> Dataset:
    """Read all items of a session, from every place that they are in.

    Parameters
    ----------
    info : SessionInfo
        The session's facts, with what was added.
    read : callable
        Reads one place; nothing is rescaled yet.
    moved : sequence of str, optional
        Where the data are now: each place anew, or one that holds everything.
    growing : bool, default=False
        Whether rows that the session does not have are no obstacle, since they are to be added.

    Returns
    -------
    Dataset
        With images in any order, and possibly more than the session has.
    """
    from superpac.data.joining import rows_of
    from superpac.features.encoding import joined

    parts = _moved(parts_of(info), info, moved)
    if any(not part.where for part in parts):
        raise InputError(f"Where are the data of {info.name!r}? Say it with --data.")
    found = {place: read(place) for place in dict.fromkeys(part.where for part in parts)}
    if len(parts) == 1:
        return found[parts[0].where]
    if all(data.by_content and not _by_row(data, info) for data in found.values()):
        return reduce(joined, found.values())
    pieces = []
    for part in parts:
        rows, end = len(found[part.where]), part.first + part.count
        if rows < end:
            raise DataError(
                f"{part.where}: has {rows} rows, but the session {info.name!r} has taken {end} of "
                "it; put the file back as it was."
            )
        pieces.append(rows_of(found[part.where], part.first, part.count))
    for place, data in found.items():
        left = len(data) - max(p.first + p.count for p in parts if p.where == place)
        if left and not growing:
            raise InputError(
                f"{place} has {left} rows more than the session {info.name!r} has taken of it; "
                f"{how_to_add(info, place)}."
            )
    return reduce(joined, pieces)


def _moved(parts: list[Part], info: SessionInfo, moved: Sequence[str]) -> list[Part]:
    """The same parts in the places where they are now."""
    places = list(dict.fromkeys(part.where for part in parts))
    if not moved:
        return parts
    if len(moved) == len(places):
        where = dict(zip(places, moved, strict=True))
        return [replace(part, where=where[part.where]) for part in parts]
    if len(moved) == 1:
        return [Part(moved[0], 0, info.n_items)]
    raise InputError(
        f"The data of {info.name!r} are in {len(places)} places ({', '.join(places)}), and --data "
        f"was given {len(moved)} times; give it once for each, in this order, or one that has all."
    )
