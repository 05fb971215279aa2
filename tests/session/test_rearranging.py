"""Acts on groups, against what they mean: who is together afterwards, who is not, and one undo."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superpac.answers.acts import named
from superpac.answers.consistent_labels import respect_answers
from superpac.answers.events import Draft, SessionInfo
from superpac.answers.history import group_of
from superpac.answers.log import MemoryLog
from superpac.errors import ContradictionError, InputError
from superpac.session.rearranging import put_where_said
from superpac.session.workbench import Workbench

N = 12


class Bench(Workbench):
    """Groups that are what somebody drew, bent to the answers, and then what acts made of them."""

    def __init__(self, drawn: np.ndarray, *, weighs: bool = True) -> None:
        super().__init__(MemoryLog(SessionInfo("a", "a", "", "f", N)), weighs_answers=weighs)
        self.drawn, self.since = drawn, 0

    def labels(self):
        known = self.state.constraints
        since = self.history.events[self.since :]
        done = {e.seq: (named(e), group_of(e)) for e in since if named(e)}
        labels = put_where_said(self.drawn, self.state.links, done)
        return respect_answers(labels, known, int(labels.max()) + 1)

    def settle(self) -> np.ndarray:
        """Take the groups as they are for what was drawn."""
        self.drawn, self.since = self.labels(), self.seq
        return self.drawn


def snapshot(book: Workbench) -> tuple:
    history = book.history
    return (
        list(book.state.answers),
        dict(history.item_names),
        set(book.state.bad),
        [e.seq for e in history.standing(("name",))],
    )


def bench(labels, said, *, weighs=True) -> Bench:
    book = Bench(np.array(labels, dtype=np.intp), weighs=weighs)
    for i, j, answer, who in said:
        if i == j:
            continue
        with contextlib.suppress(ContradictionError):
            book.record(answer, (i, j), annotator=who, asked=weighs)
    book.settle()
    return book


items = st.integers(0, N - 1)
labels_ = st.lists(st.integers(0, 3), min_size=N, max_size=N)
mine = st.tuples(items, items, st.sampled_from(["same", "different"]), st.just("me"))
anyone = st.tuples(
    items, items, st.sampled_from(["same", "different"]), st.sampled_from(["me", "Ben"])
)
chosen_ = st.sets(items, min_size=1, max_size=6)
acts_ = st.sampled_from(["move", "split", "join", "exclude", "merge"])


def expected(act: str, labels: np.ndarray, chosen: list[int], to: int) -> list[set[int]]:
    """Naive: who is one afterwards, and whom they must have left."""
    rest = {i for i in range(N) if labels[i] in set(labels[chosen]) and i not in chosen}
    if act == "move":
        there = {i for i in range(N) if labels[i] == labels[to]}
        return [set(chosen) | (there - set(chosen)), rest - there]
    return [set(chosen), rest if act in ("split", "exclude") else set()]


@given(labels_, st.lists(mine, max_size=14), acts_, chosen_, items)
def test_after_an_act_items_are_where_they_were_put_and_undo_restores_all(
    labels, said, act, chosen, to
):
    book = bench(labels, said)
    before, groups = snapshot(book), book.labels()
    try:
        done = book.arrange(
            act, sorted(chosen), to=to if act == "move" else None, annotator="me", key="k"
        )
    except InputError:
        assert book.seq == len(book.events)
        assert snapshot(book) == before
        return
    known, after = book.state.constraints, book.labels()
    picked = sorted(chosen)
    together, left = expected(act, groups, picked, to)
    if act in ("move", "split", "join"):
        assert all(known.joined(picked[0], i) for i in picked)
        assert len(set(after[picked])) == 1
    if act == "move":
        # who was said to differ from one of them may have to make room
        there = [i for i in together if i not in chosen and known.implied(i, picked[0]) == "same"]
        assert there
        assert set(after[picked]) == set(after[there]) == {groups[to]}
    if act in ("move", "split", "exclude"):
        assert not any(known.joined(i, x) for i in picked for x in left)
        for c in set(groups[picked]):
            stay = [i for i in left if groups[i] == c]
            if stay:
                mover = [i for i in picked if groups[i] == c]
                assert any(known.implied(i, x) == "different" for i in mover for x in stay)
                # the group that was left stays what it was
                assert {int(after[x]) for x in stay} == {int(c)}
    if act == "split":
        assert not set(after[picked]) & set(np.delete(after, picked))
    if act == "merge":
        inside = [i for i in range(N) if groups[i] in set(groups[picked])]
        assert len(set(after[inside])) == 1
    if act != "exclude":
        # no more answers than sets to tie and groups to leave
        assert done.answers <= len(picked) * (N if act == "merge" else 1) + len(set(groups))

    again = book.arrange(act, picked, to=to if act == "move" else None, annotator="me", key="k")
    assert again.receipts == done.receipts
    state = snapshot(book)
    if done.receipts:
        book.undo(by="me", annotator="me")
        assert snapshot(book) == before
        assert (book.labels() == groups).all()
        book.redo(by="me", annotator="me")
        assert snapshot(book)[:3] == state[:3]
        book.undo(by="me", annotator="me")
        assert snapshot(book) == before


@given(labels_, st.lists(anyone, max_size=14), acts_, chosen_, items)
def test_what_others_said_stays_and_is_contradicted_openly(labels, said, act, chosen, to):
    book = bench(labels, said)
    bens = [a for a in book.state.answers if a.annotator == "Ben"]
    picked = sorted(chosen)
    try:
        done = book.arrange(act, picked, to=to if act == "move" else None, annotator="me")
    except InputError:
        return
    assert [a for a in book.state.answers if a.annotator == "Ben"] == bens
    known = book.state.constraints
    if act in ("move", "join", "split") and not all(known.joined(picked[0], i) for i in picked):
        assert done.disputed


def test_a_move_against_anothers_answer_is_a_listed_contradiction():
    from superpac.answers.reliability import Reliability
    from superpac.session.suspects import find_suspects

    book = bench([0] * 6 + [1] * 6, [(0, 1, "same", "Ben"), (8, 7, "same", "Ben")])
    done = book.move([0], to=7, annotator="me")
    assert done.disputed == 1
    assert done.taken_back == 0
    assert book.state.constraints.implied(0, 7) == "same"
    found = find_suspects(book.state, Reliability()).contradictions
    assert {"Ben", "me"} == {link.annotator for c in found for link in (*c.chain, c.answer)}


def test_where_answers_are_law_a_move_against_another_is_refused_whole():
    book = bench([0] * 6 + [1] * 6, [(0, 1, "same", "Ben")], weighs=False)
    before = snapshot(book)
    with pytest.raises(ContradictionError):
        book.move([0], to=7, annotator="me")
    assert snapshot(book) == before
    mine = bench([0] * 6 + [1] * 6, [(0, 1, "same", "me")], weighs=False)
    assert mine.move([0], to=7, annotator="me").taken_back == 1


def test_a_name_stays_with_its_group_when_the_item_that_bears_it_moves():
    book = bench([0] * 6 + [1] * 6, [])
    book.rename("Anna", item=2)
    book.rename("Berta", item=8)
    before = snapshot(book)
    book.move([2, 3], to=8)
    names = {
        int(book.labels()[e.body["item"]]): e.body["name"] for e in book.history.standing(("name",))
    }
    assert names == {0: "Anna", 1: "Berta"}
    book.undo()
    assert snapshot(book) == before
    book.merge([0, 11])
    assert book.history.standing(("name",))[-1].body["name"] == "Anna"


def test_a_large_act_is_one_undo_and_few_answers():
    size = 400
    info = SessionInfo("a", "a", "", "f", size)

    class Large(Bench):
        def __init__(self) -> None:
            Workbench.__init__(self, MemoryLog(info), weighs_answers=True)
            self.drawn, self.since = np.arange(size) % 4, 0

    book = Large()
    moved = [i for i in range(size) if i % 4 == 1 and i < 200]
    assert book.move(moved, to=0).answers == len(moved) + 1
    assert (book.labels()[moved] == 0).all()
    # once tied, the same items go elsewhere by one "same" and one "different"
    assert book.move([*moved], to=2).answers == 2
    assert (book.labels()[moved] == 2).all()
    assert len(book.undo()) == 2
    assert (book.labels()[moved] == 0).all()
    assert len(book.undo()) == len(moved) + 1
    assert book.state.n_answers == 0


def test_several_are_set_aside_in_one_act():
    book = bench([0] * N, [])
    book.set_several_aside([3, 4, 5])
    assert book.set_several_aside([3, 4, 5]).receipts == []
    book.set_several_aside([4], back=True)
    assert book.state.bad == {3, 5}
    book.undo()
    assert book.state.bad == {3, 4, 5}
    book.undo()
    assert book.state.bad == set()


def test_items_that_are_not_there_are_refused_in_a_sentence():
    book = bench([0] * N, [])
    with pytest.raises(InputError, match="numbered 0 to 11"):
        book.join([3, 99])
    with pytest.raises(InputError, match="at least one item"):
        book.split([])
    with pytest.raises(InputError, match="one of move"):
        book.arrange("fly", [1])  # type: ignore[arg-type]


def test_an_undo_of_strips_and_acts_side_by_side_takes_one_at_a_time():
    book = bench([0] * 6 + [1] * 6, [])
    book.tell_many([(0, 1, "same"), (0, 7, "different")], key="strip-key")
    book.move([3], to=7)
    log = book.log
    log.append_many([Draft("bad", {"i": 9})])
    book.refresh()
    assert len(book.undo()) == 1
    assert len(book.undo()) == 2
    assert len(book.undo()) == 2
    assert book.undo() == []
