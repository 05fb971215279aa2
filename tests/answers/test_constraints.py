from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.constraints import Constraints
from superpac.answers.links import DIFFERENT, SAME, UNSURE, Link, describe
from superpac.errors import ContradictionError, InputError

N = 8
FAR = 10**6


class Model:
    """The closure written down naively: distance matrices over the accepted answers."""

    def __init__(self, n):
        self.n, self.accepted = n, []

    def distances(self):
        same = np.full((self.n, self.n), FAR)
        np.fill_diagonal(same, 0)
        for _, i, j, answer in self.accepted:
            if answer == SAME:
                same[i, j] = same[j, i] = 1
        for k in range(self.n):
            same = np.minimum(same, same[:, [k]] + same[[k], :])
        different = np.full((self.n, self.n), FAR)
        for _, i, j, answer in self.accepted:
            if answer == DIFFERENT:
                for a, b in ((i, j), (j, i)):
                    different = np.minimum(different, same[:, [a]] + 1 + same[[b], :])
        return same, different

    def implied(self, i, j):
        same, different = self.distances()
        if same[i, j] < FAR:
            return SAME
        return DIFFERENT if different[i, j] < FAR else None

    def add(self, seq, i, j, answer):
        known = self.implied(i, j)
        if answer != UNSURE and known not in (None, answer):
            return False
        self.accepted.append((seq, i, j, answer))
        return True


answers = st.sampled_from([SAME, SAME, DIFFERENT, DIFFERENT, UNSURE])
events = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), answers).filter(lambda e: e[0] != e[1]),
    max_size=25,
)


def assert_true_and_shortest(chain, i, j, accepted, length):
    """Every link is an accepted answer, the links join up, and no chain is shorter."""
    by_seq = {seq: (a, b, answer) for seq, a, b, answer in accepted}
    assert len(chain) == length
    assert chain[0].i == i
    assert chain[-1].j == j
    for before, after in zip(chain[:-1], chain[1:], strict=True):
        assert before.j == after.i
    for link in chain:
        a, b, answer = by_seq[link.seq]
        assert {a, b} == {link.i, link.j}
        assert answer == link.answer


@given(events)
@settings(max_examples=150)
def test_agrees_with_the_naive_closure_at_every_step(given_events):
    known, model = Constraints(N), Model(N)
    for seq, (i, j, answer) in enumerate(given_events, start=1):
        was = model.implied(i, j)
        same, different = model.distances()
        earlier = list(model.accepted)
        if model.add(seq, i, j, answer):
            assert known.add(i, j, answer, seq) == (answer != UNSURE and was is None)
        else:
            with pytest.raises(ContradictionError) as refusal:
                known.add(i, j, answer, seq)
            length = same[i, j] if answer == DIFFERENT else different[i, j]
            assert len(refusal.value.chain) == length
            assert set(refusal.value.chain) <= {event[0] for event in earlier}
            assert str(refusal.value).endswith(f"; you said {answer}")
    same, different = model.distances()
    for i in range(N):
        for j in range(N):
            assert known.implied(i, j) == model.implied(i, j)
            if i != j and known.implied(i, j):
                length = min(same[i, j], different[i, j])
                assert_true_and_shortest(known.explain(i, j), i, j, model.accepted, length)
            else:
                assert known.explain(i, j) == ()


@given(events)
@settings(max_examples=100)
def test_folding_a_log_equals_adding_one_by_one(given_events):
    one_by_one, refused = Constraints(N), []
    for seq, (i, j, answer) in enumerate(given_events, start=1):
        try:
            one_by_one.add(i, j, answer, seq)
        except ContradictionError as error:
            refused.append((seq, str(error), error.chain))
    pairs = [event[:2] for event in given_events]
    said = [event[2] for event in given_events]
    folded = Constraints.fold(N, pairs, said, on_conflict="collect")
    # Read only now, after the whole log: a chain must still use earlier answers alone.
    found = [(c.seq, c.message, tuple(x.seq for x in c.chain)) for c in folded.conflicts]
    assert found == refused
    for state in (folded, folded.copy()):
        assert snapshot(state) == snapshot(one_by_one)
    if refused:
        with pytest.raises(ContradictionError) as error:
            Constraints.fold(N, pairs, said)
        assert str(error.value) == refused[0][1]


