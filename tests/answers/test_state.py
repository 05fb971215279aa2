"""What a log says when it holds votes: the majority, and a fold that does not depend on the way."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.events import Event
from superpac.answers.state import Fold, by_majority

answers_of = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(4, 6),
        st.sampled_from(["same", "different", "unsure"]),
        st.booleans(),
    ),
    max_size=30,
)


def event(seq: int, kind: str, body: dict) -> Event:
    return Event(seq, kind, body, "Ada", f"k{seq}", "", None, "")


@settings(max_examples=80, deadline=None)
@given(answers_of)
def test_one_at_a_time_or_all_at_once_a_log_says_the_same(said):
    """With votes that repeat and contradict, and some answers taken back."""
    events: list[Event] = []
    for i, j, word, back in said:
        events.append(event(len(events) + 1, "answer", {"i": i, "j": j, "answer": word}))
        if back:
            events.append(event(len(events) + 1, "retract", {"seq": len(events)}))
    one, all_ = Fold(7), Fold(7)
    for each in events:
        one.take(each)
    all_.take_all(events)
    assert one.state.answers == all_.state.answers
    for i in range(7):
        for j in range(7):
            pair = (i, j)
            assert one.state.constraints.implied(*pair) == all_.state.constraints.implied(*pair)
            assert one.state.constraints.is_unsure(*pair) == all_.state.constraints.is_unsure(*pair)
    count: dict[tuple[int, int], int] = {}
    first: dict[tuple[int, int], str] = {}
    for link in one.state.answers:
        if link.answer != "unsure":
            vote = 1 if link.answer == "same" else -1
            count[link.i, link.j] = count.get((link.i, link.j), 0) + vote
            first.setdefault((link.i, link.j), link.answer)
    believed = {
        (a.i, a.j): a.answer for a in by_majority(one.state.answers) if a.answer != "unsure"
    }
    for pair, net in count.items():
        word = first[pair] if net == 0 else {True: "same", False: "different"}[net > 0]
        assert believed[pair] == word


def test_an_outvoted_answer_implies_nothing_any_more():
    fold = Fold(5)
    for seq, (i, j, word) in enumerate(
        [(0, 1, "same"), (1, 2, "same"), (0, 1, "different"), (0, 1, "different")], start=1
    ):
        fold.take(event(seq, "answer", {"i": i, "j": j, "answer": word}))
        if seq == 3:
            assert fold.state.constraints.implied(0, 2) == "same"
    assert fold.state.constraints.implied(0, 2) == "different"
    assert fold.state.n_answers == 4
