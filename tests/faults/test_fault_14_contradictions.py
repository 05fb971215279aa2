"""Fault 14: answers that contradict each other are told with a true chain of them."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.answers.constraints import Constraints
from superpac.errors import ContradictionError
from superpac.session.session import Session


@pytest.mark.parametrize("wrong", [0.012, 0.05])
def test_contradictions_are_reported_with_a_true_chain_and_can_be_resolved(
    planes, planes_spec, wrong
):
    session = Session.create(planes, planes_spec)
    rng = np.random.default_rng(3)
    y, n = planes.y, len(planes)
    given: dict[int, tuple[int, int, str]] = {}
    refused = 0
    for _ in range(600):
        i, j = (int(p) for p in rng.choice(n, 2, replace=False))
        right = y[i] == y[j]
        said = "same" if right != (rng.random() < wrong) else "different"
        before = session.seq
        try:
            receipt = session.tell(said, (i, j))
        except ContradictionError as error:
            refused += 1
            assert session.seq == before
            links = [given[seq] for seq in error.chain]
            assert chain_shows(links, i, j, "different" if said == "same" else "same")
            session.undo(error.chain[-1])  # the session goes on after taking one back
            given.pop(error.chain[-1])
        else:
            if receipt.recorded:
                given[receipt.seq] = (i, j, said)
    assert refused > 0
    assert session.ask() is not None


def chain_shows(links, i, j, verdict) -> bool:
    """Whether the answers alone imply the verdict about i and j."""
    known = Constraints(10_000)
    for seq, (a, b, said) in enumerate(links, 1):
        known.add(a, b, said, seq)
    return known.implied(i, j) == verdict
