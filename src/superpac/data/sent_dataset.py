"""A data set on its way to another process of this machine, which maps a large file by itself."""

from __future__ import annotations

from typing import Any

from superpac.data.dataset import Dataset
from superpac.data.mapped_files import Place
from superpac.errors import DataError


class SentDataset:
    """A data set that is pickled without the points that are mapped from a file.

    Parameters
    ----------
    data : Dataset
        What the other process is to have.

    Examples
    --------
    >>> import pickle
    >>> sent = SentDataset(Dataset([[1, 0], [0, 1]], name="toy"))
    >>> pickle.loads(pickle.dumps(sent)).open()
    Dataset('toy', 2 points, 2 values each, vector)
    """

    def __init__(self, data: Dataset) -> None:
        place = Place.of(data.X)
        self._facts: dict[str, Any] = dict(data.__dict__)
        if place is not None:
            self._facts |= {"X": place, "fingerprint": data.fingerprint}

    def open(self) -> Dataset:
        """Give the data set, mapping its file where it was mapped.

        Raises
        ------
        DataError
            The file holds other values than before.
        NotFoundError
            It is gone.
        """
        facts = dict(self._facts)
        place = facts["X"]
        told = facts.pop("fingerprint", None) if isinstance(place, Place) else None
        data: Dataset = object.__new__(Dataset)  # checked when it was made
        data.__dict__.update(facts)
        if isinstance(place, Place):
            data.__dict__["X"] = place.map()
            if data.fingerprint != told:
                raise DataError(
                    f"{place.path}: holds other values than when it was opened; leave a file as it "
                    "is while it is worked on, and start again."
                )
        return data
