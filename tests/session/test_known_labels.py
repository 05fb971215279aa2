"""Labels and links from elsewhere, as answers."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from command_line import superpac
from labelling import LabelServer
from superpac.data import load
from superpac.data.synthetic import make_subspaces
from superpac.errors import DataError, NotFoundError
from superpac.metrics import clustering_error
from superpac.session import exports
from superpac.session.known_labels import Known, read_known, take_known
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle
from superpac.store import open_store
from superpac.strategies.superpac_d.strategy import SuperpacD

NAMES = ["red/a.jpg", "red/b.jpg", "blue/a.jpg", "blue/c.jpg", "d.jpg"]
X, Y = make_subspaces(40, 3, 2, 12, noise=0.1, seed=3)


def written(folder, text, name="known.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_labels_are_found_by_path_by_file_and_by_stem_where_only_one_has_it(tmp_path):
    text = "file,label\nred/a.jpg,A\nb.jpg,A\nc,B\na.jpg,B\nd.jpg,\nnobody.jpg,B\n"
    known = read_known(written(tmp_path, text), NAMES)
    assert known == Known({"A": [0, 1], "B": [3]}, [], ["a.jpg", "nobody.jpg"])


def test_columns_are_found_by_name_and_a_table_may_have_no_heading(tmp_path):
    named = written(tmp_path, "size,label,name,more\n1,A,d.jpg,x\n2,B,c,y\n")
    assert read_known(named, NAMES).groups == {"A": [4], "B": [3]}
    bare = written(tmp_path, "d.jpg,A\nc.jpg,B\n")
    assert read_known(bare, NAMES).groups == {"A": [4], "B": [3]}
    with pytest.raises(DataError, match="call the one with names 'name'"):
        read_known(written(tmp_path, "p,q,r,s\na,b,c,d\n"), NAMES)
    with pytest.raises(DataError, match="two labels, 'A' and 'B'"):
        read_known(written(tmp_path, "name,label\nd.jpg,A\nd,B\n"), NAMES)


def test_links_come_from_a_table_or_from_what_was_exported(tmp_path):
    path = written(tmp_path, "a,b,answer\nb,c,same\nd,c,cannot-link\nd,gone,same\n")
    known = read_known(path, NAMES)
    assert known.links == [(1, 3, "same"), (4, 3, "different")]
    assert known.unknown == ["gone"]
    with pytest.raises(DataError, match="write same or different"):
        read_known(written(tmp_path, "a,b,answer\nb,c,perhaps\n"), NAMES)
    json_ = written(tmp_path, '{"must_link": [[0, 1]], "cannot_link": [[1, 2]]}', "links.json")
    assert read_known(json_, NAMES).links == [(0, 1, "same"), (1, 2, "different")]
    for broken in ("[]", '{"must_link": 3}', "{", '{"must_link": [[0, 9]], "cannot_link": []}'):
        with pytest.raises(DataError):
            read_known(written(tmp_path, broken, "links.json"), NAMES)
    with pytest.raises(NotFoundError):
        read_known(tmp_path / "none.csv", NAMES)


def test_items_with_numbers_for_names_are_found_in_a_table_without_heading(tmp_path):
    names = [str(n) for n in range(9)]
    links = read_known(written(tmp_path, "0,7,same\n3,4,different\n"), names).links
    assert links == [(0, 7, "same"), (3, 4, "different")]


def test_folders_are_labels_on_request():
    assert read_known("folders", NAMES).groups == {"red": [0, 1], "blue": [2, 3]}


def test_a_half_sorted_collection_is_a_start_and_one_undo_takes_it_back(tmp_path):
    session = Session.create(X, Spec(3, affinity="tsc:q=4", dim=2))
    groups = {f"kind {c}": np.flatnonzero(c == Y)[:30].tolist() for c in range(3)}
    taken = take_known(session, Known(groups, [], []), "a table")
    assert taken.answers == 3 * 29 + 3
    assert taken.named == 3
    assert {link.annotator for link in session.state.answers} == {"a table"}
    labels = session.labels()
    names = exports.cluster_names(session, labels)
    for c in range(3):
        for item in groups[f"kind {c}"]:
            assert names[int(labels[item])] == f"kind {c}"
    assert take_known(session, Known(groups, [], []), "a table").answers == 0
    assert len(session.undo()) == 3 * 29 + 3 + 3  # far more than one look around
    assert session.state.n_answers == 0
    assert not session.history.item_names
    assert len(session.redo()) == 3 * 29 + 3 + 3


def test_one_wrong_label_is_taken_back_by_itself():
    session = Session.create(X, Spec(3, affinity="tsc:q=4", dim=2))
    take_known(session, Known({"a": [0, 1, 2], "b": [50, 51]}, [], []))
    answers = session.state.answers
    assert all(link.known and link.unasked for link in answers)
    assert session.undo(seq=answers[1].seq) == [answers[1].seq]
    assert session.state.answers == [answers[0], *answers[2:]]


@pytest.mark.parametrize("count", [3, "auto"])
@pytest.mark.parametrize(("share", "classes"), [(0.1, 3), (0.5, 3), (0.5, 1), (0.3, 2)])
def test_labels_brought_along_do_not_upset_the_rest(count, share, classes):
    items = load("iris").shuffled(3)
    session = Session.create(items, Spec(count, seed=3))
    before = clustering_error(items.y, session.labels("model"))
    some = np.random.default_rng(0).permutation(len(items.y))
    groups = {}
    for c in range(classes):
        of_class = some[items.y[some] == c]
        groups[f"kind {c}"] = of_class[: round(share * of_class.size)].tolist()
    take_known(session, Known(groups, [], []))
    assert clustering_error(items.y, session.labels("model")) <= before + 0.02


def test_clusters_that_answers_found_stay_when_labels_come_late():
    items = load("digits").sample_classes(8, 30, 1)
    oracle = TruthOracle(items.y)
    session = Session.create(items, Spec("auto", "tsc:q=5", seed=1))
    # as if their number had been guessed far too low
    session.strategy = SuperpacD(replace(session.problem, n_clusters=3))
    for _ in range(60):
        session.tell(oracle(session.ask()))
    before = clustering_error(items.y, session.labels("model"))
    found = session.strategy.count(session.state).clusters
    assert found > 3
    take_known(session, Known({"some": np.flatnonzero(items.y == items.y[0])[:6].tolist()}, [], []))
    assert session.strategy.count(session.state).clusters >= found - 1
    assert clustering_error(items.y, session.labels("model")) <= before + 0.02


@pytest.mark.parametrize("count", [3, "auto"])
def test_labels_taken_in_bit_by_bit_give_what_their_log_gives(count):
    """Links are made anew after labels: when somebody looked must not matter."""
    items = load("iris").shuffled(5)
    oracle = TruthOracle(items.y)
    session = Session.create(items, Spec(count, seed=5))
    of_class = [np.flatnonzero(items.y == c) for c in range(3)]
    tables = [
        Known({"a": of_class[0][:9].tolist(), "b": of_class[1][:7].tolist()}, [], []),
        Known({"c": of_class[2][:5].tolist()}, [(int(of_class[2][0]), 3, "different")], []),
        Known({"d": of_class[1][20:24].tolist()}, [], []),
    ]
    for n, table in enumerate(tables):
        take_known(session, table)
        session.labels("model")
        for _ in range(4 * (n == 1)):
            session.tell(oracle(session.ask()))
    afresh = SuperpacD(session.problem)
    assert (afresh.labels(session.state) == session.strategy.labels(session.state)).all()
    assert afresh.propose(session.state, 5) == session.strategy.propose(session.state, 5)


def test_a_missing_table_is_told_before_a_session_is_begun(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    store = tmp_path / "answers.sqlite3"
    told = superpac(
        *(
            "label",
            tmp_path / "rows.npy",
            "--known",
            "nowhere.csv",
            "--store",
            store,
            "--no-browser",
        ),
        check=False,
    )
    assert told.stderr == ("nowhere.csv: there is no such file; name one with labels or links.\n")
    assert told.returncode == 2
    assert not store.exists()


def test_label_and_known_take_a_table_in(tmp_path):
    rows = [["id", *"abcdefghijkl"], *([f"r{n}", *row] for n, row in enumerate(X.tolist()))]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    written(tmp_path, "name,label\n" + "".join(f"r{n},kind {Y[n]}\n" for n in range(20)))
    server = LabelServer(
        tmp_path, tmp_path / "rows.csv", "--ids", "id", "--known", str(tmp_path / "known.csv"), k=3
    )
    server.stop()
    told = (tmp_path / "stderr.txt").read_text()
    assert "Taken in from" in told
    kinds = len(set(Y[:20]))
    assert f"answers: {20 - kinds + kinds * (kinds - 1) // 2}, names of groups: {kinds}." in told
    store = ("--store", tmp_path / "answers.sqlite3")
    again = superpac("known", "rows", tmp_path / "known.csv", *store)
    assert "is new to 'rows'" in again.stderr
    links = written(tmp_path, "a,b,answer\nr30,r31,same\nr30,nobody,same\n", "links.csv")
    more = superpac("known", "rows", links, *store).stderr
    assert "answers: 1, names of groups: 0; not among the items: nobody." in more
    with open_store(tmp_path / "answers.sqlite3", read_only=True) as kept:
        assert {e.annotator for e in kept.open("rows").events()} == {"known"}
