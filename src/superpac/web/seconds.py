"""Second opinions: some pairs go to two people, so that their agreement can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from superpac.answers.events import Event
from superpac.web.pagesession import DECIDED, SECOND, PageSession, withdrawn_opinions


def choose_second(
    session: PageSession, annotator: str, share: float, taken: set[tuple[int, int]]
) -> Event | None:
    """Give an answer of somebody else for this person to judge too, now and then.

    Parameters
    ----------
    session : PageSession
        The session.
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
    fold = session.fold
    draw = int.from_bytes(sha256(f"{annotator}/{fold.seq}".encode()).digest()[:8], "big")
    if draw / 2**64 >= share:
        return None
    judged = {e.body[SECOND] for e in fold.events if e.kind == "note" and SECOND in e.body}
    for event in reversed(fold.standing()):
        i, j = event.body["i"], event.body["j"]
        if event.annotator == annotator or event.seq in judged:
            continue
        if (min(i, j), max(i, j)) not in taken and not fold.state.bad & {i, j}:
            return event
    return None


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


def agreement(session: PageSession) -> dict[str, Any]:
    """Who answered how much, how far people agree, and where they do not.

    Parameters
    ----------
    session : PageSession
        The session.

    Returns
    -------
    dict
        ``people``, ``judged`` (pairs with two opinions), ``agreed``, ``kappa``, and
        ``disagreements`` with what was decided.
    """
    fold = session.fold
    events = fold.events
    people: dict[str, int] = {}
    for event in fold.standing():
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
        first = fold.event(event.body[SECOND])
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
                    or ("second" if first.seq in fold.retracted else None),
                }
            )
    return {
        "people": [{"name": name, "answers": count} for name, count in sorted(people.items())],
        "judged": len(ones),
        "agreed": sum(a == b for a, b in zip(ones, twos, strict=True)),
        "kappa": kappa(ones, twos),
        "disagreements": apart,
    }
