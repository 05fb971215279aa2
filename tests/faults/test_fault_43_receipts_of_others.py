"""Fault 43: many people undo and redo at once; everybody's receipt names their own act."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from page_acts import opened

PEOPLE = 8
ROUNDS = 12


def test_receipts_of_undo_and_redo_name_ones_own_events(tmp_path):
    with opened(tmp_path, "superpac-d", shared=False) as page:
        for person in range(PEOPLE):
            for item in range(ROUNDS):
                body = {"annotator": f"p{person}", "key": page.key(), "item": 12 * person + item}
                assert page.post("aside", body).status_code == 200
        keys = [page.key() for _ in range(2 * PEOPLE * ROUNDS)]
        together = threading.Barrier(PEOPLE)
        wrong: list[object] = []

        def person(number: int) -> None:
            name = f"p{number}"
            for turn in range(ROUNDS):
                together.wait()
                for n, route in enumerate(("undo", "redo", "undo")[: 1 + 2 * (turn % 2)]):
                    key = f"{keys[number * ROUNDS + turn]}-{n}"
                    reply = page.post(route, {"annotator": name, "key": key}).json()
                    (receipt,) = reply["receipts"]
                    event = page.session.history.event(receipt["seq"])
                    kind = "retract" if route == "undo" else "restore"
                    if (event.annotator, event.kind, event.key) != (name, kind, key):
                        wrong.append((name, route, receipt, event))
                    if event.hash != receipt["hash"]:
                        wrong.append(("hash", event, receipt))

        with ThreadPoolExecutor(PEOPLE) as pool:
            list(pool.map(person, range(PEOPLE)))
        assert wrong == []
        events = page.session.log.events()
        assert [e.seq for e in events] == list(range(1, len(events) + 1))
        retracted = [e.body["seq"] for e in events if e.kind == "retract"]
        assert len(set(retracted)) == PEOPLE * ROUNDS
