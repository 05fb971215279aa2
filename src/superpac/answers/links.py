"""The three answers, the shortest chain of them, a chain in words, and the check of a log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from superpac.errors import InputError

SAME: Final = "same"
DIFFERENT: Final = "different"
UNSURE: Final = "unsure"
ANSWERS = (SAME, DIFFERENT, UNSURE)
Known = Literal["same", "different"]


class Link(NamedTuple):
    """One earlier answer in a chain, written in the direction in which the chain uses it.

    Attributes
    ----------
    seq : int
        Sequence number of the answer.
    i, j : int
        The two points.
    answer : str
        ``"same"`` or ``"different"``.
    annotator : str
        Who gave it; may be empty.
    confirm : bool
        Whether it counts only once a second vote agrees: much hangs on it, and it was unexpected.
    unasked : bool
        Whether the person chose what to say it of, in an act on groups, and no question did.
    known : bool
        Whether it follows from labels that were there beforehand; such a link is unasked, too.
    """

    seq: int
    i: int
    j: int
    answer: str
    annotator: str = ""
    confirm: bool = False
    unasked: bool = False
    known: bool = False


Pair = tuple[int, int]


def pair_of(link: Link) -> Pair:
    """The two items of an answer, the smaller first."""
    return (link.i, link.j) if link.i < link.j else (link.j, link.i)


def ordered(i: int, j: int) -> Pair:
    """Two items, the smaller first."""
    return (i, j) if i < j else (j, i)


def shortest_chain(
    log: Sequence[Link],
    links: Mapping[int, Sequence[int]],
    cuts: Mapping[int, Sequence[int]],
    start: int,
    goal: int,
    *,
    end: int,
    leads_home: Callable[[int], bool],
) -> tuple[Link, ...]:
    """Find the shortest chain of answers from one point to another by breadth-first search.

    Parameters
    ----------
    log : sequence of Link
        The answers.
    links, cuts : mapping of int to sequence of int
        For each point the positions in `log` of its "same" and "different" answers. With any
        `cuts` the chain crosses exactly one.
    start, goal : int
        The two points; a chain between them must exist.
    end : int
        Only the answers before this position may be used.
    leads_home : callable
        Whether a point is in the group of `goal`, so that a "different" that ends there is of use.

    Returns
    -------
    tuple of Link

    Examples
    --------
    >>> log = [Link(1, 0, 1, "same"), Link(2, 2, 1, "same")]
    >>> chain = shortest_chain(log, {0: [0], 1: [0, 1], 2: [1]}, {}, 0, 2, end=2, leads_home=bool)
    >>> [link.seq for link in chain]
    [1, 2]
    """
    # A state is a point and whether the "different" has been crossed.
    first, last = (start, False), (goal, bool(cuts))
    came: dict[tuple[int, bool], tuple[tuple[int, bool], int]] = {first: (first, -1)}
    queue = deque([first])
    while last not in came:
        state = queue.popleft()
        point, crossed = state
        ways = [(position, crossed) for position in links.get(point, ())]
        if not crossed:
            ways += [(position, True) for position in cuts.get(point, ())]
        for position, after in ways:
            if position >= end:
                continue
            step = (log[position].i + log[position].j - point, after)
            if step not in came and (after == crossed or leads_home(step[0])):
                came[step] = (state, position)
                queue.append(step)
    chain = []
    state = last
    while state != first:
        before, position = came[state]
        answer = log[position]
        chain.append(answer._replace(i=before[0], j=state[0]))
        state = before
    return tuple(reversed(chain))


def describe(
    chain: Sequence[Link], names: Sequence[Any] | None = None, *, people: bool = False
) -> str:
    """Put a chain of answers into words that a person can check.

    Parameters
    ----------
    chain : sequence of Link
        As given by :meth:`Constraints.explain`.
    names : sequence, optional
        What to call the points.
    people : bool, default=False
        Whether to say who gave each answer, where that is known.

    Returns
    -------
    str

    Examples
    --------
    >>> describe([Link(31, 12, 40, "same"), Link(58, 40, 7, "different")])
    '12 = 40 (#31) and 40 ≠ 7 (#58), so 12 ≠ 7'
    >>> describe([Link(31, 12, 40, "same", "Ada")], people=True)
    '12 = 40 (#31, Ada)'
    """

    def said(i: int, j: int, answer: str) -> str:
        left, right = (i, j) if names is None else (names[i], names[j])
        return f"{left} {'=' if answer == SAME else '≠'} {right}"

    if not chain:
        return "nothing is known"
    steps = []
    for link in chain:
        who = f", {link.annotator}" if people and link.annotator else ""
        steps.append(f"{said(link.i, link.j, link.answer)} (#{link.seq}{who})")
    if len(steps) == 1:
        return steps[0]
    result = DIFFERENT if any(link.answer == DIFFERENT for link in chain) else SAME
    first = ", ".join(steps[:-1])
    return f"{first} and {steps[-1]}, so {said(chain[0].i, chain[-1].j, result)}"


def check_log(
    n: int, pairs: ArrayLike, answers: ArrayLike, seqs: ArrayLike | None
) -> tuple[list[list[int]], list[str], list[int]]:
    """Check a log of answers about `n` points and give it as plain lists.

    Parameters
    ----------
    n : int
        Number of points.
    pairs : array-like of int of shape (n_answers, 2)
        The points that were compared.
    answers : array-like of str of shape (n_answers,)
        ``"same"``, ``"different"`` or ``"unsure"``.
    seqs : array-like of int of shape (n_answers,), optional
        Sequence numbers; 1, 2, ... by default.

    Returns
    -------
    pairs, answers, seqs : lists

    Raises
    ------
    InputError
        With one sentence on the first thing that is wrong.

    Examples
    --------
    >>> check_log(5, [[0, 4]], ["same"], None)
    ([[0, 4]], ['same'], [1])
    """
    given = list(cast(Iterable[Any], answers))
    words = [str(answer) for answer in given]
    wrong = set(words) - set(ANSWERS)
    if wrong:
        raise InputError(
            f"An answer is 'same', 'different' or 'unsure'. Got {sorted(wrong)[0]!r} instead."
        )
    points = np.asarray(pairs)
    if points.size == 0:
        points = points.reshape(0, 2).astype(np.int64)
    numbers = np.arange(1, len(words) + 1) if seqs is None else np.asarray(seqs)
    if points.shape != (len(words), 2) or numbers.shape != (len(words),):
        raise InputError(
            f"{len(words)} answers need pairs of shape ({len(words)}, 2) and as many sequence "
            f"numbers. Got shapes {points.shape} and {numbers.shape}."
        )
    if points.dtype.kind not in "iu" or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InputError(
            f"Pairs and sequence numbers must be whole numbers. Got {points.dtype} and "
            f"{numbers.dtype}."
        )
    outside = (points < 0) | (points >= n)
    if outside.any():
        raise InputError(
            f"There is no point {points[outside][0]}; points are numbered 0 to {n - 1}."
        )
    twice = points[:, 0] == points[:, 1]
    if twice.any():
        raise InputError(
            f"A point cannot be compared with itself. Got {points[twice][0, 0]} twice."
        )
    return points.tolist(), words, numbers.tolist()
