"""``superpac audit``: a small random sample that says how many items are in a wrong cluster."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from superpac.cli import common, terminal
from superpac.cli.sessions import (
    DataOption,
    SessionArgument,
    StoreOption,
    load_session,
    opened,
)
from superpac.session.audit import SAMPLE, start


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
            prompt = "audit: same/different/unsure/undo/quit: "
            key = terminal.put(
                current, question, prompt, console, tell=under_way.tell, annotator=annotator
            )
            if key == "q":
                console.print(f"Kept. Go on with: superpac audit {session}")
                break
        found = under_way.result()
        if as_json:
            common.print_json({"session": current.log.info.name, **found.to_dict()})
        else:
            console.print(found.in_words(), highlight=False, soft_wrap=True)
