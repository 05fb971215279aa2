"""``superpac audit``: a small random sample that says how many items are in a wrong cluster."""

from __future__ import annotations

import time
from typing import Annotated
from uuid import uuid4

import typer
from rich.console import Console
from rich.text import Text

from superpac.audit import SAMPLE, start
from superpac.cli import common, terminal
from superpac.cli.sessions import (
    KEYS,
    DataOption,
    SessionArgument,
    StoreOption,
    load_session,
    opened,
)
from superpac.errors import ContradictionError


def audit(
    session: SessionArgument,
    sample: Annotated[int, typer.Option(min=1, help="Items to draw.")] = SAMPLE,
    pairs: Annotated[
        int | None,
        typer.Option(min=0, help="At most so many questions on clusters that may be one."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on with the last one.")] = False,
    data: DataOption = None,
    annotator: Annotated[str, typer.Option("--as", help="Your name.")] = "",
    store: StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Ask about a random sample: how many items are in a wrong cluster, with a 95% interval."""
    console = Console(stderr=as_json)
    with opened(store) as kept:
        current = load_session(kept, session, data)
        under_way = start(current, sample, pairs=pairs, fresh=fresh)
        while (question := under_way.ask()) is not None:
            console.print(terminal.pair(current.data, question.i, question.j))
            console.print(Text(question.reason, style="dim"))
            begun = time.monotonic()
            key = terminal.read_key("audit: same/different/unsure/undo/quit: ", console)
            took = int(1000 * (time.monotonic() - begun))
            if key == "q":
                console.print(f"Kept. Go on with: superpac audit {session}")
                break
            if key == "z":
                taken = current.undo(annotator=annotator)
                console.print(f"Took back #{taken[0]}." if taken else "Nothing to undo.")
            elif key in KEYS:
                try:
                    under_way.tell(
                        KEYS[key],
                        (question.i, question.j),
                        annotator=annotator,
                        key=uuid4().hex,
                        expected_seq=question.seq,
                        elapsed_ms=took,
                    )
                except ContradictionError as error:
                    console.print(Text(str(error), style="bold red"))
            else:
                console.print("Type s, d, u, z or q and press Enter.")
        found = under_way.result()
        if as_json:
            common.print_json({"session": current.log.info.name, **found.to_dict()})
        else:
            console.print(found.in_words(), highlight=False, soft_wrap=True)
