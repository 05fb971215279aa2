"""Whether data are the ones that a session began with, and which item is which.

A log knows items by number. Rows of a table have these numbers for good: values, ids and order must
be as they were. Files in a folder and texts are known by their content: the session notes down what
each held, so that a file may be renamed, even to another place in the order. Of what was encoded
that is the file or the text itself, whose vector may be made anew; of pixels it is their values.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from superpac.answers.growth import BETWEEN, CONTENTS, GONE, gone_from, parts_of
from superpac.errors import InputError
from superpac.system.safe_text import encodable

if TYPE_CHECKING:
    from superpac.answers.events import SessionInfo
    from superpac.data import Dataset

LONGEST = 2 << 20
"""Longest list of contents that is noted down, some forty thousand files: archives have a limit."""

_NAMED = 3  # files to name in a sentence
_OF_VALUES = 16  # digits of a content that is a hash of values; of a file or a text it has more


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
    if data.features and isinstance(where, str):
        where = {"what": encodable(where), "features": encodable(data.features)}
    if not data.by_content:
        return encodable(where) if isinstance(where, str) else where
    recipe = dict(where) if isinstance(where, dict) else {"what": encodable(where)}
    for part in (CONTENTS, GONE):
        recipe.pop(part, None)
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
    if info.fingerprint in (data.fingerprint, data.whole):
        return data
    if info.fingerprint in data.earlier_fingerprints:
        return data
    if data.by_content:
        items = contents_of(info) or []
        rows, new = _match(data, items)
        gone = [name for (_, name), row in zip(items, rows, strict=True) if row is None]
        if len(gone) < len(items):  # else another folder or another size: all files would be named
            known = gone_from(info)
            if {k for k, row in enumerate(rows) if row is None} <= known:
                gone = []
            if new and not gone:
                raise InputError(_more(data, info, new))
            if gone:
                files = _difference(gone, [str(data.ids[row]) for row in new])
                raise InputError(
                    f"The session {info.name!r} began with other items ({files}). Put them "
                    "back as they were, only names may differ; or go on without them: "
                    f"superpac label {quote(data.source)}."
                )
            if None in rows:
                return _without_gone(data, rows, items, info)
            found = _picked(data, rows)
            known_as = (found.fingerprint, *found.earlier_fingerprints, of_contents(items))
            if info.fingerprint in known_as:
                return found
            if data.marks is not None:
                raise InputError(
                    f"The items of the session {info.name!r} are there, but {data.features} makes "
                    "other vectors of them now: it has changed since. Put back what it was, or "
                    "begin a new session."
                )
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
        gone = {k for k, row in enumerate(rows) if row is None}
        return (
            [] if not rows or not gone <= gone_from(info) else [str(data.ids[row]) for row in new]
        )
    n = info.n_items
    grown = len(data) > n and _picked(data, range(n)).fingerprint == info.fingerprint
    return [str(name) for name in data.ids[n:]] if grown else []


def without_new(data: Dataset, info: SessionInfo) -> Dataset:
    """Leave out what data hold beyond the items of a session; other data come back as they are."""
    if not names_beyond(data, info):
        return data
    if not data.by_content:
        return _picked(data, range(info.n_items))
    rows, _ = _match(data, contents_of(info) or [])
    return _picked(data, rows)


@dataclass(frozen=True)
class Change:
    """How the things in a place differ from a session's items.

    Attributes
    ----------
    gone, back : frozenset of int
        Items that are not there any more, and that are there again.
    new : tuple of str
        Names of things that the session does not have.
    """

    gone: frozenset[int]
    back: frozenset[int]
    new: tuple[str, ...]


def change_of(data: Dataset, info: SessionInfo) -> Change | None:
    """Say what has changed in data since a session noted its items.

    Parameters
    ----------
    data : Dataset
        What is there now.
    info : SessionInfo
        What the session is, with what was added to it.

    Returns
    -------
    Change or None
        None where these are other data: no item of the session is among them, or items are known
        by their row and rows have changed.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.session.questions import describe
    >>> from superpac.session.spec import Spec
    >>> X = [[1, 0], [0, 1], [1, 1]]
    >>> info = describe(Dataset(X, ids=["a", "b", "c"], by_content=True), Spec(2))
    >>> now = Dataset([[0, 1], [1, 1], [5, 5]], ids=["b", "c", "d"], by_content=True)
    >>> change_of(now, info)
    Change(gone=frozenset({0}), back=frozenset(), new=('d',))
    """
    if are_items_of(data, info):
        return Change(frozenset(), gone_from(info) - set(_missing(data, info)), ())
    if not data.by_content:
        beyond = names_beyond(data, info)
        return Change(frozenset(), frozenset(), tuple(beyond)) if beyond else None
    rows, new = _match(data, contents_of(info) or [])
    missing = {k for k, row in enumerate(rows) if row is None}
    if len(missing) == len(rows):
        return None
    known = gone_from(info)
    return Change(
        frozenset(missing - known), known - missing, tuple(str(data.ids[row]) for row in new)
    )


def _missing(data: Dataset, info: SessionInfo) -> list[int]:
    """Items of a session that are not among data."""
    if not data.by_content:
        return []
    if data.absent:
        return list(data.absent)
    rows, _ = _match(data, contents_of(info) or [])
    return [k for k, row in enumerate(rows) if row is None]


def _without_gone(
    data: Dataset,
    rows: Sequence[int | None],
    items: Sequence[tuple[str, str]],
    info: SessionInfo,
) -> Dataset:
    """Items of a session some of whose files are gone, with stand-ins for these."""
    from superpac.data.joining import with_stand_ins

    there = _picked(data, rows)
    scaled = there.shown is not None and not there.features
    raw = replace(there, X=there.shown, shown=None) if scaled else there  # type: ignore[arg-type]
    numbers = iter(range(len(raw)))
    places = [None if row is None else next(numbers) for row in rows]
    contents, names = zip(*items, strict=True)
    found = with_stand_ins(raw, places, names, contents)
    return replace(found.standardised() if scaled else found, whole=info.fingerprint)


def of_contents(items: Sequence[tuple[str, str]]) -> str:
    """Fingerprint of items by their contents alone, where the values of some are not at hand."""
    contents = [content for content, _ in items]
    return sha256(json.dumps(["contents", contents]).encode()).hexdigest()


def _picked(data: Dataset, rows: Sequence[int | None]) -> Dataset:
    """Some of the points, as if there had been no others."""
    from superpac.features.encoding import of_these

    return of_these(data.in_order([row for row in rows if row is not None]))


def contents_as_noted(data: Dataset, info: SessionInfo) -> tuple[str, ...]:
    """Content of each point in the form in which a session has noted that of its items.

    Sessions of before knew encoded items by the values of their vectors.

    Parameters
    ----------
    data : Dataset
        Any points.
    info : SessionInfo
        What the session is.

    Returns
    -------
    tuple of str
    """
    return _as_noted(data, contents_of(info) or [])


def _as_noted(data: Dataset, items: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    earlier = bool(items) and len(items[0][0]) == _OF_VALUES
    return data.value_contents if earlier else data.contents


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
    contents = _as_noted(data, items)
    by_name = {pair: row for row, pair in enumerate(zip(contents, data.ids, strict=True))}
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