def snapshot(known):
    return (
        [[known.implied(i, j) for i in range(known.n)] for j in range(known.n)],
        [list(map(int, members)) for members in known.sets()],
        known.set_of().tolist(),
        known.sets_apart(known.touched).tolist(),
        known.must_links().tolist(),
        known.cannot_link_pairs().tolist(),
        known.touched.tolist(),
    )


@given(events)
@settings(max_examples=100)
def test_sets_are_the_groups_joined_by_same(given_events):
    pairs, said = [e[:2] for e in given_events], [e[2] for e in given_events]
    known = Constraints.fold(N, pairs, said, on_conflict="collect")
    alone = list(range(0, N, 2))
    sets, set_of = known.sets(alone), known.set_of(alone)
    for k, members in enumerate(sets):
        assert members.tolist() == sorted(set(members.tolist()))
        assert (set_of[members] == k).all()
        assert members.size > 1 or members[0] in alone
    for i in range(N):
        for j in range(N):
            together = set_of[i] == set_of[j] and (i == j or set_of[i] >= 0)
            assert (known.implied(i, j) == SAME) == together
    apart = {tuple(pair) for pair in known.sets_apart(alone).tolist()}
    for a in range(len(sets)):
        for b in range(a + 1, len(sets)):
            different = known.implied(sets[a][0], sets[b][0]) == DIFFERENT
            assert ((a, b) in apart) == different


def test_the_sentence_of_a_refusal():
    known = Constraints(50)
    known.add(12, 40, SAME, 31)
    known.add(7, 40, SAME, 58)
    with pytest.raises(ContradictionError) as refusal:
        known.add(12, 7, DIFFERENT, 59)
    assert str(refusal.value) == "12 = 40 (#31) and 40 = 7 (#58), so 12 = 7; you said different"
    assert refusal.value.chain == (31, 58)
    known.add(3, 7, DIFFERENT, 60)
    with pytest.raises(ContradictionError) as refusal:
        known.add(12, 3, SAME, 61)
    assert str(refusal.value) == (
        "12 = 40 (#31), 40 = 7 (#58) and 7 ≠ 3 (#60), so 12 ≠ 3; you said same"
    )


def test_a_direct_contradiction_and_names():
    known = Constraints(3, names=["ann.png", "bob.png", "eve.png"])
    known.add(0, 1, SAME, 4)
    with pytest.raises(ContradictionError) as refusal:
        known.add(1, 0, DIFFERENT, 5)
    assert str(refusal.value) == "bob.png = ann.png (#4); you said different"


def test_a_repeated_answer_shortens_the_chain():
    known = Constraints.fold(4, [[0, 1], [1, 2], [2, 3]], [SAME] * 3)
    assert len(known.explain(0, 3)) == 3
    assert known.add(3, 0, SAME, 9) is False
    assert known.explain(0, 3) == (Link(9, 0, 3, SAME),)


def test_nothing_changes_after_a_refusal():
    pairs, said = [[0, 1], [1, 2], [2, 3], [4, 5]], [SAME, SAME, DIFFERENT, UNSURE]
    known = Constraints.fold(6, pairs, said)
    before = snapshot(known)
    for i, j, answer in ((0, 2, DIFFERENT), (0, 3, SAME)):
        with pytest.raises(ContradictionError):
            known.add(i, j, answer, 9)
        assert snapshot(known) == before


def test_unsure_implies_nothing():
    known = Constraints(4)
    assert known.add(2, 1, UNSURE, 1) is False
    assert known.implied(1, 2) is None
    assert known.touched.size == 0
    assert known.add(1, 2, DIFFERENT, 2) is True


def test_a_copy_is_independent():
    known = Constraints.fold(5, [[0, 1], [2, 3]], [SAME, DIFFERENT])
    known.sets()
    other = known.copy()
    before = snapshot(known)
    other.add(1, 2, SAME, 3)
    other.add(3, 4, SAME, 4)
    assert snapshot(known) == before
    assert other.implied(0, 4) == DIFFERENT


