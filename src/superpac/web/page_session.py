"""The page's session: answers as everywhere, clusters from the newest model that came in."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.acts import named
from superpac.answers.consistent_labels import respect_answers
from superpac.answers.events import SessionInfo
from superpac.answers.growth import grown
from superpac.answers.history import group_of
from superpac.answers.log import Log
from superpac.array_types import IntArray
from superpac.data import Dataset
from superpac.errors import InputError, NotReadyError
from superpac.metrics import align_labels
from superpac.session.known_items import as_items_of
from superpac.session.progress import progress_of
from superpac.session.rearranging import put_where_said
from superpac.session.spec import AUTO, Spec
from superpac.session.workbench import Workbench
from superpac.strategies import WEIGH_ANSWERS
from superpac.web.worker import Model

KEPT = 20  # clusterings remembered, so that taking back shows at once what was before


class PageSession(Workbench):
    """Answers and the clusters that came last.

    Parameters
    ----------
    data : Dataset
        The items.
    log : Log
        The answers.

    Attributes
    ----------
    model : Model or None
        The newest model; None before the first.
    """

    def __init__(self, data: Dataset, log: Log) -> None:
        known = grown(log.info, log.additions())
        self.data, self.spec = as_items_of(data, known), Spec.from_dict(known.spec)
        self.model: Model | None = None
        self._shown: IntArray | None = None
        self._seen: OrderedDict[int, IntArray] = OrderedDict()  # by the answers they follow from
        weighs = self.spec.strategy in WEIGH_ANSWERS
        super().__init__(log, [str(name) for name in self.data.ids], weighs_answers=weighs)

    def _grow(self, info: SessionInfo) -> None:
        """Refuse to go on: pictures, clusters and questions here are those of fewer items."""
        more = info.n_items - self.info.n_items
        raise InputError(
            f"{more} items were added to the session {info.name!r} since this page was started; "
            "stop superpac label and start it again to see them."
        )

    def take_model(self, model: Model) -> None:
        """Take a new model; clusters keep their numbers as far as possible."""
        with self._lock:
            # those whose numbers are to be kept have heard of the acts since
            last = None if self.model is None else self._bent()
            self.model = model
            new = model.shown
            if last is None or not np.array_equal(new, last):
                self._shown = new if last is None else align_labels(new, last)
            else:
                self._shown = last
            if self.fresh:
                self._seen[self._answers_key()] = self._shown
                while len(self._seen) > KEPT:
                    self._seen.popitem(last=False)

    def current_model(self) -> Model:
        """Newest model, or a sentence where there is none yet."""
        if self.model is None:
            raise NotReadyError("The first clustering is not ready yet; try again in a moment.")
        return self.model

    @property
    def fresh(self) -> bool:
        """Whether the model follows from all the answers."""
        return self.model is not None and self.model.key == self.seq

    def last_labels(self) -> IntArray | None:
        """Clusters of the newest model as they came, which may lag behind the last answer."""
        return self._shown

    def labels(self) -> IntArray:
        """Clusters for people; those of an older model are bent to the answers since."""
        with self._lock:
            self.current_model()
            if self.fresh:
                return self._shown.copy()  # type: ignore[union-attr]
            seen = self._seen.get(self._answers_key())
            if seen is not None:  # something was taken back: all is as it was
                return seen.copy()
            labels = self._bent()
            return respect_answers(labels, self.state.constraints, int(labels.max()) + 1)

    def _bent(self) -> IntArray:
        """Clusters of the newest model, with what people did to groups since."""
        labels: IntArray = self._shown  # type: ignore[assignment]
        key = self.current_model().key
        since = self.history.events[key:] if isinstance(key, int) else []
        done = {e.seq: (act, group_of(e)) for e in since if (act := named(e))}
        return put_where_said(labels, self.state.links, done) if done else labels

    def _answers_key(self) -> int:
        """Number that tells the standing answers from others."""
        return hash(tuple(answer.seq for answer in self.state.answers))

    def _sureness(self) -> NDArray[np.float32]:
        return self.current_model().margins

    def _members(self) -> NDArray[np.bool_] | None:
        return self.current_model().members

    def progress(self) -> dict[str, Any]:
        """Figures that mean something to the person who answers, as a session gives them."""
        with self._lock:
            model, auto = self.model, self.spec.n_clusters == AUTO
            met = None if model is None else model.count
            clusters = met.clusters if met else (None if auto else self.spec.clusters)
            found = progress_of(self.history, clusters)
            found["clusters_sure"] = met.sure if met and auto else None
            found["error_left"] = None if model is None else model.error_left
            return found
