from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from superpac.data import Dataset
from superpac.web.app import create_app
from superpac.web.page_views import BRIEF, LETTERS, brief, card
from things_page import make_dataset, make_things_workspace


def test_a_card_holds_what_the_item_is(tmp_path):
    text = make_dataset(tmp_path, "text")
    assert card(text, 3)["text"] == text.texts[3]
    row = make_dataset(tmp_path, "table")
    assert [name for name, _ in card(row, 0)["rows"]] == ["colour", "weight", "age"]
    assert card(Dataset([[1.0]]), 0) == {"item": 0, "id": "0", "rows": [], "text": ""}


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
