"""Groups as the page shows them: heads, walls a page at a time, and acts on them in words."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.acts import named
from superpac.answers.consistent_labels import tied
from superpac.array_types import IntArray
from superpac.errors import NotReadyError
from superpac.session.exports import cluster_names, group_title
from superpac.session.workbench import Arranged
from superpac.web.service import LabelService
from superpac.web.worker import Model

ASIDE = -1  # number under which items that were set aside are asked for
GONE = -2  # and of those whose files are gone, which nobody sees
AT_ONCE = 3000  # entries in one reply at most, so that none is over a megabyte
MAPPED = 100_000  # items on the map
NEW_AT_ONCE = 60  # new items that are looked at in one go
LETTERS = 120  # of an item's name

_DONE = {
    "move": "Moved",
    "merge": "Merged",
    "split": "Made a new group of",
    "join": "Said to be one:",
    "exclude": "Said not to belong here:",
    "aside": "Set aside",
    "back": "Put back",
}


class Walls:
    """The groups at this moment, each in the order in which its wall shows it.

    Parameters
    ----------
    service : LabelService
        The session.
    order : {"sure", "unsure"}
        Surest first, or least sure first.
    """

    def __init__(self, service: LabelService, order: str = "sure") -> None:
        service.model()
        session = service.session
        self.model: Model = session.current_model()
        self.service, self.order = service, order
        self.labels: IntArray = session.labels()
        self.certain: NDArray[np.bool_] = tied(self.labels, session.state.constraints)
        self.names = cluster_names(session, self.labels)
        gone = session.history.gone
        self.aside = np.array(sorted(session.state.bad - gone), dtype=np.intp)
        self.labels[self.aside] = ASIDE
        self.labels[list(gone)] = GONE
        # changes whenever a page of a wall may not fit the pages fetched before
        self.version = f"{session.seq}.{self.model.key}.{order}"

    def members(self, group: int) -> IntArray:
        """Items of a group in the order of its wall."""
        items = np.flatnonzero(self.labels == group)
        sure, certain = self.model.margins[items], self.certain[items]
        keys = (items, -sure, ~certain) if self.order == "sure" else (items, sure, certain)
        return items[np.lexsort(keys)]

    def groups(self) -> list[int]:
        """Groups, the largest first."""
        inside = self.labels[self.labels >= 0]
        sizes = np.bincount(inside) if inside.size else np.zeros(0, dtype=np.intp)
        return [int(c) for c in np.argsort(-sizes, kind="stable") if sizes[c]]

    def entries(self, items: IntArray) -> list[dict[str, Any]]:
        """Items as a wall shows them."""
        ids = self.service.data.ids
        sure = np.clip(self.model.margins[items], 0.0, 1.0)
        return [
            {
                "item": int(i),
                "id": _cut(str(ids[i])),
                "certain": bool(self.certain[i] and self.labels[i] >= 0),
                "sure": round(float(s), 4),
            }
            for i, s in zip(items, sure, strict=True)
        ]


def clusters(service: LabelService, limit: int, order: str = "sure") -> dict[str, Any]:
    """Every cluster, the largest first, with the first items of its wall.

    Parameters
    ----------
    service : LabelService
        The session.
    limit : int
        Items per cluster that are sent along, fewer where there are very many clusters; the rest
        is for :func:`wall`.
    order : {"sure", "unsure"}
        Which come first.

    Returns
    -------
    dict
    """
    walls = Walls(service, order)
    found, left = [], AT_ONCE
    for c in walls.groups():
        members = walls.members(c)
        shown = walls.entries(members[: min(limit, left)])
        left -= len(shown)
        found.append(
            {
                "cluster": c,
                "number": c + 1,
                "name": walls.names.get(c, ""),
                "size": int(members.size),
                "certain": int(walls.certain[members].sum()),
                "first": int(members[0]),
                "items": shown,
            }
        )
    return {
        "clusters": found,
        "set_aside": walls.aside[:AT_ONCE].tolist(),
        "aside": int(walls.aside.size),
        "seq": service.session.seq,
        "fresh": walls.model.key == service.session.seq,
        "version": walls.version,
    }


def wall(
    service: LabelService, cluster: int, offset: int, limit: int, order: str = "sure"
) -> dict[str, Any]:
    """Part of one cluster's wall, or of the items set aside.

    Parameters
    ----------
    service : LabelService
        The session.
    cluster : int
        Its number from 0; -1 for the items set aside.
    offset, limit : int
        Which part.
    order : {"sure", "unsure"}
        Which come first.

    Returns
    -------
    dict
        ``items``, ``size`` and ``version``: pages of one version fit together.
    """
    walls = Walls(service, order)
    members = walls.members(cluster)
    return {
        "items": walls.entries(members[offset : offset + limit]),
        "size": int(members.size),
        "version": walls.version,
    }


def map_view(service: LabelService, limit: int = MAPPED) -> dict[str, Any]:
    """Every item's place in the plane and its group, packed into 16 bits each.

    Parameters
    ----------
    service : LabelService
        The session.
    limit : int
        Items at most; of more, a sample is shown.

    Returns
    -------
    dict
        ``x`` and ``y`` from 0 to 65535 on one scale; ``cluster``, whose highest bit says whether
        answers tie the item there; ``groups`` with what they are called, the largest first.
    """
    basis = service.models.basis
    if basis is None:
        raise NotReadyError("The first clustering is not ready yet; try again in a moment.")
    walls = Walls(service)
    flat = basis.flat.astype(np.float64)
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = max(float((high - low).max()), 1e-9)
    places = np.rint(65535 * (0.5 + (flat - (low + high) / 2) / span)).astype("<u2")
    shown = np.flatnonzero(walls.labels >= 0)
    if shown.size > limit:
        shown = np.sort(np.random.default_rng(0).choice(shown, limit, replace=False))
    cluster = walls.labels[shown].astype("<u2") | np.where(walls.certain[shown], 0x8000, 0)
    whole = shown.size == len(service.data)
    return {
        "count": int(shown.size),
        "items": None if whole else shown.tolist(),
        "x": _packed(places[shown, 0]),
        "y": _packed(places[shown, 1]),
        "cluster": _packed(cluster),
        "groups": [
            {
                "cluster": c,
                "title": group_title(c, walls.names),
                "first": int(np.flatnonzero(walls.labels == c)[0]),
            }
            for c in walls.groups()
        ],
    }


def _packed(numbers: NDArray[Any]) -> str:
    """Whole numbers as 16 bits each, the lower byte first, in base 64."""
    return b64encode(numbers.astype("<u2").tobytes()).decode()


def titles(service: LabelService, items: Sequence[int]) -> list[str]:
    """Items with the groups that they are in."""
    labels = service.session.labels()
    names = cluster_names(service.session, labels)
    ids = service.data.ids
    return [f"{_cut(str(ids[i]))} in {group_title(int(labels[i]), names)}" for i in items]


def newcomers(service: LabelService) -> list[dict[str, Any]]:
    """Items that were added and that no answer ties to a group yet, group by group.

    Parameters
    ----------
    service : LabelService
        The session.

    Returns
    -------
    list of dict
        Of each group its ``title``, how many are new (``size``), the first of them as ``items``,
        ``to``: an item that was there before and stands for it (None where all are new).
    """
    begun = service.session.log.info.n_items
    if len(service.data) == begun:
        return []
    walls = Walls(service)
    found = []
    for c in walls.groups():
        members = walls.members(c)
        new = members[(members >= begun) & ~walls.certain[members]]
        if not new.size:
            continue
        old = members[(members < begun) | walls.certain[members]]
        found.append(
            {
                "cluster": c,
                "title": group_title(c, walls.names),
                "size": int(new.size),
                "to": int(old[0]) if old.size else None,
                "known": walls.entries(old[:6]),
                "items": walls.entries(new[:NEW_AT_ONCE]),
            }
        )
    return found


def told(
    service: LabelService, act: str, items: Sequence[int], to: int | None, done: Arranged
) -> str:
    """What an act on groups did, in a sentence or two."""
    labels = service.session.labels()
    names = cluster_names(service.session, labels)
    many = f"{len(items):,} item{'' if len(items) == 1 else 's'}"
    if act == "merge":
        words = f"Merged {len(items):,} groups into {group_title(int(labels[items[0]]), names)}."
    elif act == "move" and to is not None:
        words = f"Moved {many} to {group_title(int(labels[to]), names)}."
    else:
        words = f"{_DONE[act]} {many}."
    if not done.receipts:
        return f"{words} That was known already."
    if done.disputed:
        words += " It goes against what somebody else answered; see Review."
    if done.taken_back:
        plural = "" if done.taken_back == 1 else "s"
        words += f" {done.taken_back:,} earlier answer{plural} of yours made room."
    return words


def numbered(service: LabelService, seqs: Sequence[int]) -> str:
    """Events that were taken back, in few words."""
    first = service.session.history.event(seqs[0])
    act = named(first)
    if act:
        return f"the act of #{first.seq} ({act}, {len(seqs):,} entries)"
    return f"#{', #'.join(map(str, seqs))}"


def _cut(name: str) -> str:
    return name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
