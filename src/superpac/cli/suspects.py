"""``superpac suspects``: answers that contradict each other or do not fit, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from superpac.cli import common
from superpac.cli.sessions import load_session, opened

if TYPE_CHECKING:
    from superpac.session.suspects import Suspects


def suspects(
    session: common.SessionArgument,
    data: common.MovedOption = None,
    store: common.StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """List answers that contradict each other or do not fit, and what to take back."""
    from superpac.session.suspects import find_suspects

    with opened(store, read_only=True) as kept:
        current = load_session(kept, session, data)
        name = current.log.info.name
        found = find_suspects(current.state, current.strategy.reliability(current.state))
    if as_json:
        common.print_json({"session": name, **found.to_dict()})
        return
    _say(found, name)


def _say(found: Suspects, name: str) -> None:
    from superpac.session.suspects import person_in_words

    def take_back(seqs: list[int]) -> None:
        for seq in seqs:
            common.say(f"    superpac undo {name} --seq {seq}", "bold")

    for dispute in found.disputes:
        common.say(f"{dispute.words}.")
    for c in found.contradictions:
        common.say(f"{c.words}.")
        more = len(c.resolves)
        also = f" That settles {more} more contradiction{'s' if more > 1 else ''}." if more else ""
        common.say(f"  Cheapest to resolve by taking back:{also}", "dim")
        take_back([link.seq for link in c.cut])
    for d in found.doubts:
        common.say(f"{d.words}. If it is:")
        take_back([d.answer.seq])
    if not (found.disputes or found.contradictions or found.doubts):
        common.say("No answer contradicts another, and none looks wrong.")
    for person, (count, rate) in found.people.items():
        common.say(person_in_words(person, count, rate), "dim")
