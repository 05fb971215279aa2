"""Questions of SUPERPAC-D with their reasons, in words for a person."""

from __future__ import annotations

from superpac.strategies.base import Proposal

WHY = {
    "goes on": "This item is not in the group asked about before",
    "between": "This item lies between groups",
    "far": "This item is far from every group met so far",
    "chosen": "You asked to be asked about this",
}


def place_question(
    test: int, other: int, why: str, chance: float, sets: int, asked: int
) -> Proposal:
    """Ask whether a free item belongs to the set of another."""
    following = "next likeliest" if asked else "likeliest"
    numbers = {"chance": chance, "sets": float(sets), "asked": float(asked)}
    words = f"{WHY[why]}; the other is clear in its {following}."
    return Proposal(test, other, words, numbers)


def join_question(i: int, j: int, chance: float, sets: int) -> Proposal:
    """Ask whether two sets are one."""
    words = "Two groups of items claim each other; are they one?"
    return Proposal(i, j, words, {"chance": chance, "sets": float(sets)})
