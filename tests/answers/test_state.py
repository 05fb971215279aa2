"""What the answers say, against a reference that computes everything anew from all of them."""

from __future__ import annotations

from itertools import combinations
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.answers.reliability import WORST
from superpac.answers.state import POSTPONED, Effect, State, counts
from superpac.answers.votes import BALANCE, PRIOR_ANSWERS, PRIOR_WRONG, ROUNDS

N = 7
ALL_PAIRS = list(combinations(range(N), 2))
Pair = tuple[int, int]


class Reference:
    """The same written down naively: nothing is kept but the answers and what each is about."""

    def __init__(self, n: int, answers: list[Link]) -> None:
        self.n, self.answers = n, answers
        self.heard: list[Link] = []
        for answer in answers:
            self.heard.append(self.counts_for(answer))

    def votes(self) -> dict[Pair, list[Link]]:
        found: dict[Pair, list[Link]] = {}
        for link in self.heard:
            if link.answer != "unsure":
                found.setdefault((min(link.i, link.j), max(link.i, link.j)), []).append(link)
        return found

    def signs(self) -> dict[Pair, int]:
        """What is believed of each pair: 1, -1, or 0 for neither."""
        votes = self.votes()
        weight = dict.fromkeys({v.annotator for several in votes.values() for v in several}, 1.0)
        signs = self._weighed(votes, weight)
        for _ in range(ROUNDS if len(weight) > 1 else 0):
            weight = self._weights(votes, signs)
            after = self._weighed(votes, weight)
            if after == signs:
                break
            signs = after
        return signs

    def wrong(self) -> int:
        signs = self.signs()
        return sum(sign(v) * signs[p] < 0 for p, several in self.votes().items() for v in several)

    def links(self) -> tuple[list[Link], list[int]]:
        """What is believed and fits what came before, and the numbers of what does not."""
        votes, signs = self.votes(), self.signs()
        kept: list[Link] = []
        left_out: list[int] = []
        met: set[Pair] = set()
        for link in self.heard:
            pair = (min(link.i, link.j), max(link.i, link.j))
            if link.answer == "unsure":
                kept.append(link)
            elif pair not in met:
                met.add(pair)
                agreeing = [vote for vote in votes[pair] if sign(vote) == signs[pair]]
                if not agreeing:
                    continue
                if implied(self.n, kept, *pair) in (None, agreeing[0].answer):
                    kept.append(agreeing[0]._replace(i=link.i, j=link.j))
                else:
                    left_out.append(agreeing[0].seq)
        return kept, left_out

    def unsure(self) -> dict[Pair, int]:
        """The last word on a pair, in the very words in which it was asked, is "unsure"."""
        last = {(min(a.i, a.j), max(a.i, a.j)): a for a in self.answers}
        return {pair: a.seq for pair, a in last.items() if a.answer == "unsure"}

    def counts_for(self, answer: Link) -> Link:
        votes, signs = self.votes(), self.signs()
        if answer.answer == "unsure" or (min(answer[1:3]), max(answer[1:3])) in votes:
            return answer
        kept = self.links()[0]
        earlier = []
        for pair, several in votes.items():
            first = several[0]
            if first.i == answer.i and implied(self.n, kept, first.j, answer.j) == "same":
                lead = abs(sum(sign(vote) for vote in several)) if signs[pair] else 0
                earlier.append((max(lead, abs(signs[pair])), first.seq, first))
        return answer._replace(i=answer.i, j=min(earlier)[2].j) if earlier else answer

    def _weighed(self, votes: dict[Pair, list[Link]], weight: dict[str, float]) -> dict[Pair, int]:
        found = {}
        for pair, several in votes.items():
            lead = sum(sign(vote) * weight[vote.annotator] for vote in several)
            found[pair] = 0 if abs(lead) < BALANCE else (1 if lead > 0 else -1)
            if len({vote.answer for vote in several}) == 1:
                waits = len(several) == 1 and several[0].confirm
                found[pair] = 0 if waits else sign(several[0])
        return found

    def _weights(self, votes: dict[Pair, list[Link]], signs: dict[Pair, int]) -> dict[str, float]:
        given_, wrong = {}, {}
        for pair, several in votes.items():
            for vote in several:
                who = vote.annotator
                given_[who] = given_.get(who, 0) + 1
                wrong[who] = wrong.get(who, 0) + (sign(vote) * signs[pair] < 0)
        usual = (PRIOR_WRONG + sum(wrong.values())) / (PRIOR_ANSWERS + sum(given_.values()))
        found = {}
        for who, count in given_.items():
            rate = min((PRIOR_ANSWERS * usual + wrong[who]) / (PRIOR_ANSWERS + count), WORST)
            found[who] = log((1 - rate) / rate) / log((1 - usual) / usual)
        return found


