"""Fault 35: a cell that a spreadsheet would run as a formula is neutralised."""

from __future__ import annotations


def test_formulas_do_not_survive_a_csv_export(tmp_path):
    from superpac.data import Dataset
    from superpac.session import exports
    from superpac.session.session import Session
    from superpac.session.spec import Spec

    ids = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "plain", "=cmd|' /C calc'!A0"]
    points = [[1, 0], [1, 0.1], [0.9, 0], [1, 0.05], [0, 1], [0.1, 1], [0, 0.9], [0.05, 1]]
    session = Session.create(Dataset(points, ids=ids), Spec(2, affinity="tsc:q=2", dim=1))
    session.rename("=HYPERLINK(1)", item=0)
    text = exports.as_csv(session).decode()
    import csv
    import io

    for row in csv.DictReader(io.StringIO(text, newline="")):
        for cell in row.values():
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    import pandas as pd

    exact = pd.read_parquet(io.BytesIO(exports.as_parquet(session)))
    assert exact["item"].tolist() == ids
