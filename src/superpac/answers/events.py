"""What the answers log is made of: events, their kinds and fields, and the facts of a session."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from superpac.errors import InputError

LOG_FORMAT = 1
"""Version of what is hashed and of how an event is spelled in an archive."""

MAX_BODY = 65_536
"""Longest body of one event, in bytes of canonical JSON."""


ANSWERS = ("same", "different", "unsure")

ITEMS = "items"
"""Kind of the event by which items are added; see :mod:`superpac.answers.growth`."""

# kind -> (fields it must have, fields it may have). "why" is free: a strategy's reasons.
_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "answer": (("i", "j", "answer"), ("group", "why", "confirm")),
    "retract": (("seq",), ("why",)),
    "restore": (("seq",), ("why",)),
    "skip": (("i", "j"), ("why",)),
    "bad": (("i",), ("why",)),
    "good": (("i",), ("why",)),
    "name": (("name",), ("cluster", "item", "group", "why")),
    ITEMS: (("count", "fingerprint"), ("place", "first", "contents", "why")),
}

NOTE = "note"
"""Kind of an event that may be any JSON object."""

KINDS = (*_FIELDS, NOTE)
"""``answer`` a pair; ``retract`` an earlier event and ``restore`` it; ``skip`` a pair for now;
set an item aside as ``bad`` and back as ``good``; ``name`` a cluster or an item; add ``items``;
``note`` (any JSON object)."""

_LARGEST = 2**63 - 1
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any) -> str:
    """Write `value` as JSON in the one spelling that is hashed: sorted keys, no spaces, ASCII.

    Examples
    --------
    >>> canonical({"j": 2, "i": 1, "answer": "same"})
    '{"answer":"same","i":1,"j":2}'
    """
    try:
        text = _encode(value)
        if "\\ud" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"A body must be plain JSON (text, finite numbers, lists, objects); {error}."
        ) from error
    return text


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log. Treat `body` as read-only: it is part of what `hash` covers.

    Parameters
    ----------
    seq : int
        1, 2, 3, ... without gaps. The order of events is this and nothing else.
    kind : str
        One of `KINDS`.
    body : dict
        What the event says, as `check_body` allows for its kind.
    annotator : str
        Who said it; may be empty.
    key : str
        The client's key: the same key again is the same event.
    at : str
        UTC time in ISO 8601. Informative only, clocks are set back.
    elapsed_ms : int or None
        How long the person took.
    hash : str
        SHA-256 of the previous event's hash and the canonical JSON of all of the above.
    """

    seq: int
    kind: str
    body: dict[str, Any]
    annotator: str
    key: str
    at: str
    elapsed_ms: int | None
    hash: str


@dataclass(frozen=True, slots=True)
class Draft:
    """An event not yet in a log; `append_many` takes a list of them."""

    kind: str
    body: Mapping[str, Any]
    annotator: str = ""
    key: str | None = None
    elapsed_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """The pair (i, j), i < j, is before `annotator` until `expires_at` (seconds since 1970)."""

    i: int
    j: int
    annotator: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a session is, apart from its answers. It never changes: what was added is in the log.

    Parameters
    ----------
    id : str
        Unique everywhere; `superpac.store.new_info` draws one.
    name : str
        Unique in one store; for people.
    created_at : str
        UTC time in ISO 8601.
    fingerprint : str
        Of the data set; a session refuses to open over other data.
    n_items : int
        Number of items in the data set; every index in the log is below it, until more are added.
    source : str or dict
        How to find the data again (a path, a name). Not hashed: data may move.
    spec : dict
        Everything the session was created with (clusters, affinity, strategy, seed, ...).
    format : int
        Version of the log's format.

    Examples
    --------
    >>> info = SessionInfo("a1", "digits", "2024-05-01T12:00:00.000Z", "f00d", 100)
    >>> len(info.genesis())
    64
    """

    id: str
    name: str
    created_at: str
    fingerprint: str
    n_items: int
    source: str | dict[str, Any] = ""
    spec: dict[str, Any] = field(default_factory=dict)
    format: int = LOG_FORMAT

    def genesis(self) -> str:
        """Hash that the first event is chained to: all fields but `name` and `source`."""
        fields = asdict(self)
        del fields["name"], fields["source"]
        return sha256(canonical(fields).encode()).hexdigest()


def check_info(info: SessionInfo) -> SessionInfo:
    """Return `info` with its JSON normalised, or raise `InputError`."""
    check_text("id", info.id, 64)
    check_text("name", info.name, 200)
    if info.created_at != "":
        check_text("created_at", info.created_at, 40)
    check_text("fingerprint", info.fingerprint, 200)
    check_id("n_items", info.n_items, None)
    if not isinstance(info.source, str | dict) or not isinstance(info.spec, dict):
        raise InputError("The source of a session must be text or a dict, and its spec a dict.")
    if info.format != LOG_FORMAT:
        raise InputError(
            f"The log format {info.format!r} is not known, only {LOG_FORMAT}; "
            "a newer superpac may have written it: pip install -U superpac."
        )
    source, spec = (json.loads(canonical(part)) for part in (info.source, info.spec))
    return SessionInfo(
        info.id,
        info.name,
        info.created_at,
        info.fingerprint,
        int(info.n_items),
        source,
        spec,
        info.format,
    )


def check_id(name: str, value: Any, limit: int | None) -> int:
    """Return `value` as an int in [0, limit), or raise `InputError`; NumPy integers are fine.

    Examples
    --------
    >>> check_id("i", 2**31 + 5, None)
    2147483653
    """
    top = _LARGEST if limit is None else limit - 1
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= top:
        raise InputError(f"{name!r} must be a whole number from 0 to {top}; got {_short(value)}.")
    return number


def check_text(name: str, value: Any, longest: int) -> str:
    """Return `value` if it is text of 1 to `longest` characters that any store can keep."""
    good = isinstance(value, str) and 0 < len(value) <= longest and "\0" not in value
    if good:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            good = False
    if not good:
        raise InputError(
            f"{name!r} must be text of 1 to {longest} characters; got {_short(value)}."
        )
    return str(value)


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def check_body(kind: str, body: Mapping[str, Any], n_items: int | None) -> dict[str, Any]:
    """Return `body` with whole numbers as ints, or raise `InputError` in one sentence.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    body : mapping
        The fields of the event.
    n_items : int or None
        Number of items in the data set; indices must be below it.

    Returns
    -------
    dict
        A new dict.

    Examples
    --------
    >>> check_body("answer", {"i": 3, "j": 8, "answer": "same"}, 10)
    {'i': 3, 'j': 8, 'answer': 'same'}
    >>> check_body("answer", {"i": 3, "j": 8, "answer": "maybe"}, 10)
    Traceback (most recent call last):
        ...
    superpac.errors.InputError: An answer must be one of same, different, unsure; got 'maybe'.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"The kind of an event must be one of {', '.join(KINDS)}; got {kind!r}.")
    if not isinstance(body, Mapping):
        raise InputError(f"The body of an event must be a mapping; got {type(body).__name__}.")
    result = dict(body)
    if kind == NOTE:
        return result
    required, optional = _FIELDS[kind]
    missing = [name for name in required if name not in result]
    extra = [name for name in result if name not in required and name not in optional]
    if missing or extra:
        raise InputError(
            f"A {kind!r} event must have the fields ({', '.join(required)}) and may have "
            f"({', '.join(optional)}); got {_short(list(result))}."
        )
    for name in ("i", "j", "item"):
        if name in result:
            result[name] = check_id(name, result[name], n_items)
    if "j" in result and result["i"] == result["j"]:
        raise InputError(f"A pair must be two different items; got {result['i']} twice.")
    if kind == "answer":
        _check_answer(result)
    elif kind in ("retract", "restore"):
        result["seq"] = check_id("seq", result["seq"], None)
        if result["seq"] == 0:
            raise InputError("'seq' must be the number of an earlier event, from 1; got 0.")
    elif kind == "name":
        if result["name"] != "":  # an empty one takes a name away
            check_text("name", result["name"], 200)
        if ("cluster" in result) == ("item" in result):
            raise InputError("A 'name' event names either a 'cluster' or an 'item'; give one.")
        if "cluster" in result:
            result["cluster"] = check_id("cluster", result["cluster"], None)
    elif kind == ITEMS:
        _check_items(result)
    return result


