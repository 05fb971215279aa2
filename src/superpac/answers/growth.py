"""Items that were added to a session: what the log says of them, and the session's facts with them.

A session's own facts never change, and its items keep their numbers. New items get the numbers
after the last, by events of kind ``items``: how many, the fingerprint of the data with them, the
place they are in, and where items are known by content what each holds. Such an event cannot be
taken back: answers that come after it are about the new items.

Files may be gone from a folder, and come back: notes name those items by number (``gone``,
``back``). They keep their numbers and their answers, and are asked about and exported no more while
they are gone. Another note may give the number of clusters anew (``clusters``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from superpac.answers.events import ITEMS, NOTE, Draft, Event, SessionInfo
from superpac.errors import InputError

CONTENTS = "contents"
"""Part of a session's source: content and name of each item."""

ALSO = "also"
"""Part of a session's source: further places of items, each with the rows taken from it."""

GONE, BACK, CLUSTERS = "gone", "back", "clusters"
"""Fields of notes: items that are not there any more or are there again; the number of clusters."""

_AT_ONCE = 5_000  # numbers of items in one note

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
    changes = [event for event in events if changes_facts(event)]
    more = [event for event in changes if event.kind == ITEMS]
    noted = [event for event in changes if event.kind == NOTE]
    return _noted(_with_items(info, more) if more else info, noted)


def changes_facts(event: Event | Draft) -> bool:
    """Whether an event changes what a session is about, and is no answer."""
    if event.kind == NOTE:
        return any(field in event.body for field in (GONE, BACK, CLUSTERS))
    return event.kind == ITEMS


def numbers_in(event: Event, field: str, n_items: int) -> list[int]:
    """Items that a note names; an archive from elsewhere may say anything."""
    given = event.body.get(field)
    if not isinstance(given, list):
        return []
    return [k for k in given if type(k) is int and 0 <= k < n_items]


def gone_from(info: SessionInfo) -> frozenset[int]:
    """Numbers of the items whose files are gone.

    Parameters
    ----------
    info : SessionInfo
        With what was noted, as :func:`grown` gives it.

    Returns
    -------
    frozenset of int
    """
    text = info.source.get(GONE, "") if isinstance(info.source, dict) else ""
    return frozenset(int(k) for k in text.split()) if isinstance(text, str) else frozenset()


def presence(gone: Iterable[int], back: Iterable[int]) -> list[Draft]:
    """Notes that items are gone, and that others are back.

    Examples
    --------
    >>> [draft.body for draft in presence([3, 4], [7])]
    [{'gone': [3, 4]}, {'back': [7]}]
    """
    drafts: list[Draft] = []
    for field, items in ((GONE, sorted(gone)), (BACK, sorted(back))):
        begins = range(0, len(items), _AT_ONCE)
        drafts += [Draft(NOTE, {field: items[begin : begin + _AT_ONCE]}) for begin in begins]
    return drafts


def _noted(info: SessionInfo, notes: Sequence[Event]) -> SessionInfo:
    """Facts of a session with what notes say of them."""
    gone: set[int] = set()
    spec = info.spec
    for event in notes:
        gone |= set(numbers_in(event, GONE, info.n_items))
        gone -= set(numbers_in(event, BACK, info.n_items))
        clusters = event.body.get(CLUSTERS)
        if (type(clusters) is int and 1 <= clusters <= info.n_items) or clusters == "auto":
            spec = {**spec, "n_clusters": clusters}
    if gone:
        source = dict(info.source) if isinstance(info.source, dict) else {"what": info.source}
        info = replace(info, source={**source, GONE: " ".join(map(str, sorted(gone)))})
    return info if spec is info.spec else replace(info, spec=spec)


def _with_items(info: SessionInfo, more: Sequence[Event]) -> SessionInfo:
    """Facts of a session with items that were added."""
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
