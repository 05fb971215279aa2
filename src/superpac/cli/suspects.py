"""``superpac suspects``: answers that contradict each other or do not fit, and what to do."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from superpac.cli import common
from superpac.cli.sessions import DataOption, SessionArgument, StoreOption, load_session, opened
from superpac.session.suspects import Suspects, find_suspects


def suspects(
    session: SessionArgument,
    data: DataOption = None,
    store: StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """List answers that contradict each other or do not fit, and what to take back."""
    with opened(store, read_only=True) as kept:
        current = load_session(kept, session, data)
        name = current.log.info.name
        found = find_suspects(current.state, current.strategy.reliability(current.state))
    if as_json:
        common.print_json({"session": name, **found.to_dict()})
        return
    _say(found, name)


def _say(found: Suspects, name: str) -> None:
    console = Console(highlight=False)

    def line(words: str, style: str = "") -> None:
        console.print(Text(words, style=style), soft_wrap=True)

    def take_back(seqs: list[int]) -> None:
        for seq in seqs:
            line(f"    superpac undo {name} --seq {seq}", "bold")

    for c in found.contradictions:
        line(f"{c.words}.")
        more = len(c.resolves)
        also = f" That settles {more} more contradiction{'s' if more > 1 else ''}." if more else ""
        line(f"  Cheapest to resolve by taking back:{also}", "dim")
        take_back([link.seq for link in c.cut])
    for d in found.doubts:
        line(f"{d.words}. If it is:")
        take_back([d.answer.seq])
    if not found.contradictions and not found.doubts:
        line("No answer contradicts another, and none looks wrong.")
    for person, (count, rate) in found.people.items():
        line(f"{person or 'no name'}: {count} answers, about {rate:.1%} wrong.", "dim")
