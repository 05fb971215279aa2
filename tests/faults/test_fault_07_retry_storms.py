"""Fault 7: an answer sent several times at once, or again, counts once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from labelling import Robot


def test_every_answer_sent_five_times_at_once_counts_once(label_server, fault_count):
    count = fault_count(40, 200)
    name = "storm"
    with label_server.client() as client, ThreadPoolExecutor(5) as pool:
        robot = Robot(client, label_server.truth, name)
        robot.ask()
        receipts = []
        while len(receipts) < count:
            body = robot.body()
            replies = list(pool.map(lambda b: client.post("/api/answers", json=b), [body] * 5))
            assert [r.status_code for r in replies] == [200] * 5
            found = {
                (r.json()["receipts"][0]["seq"], r.json()["receipts"][0]["hash"]) for r in replies
            }
            assert len(found) == 1, "a repeated answer got another receipt"
            receipts.append(found.pop())
            robot.ask()
    events = [e for e in label_server.events() if e.annotator == name]
    assert [(e.seq, e.hash) for e in events] == receipts
    assert len({e.key for e in events}) == count


def test_a_key_used_for_another_answer_is_refused(label_server):
    with label_server.client() as client:
        robot = Robot(client, label_server.truth, "keys")
        robot.ask()
        body = robot.body()
        assert client.post("/api/answers", json=body).status_code == 200
        other = {"same": "different", "different": "same"}[body["answer"]]
        reply = client.post("/api/answers", json={**body, "answer": other})
        assert reply.status_code == 409
        assert "key" in reply.json()["detail"]
