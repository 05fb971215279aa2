from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from superpac.answers.log import MemoryLog
from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import ConflictError, ContradictionError, InputError
from superpac.estimator import ActiveSubspaceClustering
from superpac.features.models import MODELS
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import NoisyOracle, ReplayOracle, TruthOracle
from superpac.store import open_store


@pytest.fixture(scope="module")
def items():
    X, y = make_subspaces(25, 4, 3, 12, noise=0.2, seed=2)
    return Dataset(X, y=y, name="planes")


SPEC = Spec(4, affinity="tsc:q=4", dim=3, seed=1)


@pytest.fixture
def session(items):
    return Session.create(items, SPEC)


def answer(session, truth, n):
    oracle = TruthOracle(truth)
    for _ in range(n):
        question = session.ask()
        session.tell(oracle(question))


def test_a_question_stays_until_it_is_answered(session):
    assert session.ask() is session.ask()
    before = session.ask()
    session.tell("different")
    after = session.ask()
    assert (before.i, before.j) != (after.i, after.j)
    assert after.seq == 1
    assert after.reason


def test_labels_keep_every_answer_and_the_model_may_not(session, items):
    answer(session, items.y, 60)
    labels = session.labels()
    for link in session.state.answers:
        assert (labels[link.i] == labels[link.j]) == (link.answer == "same")
    assert session.labels("model").shape == labels.shape
    with pytest.raises(InputError, match="'answers' or 'model'"):
        session.labels("truth")


def test_the_same_key_gives_the_same_receipt_and_one_event(session):
    question = session.ask()
    first = session.tell("same", key="k", expected_seq=question.seq)
    again = session.tell("same", (question.i, question.j), key="k", expected_seq=question.seq)
    assert first == again
    assert session.seq == 1
    with pytest.raises(ConflictError):
        session.tell("different", (question.i, question.j), key="k")


def test_a_stale_answer_is_refused_and_nothing_is_written(session):
    question = session.ask()
    session.tell("different")
    with pytest.raises(ConflictError, match="log is at event 1"):
        session.tell("same", (question.j, 9), expected_seq=question.seq)
    assert session.seq == 1


def test_a_contradiction_is_refused_with_its_chain(session):
    session.tell("same", (3, 4))
    session.tell("same", (4, 9))
    with pytest.raises(
        ContradictionError, match=r"3 = 4 \(#1\) and 4 = 9 \(#2\), so 3 = 9"
    ) as told:
        session.tell("different", (3, 9))
    assert told.value.chain == (1, 2)
    assert session.seq == 2
    session.undo(2)
    session.tell("different", (3, 9))  # the session goes on after taking one back
    assert session.state.constraints.implied(4, 9) == "different"


def test_what_is_implied_is_never_written(session):
    session.tell("same", (3, 4))
    session.tell("same", (4, 9))
    receipt = session.tell("same", (9, 3))
    assert not receipt.recorded
    assert session.seq == 2


def test_undo_and_redo_any_depth(session, items):
    answer(session, items.y, 20)
    asked = [(e.body["i"], e.body["j"]) for e in session.events]
    labels = session.labels()
    for step in range(12):
        assert session.undo() == [20 - step]
    question = session.ask()
    assert (question.i, question.j) == asked[8]
    for _ in range(12):
        assert session.redo()
    assert session.redo() == []
    np.testing.assert_array_equal(session.labels(), labels)
    assert session.progress()["questions"] == 20


def test_a_new_answer_ends_redo(session, items):
    answer(session, items.y, 5)
    session.undo()
    answer(session, items.y, 1)
    assert session.redo() == []


def test_nothing_to_undo(session):
    assert session.undo() == []
    with pytest.raises(InputError, match="no event #7"):
        session.undo(7)


def test_several_answers_at_once_are_one_act(session):
    given = [(0, 1, "same"), (0, 2, "different"), (1, 2, "different")]
    told = session.tell_many(given, key="g")
    assert len(told) == 2  # the third follows from the others
    assert session.tell_many(given, key="g") == told
    with pytest.raises(ConflictError, match="used for something else"):
        session.tell_many(given[:2], key="g")
    assert session.undo() == [1, 2]
    assert session.progress()["questions"] == 0
    assert sorted(session.redo()) == [1, 2]
    with pytest.raises(ContradictionError):
        session.tell_many([(5, 6, "same"), (0, 1, "different")], key="h")
    assert session.state.constraints.implied(5, 6) is None


def test_skip_and_set_aside(session):
    first = session.ask()
    session.skip()
    second = session.ask()
    assert {first.i, first.j} != {second.i, second.j}
    session.set_aside(second.i)
    third = session.ask()
    assert second.i not in (third.i, third.j)
    assert session.progress()["set_aside"] == 1
    session.undo()
    assert session.progress()["set_aside"] == 0


