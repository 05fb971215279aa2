"""Fault 44: two servers on one database; a pair answered a moment ago is not handed out again."""

from __future__ import annotations

import threading

import pytest

from labelling import LabelServer, answer_together, digits_file, make_workspace, wait_until
from superpac.web.service import LabelService


def test_a_pair_answered_between_a_look_and_the_lease_is_not_handed_out(tmp_path):
    workspace = make_workspace(tmp_path, "superpac-d", shared=True)
    one = workspace.service
    log = workspace.store.open(one.session.log.session_id)
    two = LabelService(workspace.data, log, store=workspace.store, shared=True)
    for service in (one, two):
        service.start()
    try:
        for service in (one, two):
            wait_until(lambda service=service: service.model() is not None)
        asked = one.ask("ann").question
        answered = []
        lease = log.lease

        def late(pair, annotator, ttl, *instead_of):
            if not answered:  # just before the first lease that the other server takes
                one.drop("ann")
                for person in ("ann", "ben"):
                    one.session.record("different", pair, annotator=person, asked=True)
                answered.append(pair)
            return lease(pair, annotator, ttl, *instead_of)

        log.lease = late  # type: ignore[method-assign]
        got = two.ask("bob").question
        assert answered
        assert got is not None
        assert set(got.pair) != set(answered[0]), "the pair that was answered is asked again"
        assert asked is not None
        receipt = two.answer("bob", got.pair, "different", seq=got.seq, key="bob-00000001")
        assert receipt.recorded
    finally:
        two.stop()
        workspace.stop()


@pytest.mark.slow
def test_no_answer_is_refused_where_two_servers_share_a_database(
    tmp_path, postgres_server, fault_count, request
):
    each = fault_count(6, 60)
    database = postgres_server.database()
    servers = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        data = digits_file(folder, classes=10, per_class=80)
        servers.append(LabelServer(folder, data, k=10, store=database).wait_ready())
        request.addfinalizer(servers[-1].stop)
    crowds = []
    threads = [
        threading.Thread(
            target=lambda server=server, word=word: crowds.append(
                answer_together(server, 8, each, name=word)
            )
        )
        for server, word in zip(servers, ("ann", "bob"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    codes = crowds[0].codes + crowds[1].codes
    assert codes == {200: 2 * 8 * each}
    accepted = sorted(crowds[0].accepted + crowds[1].accepted)
    assert accepted == [e.seq for e in servers[0].events() if e.kind == "answer"]
