"""Whether what an archive says makes sense: nothing is taken in that a later command breaks on.

Hashes only show that an archive is as somebody wrote it. Here its spec is built and its log is
read as an opening reads them, before anything is stored. Reading takes a number of steps in
proportion to the answers for any log that people made; one that was made up to take longer is
refused when it has taken `MOST_STEPS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from superpac.answers.events import ANSWERS, Event, SessionInfo, check_id
from superpac.answers.growth import grown, parts_of
from superpac.answers.history import link_of
from superpac.answers.state import Effect, State
from superpac.errors import InputError
from superpac.session.spec import AUTO, Spec
from superpac.strategies import check_strategy

MOST_ITEMS = 20_000_000
"""Items of a session; what is known of each is a few dozen bytes in every opening."""

MOST_STEPS = 20_000_000
"""Steps of reading a log beyond one for each answer: some seconds."""

READ_ANEW = 4
"""Steps for each answer, where what is believed has changed and all of it is read again."""

MOST_FACTS = 50


def check_facts(info: SessionInfo) -> None:
    """Refuse a session that could not be opened, whatever its answers.

    Parameters
    ----------
    info : SessionInfo
        As it stands in the archive, its fields of the right kinds.

    Raises
    ------
    InputError
        With what is wrong.
    """
    _check_places(info)
    _check_source(info.source)
    spec = Spec.from_dict(info.spec)
    check_strategy(spec.strategy, spec.options)
    if spec.n_clusters != AUTO and spec.clusters > info.n_items:
        raise InputError(
            f"it asks for {spec.clusters} clusters of {info.n_items} items; there are too few."
        )


def _check_places(info: SessionInfo) -> None:
    """Refuse more items than an opening can hold, or items that lie nowhere."""
    if not 1 <= info.n_items <= MOST_ITEMS:
        raise InputError(f"it is about {info.n_items} items; there must be 1 to {MOST_ITEMS}.")
    parts_of(info)


def _check_source(source: object) -> None:
    """Refuse a recipe for the data that is none: texts and yes or no, by name."""
    if isinstance(source, str):
        return
    good = isinstance(source, Mapping) and len(source) <= MOST_FACTS
    if not good or not all(isinstance(v, (str, bool)) for v in source.values()):  # type: ignore[attr-defined]
        raise InputError("where its data are (source) must be text, or texts by name.")


def check_events(events: Sequence[Event], info: SessionInfo) -> None:
    """Refuse a log that says what no log can say, or that takes too long to read.

    Parameters
    ----------
    events : sequence of Event
        The whole log, each event of the right form, numbered from 1.
    info : SessionInfo
        Whose log it is.

    Raises
    ------
    InputError
        Naming the event.
    """
    info = grown(info, events)
    _check_places(info)
    retracted: set[int] = set()
    steps = 0
    for event in events:
        if event.kind in ("retract", "restore"):
            of = _earlier(event, event.body["seq"])
            steps += len(retracted)  # what redo looks through
            change = retracted.add if event.kind == "retract" else retracted.discard
            change(of)
        elif event.kind == "note":
            _check_note(event, events, info)
        why = event.body.get("why")
        if why is not None and event.kind == "answer":
            _check_why(event, why)
        _check_steps(steps)
    state = State(info.n_items)
    for event in events:
        if event.kind == "answer" and event.seq not in retracted:
            link = link_of(event)
            steps += len(state.votes.about(link.i)) + len(state.votes.said(link.i, link.j))
            if state.hear(link) is Effect.CHANGED:
                steps += READ_ANEW * state.n_answers
            steps += state.votes.contested
            _check_steps(steps)


def _check_steps(steps: int) -> None:
    if steps > MOST_STEPS:
        raise InputError(
            f"its answers take more than {MOST_STEPS} steps to read, as no answers of people do."
        )


def _earlier(event: Event, seq: Any) -> int:
    """Number of an event that an event speaks of, which must be before it."""
    if type(seq) is not int or not 1 <= seq < event.seq:
        raise InputError(f"event #{event.seq} speaks of #{seq!r:.20}, which is no event before it.")
    return seq


def _check_why(event: Event, why: Any) -> None:
    """Refuse reasons that are none; those of an audit say what they were about."""
    if not isinstance(why, Mapping) or ("audit" in why and not isinstance(why.get("about"), str)):
        raise InputError(f"event #{event.seq} gives its reasons (why) in another form than ours.")


def _check_note(event: Event, events: Sequence[Event], info: SessionInfo) -> None:
    """Refuse a note that begins with a word of ours and goes on otherwise; others are free."""
    body = event.body
    try:
        if "audit" in body:
            facts = body["audit"]
            for name in ("sample", "pairs"):
                check_id(name, facts[name], None)
            good = isinstance(facts["labels"], str)
        elif "second" in body:
            first = events[_earlier(event, body["second"]) - 1]
            pair = {check_id(name, body[name], info.n_items) for name in ("i", "j")}
            good = first.kind == "answer" and len(pair) == 2 and body["answer"] in ANSWERS
        elif "withdrawn" in body:
            good = "second" in events[_earlier(event, body["withdrawn"]) - 1].body
        elif "decided" in body:
            good = "second" in events[_earlier(event, body["decided"]) - 1].body
            good = good and isinstance(body.get("keep"), str)
        else:
            return
    except (KeyError, TypeError, IndexError):
        good = False
    if not good:
        raise InputError(f"event #{event.seq} is a note in another form than ours.")
