"""Fault 56: a formula behind spaces, or in full-width signs, is plain text in a CSV export."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from superpac.data import Dataset, load
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.spec import Spec

BEFORE = ["", " ", "   ", "\t", "\r", "\n", " \t", "\u00a0", "\u3000", "\ufeff", "\u200b", "\x00 "]
SIGNS = "=+-@＝＋－＠﹢﹣﹦﹫"
HARMLESS = ["plain", " plain", "a=1", "x -1", "'quoted", "1e5", "é", "(=1)"]


@pytest.mark.parametrize("before", BEFORE, ids=ascii)
def test_every_formula_is_neutralised_whatever_stands_before_it(before):
    for sign in SIGNS:
        formula = f"{before}{sign}cmd|' /C calc'!A0"
        assert exports.neutral(formula) == "'" + formula


def test_what_is_no_formula_stays_as_it_is_and_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    ids = [*HARMLESS, " =1+1", "＝1+1"]
    session = Session.create(
        Dataset(rng.normal(size=(10, 3)), ids=ids), Spec(2, affinity="tsc:q=2", dim=1)
    )
    rows = list(csv.DictReader(io.StringIO(exports.as_csv(session).decode(), newline="")))
    assert [row["item"] for row in rows] == [*HARMLESS, "' =1+1", "'＝1+1"]
    path = exports.write_labels(tmp_path / "out.csv", session.data, session.labels())
    again = load(path, ids="item")
    assert again.ids.tolist() == [row["item"] for row in rows]
    assert again.X.ravel().tolist() == (session.labels() + 1).tolist()
