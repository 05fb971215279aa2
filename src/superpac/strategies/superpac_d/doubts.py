"""A suspicious answer asked again: with another representative of the same set, by somebody else.

Who misread one picture misreads it again, so the same pair put before the same person tells little.
A point is compared with another member of the set instead; the answer counts as one more vote on
the pair that it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from superpac.answers.links import Link, Pair, pair_of
from superpac.answers.votes import Votes, chance_wrong
from superpac.strategies.base import Proposal
from superpac.strategies.superpac_d.posterior import Posterior
from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets
from superpac.strategies.superpac_d.settings import Settings

WORDS = "This answer does not fit the others; please look once more."
OTHERS = "An earlier answer about this item does not fit the others; this checks it."


def ask_again(
    link: Link,
    votes: Votes,
    speakers: Iterable[int],
    askable: Callable[[int, int], bool],
    seen: Callable[[int, int], bool],
    rate: float,
) -> Proposal | None:
    """Choose the pair that checks an answer.

    Parameters
    ----------
    link : Link
        The answer in doubt; its `i` is the point that was placed by it.
    votes : Votes
        All votes.
    speakers : iterable of int
        Members of the set of ``link.j`` to compare with, the clearest first; empty for an answer
        about two sets, which is asked again as it was.
    askable : callable
        Whether two points may be asked about now.
    seen : callable
        Whether somebody has answered this very pair, for whatever it counted.
    rate : float
        Share of wrong answers, shown beside the question.

    Returns
    -------
    Proposal or None
        With the people who gave the answer in `not_by`. None when no pair may be asked.

    Examples
    --------
    >>> votes = Votes()
    >>> votes.take(Link(1, 5, 0, "same", "Ada"))
    False
    >>> found = ask_again(
    ...     Link(1, 5, 0, "same"), votes, [0, 2, 5], lambda i, j: True, votes.asked, 0.01
    ... )
    >>> found.i, found.j, sorted(found.not_by)
    (5, 2, ['Ada'])
    """
    said = frozenset(vote.annotator for vote in votes.said(link.i, link.j) if vote.annotator)
    numbers = {"rate": rate, "again": 1.0}
    # only what counts as a vote on this pair: the pair was asked about this very point
    first = next(iter(votes.said(link.i, link.j)), None)
    if first is not None and first.i == link.i:
        for other in speakers:
            fresh = other not in (link.i, link.j) and not seen(link.i, other)
            if fresh and askable(link.i, other):
                return Proposal(link.i, other, OTHERS, numbers, said)
    if askable(link.i, link.j):
        return Proposal(link.i, link.j, WORDS, numbers, said)
    return None


def doubtful_answers(
    votes: Votes,
    sets: ProvisionalSets,
    model: Posterior,
    merged: Mapping[Pair, tuple[float, float]],
    missing: bool,
    settings: Settings,
) -> list[Link]:
    """Answers worth asking again, those first that most points depend on.

    Parameters
    ----------
    votes : Votes
        All votes.
    sets : ProvisionalSets
        What is believed.
    model : Posterior
        The model that follows the sets, settled.
    merged : mapping of pairs to (float, float)
        For answers that joined two sets how likely that was, and how many points it moved.
    missing : bool
        Whether every merge is in doubt, since clusters are missing.
    settings : Settings
        When an answer is in doubt.

    Returns
    -------
    list of Link
    """
    found = [(np.inf, link) for link in votes.ties()]
    once = [
        (link, k)
        for link in sets.joins
        if (k := int(model.place[link.i])) >= 0
        and model.size[k] > 1
        and votes.net(link.i, link.j) == 1
    ]
    beliefs = model.beliefs_in([link.i for link, _ in once], [k for _, k in once])
    for (link, _), belief in zip(once, beliefs.tolist(), strict=True):
        chance = chance_wrong(belief, votes.doubt(link.i, link.j))
        if chance > settings.doubt_chance:
            found.append((chance, link))
    for link in sets.merges:
        if votes.net(link.i, link.j) == 1:
            belief, stake = merged.get(pair_of(link), (1.0, 0.0))
            chance = chance_wrong(belief, votes.doubt(link.i, link.j))
            if missing or chance * stake > settings.doubt_points:
                found.append((chance * max(stake, 1.0), link))
    return [link for _, link in sorted(found, key=lambda entry: -entry[0])]