def _check_items(body: dict[str, Any]) -> None:
    body["count"] = check_id("count", body["count"], None)
    if body["count"] == 0:
        raise InputError("'count' must be the number of items that are added, from 1; got 0.")
    check_text("fingerprint", body["fingerprint"], 200)
    if "first" in body:
        body["first"] = check_id("first", body["first"], None)
    for name in ("place", "contents"):
        if name in body:
            check_text(name, body[name], MAX_BODY)


def _check_answer(body: dict[str, Any]) -> None:
    answer = body["answer"]
    if not isinstance(answer, str) or answer not in ANSWERS:
        raise InputError(
            f"An answer must be one of {', '.join(ANSWERS)}; got {_short(body['answer'])}."
        )
    if body.get("confirm", True) is not True:
        raise InputError(f"'confirm' is true or left out; got {_short(body['confirm'])}.")
    if "group" in body:
        if isinstance(body["group"], str):
            check_text("group", body["group"], 200)
        else:
            body["group"] = check_id("group", body["group"], None)


def check_drafts(drafts: Iterable[Draft], n_items: int) -> list[Draft]:
    """Return drafts as `check_draft` does, each against the items that there are by then."""
    checked = []
    for draft in drafts:
        checked.append(check_draft(draft, n_items))
        if draft.kind == ITEMS:
            n_items += int(checked[-1].body["count"])
    return checked


def check_draft(draft: Draft, n_items: int) -> Draft:
    """Return `draft` with plain JSON in its body, or raise `InputError` in one sentence."""
    body = check_body(draft.kind, draft.body, n_items)
    text = canonical(body)
    if len(text) > MAX_BODY:
        raise InputError(
            f"The body of an event may take {MAX_BODY} bytes as JSON; this one takes {len(text)}."
        )
    if draft.annotator != "":
        check_text("annotator", draft.annotator, 200)
    if draft.key is not None:
        check_text("key", draft.key, 200)
    took = draft.elapsed_ms
    if took is not None:
        took = check_id("elapsed_ms", took, None)
    return Draft(draft.kind, json.loads(text), draft.annotator, draft.key, took)


def check_lease(pair: tuple[int, int], annotator: str, ttl: float, n_items: int) -> tuple[int, int]:
    """Return the pair with the smaller item first, or raise `InputError`."""
    if len(pair) != 2:
        raise InputError(f"A pair must be two item numbers; got {_short(pair)}.")
    i, j = sorted(check_id("item", item, n_items) for item in pair)
    if i == j:
        raise InputError(f"A pair must be two different items; got {i} twice.")
    check_text("annotator", annotator, 200)
    if not (math.isfinite(ttl) and 0 < ttl <= 86_400):
        raise InputError(f"A lease must last up to 86400 seconds and more than 0; got {ttl!r}.")
    return i, j
