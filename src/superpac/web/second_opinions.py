"""Second opinions: some pairs go to two people, so that their agreement can be measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from typing import Any

from superpac.answers import acts
from superpac.answers.acts import DECIDED, SECOND, WITHDRAWN
from superpac.answers.events import Draft, Event
from superpac.answers.history import UNDOABLE, link_of
from superpac.answers.links import UNSURE, Pair, ordered
from superpac.answers.state import State
from superpac.errors import InputError
from superpac.session.answer_book import AnswerBook
from superpac.session.questions import Receipt
from superpac.web.entry_test import EntryTest


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


def decide(book: AnswerBook, second: int, keep: str, *, annotator: str, key: str) -> Receipt:
    """Settle a disagreement: keep the first answer, or put the second one in its place.

    Parameters
    ----------
    book : AnswerBook
        The answers.
    second : int
        Number of the second opinion.
    keep : {"first", "second"}
        Which of the two is right.
    annotator, key : str
        Who decides, and the client's key.

    Returns
    -------
    Receipt
        Of the decision; what it takes back and puts in place is written with it or not at all.

    Raises
    ------
    ContradictionError
        When the second answer contradicts others and may not; nothing is written then.
    """
    opinion = book.history.event(second)
    if opinion.kind != "note" or SECOND not in opinion.body:
        raise InputError(f"Event #{second} is no second opinion; look at the list again.")

    def make() -> list[Draft]:
        note = Draft("note", {DECIDED: second, "keep": keep}, annotator)
        return [note, *_exchange(book, opinion, keep, annotator)]

    return book.act(acts.decided(second, keep), make, annotator=annotator, key=key)[0]


def _exchange(book: AnswerBook, opinion: Event, keep: str, annotator: str) -> list[Draft]:
    """Events that put the answer kept in the place of the other one."""
    history, body = book.history, opinion.body
    first = history.event(body[SECOND])
    placed = [
        e.seq for e in history.standing() if (e.body.get("why") or {}).get(DECIDED) == opinion.seq
    ]
    if keep == "second":
        out = [first.seq] if first.seq not in history.retracted else []
        given, put = body["answer"], not placed
    else:  # after a decision for the second: back to how it was
        out = placed
        given, put = first.body["answer"], bool(placed) and first.seq in history.retracted
    drafts = [Draft("retract", {"seq": seq}, annotator) for seq in out]
    if not put:
        return drafts
    i, j = body["i"], body["j"]
    if not book.weighs_answers:
        left = (link_of(event) for event in history.standing() if event.seq not in out)
        known = State.of(book.state.n, left, names=book.state.names).constraints
        known.check(i, j, given)
        if known.implied(i, j) == given:
            return drafts
    if keep == "first":
        return [*drafts, Draft("restore", {"seq": first.seq}, annotator)]
    placing = {"i": i, "j": j, "answer": given, "why": {DECIDED: opinion.seq}}
    return [*drafts, Draft("answer", placing, opinion.annotator)]


def undo_last(book: AnswerBook, annotator: str, key: str) -> list[int]:
    """Take back the last act of one person, be it a second opinion."""
    done = book.before(key, acts.took_back(None), annotator)
    if done is None:
        withdrawn = withdrawn_opinions(book.events)
        for event in reversed(book.events):
            if event.annotator != annotator:
                continue
            if event.kind in UNDOABLE and event.seq not in book.history.retracted:
                break
            if SECOND in event.body and event.seq not in withdrawn:
                book.note("note", {WITHDRAWN: event.seq}, annotator=annotator, key=key)
                return [event.seq]
    elif done and WITHDRAWN in (note := book.history.event(done[0].seq)).body:
        return [int(note.body[WITHDRAWN])]
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


def agreement(book: AnswerBook, test: EntryTest | None = None) -> dict[str, Any]:
    """Who answered how much, how far people agree, and where they do not.

    Parameters
    ----------
    book : AnswerBook
        The answers.
    test : EntryTest, optional
        What everybody was asked first.

    Returns
    -------
    dict
        ``people``, each with ``answers``, the share of those that is ``believed`` now, and how the
        ``test`` went; ``between``, each with each, how many pairs both ``judged``, in how many they
        ``agreed``, and ``kappa``; the same of all second opinions together; and ``disagreements``
        with what was decided.
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
        "people": [_person(book, name, people[name], test) for name in sorted(people)],
        "between": between(book),
        "judged": len(ones),
        "agreed": sum(a == b for a, b in zip(ones, twos, strict=True)),
        "kappa": kappa(ones, twos),
        "disagreements": apart,
    }


def _person(book: AnswerBook, name: str, answers: int, test: EntryTest | None) -> dict[str, Any]:
    """One person: answers, the share of them that is believed, and how the test went."""
    known = book.state.constraints
    said = [
        event.body["answer"] == known.implied(event.body["i"], event.body["j"])
        for event in book.history.standing()
        if event.annotator == name and event.body["answer"] != UNSURE
    ]
    standing = None if test is None else test.standing(book.events, name)
    taken = standing is not None and standing.rounds > 0
    return {
        "name": name,
        "answers": answers,
        "believed": sum(said) / len(said) if said else None,
        "test": None if test is None or not taken else [standing.right, len(test.pairs)],  # type: ignore[union-attr]
    }


def between(book: AnswerBook) -> list[dict[str, Any]]:
    """How far people agree, each with each, on the pairs that both of them judged.

    Parameters
    ----------
    book : AnswerBook
        The answers; second opinions count as well.

    Returns
    -------
    list of dict
        ``people`` (two names), ``judged``, ``agreed`` and ``kappa``, in order of the names.
    """
    withdrawn = withdrawn_opinions(book.events)
    opinions = [e for e in book.events if SECOND in e.body and e.seq not in withdrawn]
    said: dict[Pair, dict[str, str]] = {}
    for event in (*book.history.standing(), *opinions):
        pair = ordered(event.body["i"], event.body["j"])
        said.setdefault(pair, {})[event.annotator] = event.body["answer"]
    both: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for by in said.values():
        for one, other in combinations(sorted(by), 2):
            both.setdefault((one, other), []).append((by[one], by[other]))
    return [
        {
            "people": list(names),
            "judged": len(answers),
            "agreed": sum(a == b for a, b in answers),
            "kappa": kappa([a for a, _ in answers], [b for _, b in answers]),
        }
        for names, answers in sorted(both.items())
    ]
