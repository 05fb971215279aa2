"""Second opinions: some pairs go to two people, so that their agreement can be measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from superpac.answers.events import Event
from superpac.answers.history import UNDOABLE
from superpac.answers.links import Pair, ordered
from superpac.errors import InputError
from superpac.session.answer_book import AnswerBook
from superpac.session.questions import Receipt

SECOND, WITHDRAWN, DECIDED = "second", "withdrawn", "decided"


def choose_second(book: AnswerBook, annotator: str, share: float, taken: set[Pair]) -> Event | None:
    """Give an answer of somebody else for this person to judge too, now and then.

    Parameters
    ----------
    book : AnswerBook
        The answers.
    annotator : str
        Who is to be asked.
    share : float
        How often, from 0 to 1.
    taken : set of pair
        Pairs that are before people now.

    Returns
    -------
    Event or None
        The other's answer; None when this is not the time.
    """
    history = book.history
    draw = int.from_bytes(sha256(f"{annotator}/{history.seq}".encode()).digest()[:8], "big")
    if draw / 2**64 >= share:
        return None
    judged = {e.body[SECOND] for e in history.events if e.kind == "note" and SECOND in e.body}
    for event in reversed(history.standing()):
        i, j = event.body["i"], event.body["j"]
        if event.annotator == annotator or event.seq in judged:
            continue
        if ordered(i, j) not in taken and not book.state.bad & {i, j}:
            return event
    return None


def opine(
    book: AnswerBook,
    answer: str,
    first: Event,
    *,
    annotator: str,
    key: str,
    elapsed_ms: int | None,
) -> Receipt:
    """Record a second person's answer to a pair that another has answered; implies nothing."""
    body = {SECOND: first.seq, "i": first.body["i"], "j": first.body["j"], "answer": answer}
    if elapsed_ms is not None:
        body["elapsed_ms"] = elapsed_ms
    return book.note("note", body, annotator=annotator, key=key)


def decide(book: AnswerBook, second: int, keep: str, **who: Any) -> Receipt:
    """Settle a disagreement: keep the first answer, or put the second one in its place."""
    opinion = book.history.event(second)
    if opinion.kind != "note" or SECOND not in opinion.body:
        raise InputError(f"Event #{second} is no second opinion; look at the list again.")
    receipt = book.note("note", {DECIDED: second, "keep": keep}, **who)
    body = opinion.body
    first = body[SECOND]
    if keep == "second" and first not in book.history.retracted:
        book.undo(first, annotator=who.get("annotator", ""))
        book.record(
            body["answer"],
            (body["i"], body["j"]),
            annotator=opinion.annotator,
            why={DECIDED: second},
            asked=True,
        )
    return receipt


def undo_last(book: AnswerBook, annotator: str, key: str) -> list[int]:
    """Take back the last act of one person, be it a second opinion."""
    before = book.known_key(f"{key}/0")
    if before is not None and WITHDRAWN in before.body:
        return [int(before.body[WITHDRAWN])]
    if before is None:
        withdrawn = withdrawn_opinions(book.events)
        for event in reversed(book.events):
            if event.annotator != annotator:
                continue
            if event.kind in UNDOABLE and event.seq not in book.history.retracted:
                break
            if SECOND in event.body and event.seq not in withdrawn:
                body = {WITHDRAWN: event.seq}
                book.note("note", body, annotator=annotator, key=f"{key}/0")
                return [event.seq]
    return book.undo(by=annotator, annotator=annotator, key=key)


def withdrawn_opinions(events: Iterable[Event]) -> set[int]:
    """Second opinions that were taken back."""
    return {e.body[WITHDRAWN] for e in events if e.kind == "note" and WITHDRAWN in e.body}


def kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Agreement of two people beyond chance; None without answers, 1 when there is only one.

    References
    ----------
    Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20, 1960.

    Examples
    --------
    >>> kappa(["same", "same", "different", "different"], ["same", "different"] * 2)
    0.0
    >>> kappa(["same", "different"], ["same", "different"])
    1.0
    """
    n = len(first)
    if n == 0:
        return None
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    kinds = set(first) | set(second)
    chance = sum(sum(a == k for a in first) * sum(b == k for b in second) / n**2 for k in kinds)
    return 1.0 if chance == 1.0 else (agreed - chance) / (1.0 - chance)


def agreement(book: AnswerBook) -> dict[str, Any]:
    """Who answered how much, how far people agree, and where they do not.

    Parameters
    ----------
    book : AnswerBook
        The answers.

    Returns
    -------
    dict
        ``people``, ``judged`` (pairs with two opinions), ``agreed``, ``kappa``, and
        ``disagreements`` with what was decided.
    """
    history = book.history
    events = history.events
    people: dict[str, int] = {}
    for event in history.standing():
        people[event.annotator] = people.get(event.annotator, 0) + 1
    withdrawn = withdrawn_opinions(events)
    decided = {e.body[DECIDED]: e.body["keep"] for e in events if DECIDED in e.body}
    ones: list[str] = []
    twos: list[str] = []
    apart = []
    for event in events:
        if event.kind != "note" or SECOND not in event.body or event.seq in withdrawn:
            continue
        people[event.annotator] = people.get(event.annotator, 0) + 1
        first = history.event(event.body[SECOND])
        ones.append(first.body["answer"])
        twos.append(event.body["answer"])
        if ones[-1] != twos[-1]:
            apart.append(
                {
                    "second": event.seq,
                    "first": first.seq,
                    "i": first.body["i"],
                    "j": first.body["j"],
                    "first_answer": ones[-1],
                    "first_by": first.annotator,
                    "second_answer": twos[-1],
                    "second_by": event.annotator,
                    "decided": decided.get(event.seq)
                    or ("second" if first.seq in history.retracted else None),
                }
            )
    return {
        "people": [{"name": name, "answers": count} for name, count in sorted(people.items())],
        "judged": len(ones),
        "agreed": sum(a == b for a, b in zip(ones, twos, strict=True)),
        "kappa": kappa(ones, twos),
        "disagreements": apart,
    }
