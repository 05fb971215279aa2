from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient

from labelling import digits_file, wait_until
from page_acts import opened
from superpac.data import Dataset, load
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.app import create_app
from superpac.web.page_views import BRIEF, LETTERS, brief, card
from superpac.web.workspace import Workspace
from things_page import make_dataset, make_things_workspace


def test_a_card_holds_what_the_item_is(tmp_path):
    text = make_dataset(tmp_path, "text")
    assert card(text, 3)["text"] == text.texts[3]
    row = make_dataset(tmp_path, "table")
    assert [name for name, _ in card(row, 0)["rows"]] == ["colour", "weight", "age"]
    plain = {"item": 0, "id": "0", "rows": [], "text": "", "behind": False}
    assert card(Dataset([[1.0]]), 0) == plain
    assert card(make_dataset(tmp_path, "face"), 0)["behind"]


def test_long_texts_are_cut_where_nobody_reads_on():
    data = Dataset([[1.0]], texts=("so\n on " * 10_000,))
    assert len(card(data, 0)["text"]) == LETTERS + 1
    assert len(brief(data, 0)) == BRIEF
    assert "\n" not in brief(data, 0)


@pytest.mark.parametrize("kind", ["text", "table", "sound"])
def test_items_in_a_few_words(tmp_path, kind):
    data = make_dataset(tmp_path, kind)
    workspace = make_things_workspace(tmp_path, data, tmp_path / "s.sqlite3")
    client = TestClient(create_app(workspace))
    found = client.get("/api/briefs?item=5&item=2").json()
    assert found == [brief(data, 5), brief(data, 2)]
    assert all(found) == (kind != "sound")
    missing = client.get("/api/briefs?item=1&item=36")
    assert missing.status_code == 404
    assert "numbered 0 to 35" in missing.json()["detail"]
    for wrong in ("", "?item=-1", "?item=x", "?" + "&".join(["item=1"] * 501)):
        assert client.get(f"/api/briefs{wrong}").status_code == 422
    workspace.stop()


def test_history_has_one_line_per_act_and_its_pages_leave_nothing_out(tmp_path):
    with opened(tmp_path, "superpac-d") as page:
        labels = page.session.labels()
        for n in range(12):
            page.session.skip_pair((n, n + 1))
        chosen = [int(i) for i in range(len(labels)) if labels[i] != labels[0]][:9]
        page.session.move(chosen, to=0, annotator="ann")
        page.session.set_aside(3)
        seen, before = [], ""
        while True:
            found = page.client.get(f"/api/history?limit=4{before}").json()
            seen += found["events"]
            before = f"&before={found['events'][-1]['seq']}"
            if not found["more"]:
                break
        assert len(seen) == 14
        moved = seen[1]
        assert (moved["act"], moved["count"]) == ("move", found["total"] - 13)
        assert sum(line["count"] for line in seen) == found["total"]
        back = {"annotator": "ann", "key": page.key(), "seq": moved["seq"]}
        assert page.post("undo", back).status_code == 200
        assert page.session.state.n_answers == 0


def test_new_items_are_offered_group_by_group_until_somebody_agrees(tmp_path):
    data = load(str(digits_file(tmp_path)))
    few, store = np.arange(180), open_store(tmp_path / "s.sqlite3")
    begun = Session.create(data.X[few], Spec(5, "tsc:q=4", dim=3), store=store)
    begun.add(data.X)
    workspace = Workspace(begun.data, store, begun.log)
    workspace.start()
    try:
        client = TestClient(create_app(workspace), base_url="http://localhost")
        wait_until(lambda: workspace.service.model() is not None)
        new = client.get("/api/review").json()["new"]
        assert sum(group["size"] for group in new) == 20
        assert client.get("/api/progress").json()["new"] == len(new)
        first = new[0]
        items = [entry["item"] for entry in first["items"]]
        assert min(items) >= 180 > first["to"]
        body = {"annotator": "", "act": "move", "items": items, "to": first["to"]}
        reply = client.post("/api/arrange", json={**body, "key": "agreed-once"})
        assert reply.json()["answers"] == len(items)
        left = client.get("/api/review").json()["new"]
        assert not {e["item"] for group in left for e in group["items"]} & set(items)
        again = client.post("/api/arrange", json={**body, "key": "agreed-once"})
        assert again.json()["receipts"] == reply.json()["receipts"]
    finally:
        workspace.stop()


def test_only_editors_change_groups_where_there_are_any(tmp_path):
    with opened(tmp_path, "superpac-d", editors=["eve"]) as page:
        labels = page.session.labels()
        pair = [0, int(np.flatnonzero(labels != labels[0])[0])]
        for more in (
            {"act": "merge", "items": pair},
            {"act": "move", "items": pair[:1], "to": pair[1]},
            {"act": "split", "items": [3]},
            {"act": "join", "items": pair, "name": "x"},
        ):
            refused = page.post("arrange", {"annotator": "ann", "key": page.key(), **more})
            assert refused.status_code == 422
            assert "eve" in refused.json()["detail"]
        assert page.session.seq == 0
        merged = {"annotator": "eve", "key": page.key(), "act": "merge", "items": pair}
        assert page.post("arrange", merged).status_code == 200