def sign(link: Link) -> int:
    return 1 if link.answer == "same" else -1


def implied(n: int, links: list[Link], i: int, j: int) -> str | None:
    """Closure by brute force: groups joined until nothing changes, then pairs of groups."""
    group = list(range(n))
    for _ in range(n):
        for link in links:
            if link.answer == "same":
                group[link.i] = group[link.j] = min(group[link.i], group[link.j])
    if group[i] == group[j]:
        return "same"
    apart = {frozenset((group[a.i], group[a.j])) for a in links if a.answer == "different"}
    return "different" if frozenset((group[i], group[j])) in apart else None


def links_of(said: list[tuple[Pair, str, str, bool]]) -> list[Link]:
    return [
        Link(seq, *pair, word, who, confirm and word == "same")
        for seq, (pair, word, who, confirm) in enumerate(said, start=1)
    ]


def logs(people: str, most: int = 18) -> st.SearchStrategy[list[Link]]:
    """Answers that repeat and contradict; few points, so that they meet."""
    pair = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
    word = st.sampled_from(["same", "same", "same", "different", "different", "unsure"])
    confirm = st.sampled_from([False, False, False, True])
    return st.lists(
        st.tuples(pair, word, st.sampled_from(list(people)), confirm), max_size=most
    ).map(links_of)


def check(state: State, answers: list[Link]) -> None:
    """Compare all that a state says with the reference."""
    expected = Reference(state.n, answers)
    links, left_out = expected.links()
    plain = [link._replace(confirm=False) for link in links]
    assert [link._replace(confirm=False) for link in state.links] == plain
    assert [conflict.seq for conflict in state.constraints.conflicts] == left_out
    votes, signs = expected.votes(), expected.signs()
    met = {point for link in links if link.answer != "unsure" for point in (link.i, link.j)}
    assert set(state.constraints.touched.tolist()) == met
    for i, j in ALL_PAIRS:
        assert state.constraints.implied(i, j) == implied(state.n, links, i, j)
        net = state.votes.net(i, j)
        assert (net > 0) - (net < 0) == signs.get((i, j), 0)
        assert list(state.votes.said(i, j)) == votes.get((i, j), [])
    together = [p for p in ALL_PAIRS if implied(state.n, links, *p) == "same"]
    assert state.settled.tolist() == [any(i in p for p in together) for i in range(state.n)]
    assert state.unsure == expected.unsure()
    assert state.votes.wrong == expected.wrong()
    assert state.answers == answers


@settings(max_examples=120)
@given(logs("a"))
def test_one_person_says_what_the_reference_says(answers):
    check(State.of(N, answers), answers)


@settings(max_examples=120)
@given(logs("abc"))
def test_several_people_say_what_the_reference_says(answers):
    check(State.of(N, answers), answers)


@settings(max_examples=40)
@given(logs("ab", most=40))
def test_long_logs_say_what_the_reference_says(answers):
    check(State.of(N, answers), answers)


def believed(state: State) -> dict[Pair, bool]:
    nets = {pair: state.votes.net(*pair) for pair in ALL_PAIRS}
    return {pair: net > 0 for pair, net in nets.items() if net}


@settings(max_examples=60)
@given(logs("ab", most=25))
def test_an_effect_says_what_an_answer_did(answers):
    state = State(N)
    for answer in answers:
        links, revision = state.links.copy(), state.revision
        heard = state.counts_for(answer)
        asked = state.votes.asked(heard.i, heard.j)
        before = believed(state)
        effect = state.hear(answer)
        after = believed(state)
        if effect is Effect.CHANGED:
            assert state.revision == revision + 1
            assert before != after
            continue
        # what was derived from the links can be gone on with
        assert state.revision == revision
        assert state.links[: len(links)] == links
        if effect is Effect.TAKEN:
            assert state.links[len(links) :] in ([heard], [])
            assert answer.answer == "unsure" or not asked
        else:
            assert state.links == links
            assert before == after


@settings(max_examples=40)
@given(logs("ab"), logs("ab"))
def test_beginning_anew_leaves_nothing_of_what_was(before, after):
    state = State.of(N, before, skipped={(0, 1): 0}, bad={6})
    revision = state.revision
    state.restart(after)
    check(state, after)
    assert state.revision > revision
    assert (state.bad, state.skipped) == (set(), {})
    for pair in ALL_PAIRS:
        told = [a for a in after if a.answer != "unsure" and {a.i, a.j} == set(pair)]
        assert state.asked(*pair) == bool(told)