def test_progress_counts_what_is_known_for_free(session):
    for j in (1, 2, 3):
        session.tell("same", (0, j), elapsed_ms=2000)
    session.tell("different", (0, 50), elapsed_ms=2000)
    done = session.progress()
    assert done["questions"] == 4
    # 6 same pairs and 4 different pairs are known, 4 of them were asked
    assert done["implied"] == 6
    assert done["per_minute"] == pytest.approx(30)


def test_going_on_gives_the_same_question_and_labels(session, items):
    answer(session, items.y, 25)
    again = Session.open(items, session.log)
    assert again.ask() == session.ask()
    np.testing.assert_array_equal(again.labels(), session.labels())


def test_two_sessions_on_one_log_see_each_other(session, items):
    other = Session.open(items, session.log)
    session.tell("same", (3, 4))
    with pytest.raises(ConflictError):
        other.tell("same", (5, 6))
    assert other.refresh() == 1
    other.tell("same", (5, 6))
    assert session.refresh() == 1
    assert session.state.constraints.implied(5, 6) == "same"


def test_bad_answers_are_one_sentence(session):
    for pair, said, words in [
        ((1, 1), "same", "itself"),
        ((0, 999), "same", "no point 999"),
        ((0, 1), "maybe", "'same', 'different' or 'unsure'"),
        ((-1, 2), "same", "no point -1"),
    ]:
        with pytest.raises(InputError, match=words):
            session.tell(said, pair)
    assert session.seq == 0


def test_too_many_clusters_is_refused(items):
    with pytest.raises(InputError, match="ask for fewer"):
        Session.create(items, Spec(500, affinity="tsc:q=4"))


def test_ready_affinity_of_another_size_is_refused(items):
    with pytest.raises(InputError, match="affinity is for 3 points"):
        Session.create(items, SPEC, affinity=np.ones((3, 3)))


def test_simulation_reaches_zero_and_says_when(items):
    run = simulate(Session.create(items, SPEC), TruthOracle(items.y), items.y, 600)
    assert run.finished
    assert run.error[-1] == 0
    assert run.questions_to(0.0) <= len(run.error) - 1
    assert run.questions_to(1.0) == 0


def test_wrong_answers_happen_at_the_rate_asked_for():
    y = np.arange(50) % 5
    oracle = NoisyOracle(y, 0.2, seed=1)
    from superpac.session.session import Question

    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(2000):
        i, j = rng.choice(50, 2, replace=False)
        said = oracle(Question(int(i), int(j), 0, ""))
        wrong += said != ("same" if y[i] == y[j] else "different")
    assert 330 < wrong < 470
    with pytest.raises(InputError, match="0.5"):
        NoisyOracle(y, 0.7)


def test_replay_gives_the_same_run(items):
    first = Session.create(items, SPEC)
    run = simulate(first, TruthOracle(items.y), items.y, 40)
    second = Session.create(items, SPEC)
    replay = simulate(second, ReplayOracle(first.state.answers), items.y, 100)
    np.testing.assert_array_equal(replay.error, run.error)
    assert [e.body for e in first.events] == [e.body for e in second.events]


def test_estimator_asks_its_oracle_and_goes_on(items):
    def person(i, j):
        return "same" if items.y[i] == items.y[j] else "different"

    model = ActiveSubspaceClustering(4, affinity="tsc:q=4", dim=3, oracle=person, questions=30).fit(
        items.points()
    )
    assert model.n_questions_ == 30
    question = model.ask()
    model.tell(person(question.i, question.j))
    assert model.n_questions_ == 31
    assert clustering_error(items.y, model.labels_) < 0.5


def test_estimator_follows_scikit_learns_contract():
    check_estimator(ActiveSubspaceClustering(2, affinity="tsc:q=3"))


def test_spec_survives_the_log(items):
    spec = Spec(4, "tsc:q=4", "superpac", {"explore": 0}, (3, 3, 2, 3), 7, False)
    session = Session.create(items, spec)
    assert Session.open(items, session.log).spec == spec
    assert isinstance(session.log, MemoryLog)


def test_a_strategy_with_more_clusters_than_asked_for_keeps_them(items):
    session = Session.create(items, Spec(4, affinity="tsc:q=4", dim=3, strategy="a3s"))
    answer(session, items.y, 30)
    model, kept = session.labels("model"), session.labels()
    assert model.max() >= 4
    assert clustering_error(items.y, kept) <= clustering_error(items.y, model) + 0.02


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("guess", {}), ("superpac-d", {"colour": "red"}), ("superpac-d", {"pieces": "two"})],
)
def test_a_session_that_cannot_begin_leaves_nothing_behind(items, tmp_path, strategy, options):
    with open_store(tmp_path / "a.sqlite3") as store:
        with pytest.raises(InputError, match="strategy|option"):
            Session.create(items, Spec(3, "tsc:q=4", strategy, options, dim=2), store=store)
        assert store.sessions() == []


