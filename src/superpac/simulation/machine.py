"""A script or a model that answers as one more annotator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from superpac.answers.links import ANSWERS
from superpac.data import Dataset
from superpac.data.seen_item import seen_item
from superpac.errors import InputError
from superpac.session.questions import Question


class MachineOracle:
    """Answers with what a function says of two items, as a person would see them.

    Parameters
    ----------
    function : callable
        Called as ``function(first, second)`` with what
        :func:`~superpac.data.seen_item.seen_item` gives: paths, texts, rows or arrays. It gives
        "same", "different", "unsure" where nobody could tell, or None, which leaves the question
        to people.
    data : Dataset
        The items.
    name : str, optional
        What to call it in messages; the function's own name by default.

    Examples
    --------
    >>> def near(first, second):
    ...     return "same" if abs(first - second).max() < 1 else "different"
    >>> MachineOracle(near, Dataset([[0.0], [0.5], [7.0]]))(Question(0, 2, 0, ""))
    'different'
    """

    def __init__(self, function: Callable[..., Any], data: Dataset, name: str = "") -> None:
        self.function, self.data = function, data
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def __call__(self, question: Question) -> str | None:
        """Ask the function; whatever it does wrong is one sentence."""
        first, second = seen_item(self.data, question.i), seen_item(self.data, question.j)
        about = f"{self.data.ids[question.i]} and {self.data.ids[question.j]}"
        try:
            said = self.function(first, second)
        except (Exception, SystemExit) as error:
            words = " ".join(str(error).split())[:200]
            raise InputError(
                f"{self.name} failed on {about} ({type(error).__name__}: {words}); mend it and run "
                "this again: what it answered before is kept."
            ) from error
        if said is None:
            return None
        if not isinstance(said, str) or said not in ANSWERS:
            raise InputError(
                f"{self.name} said {ascii(said)[:60]} of {about}; it must give 'same', "
                "'different', 'unsure', or None to leave it to people."
            )
        return str(said)
