"""Fault 10: fifty people on one PostgreSQL session; no pair is before two of them.

How long each of them waits is measured by benchmarks/limits.py.
"""

from __future__ import annotations

import pytest

from labelling import LabelServer, answer_together, digits_file

PEOPLE = 50


@pytest.mark.slow
def test_fifty_annotators(tmp_path, postgres_server, fault_count, request):
    each = fault_count(4, 100)
    data = digits_file(tmp_path, classes=10, per_class=80)
    server = LabelServer(tmp_path, data, k=10, store=postgres_server.database()).wait_ready()
    request.addfinalizer(server.stop)
    crowd = answer_together(server, PEOPLE, each)
    events = server.events()
    assert set(crowd.codes) <= {200, 409}
    assert crowd.refused == []
    assert crowd.twice == []
    assert sorted(crowd.accepted) == [e.seq for e in events if e.kind == "answer"]
    assert len(crowd.accepted) >= PEOPLE * each / 2
    assert len({e.annotator for e in events}) == PEOPLE
