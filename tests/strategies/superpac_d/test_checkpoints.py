"""Checkpoints: which are kept, how much they hold, what survives."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.strategies.superpac_d.checkpoints import Checkpoints, copied, worth_keeping


@given(st.integers(1, 3000))
def test_the_way_back_is_short_and_few_are_kept(now):
    kept = [0, *(at for at in range(1, now + 1) if worth_keeping(at, now))]
    for before, after in zip(kept, kept[1:], strict=False):
        assert after - before <= max(1, (now - before) // 4)
    assert len(kept) <= 8 + 5 * np.log2(now + 1)
    later = {at for at in range(1, now + 1) if worth_keeping(at, now + 1)}
    assert later <= set(kept)  # what is dropped is never wanted again


@settings(max_examples=60)
@given(st.integers(0, 40), st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=25))
def test_bytes_are_those_of_the_distinct_arrays_and_bounded(limit, acts):
    store, now = Checkpoints(limit * 80), 0
    saved: dict[int, object] = {}
    shared = np.zeros(10)
    for forward, many in acts:
        for _ in range(many if forward else 0):
            now += 1
            shared = shared if now % 3 else np.zeros(10)
            saved[now] = ({"a": shared, "b": np.zeros(10)}, {7: [now]}, now)
            store.add(now, saved[now])
        if not forward:
            now = max(0, now - many)
            found = store.latest(now)
            assert (found is None) == (store.at == [])
            if found is not None:
                now = found[0]
                assert found[1] is saved[now]
        assert store.at == sorted(store.at)
        held = {id(a): a.nbytes for at in store.at for a in saved[at][0].values()}
        assert store.nbytes == sum(held.values()) <= store.limit


def test_the_latest_are_dropped_last():
    store = Checkpoints(limit=10 * 80)
    for at in range(1, 201):
        store.add(at, np.zeros(10))
    assert store.at[-3:] == [198, 199, 200]
    assert store.at[0] < 160


def test_pickled_it_is_empty():
    store = Checkpoints(limit=1000)
    store.add(1, np.zeros(3))
    other = pickle.loads(pickle.dumps(store))  # noqa: S301
    assert (other.at, other.nbytes, other.limit) == ([], 0, 1000)
    other.add(2, np.zeros(3))
    assert other.at == [2]


def test_a_copy_does_not_follow_the_original():
    original = {"members": {0: [1]}, "between": {(0, 1)}, "set_of": np.zeros(3), "next": 4}
    copy = copied(original)
    original["members"][0].append(2)
    original["between"].clear()
    original["set_of"][:] = 9
    assert copy["members"] == {0: [1]}
    assert copy["between"] == {(0, 1)}
    assert not copy["set_of"].any()
