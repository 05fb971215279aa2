"""Two items side by side in a terminal: pictures as half-blocks, rows as text."""

from __future__ import annotations

import numpy as np
from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from superpac.data import Dataset

WIDTH = 32


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
