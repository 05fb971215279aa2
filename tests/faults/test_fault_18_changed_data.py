"""Fault 18: data that changed under a session are refused."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data import Dataset
from superpac.errors import InputError
from superpac.session.session import Session


def test_changed_data_are_refused_by_fingerprint(planes, planes_spec):
    session = Session.create(planes, planes_spec)
    session.tell("different")
    X = planes.points()
    nudged = X.copy()
    nudged[7, 3] = np.nextafter(nudged[7, 3], 2)
    swapped = X[[1, 0, *range(2, len(X))]]
    for changed in (nudged, swapped):
        with pytest.raises(InputError, match=planes.fingerprint[:12]):
            Session.open(Dataset(changed, name="planes"), session.log)
    assert Session.open(planes, session.log).progress()["questions"] == 1
