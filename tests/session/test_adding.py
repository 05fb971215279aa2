"""Items that enter a session later change no answer, whatever is said before and after."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superpac.answers.events import SessionInfo
from superpac.answers.growth import Part, grown, parts_of
from superpac.answers.log import MemoryLog
from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.data.things import Things
from superpac.errors import InputError
from superpac.features import encode
from superpac.session import audit
from superpac.session.adding import plan_addition, read_items
from superpac.session.answer_book import AnswerBook
from superpac.session.known_items import as_items_of
from superpac.session.questions import describe
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import AnswerLoop
from superpac.simulation.oracles import NoisyOracle, TruthOracle
from superpac.store import open_store
from superpac.strategies import STRATEGIES

X, Y = make_subspaces(15, 3, 2, 16, noise=0.2, seed=1)
ORDER = np.random.default_rng(4).permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]
OLD = 36
SPEC = Spec(3, affinity="tsc:q=4", dim=2)


def begin(spec: Spec = SPEC, **options) -> Session:
    return Session.create(Dataset(X[:OLD]), spec, **options)


@st.composite
def acts(draw, items: int):
    """What people do, in any order: answers with contradictions, undo, redo, bad items, skips."""
    item = st.integers(0, items - 1)
    pair = st.tuples(item, item).filter(lambda p: p[0] != p[1])
    return draw(
        st.lists(
            st.one_of(
                st.tuples(
                    st.just("answer"), pair, st.sampled_from(["same", "different", "unsure"])
                ),
                st.tuples(st.sampled_from(["skip", "undo", "redo", "bad"]), pair, st.just("")),
            ),
            max_size=12,
        )
    )


def do(book: AnswerBook, what: str, pair: tuple[int, int], word: str) -> None:
    if what == "answer":
        book.record(word, pair, annotator="Ada", asked=True)
    elif what == "skip":
        book.skip_pair(pair)
    elif what == "bad":
        book.set_aside(pair[0])
    else:
        getattr(book, what)()


@given(before=acts(6), after=acts(6), more=st.integers(1, 4))
def test_what_was_said_before_means_the_same_after(before, after, more):
    """Two logs with the same acts on the old items, one of which grows in between."""
    info = SessionInfo("a1", "six", "", "f00d", 6)
    small, large = (AnswerBook(MemoryLog(info), weighs_answers=True) for _ in range(2))
    for act in before:
        do(small, *act)
        do(large, *act)
    large.log.append("items", {"count": more, "fingerprint": "beef"})
    large.refresh()
    for act in after:
        do(small, *act)
        do(large, *act)
    again = AnswerBook(large.log, weighs_answers=True)
    for book in (large, again):
        assert book.state.n == 6 + more
        for pair in combinations(range(6), 2):
            known = book.state.constraints.implied(*pair)
            assert known == small.state.constraints.implied(*pair)
            assert book.state.askable(*pair) == small.state.askable(*pair)
        assert [a[1:] for a in book.state.answers] == [a[1:] for a in small.state.answers]
        assert book.state.bad == small.state.bad
        assert book.state.unsure.keys() == small.state.unsure.keys()
        assert not any(book.state.constraints.implied(0, k) for k in range(6, 6 + more))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_goes_on_as_if_the_items_had_been_there_and_not_asked_about(strategy):
    session = begin(Spec(3, "tsc:q=4", strategy, dim=2))
    list(AnswerLoop(session, TruthOracle(Y[:OLD]), 8))
    answers = list(session.state.answers)
    assert session.add(X[OLD:]).count == len(Y) - OLD
    assert session.state.answers == answers
    fresh = Session.create(Dataset(X), session.spec)
    for link in answers:
        fresh.tell(link.answer, (link.i, link.j), why={"again": 1.0})
    np.testing.assert_array_equal(session.labels("model"), fresh.labels("model"))
    here, there = session.ask(), fresh.ask()
    assert (here.i, here.j) == (there.i, there.j)


def test_new_items_are_asked_about_and_find_their_clusters():
    session = begin()
    list(AnswerLoop(session, TruthOracle(Y[:OLD]), 10_000))
    assert session.ask() is None
    session.add(X[OLD:])
    asked = [step.question for step in AnswerLoop(session, TruthOracle(Y), 10_000)]
    assert any(max(question.i, question.j) >= OLD for question in asked)
    labels = session.labels()
    together = labels[:, None] == labels[None, :]
    np.testing.assert_array_equal(together, Y[:, None] == Y[None, :])


def test_it_opens_again_on_all_the_data_and_on_nothing_less(tmp_path):
    with open_store(tmp_path / "s.sqlite3") as store:
        session = begin(store=store, name="planes", cache=DiskCache(tmp_path / "cache"))
        list(AnswerLoop(session, NoisyOracle(Y[:OLD], 0.1, 1), 12))
        session.add(X[OLD:], annotator="Ada")
        list(AnswerLoop(session, NoisyOracle(Y, 0.1, 1), 12))
        log = store.open("planes")
        again = Session.open(Dataset(X), log, cache=DiskCache(tmp_path / "cache"))
        assert again.state.answers == session.state.answers
        np.testing.assert_array_equal(again.labels(), session.labels())
        assert again.ask() == session.ask()
        assert [e.annotator for e in log.additions()] == ["Ada"]
        for other in (X[:OLD], X[::-1], X[: len(X) - 1]):
            with pytest.raises(InputError, match="fingerprint"):
                Session.open(Dataset(other), log)


def test_old_answers_can_be_taken_back_and_the_addition_cannot():
    session = begin()
    list(AnswerLoop(session, TruthOracle(Y[:OLD]), 4))
    session.add(X[OLD:])
    number = session.seq
    assert session.undo() == [number - 1]
    assert session.state.n == len(Y)
    assert session.redo() == [number - 1]
    with pytest.raises(InputError, match="items were added"):
        session.undo(number)
    session.tell("different", (0, len(Y) - 1))
    assert session.undo(1) == [1]
    assert len(session.state.answers) == 4


def test_adding_what_is_there_writes_nothing():
    images = Dataset(X[:OLD], ids=[f"{k}.png" for k in range(OLD)], by_content=True)
    session = Session.create(images, SPEC)
    more = Dataset(X[20:OLD][::-1], ids=[f"copy {k}" for k in range(OLD - 20)], by_content=True)
    done = session.add(more)
    assert (done.count, done.passed, session.seq) == (0, OLD - 20, 0)


def test_images_are_found_again_by_content_in_any_order_and_under_any_name():
    names = [f"{k}.png" for k in range(len(Y))]
    session = Session.create(Dataset(X[:OLD], ids=names[:OLD], by_content=True), SPEC)
    list(AnswerLoop(session, TruthOracle(Y[:OLD]), 5))
    given = Dataset(X[OLD - 3 :], ids=names[: len(Y) - OLD + 3], by_content=True)
    done = session.add(given, place="/new")
    assert (done.count, done.passed) == (len(Y) - OLD, 3)
    assert len(set(session.data.ids.tolist())) == len(Y)
    mixed = np.random.default_rng(0).permutation(len(Y))
    other = Dataset(X[mixed], ids=[f"renamed {k}" for k in mixed], by_content=True)
    again = Session.open(other, session.log)
    np.testing.assert_array_equal(again.data.X, X)
    np.testing.assert_array_equal(again.labels(), session.labels())
    copies = Dataset(np.r_[X, X[:2]], ids=[str(k) for k in range(len(Y) + 2)], by_content=True)
    np.testing.assert_array_equal(Session.open(copies, session.log).data.X, X)


def test_scaled_columns_are_scaled_over_all_items_and_shown_as_they_were():
    table = Dataset(X[:OLD], columns=tuple(map(str, range(X.shape[1])))).standardised()
    session = Session.create(table, SPEC)
    session.add(Dataset(X[OLD:], columns=tuple(map(str, range(X.shape[1])))))
    whole = Dataset(X, columns=tuple(map(str, range(X.shape[1])))).standardised()
    assert session.data.fingerprint == whole.fingerprint == session.info.fingerprint
    np.testing.assert_array_equal(session.data.shown, X)


def test_what_fails_leaves_the_session_as_it_was():
    session = begin()
    with pytest.raises(InputError, match="14 values for each point, not 16"):
        session.add(X[OLD:, :14])
    ready = Session.create(Dataset(X[:OLD]), SPEC, affinity=session.problem.affinity)
    with pytest.raises(InputError, match="ready matrix"):
        ready.add(X[OLD:])
    assert session.seq == ready.seq == 0
    assert len(session.labels()) == OLD


def test_two_who_add_at_once_both_get_theirs_in_and_the_same_is_added_once(tmp_path):
    names = [f"{k}.png" for k in range(len(Y))]
    with open_store(tmp_path / "s.sqlite3") as store:
        first = Session.create(
            Dataset(X[:OLD], ids=names[:OLD], by_content=True), SPEC, store=store
        )
        log = store.open(first.log.session_id)
        whole = Dataset(X[:OLD], ids=names[:OLD], by_content=True)
        second = Session.open(whole, log)
        second.data  # noqa: B018 - as before the other adds
        first.add(Dataset(X[OLD : OLD + 5], ids=names[OLD : OLD + 5], by_content=True))
        second._given = lambda: first.data  # what reading all its places again would give
        done = second.add(Dataset(X[OLD:], ids=names[OLD:], by_content=True))
        assert (done.count, done.passed) == (len(Y) - OLD - 5, 5)
        first.refresh()
        assert first.info == second.info
        assert first.info.n_items == len(Y)
        np.testing.assert_array_equal(second.data.X, X)


def test_an_answer_through_a_log_that_was_opened_before_knows_the_new_items(tmp_path):
    with open_store(tmp_path / "s.sqlite3") as store:
        session = begin(store=store)
        other = store.open(session.log.session_id)
        session.add(X[OLD:])
        body = {"i": len(Y) - 1, "j": 0, "answer": "different"}
        other.append("answer", body)
        assert session.refresh() == 1
        assert other.lease((0, len(Y) - 1), "Ada", 60)
        with pytest.raises(InputError, match=f"from 0 to {len(Y) - 1}"):
            other.append("bad", {"i": len(Y)})


def test_an_audit_from_before_is_not_gone_on_with():
    session = begin()
    list(AnswerLoop(session, TruthOracle(Y[:OLD]), 6))
    before = audit.start(session, 5)
    assert before.ask() is not None
    session.add(X[OLD:])
    after = audit.start(session, 5)
    assert after.started.seq > before.started.seq
    assert after.labels.size == len(Y)


FILES = {"a": X[:20], "b": X[20:24], "both": X[:24]}


def reading(place: str) -> Dataset:
    return Dataset(FILES[place], source=place)


def begun_with(*additions: tuple[str, np.ndarray]) -> SessionInfo:
    session = Session.create(Dataset(X[:20]), SPEC, source="a")
    for place, points in additions:
        session.add(points, place=place)
    return grown(session.log.info, session.log.additions())


def test_rows_are_read_again_from_each_file_in_the_order_of_their_numbers(monkeypatch):
    info = begun_with(("b", X[20:24]), ("a", np.r_[X[:20], X[24:30]]))
    assert parts_of(info) == [Part("a", 0, 20), Part("b", 0, 4), Part("a", 20, 6)]
    monkeypatch.setitem(FILES, "a", np.r_[X[:20], X[24:30]])
    found = read_items(info, reading)
    np.testing.assert_array_equal(found.X, X[:30])
    assert found.fingerprint == info.fingerprint
    monkeypatch.setitem(FILES, "c", X[:30])
    assert read_items(info, reading, ["c"]).fingerprint == info.fingerprint
    monkeypatch.setitem(FILES, "a", np.r_[X[:20], X[24:32]])
    with pytest.raises(InputError, match="a has 2 rows more .* superpac add data a"):
        read_items(info, reading)
    assert read_items(info, reading, growing=True).fingerprint == info.fingerprint
    monkeypatch.setitem(FILES, "a", X[:20])
    with pytest.raises(InputError, match="a: has 20 rows, but the session 'data' has taken 26"):
        read_items(info, reading)
    with pytest.raises(InputError, match="are in 2 places"):
        read_items(info, reading, ["a", "b", "c"])


def test_a_file_that_begins_with_all_rows_of_the_session_gives_only_the_rest():
    session = Session.create(Dataset(X[:20]), SPEC, source="a")
    done = session.add(Dataset(FILES["both"]), place="both")
    assert (done.count, done.passed) == (4, 20)
    info = grown(session.log.info, session.log.additions())
    np.testing.assert_array_equal(read_items(info, reading).X, X[:24])


def test_without_noted_contents_nothing_can_be_added_by_content():
    images = Dataset(X[:20], ids=[str(k) for k in range(20)], by_content=True)
    info = SessionInfo("a1", "old", "", images.fingerprint, 20, "/old")
    with pytest.raises(InputError, match="begin a new session"):
        plan_addition(images, Dataset(X[20:24], by_content=True), info)


WORDS = [
    *(f"my card number {n} has not arrived" for n in range(12)),
    *(f"what is the rate for euros on day {n}" for n in range(12)),
]


def texts(*numbers, encoder="text-plain"):
    chosen = tuple(WORDS[n] for n in numbers)
    return encode(Things("text", texts=chosen, by_content=True, fewest=1), encoder)


def by_file(*numbers, shift=0.0, made_by="net 1"):
    """Photos by what their files hold; their vectors may come out a little different."""
    rows = np.array([X[n] for n in numbers]) + shift
    return Dataset(
        rows,
        ids=[f"{n}.jpg" for n in numbers],
        by_content=True,
        features="net",
        marks=tuple(f"{n:032d}" for n in numbers),
        made_by=made_by,
    )


def test_encoded_items_are_known_by_their_files_whatever_the_last_bits_of_their_vectors_are():
    info = describe(by_file(*range(20)), SPEC)
    again = by_file(*reversed(range(20)), shift=1e-7)
    again = replace(again, ids=[f"renamed {name}" for name in again.ids])
    found = as_items_of(again, info)
    assert found.ids.tolist() == [f"renamed {n}.jpg" for n in range(20)]
    with pytest.raises(InputError, match=r"1 item .*new: 20.jpg"):
        as_items_of(by_file(*range(21)), info)
    with pytest.raises(InputError, match=r"missing: 3.jpg"):
        as_items_of(by_file(*(n for n in range(20) if n != 3)), info)
    with pytest.raises(InputError, match="net makes other vectors of them now"):
        as_items_of(by_file(*range(20), made_by="net 2"), info)


def test_one_encoded_item_enters_and_a_copy_of_one_that_is_there_does_not():
    session = Session.create(by_file(*range(20)), SPEC)
    session.tell("different", (0, 19))
    assert session.add(by_file(7, shift=1e-7)).count == 0
    assert session.add(by_file(30)).count == 1
    assert session.data.ids.tolist()[-1] == "30.jpg"
    again = Session.open(by_file(30, *reversed(range(20))), session.log)
    assert again.data.ids.tolist() == session.data.ids.tolist()
    np.testing.assert_array_equal(again.data.X, session.data.X)


def test_a_session_that_knew_encoded_items_by_their_vectors_opens_and_grows_still():
    def of_before(data):
        return replace(data, marks=None, made_by="")

    begun = Session.create(of_before(by_file(*range(20))), SPEC)
    begun.tell("different", (0, 19))
    shuffled = by_file(*reversed(range(20)))
    session = Session.open(shuffled, begun.log)
    assert session.data.ids.tolist() == [f"{n}.jpg" for n in range(20)]
    assert session.add(by_file(4, 30, 31)).count == 2
    again = Session.open(by_file(31, 30, *range(20)), begun.log)
    assert again.data.ids.tolist() == session.data.ids.tolist()


def test_a_session_that_knew_texts_by_their_rows_opens_and_grows_still():
    def of_before(data):
        return replace(data, marks=None, made_by="", by_content=False)

    info = describe(of_before(texts(*range(10))), SPEC)
    assert as_items_of(texts(*range(10)), info).texts == tuple(WORDS[:10])
    plan = plan_addition(texts(*range(10)), texts(*range(12)), info)
    assert (plan.count, plan.drafts[0].body["first"]) == (2, 10)
    assert "contents" not in plan.drafts[0].body


def test_vectors_that_are_learned_from_all_texts_are_made_anew_of_all_when_some_are_added():
    spec = Spec(2, affinity="tsc:q=3", dim=1)
    session = Session.create(texts(*range(20)), spec)
    assert session.add(texts(3, 22)).count == 1
    whole = texts(*range(20), 22)
    np.testing.assert_allclose(session.data.X, whole.X, atol=1e-5)
    assert session.data.fingerprint == whole.fingerprint
    # a table that has a text more: the session's vectors are those of its own texts
    again = Session.open(lambda: texts(22, *range(20)), session.log)
    assert again.data.texts == session.data.texts
    assert again.data.ids.tolist()[20] == "0"


def test_what_is_left_out_of_a_grown_table_leaves_no_trace_in_the_vectors():
    from superpac.session.known_items import without_new

    info = describe(texts(*range(20)), SPEC)
    kept = without_new(texts(*range(24)), info)
    assert kept.fingerprint == info.fingerprint
    np.testing.assert_allclose(kept.X, texts(*range(20)).X, atol=1e-5)
