from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from superpac.cli.terminal import pair
from superpac.data import Dataset


def shown(data: Dataset) -> str:
    out = io.StringIO()
    Console(width=100, file=out).print(pair(data, 0, 1))
    return out.getvalue()


def test_texts_are_shown_as_words_and_obeyed_in_nothing():
    data = Dataset(np.eye(2), texts=("Where is my [red]card[/red]?", "Why\x1b[2J was I charged?"))
    text = shown(data)
    assert "Where is my [red]card[/red]?" in text
    assert r"Why\x1b[2J was I charged?" in text
    assert "▀" not in text


def test_rows_are_shown_as_names_and_values():
    data = Dataset(np.eye(2), rows=(("red", "1"), ("blue", "2")), columns=("colour", "weight"))
    assert "colour  blue" in shown(data)