WORDS = [
    *(f"my card number {n} has not arrived" for n in range(9)),
    *(f"what is the rate for euros on day {n}" for n in range(9)),
]


def test_any_transformer_makes_the_vectors_of_texts_and_the_session_opens_with_it_again():
    spec = Spec(2, affinity="tsc:q=3", dim=1)
    for transformer in (
        TfidfVectorizer(),
        make_pipeline(TfidfVectorizer(analyzer="char"), TruncatedSVD(4, random_state=0)),
    ):
        session = Session.create(WORDS, spec, features=transformer)
        assert session.data.kind == "text"
        assert session.data.texts == tuple(WORDS)
        session.tell("different", (0, 17))
        again = Session.open(WORDS, session.log, features=transformer)
        assert again.labels().tolist() == session.labels().tolist()
        with pytest.raises(InputError, match="give that as features="):
            Session.open(WORDS, session.log)
        with pytest.raises(InputError, match="give that as features="):
            session.add(["another card that is lost"])


def test_a_transformer_of_numbers_leaves_what_people_see_as_it_was():
    digits = load("digits").sample_classes(3, 20, seed=0)
    spec = Spec(3, affinity="tsc:q=4", dim=2)
    session = Session.create(digits, spec, features=PCA(9, random_state=0))
    assert session.data.X.shape == (60, 9)
    assert session.data.draw(7).tobytes() == digits.draw(7).tobytes()
    session.tell("different", (0, 1))
    again = Session.open(digits, session.log, features=PCA(9, random_state=0))
    np.testing.assert_array_equal(again.data.X, session.data.X)
    with pytest.raises(InputError, match="has learned from its items alone"):
        session.add(digits.subset([0]), features=PCA(1))


def test_a_folder_and_a_list_of_photos_get_the_encoder_for_photos(tmp_path):
    rng = np.random.default_rng(0)
    for n in range(8):
        pixels = rng.integers(0, 255, (40 + n, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{n}.png")
    spec = Spec(2, affinity="tsc:q=3", dim=1)
    session = Session.create(tmp_path, spec)
    assert session.data.features == "image"
    files = sorted(tmp_path.iterdir())
    listed = Session.create(files, spec)
    np.testing.assert_array_equal(listed.data.X, session.data.X)
    assert Session.open(str(tmp_path), session.log).data.features == "image"
    assert Session.open(files[::-1], session.log).data.ids.tolist() == session.data.ids.tolist()
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(tmp_path / "late.png")
    assert session.add([tmp_path / "late.png"]).count == 1
    assert session.add(tmp_path).count == 0


def test_in_python_too_photos_without_an_encoder_are_warned_about(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_MODELS", str(tmp_path / "models"))
    monkeypatch.setitem(MODELS, "image", replace(MODELS["image"], module="no_such_package_here"))
    for n in range(4):
        pixels = np.random.default_rng(n).integers(0, 255, (40, 30 + n, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{n}.png")
    with pytest.warns(UserWarning, match="hardly do for photos"):
        session = Session.create(tmp_path, Spec(2, affinity="tsc:q=2", dim=1))
    assert session.data.features == "pixels"


@pytest.mark.parametrize("name", ["flowers", "digits"])
def test_an_act_makes_nothing_worse_for_what_nobody_touched(name):
    """A person who puts items right must not see other walls fall apart.

    A move that was said of any item, and not of one that the model's groups are made of, opened a
    group too many; and a wall that was said to be all one drew half of the next one to it.
    """
    if name == "flowers":
        X, y = load_iris(return_X_y=True)
    else:
        digits = load("digits").sample_classes(5, 40, seed=1)
        X, y = digits.X, digits.y
    session = Session.create(X, Spec("auto"))
    labels = session.labels()
    before = clustering_error(y, labels)
    kind = {group: int(np.bincount(y[labels == group]).argmax()) for group in set(labels.tolist())}
    astray = [
        (np.flatnonzero((labels == group) & (y == other)).tolist(), goal)
        for group in kind
        for goal, other in kind.items()
        if other != kind[group]
    ]
    moved, goal = max(astray, key=lambda one: len(one[0]))
    there = np.flatnonzero((labels == goal) & (y == kind[goal]))
    session.move(moved, to=int(there[0]))
    assert len(set(session.labels())) == len(kind)
    assert clustering_error(y, session.labels()) < before
    session.undo()
    session.join(there.tolist())
    assert clustering_error(y, session.labels()) <= before
