"""What the array API leaves open gives the same from either library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphics import torch_device
from superpac.device.arrays import (
    SideBySide,
    filled,
    is_host,
    like,
    median,
    namespace,
    ratio,
    to_host,
    where_true,
)
from superpac.device.choice import HOST

NUMBERS = st.floats(-1e6, 1e6)


@pytest.fixture(scope="module")
def there():
    return torch_device()


@given(values=hnp.arrays(np.float64, st.integers(1, 30), elements=NUMBERS))
def test_both_libraries_give_the_same(there, values):
    tensor = there.array(values)
    assert not is_host(tensor)
    np.testing.assert_array_equal(to_host(tensor), values)
    assert median(tensor) == median(values)
    np.testing.assert_array_equal(to_host(ratio(1.0, tensor)), ratio(1.0, values))
    np.testing.assert_array_equal(to_host(where_true(tensor > 0)), np.flatnonzero(values > 0))
    assert float(namespace(tensor).max(tensor)) == values.max()


def test_a_ratio_spreads_over_rows(there):
    above, below = np.arange(6.0).reshape(3, 2), np.array([[2.0], [0.0], [-1.0]])
    expected = [[0.0, 0.5], [0.0, 0.0], [0.0, 0.0]]
    assert ratio(above, below).tolist() == expected
    assert to_host(ratio(there.array(above), there.array(below))).tolist() == expected


def test_values_go_where_another_array_is(there):
    tensor = there.array([1.5, 2.5])
    assert type(like(np.arange(3), tensor)) is type(tensor)
    assert like([1, 2], np.zeros(1)).tolist() == [1, 2]
    assert to_host(filled((2, 1), 7, tensor, "float32")).tolist() == [[7.0], [7.0]]


def test_what_may_not_be_written_is_copied(there):
    values = np.arange(3.0)
    values.setflags(write=False)
    there.array(values)[0] = 9.0
    assert values[0] == 0.0


def test_the_processors_own_arrays_are_not_copied():
    values = np.arange(3.0)
    assert HOST.array(values) is values
    assert to_host(values) is values


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=6),
)
def test_columns_side_by_side_are_those_of_the_last_call(there, calls):
    for device in (HOST, there):
        columns = [device.array(np.arange(4.0) + 10 * k) for k in range(6)]
        beside = SideBySide()
        for chosen in calls:
            found = to_host(beside.array([columns[k] for k in chosen]))
            np.testing.assert_array_equal(found, np.arange(4.0)[:, None] + 10.0 * np.array(chosen))
