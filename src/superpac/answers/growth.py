"""Items that were added to a session: what the log says of them, and the session's facts with them.

A session's own facts never change, and its items keep their numbers. New items get the numbers
after the last, by events of kind ``items``: how many, the fingerprint of the data with them, the
place they are in, and where items are known by content what each holds. Such an event cannot be
taken back: answers that come after it are about the new items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from superpac.answers.events import ITEMS, Draft, Event, SessionInfo
from superpac.errors import InputError

CONTENTS = "contents"
"""Part of a session's source: content and name of each item."""

ALSO = "also"
"""Part of a session's source: further places of items, each with the rows taken from it."""

BETWEEN = "//"  # no path has two slashes in a row

_LONGEST = 60_000  # contents in one event, whose body may take little more
_LONGEST_PLACE = 4_000


@dataclass(frozen=True)
class Part:
    """Items that lie in one place: `count` of them from row `first` on.

    Where items are known by content the rows say nothing: any file of the place may be one of them.
    """

    where: str
    first: int
    count: int


def added(events: Iterable[Event | Draft]) -> int:
    """How many items some events add.

    Examples
    --------
    >>> added([Draft("items", {"count": 3, "fingerprint": "f00d"}), Draft("bad", {"i": 1})])
    3
    """
    return sum(int(event.body["count"]) for event in events if event.kind == ITEMS)


def grown(info: SessionInfo, events: Iterable[Event]) -> SessionInfo:
    """Facts of a session with the items that were added to it.

    Parameters
    ----------
    info : SessionInfo
        What the session began with.
    events : iterable of Event
        Its log, or those events of it that add items.

    Returns
    -------
    SessionInfo
        With the number, fingerprint and source of all items; `info` itself where none were added.

    Examples
    --------
    >>> begun = SessionInfo("a1", "x", "", "f00d", 10, "old.csv")
    >>> body = {"count": 2, "fingerprint": "beef", "place": "new.csv", "first": 0}
    >>> now = grown(begun, [Event(1, "items", body, "", "k", "", None, "")])
    >>> now.n_items, now.fingerprint, [part.where for part in parts_of(now)]
    (12, 'beef', ['old.csv', 'new.csv'])
    """
    more = [event for event in events if event.kind == ITEMS]
    if not more:
        return info
    source = dict(info.source) if isinstance(info.source, dict) else {"what": info.source}
    known = source.get(CONTENTS)
    if isinstance(known, str) and all(CONTENTS in event.body for event in more):
        source[CONTENTS] = BETWEEN.join([known, *(event.body[CONTENTS] for event in more)])
    else:
        source.pop(CONTENTS, None)
    also = [source[ALSO]] if isinstance(source.get(ALSO), str) else []
    for event in more:
        body = event.body
        also.append(f"{body.get('first', 0)} {body['count']} {body.get('place', '')}")
    source[ALSO] = BETWEEN.join(also)
    return replace(
        info,
        fingerprint=more[-1].body["fingerprint"],
        n_items=info.n_items + added(more),
        source=source,
    )


def parts_of(info: SessionInfo) -> list[Part]:
    """Where the items of a session lie, in the order of their numbers.

    Parameters
    ----------
    info : SessionInfo
        With what was added, as :func:`grown` gives it.

    Returns
    -------
    list of Part
        Neighbours from one place are one part.

    Raises
    ------
    InputError
        When an archive from elsewhere says what cannot be.
    """
    source: dict[str, Any] = info.source if isinstance(info.source, dict) else {"what": info.source}
    what, text = source.get("what", ""), source.get(ALSO, "")
    found: list[Part] = []
    for entry in text.split(BETWEEN) if isinstance(text, str) and text else ():
        first, _, rest = entry.partition(" ")
        count, _, where = rest.partition(" ")
        if not (first.isascii() and first.isdigit() and count.isascii() and count.isdigit()):
            raise InputError("where its further items are (also) is written in another form.")
        found.append(Part(where, int(first), int(count)))
    rest_of = info.n_items - sum(part.count for part in found)
    if rest_of < 0:
        raise InputError("it names more places of items than it has items.")
    merged = [Part(what if isinstance(what, str) else "", 0, rest_of)]
    for part in found:
        last = merged[-1]
        if part.where == last.where and part.first == last.first + last.count:
            merged[-1] = replace(last, count=last.count + part.count)
        else:
            merged.append(part)
    return merged


def addition(
    count: int,
    fingerprint: str,
    *,
    place: str = "",
    first: int = 0,
    contents: Sequence[str] | None = None,
    annotator: str = "",
) -> list[Draft]:
    """Events that add items, to be written in one append.

    Parameters
    ----------
    count : int
        How many.
    fingerprint : str
        Of the data with all of them.
    place : str, optional
        Where they are.
    first : int, optional
        Their first row there.
    contents : sequence of str, optional
        Content and name of each, where items are known by content.
    annotator : str, optional
        Who adds them.

    Returns
    -------
    list of Draft
        Several where the contents are too long for one event.
    """
    if len(place) > _LONGEST_PLACE:
        raise InputError(f"The path {place[:60]!r}... is too long to be noted; move the data.")
    body: dict[str, Any] = {"fingerprint": fingerprint, "first": first}
    if place:
        body["place"] = place
    if contents is None:
        return [Draft(ITEMS, {**body, "count": count}, annotator)]
    chunks: list[list[str]] = [[]]
    size = 0
    for one in contents:
        took = 6 * len(one) + len(BETWEEN)  # a letter takes six bytes as JSON at most
        if chunks[-1] and size + took > _LONGEST - 6 * len(place):
            chunks.append([])
            size = 0
        chunks[-1].append(one)
        size += took
    drafts = []
    for chunk in chunks:
        more = {**body, "first": first, "count": len(chunk), CONTENTS: BETWEEN.join(chunk)}
        drafts.append(Draft(ITEMS, more, annotator))
        first += len(chunk)
    return drafts
