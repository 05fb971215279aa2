"""What to compute while the person looks: the states that the possible answers lead to."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from superpac.answers.links import Link
from superpac.web.asked import Asked, strip_pairs
from superpac.web.pagesession import PageSession
from superpac.web.worker import Job

Told = list[tuple[int, int, str]]


def what_next(seq: int, asked: Asked) -> list[tuple[Any, Told, tuple[int, int] | None]]:
    """Acts that may follow a question, the likeliest first: key, pairs told, pair skipped.

    Examples
    --------
    >>> asked = Asked("pair", 3, (5,), seq=9, reason="")
    >>> [key for key, _, _ in what_next(9, asked)][:2]
    [(9, 'same', 3, 5), (9, 'different', 3, 5)]
    """
    i = asked.item
    if asked.seq != seq:
        return []
    if asked.shape == "strip":
        return [
            ((seq, "strip", i, choice), strip_pairs(i, asked.others, choice), None)
            for choice in (*asked.others[:4], None)
        ]
    j = asked.others[0]
    said = [
        ((seq, answer, i, j), [(i, j, answer)], None) for answer in ("same", "different", "unsure")
    ]
    return [*said, ((seq, "skip", i, j), [], (min(i, j), max(i, j)))]


def followers(
    session: PageSession, asked: Asked, annotator: str = ""
) -> list[tuple[Any, Callable[[int], Job]]]:
    """Jobs for the states that the possible answers lead to, the likeliest first."""
    return [
        (key, job(session, key, told, skip, annotator))
        for key, told, skip in what_next(session.seq, asked)
    ]


def job(
    session: PageSession,
    key: Hashable,
    told: Told | None = None,
    skip: tuple[int, int] | None = None,
    annotator: str = "",
) -> Callable[[int], Job]:
    """Job for the state as it is now, with some pairs told or one skipped on top."""
    state = session.fold.state
    answers, skipped, bad = tuple(state.answers), dict(state.skipped), frozenset(state.bad)
    if told:
        trial = state.constraints.copy()
        news: list[Link] = []
        asked = {frozenset((a.i, a.j)) for a in answers} if session.model.evidence else set()
        for i, j, answer in told:
            # as the session would: evidence is written even where it repeats or contradicts
            known = trial.implied(i, j)
            if session.model.evidence:
                written = len(told) == 1 or known != answer or frozenset((i, j)) in asked
            else:
                written = answer == "unsure" or known is None
            if written:
                link = Link(session.seq + len(news) + 1, i, j, answer, annotator)
                trial.take(link)
                news.append(link)
        answers = (*answers, *news)
    if skip is not None:
        skipped[skip] = state.n_answers
    return lambda number: Job(number, key, answers, skipped, bad)
