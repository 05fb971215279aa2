"""``superpac add``: new items enter a session that is under way."""

from __future__ import annotations

from typing import Annotated

import typer

from superpac.cli import common
from superpac.cli.sessions import load_session, opened


def add(
    session: common.SessionArgument,
    more: Annotated[
        str,
        typer.Argument(
            metavar="MORE",
            help="A folder, a table or one photo of the same kind as the session's, or its own "
            "that has grown.",
        ),
    ],
    annotator: common.AnnotatorOption = "",
    data: common.MovedOption = None,
    store: common.StoreOption = None,
) -> None:
    """Let new items of MORE into SESSION; every answer stands, and what is in doubt is asked."""
    from superpac.session.item_names import remember

    with (
        opened(store) as kept,
        common.OpeningBars() as progress,
    ):
        current = load_session(kept, session, data, growing=True, progress=progress)
        before = current.info
        options = common.options_of(before)
        options.pop("standardise", None)  # over all items together
        items = common.read_data(more, **options, fewest=1)
        done = current.add(items, place=common.place_of(more), annotator=annotator)
        if done.count:
            remember(current.data, current.info)
    name = current.info.name
    if not done.count:
        common.say(f"Nothing in {more} is new to {name!r}; it has all {done.passed} of it.")
        return
    also = f"; passed over what was there already: {done.passed}" if done.passed else ""
    common.say(f"Items added to {name!r}: {done.count}; it has {current.info.n_items} now{also}.")
    common.say(f"All its answers stand. Go on with: superpac ask {name}")
