"""What a card stands for in a question: the group of its item, and some faces of that group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.session.exports import cluster_names
from superpac.web.service import LabelService

FACES = 6  # members of a group that are shown beside an item


class Context:
    """Groups and their faces, as the newest model and the answers have them at this moment.

    Parameters
    ----------
    service : LabelService
        The session.
    """

    def __init__(self, service: LabelService) -> None:
        service.model()
        session = service.session
        self._model, self._labels = session.model, session.last_labels()
        self._known = session.state.constraints
        self._joined = self._known.set_of()
        self._in = np.ones(session.state.n, dtype=np.bool_)
        self._in[list(session.state.bad)] = False
        labels = self._labels
        self._names = {} if labels is None else cluster_names(session, labels)

    def placed(self, item: int, others: tuple[int, ...]) -> dict[str, Any]:
        """Context of the item that is to be placed: only what answers have joined with it.

        What the model believes about it is what is asked, so it is not shown.

        Parameters
        ----------
        item : int
            The item.
        others : tuple of int
            What it is held against.

        Returns
        -------
        dict
            ``group`` and ``faces``, as :meth:`standing`.
        """
        faces = self._mates(item)
        apart = self._labels is not None and all(
            self._labels[item] != self._labels[other] for other in others
        )
        return {"group": self._group(item) if faces and apart else None, "faces": faces}

    def face(self, item: int) -> dict[str, Any]:
        """Context of the item that stands for a group whose other members are being judged.

        Parameters
        ----------
        item : int
            The item.

        Returns
        -------
        dict
            ``group`` as :meth:`standing`; of ``faces`` only what answers have joined with it.
        """
        return {"group": self._group(item), "faces": self._mates(item)}

    def standing(self, item: int, beside: int | None = None) -> dict[str, Any]:
        """Context of an item that stands for its group.

        Parameters
        ----------
        item : int
            The item.
        beside : int, optional
            What is to be placed; neither it nor what answers joined with it is a face.

        Returns
        -------
        dict
            ``group``: ``number`` (from 1, as the page counts), ``name``, ``size``, or None; and
            ``faces``: other members, first those that answers joined with it, then the surest.
        """
        faces = self._mates(item)
        if self._labels is None or self._model is None:
            return {"group": None, "faces": faces}
        fitting = (self._labels == self._labels[item]) & self._in & ~self._with(item)
        if beside is not None:
            fitting &= ~self._with(beside)
        for one in self._surest(fitting):
            if len(faces) >= FACES:
                break
            # clusters of a moment ago may lag behind an answer
            if self._known.implied(item, one) != "different":
                faces.append(one)
        return {"group": self._group(item), "faces": faces}

    def _with(self, item: int) -> NDArray[np.bool_]:
        """What answers have joined with an item, and itself."""
        found: NDArray[np.bool_] = np.arange(self._in.size) == item
        if self._joined[item] >= 0:
            found |= self._joined == self._joined[item]
        return found

    def _mates(self, item: int) -> list[int]:
        """A few of those that answers have joined with an item, surest first."""
        found = self._with(item) & self._in
        found[item] = False
        return self._surest(found)[:FACES]

    def _surest(self, which: NDArray[np.bool_]) -> list[int]:
        """Items from the surest to the least sure."""
        items = np.flatnonzero(which)
        sure = np.zeros(items.size) if self._model is None else self._model.margins[items]
        return [int(i) for i in items[np.lexsort((items, -sure))]]

    def _group(self, item: int) -> dict[str, Any] | None:
        """Number, name and size of an item's cluster."""
        if self._labels is None:
            return None
        cluster = int(self._labels[item])
        size = int(((self._labels == cluster) & self._in).sum())
        return {"number": cluster + 1, "name": self._names.get(cluster, ""), "size": size}
