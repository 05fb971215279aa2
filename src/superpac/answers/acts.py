"""Acts: what a person did in one go, as the events that stand for it in the log.

An act is written in a single append under the client's key: whole, or not at all. One event
carries the key itself, several carry ``key/0``, ``key/1``, ... Read back, they tell what was said,
so that a request that is sent again is known from another that borrowed its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from superpac.answers.events import ITEMS, Draft, Event, canonical

SECOND, WITHDRAWN, DECIDED = "second", "withdrawn", "decided"
"""Fields of notes on second opinions: the answer judged; the opinion taken back, or decided on."""

TESTED = "tested"
"""Field of notes that answer a test pair: which test it is of."""

IMPLIED = "implied"
"""Part of an act's reasons: its pairs that were left out, since the others imply them."""

CHOSEN = "chosen"
"""Part of a retraction's reasons: a person chose this very event, and not the last one."""

ACT, DIGEST, WHOLE, ALONG = "act", "digest", "whole", "along"
"""Part of an act's reasons: what it is called and a digest of what it is about. Of a retraction's:
the event that was chosen, whose whole act went; the act with which this one comes and goes."""

KNOWN = "known"
"""Part of an answer's reasons: it follows from labels that were there beforehand. Each such answer
can be doubted and taken back by itself, so that they are no act in the sense of `ACT`."""

Said = tuple[object, ...]
"""What an act says, apart from who did it and when; acts are the same if these are equal."""


def answered(i: int, j: int, answer: str) -> Said:
    """Say how two items compare."""
    return ("answer", int(i), int(j), answer)


def told(answers: Iterable[tuple[int, int, str]]) -> Said:
    """Say several such things at once."""
    return ("answers", *sorted((int(i), int(j), answer) for i, j, answer in answers))


def took_back(seq: int | None) -> Said:
    """Take back event `seq`, or one's last act."""
    return ("undo", seq)


def put_back() -> Said:
    """Put back what was taken back last."""
    return ("redo",)


def decided(second: int, keep: str) -> Said:
    """Settle a disagreement."""
    return ("decide", int(second), keep)


def arranged(act: str, digest: str) -> Said:
    """Put items where they belong: an act of :mod:`superpac.session.rearranging`."""
    return (ACT, act, digest)


def named(event: Event) -> str | None:
    """What the act is called that an event is part of; None for ordinary answers and strips."""
    return reasons(event).get(ACT)


def reasons(event: Event) -> Mapping[str, Any]:
    """Why an event was written; empty where it does not say."""
    why = event.body.get("why")
    return why if isinstance(why, Mapping) else {}


def goes_along(event: Event) -> bool:
    """Whether a retraction or its opposite belongs to an act, and is no undo or redo itself."""
    return not reasons(event).keys().isdisjoint({"group", ALONG})


def grew(fingerprint: str) -> Said:
    """Add items, after which the data have this fingerprint."""
    return (ITEMS, fingerprint)


def noted(kind: str, body: Mapping[str, object]) -> Said:
    """Say anything else that one event holds."""
    return (kind, canonical({name: value for name, value in body.items() if name != "why"}))


def said_in(events: Sequence[Event]) -> Said:
    """Read what an act said from its events.

    Parameters
    ----------
    events : sequence of Event
        All events of one act, in order.

    Returns
    -------
    Said

    Examples
    --------
    >>> said_in([Event(4, "answer", {"i": 3, "j": 8, "answer": "same"}, "", "k", "", None, "")])
    ('answer', 3, 8, 'same')
    >>> said_in([Event(5, "retract", {"seq": 4}, "", "k2", "", None, "")]) == took_back(None)
    True
    """
    first = events[0]
    body, why = first.body, reasons(first)
    if ACT in why:
        return arranged(why[ACT], why.get(DIGEST, ""))
    if first.kind == "answer" and "group" in body:
        pairs = [(e.body["i"], e.body["j"], e.body["answer"]) for e in events]
        return told([*pairs, *(tuple(pair) for pair in why.get(IMPLIED, ()))])
    beside = first.kind == "note" and not body.keys().isdisjoint({SECOND, TESTED})
    if first.kind == "answer" or beside:
        return answered(body["i"], body["j"], body["answer"])
    if first.kind == "retract":
        return took_back(why.get(WHOLE, body["seq"]) if why.get(CHOSEN) else None)
    if first.kind == "restore":
        return put_back()
    if first.kind == ITEMS:
        return grew(body["fingerprint"])
    if first.kind == "note" and WITHDRAWN in body:
        return took_back(None)
    if first.kind == "note" and DECIDED in body:
        return decided(body[DECIDED], body["keep"])
    return noted(first.kind, body)


def keyed(drafts: Sequence[Draft], key: str | None) -> list[Draft]:
    """Give an act's events their keys.

    Examples
    --------
    >>> two = [Draft("retract", {"seq": 1}), Draft("retract", {"seq": 2})]
    >>> [draft.key for draft in keyed(two, "k")], [draft.key for draft in keyed(two[:1], "k")]
    (['k/0', 'k/1'], ['k'])
    """
    if key is None:
        return list(drafts)
    several = len(drafts) > 1
    return [
        Draft(d.kind, d.body, d.annotator, f"{key}/{n}" if several else key, d.elapsed_ms)
        for n, d in enumerate(drafts)
    ]
