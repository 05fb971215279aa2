"""Whether data are the ones that a session began with, and which item is which.

A log knows items by number. Rows of a table have these numbers for good: values, ids and order must
be as they were. Images in a folder are known by their content: the session notes down what each
held, so that a file may be renamed, even to another place in the order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from superpac.answers.growth import BETWEEN, CONTENTS, parts_of
from superpac.errors import InputError
from superpac.system.safe_text import encodable

if TYPE_CHECKING:
    from superpac.answers.events import SessionInfo
    from superpac.data import Dataset

LONGEST = 2 << 20
"""Longest list of contents that is noted down, some fifty thousand files: archives have a limit."""

_NAMED = 3  # files to name in a sentence


def noted(data: Dataset, source: str | dict[str, Any]) -> str | dict[str, Any]:
    """What a new session notes down to find its items again.

    Parameters
    ----------
    data : Dataset
        The items.
    source : str or dict
        Where they are.

    Returns
    -------
    str or dict
        With content and name of each item, where items are known by content.
    """
    where = source or data.source
    if not data.by_content:
        return encodable(where) if isinstance(where, str) else where
    recipe = dict(where) if isinstance(where, dict) else {"what": encodable(where)}
    recipe.pop(CONTENTS, None)
    pairs = zip(data.contents, data.ids.tolist(), strict=True)
    text = BETWEEN.join(f"{content} {name}" for content, name in pairs)
    return {**recipe, CONTENTS: text} if len(text) <= LONGEST else recipe


def first_names(info: SessionInfo) -> list[str] | None:
    """Names that the items of a session had when it began, where they were noted down."""
    items = contents_of(info)
    return None if items is None else [name for _, name in items]


def are_items_of(data: Dataset, info: SessionInfo) -> bool:
    """Whether a session began with these data, in whatever order where content is what counts.

    Parameters
    ----------
    data : Dataset
        The items.
    info : SessionInfo
        What the session is.

    Returns
    -------
    bool
    """
    try:
        as_items_of(data, info)
    except InputError:
        return False
    return True


def as_items_of(data: Dataset, info: SessionInfo) -> Dataset:
    """Give the data with items in the order of a session's numbers, or refuse other data.

    Parameters
    ----------
    data : Dataset
        The items.
    info : SessionInfo
        What the session is, with what was added to it.

    Returns
    -------
    Dataset
        Without copies of images that are there.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.session.questions import describe
    >>> from superpac.session.spec import Spec
    >>> X = [[1, 0], [0, 1], [1, 1]]
    >>> info = describe(Dataset(X, ids=["a", "b", "c"], by_content=True), Spec(2))
    >>> renamed = Dataset(X[::-1], ids=["c", "d", "e"], by_content=True)
    >>> as_items_of(renamed, info).ids.tolist()
    ['e', 'd', 'c']
    """
    if data.fingerprint == info.fingerprint:
        return data
    if data.by_content:
        if data.named_fingerprint == info.fingerprint:  # begun with an earlier release
            return data
        items = contents_of(info) or []
        rows, new = _match(data, items)
        gone = [name for (_, name), row in zip(items, rows, strict=True) if row is None]
        if len(gone) < len(items):  # else another folder or another size: all files would be named
            if new and not gone:
                raise InputError(_more(data, info, new))
            if gone:
                files = _difference(gone, [str(data.ids[row]) for row in new])
                raise InputError(
                    f"The session {info.name!r} began with other images ({files}). Put the folder "
                    "back as it was, only names may differ; or begin a new session."
                )
            found = data.in_order([row for row in rows if row is not None])
            if found.fingerprint == info.fingerprint:
                return found
    elif beyond := names_beyond(data, info):
        raise InputError(_more(data, info, range(len(data) - len(beyond), len(data))))
    raise InputError(
        f"The session {info.name!r} began with data of fingerprint "
        f"{info.fingerprint[:12]}, but this data has {data.fingerprint[:12]}: values, names or "
        "row order have changed. Give the original data, or begin a new session."
    )


def names_beyond(data: Dataset, info: SessionInfo) -> list[str]:
    """Names of what data hold beyond all items of a session; none where an item is missing.

    Parameters
    ----------
    data : Dataset
        The data, such as a folder that has grown since.
    info : SessionInfo
        What the session is, with what was added to it.

    Returns
    -------
    list of str
    """
    if data.by_content:
        rows, new = _match(data, contents_of(info) or [])
        return [] if not rows or None in rows else [str(data.ids[row]) for row in new]
    n = info.n_items
    grown = len(data) > n and data.in_order(range(n)).fingerprint == info.fingerprint
    return [str(name) for name in data.ids[n:]] if grown else []


def without_new(data: Dataset, info: SessionInfo) -> Dataset:
    """Leave out what data hold beyond the items of a session; other data come back as they are."""
    if not names_beyond(data, info):
        return data
    if not data.by_content:
        return data.in_order(range(info.n_items))
    rows, _ = _match(data, contents_of(info) or [])
    return data.in_order([row for row in rows if row is not None])


def how_to_add(info: SessionInfo, place: str) -> str:
    """Say by which command items that are new in a place enter a session."""
    return f"add them with: superpac add {quote(info.name)} {quote(place)}"


def _more(data: Dataset, info: SessionInfo, rows: Sequence[int]) -> str:
    """Say that data have grown, where, and what to do."""
    place = data.source
    files = data.paths or data.sounds
    if files is not None:
        file = files[rows[0]]
        found = (Path(part.where) for part in parts_of(info) if part.where)
        place = next((str(folder) for folder in found if file.is_relative_to(folder)), place)
    what = "item" if data.by_content else "row"
    those = f"{len(rows)} {what}{'s' if len(rows) > 1 else ''}"
    names = [str(data.ids[row]) for row in rows]
    return (
        f"{place} has {those} that the session {info.name!r} does not have (new: {_list(names)}); "
        f"{how_to_add(info, place)}."
    )


def contents_of(info: SessionInfo) -> list[tuple[str, str]] | None:
    """Content and first name of each item; an archive from elsewhere may say anything.

    Parameters
    ----------
    info : SessionInfo
        What the session is, with what was added to it.

    Returns
    -------
    list of (str, str) or None
        None where they were not noted down.
    """
    text = info.source.get(CONTENTS) if isinstance(info.source, dict) else None
    if not isinstance(text, str):
        return None
    parts = [part.partition(" ") for part in text.split(BETWEEN)]
    good = len(parts) == info.n_items and all(name for _, _, name in parts)
    return [(content, name) for content, _, name in parts] if good else None


def _match(data: Dataset, items: Sequence[tuple[str, str]]) -> tuple[list[int | None], list[int]]:
    """Row of each item, None where its content is gone; and rows whose content no item has.

    A copy of an item is neither: it is left out.

    Of rows with equal content an item gets the one of its name, else the first that is left.
    """
    by_name = {pair: row for row, pair in enumerate(zip(data.contents, data.ids, strict=True))}
    rows = [by_name.pop(item, None) for item in items]
    left: defaultdict[str, deque[int]] = defaultdict(deque)
    for (content, _), row in by_name.items():
        left[content].append(row)
    for k, (content, _) in enumerate(items):
        if rows[k] is None and left[content]:
            rows[k] = left[content].popleft()
    known = {content for content, _ in items}
    return rows, sorted(row for key, over in left.items() if key not in known for row in over)


def _difference(gone: list[str], new: list[str]) -> str:
    """Say which files are not as they were."""
    changed = set(gone) & set(new)
    parts = {
        "changed": [name for name in gone if name in changed],
        "missing": [name for name in gone if name not in changed],
        "new": [name for name in new if name not in changed],
    }
    return "; ".join(f"{word}: {_list(names)}" for word, names in parts.items() if names)


def _list(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
