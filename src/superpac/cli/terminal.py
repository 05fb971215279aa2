"""A question in a terminal: two items side by side, and the key that answers it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import numpy as np
from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from superpac.data import Dataset
from superpac.errors import ContradictionError
from superpac.session.questions import Question
from superpac.session.session import Session

WIDTH = 32
KEYS = {"s": "same", "d": "different", "u": "unsure"}


def picture(items: Dataset, i: int, width: int = WIDTH) -> Text:
    """Draw an item with two pixels a character."""
    image = items.draw(i).convert("RGB")
    height = max(2, round(width * image.height / image.width) // 2 * 2)
    pixels = np.asarray(image.resize((width, height)))
    text = Text()
    for y in range(0, height, 2):
        for x in range(width):
            top, below = (tuple(int(v) for v in pixels[y + d, x]) for d in (0, 1))
            text.append("▀", style=f"rgb{top} on rgb{below}".replace(" ", "").replace("on", " on "))
        text.append("\n")
    return text


def card(items: Dataset, i: int) -> RenderableType:
    """Draw an item as rows of text where it is a table row, as a picture elsewhere."""
    if items.kind != "table":
        return picture(items, i)
    table = Table.grid(padding=(0, 2))
    for column, value in items.describe(i)[:20]:
        table.add_row(Text(str(column), style="dim"), Text(str(value)))
    return table


def pair(items: Dataset, i: int, j: int) -> RenderableType:
    """Two items side by side, under their names."""
    return Columns([Panel(card(items, p), title=Text(str(items.ids[p])).plain) for p in (i, j)])


def read_key(prompt: str, console: Console) -> str:
    """First letter of what is typed; "q" at the end of the input."""
    console.print(prompt, end="", markup=False, highlight=False)
    try:
        return input().strip().lower()[:1]
    except EOFError:
        return "q"


def put(
    session: Session,
    question: Question,
    prompt: str,
    console: Console,
    *,
    tell: Callable[..., Any],
    annotator: str,
    others: str = "",
) -> str:
    """Show a question, read a key, and do what it says if it answers or takes back.

    Parameters
    ----------
    session : Session
        Whose question it is.
    question : Question
        The pair, and why.
    prompt : str
        What to print before the cursor.
    console : Console
        Where to print.
    tell : callable
        Takes the answer, as :meth:`Session.tell` does.
    annotator : str
        Who answers.
    others : str
        Further keys that the caller acts upon.

    Returns
    -------
    str
        The key.
    """
    console.print(pair(session.data, question.i, question.j))
    console.print(Text(question.reason, style="dim"))
    begun = time.monotonic()
    key = read_key(prompt, console)
    took = int(1000 * (time.monotonic() - begun))
    if key in KEYS:
        try:
            tell(
                KEYS[key],
                (question.i, question.j),
                annotator=annotator,
                key=uuid4().hex,
                expected_seq=question.seq,
                elapsed_ms=took,
            )
        except ContradictionError as error:
            console.print(Text(str(error), style="bold red"))
    elif key == "z":
        taken = session.undo(annotator=annotator)
        console.print(f"Took back #{taken[0]}." if taken else "Nothing to undo.")
    elif not key or key not in f"q{others}":
        console.print(f"Type {', '.join(['s', 'd', 'u', *others, 'z'])} or q and press Enter.")
    return key
