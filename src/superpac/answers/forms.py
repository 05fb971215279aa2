"""Forms of question: how many items a person is shown, and the pairs that their marks answer.

A pair is the plainest form. The others show one item beside several and let a person mark some of
them; all are kept in the log as the pairs that they answer, in one act.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from superpac.answers.links import DIFFERENT, SAME
from superpac.errors import InputError

PAIR, STRIP, WALL, BOARD = "pair", "strip", "wall", "board"

_LONGEST = 3600.0  # seconds

MOST = {STRIP: 9, WALL: 24, BOARD: 8}
"""How many items stand beside the one, at most."""


@dataclass(frozen=True)
class Costs:
    """Seconds of a person's time that a question takes, by what is shown and marked.

    Attributes
    ----------
    pair, strip : float
        A whole question of these forms.
    wall, board : float
        To begin with one.
    item, group : float
        For each item of a wall; for each group of a board.
    click : float
        For each that is marked on a wall or a board.

    Examples
    --------
    >>> Costs().seconds("wall", shown=10, marked=2)
    7.5
    """

    pair: float = 1.5
    strip: float = 3.0
    wall: float = 1.5
    board: float = 1.5
    item: float = 0.4
    group: float = 0.6
    click: float = 1.0

    def seconds(self, form: str, shown: int = 1, marked: float = 0.0) -> float:
        """Give the seconds of a form that shows so much, of which so much is marked."""
        if form == PAIR:
            return self.pair
        if form == STRIP:
            return self.strip
        begun, each = (self.wall, self.item) if form == WALL else (self.board, self.group)
        return begun + each * shown + self.click * marked


def parse_costs(text: str) -> Costs:
    """Read costs such as ``pair=1.5,click=0.8``; what is not named keeps its value.

    Parameters
    ----------
    text : str
        Names and seconds.

    Returns
    -------
    Costs

    Examples
    --------
    >>> parse_costs("pair=2,click=0.5").pair
    2.0
    """
    names = [field.name for field in fields(Costs)]
    given: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1.0
        if name not in names or not 0.0 < seconds <= _LONGEST:
            raise InputError(
                f"Costs are NAME=SECONDS with a name of {', '.join(names)} and more than 0 and at "
                f"most {_LONGEST:g} seconds, such as pair=1.5,click=1. Got {part!r} instead."
            )
        given[name] = seconds
    return Costs(**given)


def pairs_answered(
    form: str, item: int, options: Sequence[int], marked: Sequence[int]
) -> list[tuple[int, int, str]]:
    """Give the pairs that marks answer, as if they had been asked one by one.

    Parameters
    ----------
    form : {"strip", "wall", "board"}
        A strip asks which groups an item belongs to: what is marked is the same, and of what is
        not marked nothing was asked, unless nothing at all is marked: then it is none of these. A
        wall asks which items do not belong to the item's group: what is marked is different, all
        else the same. A board asks which groups are one with the item's: what is marked is the
        same, all else different.
    item : int
        The item; on a wall and a board it stands for its group.
    options : sequence of int
        What it is shown beside.
    marked : sequence of int
        Those that the person marked.

    Returns
    -------
    list of (int, int, str)
        The item to be placed comes first in each pair.

    Examples
    --------
    >>> pairs_answered("strip", 7, (1, 2, 3), (2,))
    [(7, 2, 'same')]
    >>> pairs_answered("strip", 7, (1, 2), ())
    [(7, 1, 'different'), (7, 2, 'different')]
    >>> pairs_answered("wall", 7, (1, 2), (2,))
    [(1, 7, 'same'), (2, 7, 'different')]
    >>> pairs_answered("board", 7, (1, 2), (2,))
    [(1, 7, 'different'), (2, 7, 'same')]
    """
    if form not in MOST:
        raise InputError(f"Marks answer one of the forms {', '.join(MOST)}. Got {form!r} instead.")
    if len(set(options)) != len(options) or not 0 < len(options) <= MOST[form]:
        raise InputError(
            f"A {form} holds 1 to {MOST[form]} different items; got {len(options)}, "
            f"{len(set(options))} of them different."
        )
    if item in options:
        raise InputError(f"An item is not shown beside itself; got {item} twice.")
    chosen = set(marked)
    if len(chosen) != len(marked) or not chosen <= set(options):
        raise InputError(
            f"What is marked must be among the items offered, each once; got {list(marked)}."
        )
    if form == STRIP:
        if not chosen:
            return [(item, other, DIFFERENT) for other in options]
        return [(item, other, SAME) for other in options if other in chosen]
    inside, outside = (DIFFERENT, SAME) if form == WALL else (SAME, DIFFERENT)
    return [(other, item, inside if other in chosen else outside) for other in options]
