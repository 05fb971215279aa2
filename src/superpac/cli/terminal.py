"""Questions in a terminal: two items side by side, and the key that answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from superpac.cli import common
from superpac.errors import ContradictionError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from superpac.data import Dataset
    from superpac.session.questions import Question
    from superpac.session.session import Session

WIDTH = 32
_LETTERS = 600  # of a text: two of them fill a terminal
ANSWERS = {"s": "same", "d": "different", "u": "unsure"}
ACTS = {"k": "skip", "z": "undo", "q": "quit"}


def converse(
    session: Session,
    ask: Callable[[], Question | None],
    tell: Callable[..., Any],
    *,
    console: Console,
    annotator: str,
    heading: Callable[[], str],
    go_on: str,
    skipping: bool = False,
) -> bool:
    """Put questions until none is left or the person quits.

    Parameters
    ----------
    session : Session
        Whose questions they are.
    ask, tell : callable
        Give the next question and take its answer, as :meth:`Session.ask` and
        :meth:`Session.tell` do.
    console : Console
        Where to print.
    annotator : str
        Who answers.
    heading : callable
        Gives the words before the keys of a question.
    go_on : str
        The command that goes on after quitting.
    skipping : bool, default=False
        Whether a pair may be postponed.

    Returns
    -------
    bool
        Whether no question is left.
    """
    acts = {key: act for key, act in ACTS.items() if skipping or act != "skip"}
    while (question := ask()) is not None:
        console.print(pair(session.data, question.i, question.j))
        console.print(common.plain(question.reason, "dim"))
        words = "/".join([*ANSWERS.values(), *acts.values()])
        begun = time.monotonic()
        key = _read_key(f"{heading()} {words}: ", console)
        took = int(1000 * (time.monotonic() - begun))
        if key in ANSWERS:
            try:
                tell(
                    ANSWERS[key],
                    (question.i, question.j),
                    annotator=annotator,
                    key=uuid4().hex,
                    expected_seq=question.seq,
                    elapsed_ms=took,
                )
            except ContradictionError as error:
                console.print(common.plain(error, "bold red"))
        elif acts.get(key) == "skip":
            session.skip((question.i, question.j), annotator=annotator)
        elif acts.get(key) == "undo":
            taken = session.undo(annotator=annotator)
            console.print(f"Took back #{taken[0]}." if taken else "Nothing to undo.")
        elif acts.get(key) == "quit":
            console.print(common.plain(f"Kept. Go on with: {go_on}"), soft_wrap=True)
            return False
        else:
            *most, last = [*ANSWERS, *acts]
            console.print(f"Type {', '.join(most)} or {last} and press Enter.")
    return True


def pair(items: Dataset, i: int, j: int) -> RenderableType:
    """Two items side by side, under their names."""
    from rich.columns import Columns
    from rich.panel import Panel

    return Columns([Panel(_card(items, p), title=common.plain(items.ids[p])) for p in (i, j)])


def _card(items: Dataset, i: int) -> RenderableType:
    """Draw an item as its words, or as rows where it is one of a table, as a picture elsewhere."""
    from rich.table import Table

    if items.kind == "text" and items.texts is not None:
        return common.plain(items.texts[i][:_LETTERS])
    if items.kind != "table":
        return _picture(items, i)
    table = Table.grid(padding=(0, 2))
    for column, value in items.describe(i)[:20]:
        table.add_row(common.plain(column, "dim"), common.plain(value))
    return table


def _picture(items: Dataset, i: int) -> Text:
    """Draw an item with two pixels per character, one above the other."""
    import numpy as np
    from rich.text import Text

    image = items.draw(i).convert("RGB")
    height = max(2, round(WIDTH * image.height / image.width) // 2 * 2)
    pixels = np.asarray(image.resize((WIDTH, height))).tolist()
    text = Text()
    for upper, lower in zip(pixels[::2], pixels[1::2], strict=True):
        for above, below in zip(upper, lower, strict=True):
            text.append("▀", style=f"{_rgb(above)} on {_rgb(below)}")
        text.append("\n")
    return text


def _rgb(pixel: list[int]) -> str:
    return f"rgb({pixel[0]},{pixel[1]},{pixel[2]})"


def _read_key(prompt: str, console: Console) -> str:
    """First letter of what is typed; "q" at the end of the input."""
    console.print(prompt, end="", markup=False, highlight=False)
    try:
        return input().strip().lower()[:1]
    except EOFError:
        return "q"
