"""What a workspace lets people do."""

from __future__ import annotations

import pytest

from page_acts import a_name, opened


@pytest.mark.parametrize(("editors", "status"), [((), 200), (("anna",), 200), (("ben",), 422)])
def test_only_editors_name_groups_where_there_are_some(tmp_path, editors, status):
    with opened(tmp_path, "superpac-d") as page:
        page.workspace.editors = frozenset(editors)
        route, body = a_name(page)
        before = page.session.seq
        answer = page.post(route, {**body, "annotator": "anna"})
        assert answer.status_code == status
        assert (page.session.seq > before) == (status == 200)
        if status == 422:
            assert "Only ben may name, move, merge or split groups here" in answer.json()["detail"]