def test_a_merge_that_was_outvoted_is_dissolved():
    """5 = 0, 6 = 1 and 0 = 1, then twice that 0 and 1 differ."""
    said = [(5, 0, "same"), (6, 1, "same"), (0, 1, "same"), (0, 1, "different")]
    answers = [Link(seq, *one) for seq, one in enumerate(said, start=1)]
    state = State.of(8, answers)
    assert state.constraints.implied(5, 6) is None  # one vote against one
    assert state.hear(Link(5, 0, 1, "different")) is Effect.CHANGED
    assert state.constraints.implied(5, 6) == "different"
    assert [members.tolist() for members in state.constraints.sets()] == [[0, 5], [1, 6]]
    assert [link.seq for link in state.links] == [1, 2, 4]
    assert state.n_answers == 5


def test_an_answer_left_out_comes_in_once_what_it_contradicts_is_outvoted():
    said = [(0, 1, "same"), (1, 2, "same"), (2, 0, "different")]
    state = State.of(4, [Link(seq, *one) for seq, one in enumerate(said, start=1)])
    assert [conflict.seq for conflict in state.constraints.conflicts] == [3]
    assert state.constraints.conflicts[0].message == (
        "2 = 1 (#2) and 1 = 0 (#1), so 2 = 0; you said different"
    )
    state.hear_all([Link(4, 1, 2, "different"), Link(5, 1, 2, "different")])
    assert state.constraints.conflicts == []
    assert state.constraints.implied(0, 2) == "different"


def test_another_member_of_a_group_asks_the_same_thing_again():
    joined = [Link(1, 1, 0, "same"), Link(2, 2, 0, "same")]
    state = State.of(6, [*joined, Link(3, 5, 0, "same", "Ada")])
    heard = state.counts_for(Link(4, 5, 2, "different", "Bob"))
    assert heard == Link(4, 5, 0, "different", "Bob")
    state.hear(Link(4, 5, 2, "different", "Bob"))
    assert state.votes.net(5, 0) == 0
    assert not state.votes.asked(5, 2)
    assert state.asked(5, 2)
    assert not state.asked(5, 1)
    # of a group that the point was not compared with, an answer stands for itself
    other = Link(5, 5, 3, "different", "Bob")
    assert state.counts_for(other) == other
    # and so does one that was asked the other way round
    backwards = Link(5, 1, 5, "different", "Bob")
    assert state.counts_for(backwards) == backwards


def test_the_weaker_of_two_earlier_pairs_is_checked():
    said = [(5, 0, "different"), (5, 0, "different"), (5, 1, "different"), (0, 1, "same")]
    state = State.of(6, [Link(seq, *one) for seq, one in enumerate(said, start=1)])
    state.hear(Link(5, 2, 0, "same"))
    assert state.counts_for(Link(6, 5, 2, "same"))[1:3] == (5, 1)


def test_unsure_is_remembered_until_somebody_can_tell():
    state = State.of(4, [Link(1, 2, 1, "unsure")])
    assert state.unsure == {(1, 2): 1}
    assert state.put_off(1, 2)
    assert state.put_off(2, 1)
    assert not state.askable(2, 1)
    assert not state.asked(1, 2)
    state.hear(Link(2, 1, 2, "different"))
    assert state.unsure == {}
    assert state.asked(2, 1)
    assert counts(state.answers) == {"same": 0, "different": 1, "unsure": 1}


def test_what_was_skipped_comes_back_and_what_is_set_aside_does_not():
    state = State.of(60, skipped={(0, 1): 0}, bad=[7])
    assert not state.askable(1, 0)
    for seq in range(1, POSTPONED + 1):
        assert state.put_off(0, 1)
        state.hear(Link(seq, 10, 10 + seq, "same"))
    assert state.askable(0, 1)
    assert not state.askable(7, 1)
    assert not state.askable(3, 3)


@pytest.mark.parametrize("second", ["same", "different"])
def test_an_answer_to_be_confirmed_joins_nothing_until_it_is(second):
    state = State.of(4, [Link(1, 0, 1, "same"), Link(2, 2, 3, "same")])
    assert state.hear(Link(3, 1, 2, "same", confirm=True)) is Effect.COUNTED
    assert state.constraints.implied(0, 3) is None
    assert state.votes.waits(1, 2)
    effect = state.hear(Link(4, 1, 2, second))
    assert effect is (Effect.CHANGED if second == "same" else Effect.COUNTED)
    assert state.constraints.implied(0, 3) == ("same" if second == "same" else None)