def test_sets_come_in_the_order_in_which_they_were_met():
    known = Constraints(9)
    known.add(8, 7, DIFFERENT, 1)
    known.add(1, 0, SAME, 2)
    known.add(6, 8, SAME, 3)
    assert [s.tolist() for s in known.sets()] == [[6, 8], [0, 1]]
    assert [s.tolist() for s in known.sets([5])] == [[5], [6, 8], [0, 1]]
    assert [s.tolist() for s in known.sets([7, 8])] == [[6, 8], [7], [0, 1]]
    assert known.sets_apart([7]).tolist() == [[0, 1]]
    known.add(4, 0, DIFFERENT, 0)
    assert [s.tolist() for s in known.sets()] == [[0, 1], [6, 8]]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ((0, 0, SAME), "itself"),
        ((0, 9, SAME), "0 to 4"),
        ((-1, 2, SAME), "0 to 4"),
        ((0, 1, "maybe"), "'maybe'"),
    ],
)
def test_answers_that_make_no_sense_are_refused_in_words(event, said):
    with pytest.raises(InputError, match=said):
        Constraints(5).add(*event, 1)
    with pytest.raises(InputError, match=said):
        Constraints.fold(5, [event[:2]], [event[2]])


def test_logs_of_the_wrong_shape_are_refused():
    with pytest.raises(InputError, match="shape"):
        Constraints.fold(5, [[0, 1]], [SAME, SAME])
    with pytest.raises(InputError, match="whole numbers"):
        Constraints.fold(5, [[0.0, 1.0]], [SAME])
    with pytest.raises(InputError, match="'on_conflict'"):
        Constraints.fold(5, [[0, 1]], [SAME], on_conflict="ignore")
    with pytest.raises(InputError, match="names"):
        Constraints(3, names=["a"])
    assert Constraints.fold(5, [], []).sets() == []


def test_describe_without_a_chain():
    assert describe([]) == "nothing is known"


def a_long_log(n, classes, m, wrong=0.0, seed=0):
    """Half the pairs within a class, half anywhere; a share of the answers turned round."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    by_class = [np.flatnonzero(y == k) for k in range(classes)]
    i = rng.integers(0, n, m)
    j = rng.integers(0, n, m)
    inside = rng.random(m) < 0.5
    j[inside] = [rng.choice(by_class[k]) for k in y[i[inside]]]
    j = np.where(j == i, (i + 1) % n, j)
    truth = (y[i] == y[j]) ^ (rng.random(m) < wrong)
    return np.column_stack([i, j]), np.where(truth, SAME, DIFFERENT), y


@pytest.mark.parametrize(("n", "wrong"), [(10_000, 0.0), (10_000, 0.05), (100_000, 0.0)])
def test_a_hundred_thousand_answers_are_folded_right(n, wrong):
    pairs, said, y = a_long_log(n, 20, 100_000, wrong)
    known = Constraints.fold(n, pairs, said, on_conflict="collect")
    if not wrong:
        assert known.conflicts == []
        for members in known.sets():
            assert np.unique(y[members]).size == 1
    else:
        assert len(known.conflicts) > 1000
        for conflict in known.conflicts[:: len(known.conflicts) // 50]:
            assert {link.seq for link in conflict.chain} <= set(range(conflict.seq))


def test_one_point_different_from_everything_then_joined_is_not_quadratic():
    n = 50_000
    pairs = [[0, k] for k in range(2, n)] + [[1, k] for k in range(2, n)]
    said = [DIFFERENT] * (n - 2) + [DIFFERENT] * (n - 2)
    pairs += [[k, k + 1] for k in range(2, n - 1)] + [[0, 1]]
    said += [SAME] * (n - 2)
    known = Constraints.fold(n, pairs, said)  # quadratic, it would take hours
    assert [s.size for s in known.sets()] == [2, n - 2]


def test_memory_grows_with_the_number_of_answers():
    used = []
    for m in (10_000, 40_000):
        pairs, said, _ = a_long_log(5_000, 10, m)
        tracemalloc.start()
        known = Constraints.fold(5_000, pairs, said)
        used.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert known.n == 5_000
    assert used[1] < 5 * used[0]
