"""Cards of a question carry the group that they stand for and other members of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from labelling import make_workspace, wait_until
from superpac.web.context import FACES, Context
from superpac.web.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    found = make_workspace(tmp_path)
    found.start()
    wait_until(lambda: found.service.model() is not None)
    yield found
    found.stop()


def test_a_card_stands_for_its_group(workspace: Workspace):
    session = workspace.service.session
    labels = session.labels()
    other, item = np.flatnonzero(labels == labels[0])[:2].tolist()
    found = Context(workspace.service).standing(other, item)
    assert found["group"] == {
        "number": int(labels[other]) + 1,
        "name": "",
        "size": int((labels == labels[other]).sum()),
    }
    assert len(found["faces"]) == FACES
    assert not {item, other} & set(found["faces"])
    assert {labels[i] for i in found["faces"]} == {labels[other]}
    session.rename("ones", item=other)
    session.set_aside(found["faces"][0])
    again = Context(workspace.service).standing(other, item)
    assert again["group"]["name"] == "ones"
    assert found["faces"][0] not in again["faces"]


def test_what_answers_joined_comes_first_and_the_model_says_nothing_of_the_item(
    workspace: Workspace,
):
    session = workspace.service.session
    labels = session.labels()
    item, other = 0, int(np.flatnonzero(labels != labels[0])[0])
    alone = Context(workspace.service).placed(item, (other,))
    assert alone == {"group": None, "faces": []}
    mate = int(np.flatnonzero(labels == labels[0])[-1])
    session.record("same", (item, mate), asked=True)
    session.record("different", (item, other), asked=True)
    context = Context(workspace.service)
    assert context.placed(item, (other,))["faces"] == [mate]
    assert context.placed(item, (other,))["group"]["number"] == labels[0] + 1
    assert context.standing(item)["faces"][0] == mate
    assert not {item, mate} & set(context.standing(other, item)["faces"])


def test_the_face_of_a_wall_has_the_name_of_its_group_and_no_face_that_is_being_judged(
    workspace: Workspace,
):
    session = workspace.service.session
    labels = session.labels()
    face, mate = np.flatnonzero(labels == labels[0])[:2].tolist()
    session.rename("zeros", item=face)
    found = Context(workspace.service).face(face)
    assert found["group"]["name"] == "zeros"
    assert found["group"]["number"] == labels[0] + 1
    assert found["faces"] == []
    session.record("same", (face, mate), asked=True)
    assert Context(workspace.service).face(face)["faces"] == [mate]
