"""``superpac audit``: a small random sample that says how many items are in a wrong cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from superpac.cli import common, terminal
from superpac.cli.sessions import load_session, opened

SAMPLE = 50  # as superpac.session.audit.SAMPLE, which help should not wait for


def audit(
    session: common.SessionArgument,
    sample: Annotated[int, typer.Option(min=1, help="Items to draw.")] = SAMPLE,
    pairs: Annotated[
        int | None,
        typer.Option(min=0, help="At most so many questions on clusters that may be one."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on with the last one.")] = False,
    data: common.MovedOption = None,
    annotator: common.AnnotatorOption = "",
    store: common.StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Ask about a random sample: how many items are in a wrong cluster, with a 95% interval."""
    from rich.console import Console

    from superpac.session.audit import start

    with opened(store) as kept:
        current = load_session(kept, session, data)
        under_way = start(current, sample, pairs=pairs, fresh=fresh)
        terminal.converse(
            current,
            under_way.ask,
            under_way.tell,
            console=Console(stderr=as_json),
            annotator=annotator,
            heading=lambda: "audit:",
            go_on=f"superpac audit {session}",
        )
        found = under_way.result()
        if as_json:
            common.print_json({"session": current.log.info.name, **found.to_dict()})
        else:
            common.say(found.in_words())
