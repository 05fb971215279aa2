"""Fault 12: any sequence of ask, tell, undo, redo, crash and import agrees with a naive model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.errors import ContradictionError
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.store import open_store

X, Y = make_subspaces(6, 3, 2, 6, noise=0.1, seed=0)
ITEMS = Dataset(X, name="planes")
SPEC = Spec(3, affinity="tsc:q=3", strategy="superpac-pinned", dim=2)
N = len(Y)


def closure(answers: list[tuple[int, int, str]]) -> dict[tuple[int, int], str]:
    """Naive model: apply the two rules until nothing changes."""
    known = {}
    for i, j, said in answers:
        if said != "unsure":
            known[i, j] = known[j, i] = said
    while True:
        new = {}
        for (a, b), first in known.items():
            for c in range(N):
                if c in (a, b) or (a, c) in known:
                    continue
                second = known.get((b, c))
                if second is not None and "same" in (first, second):
                    new[a, c] = new[c, a] = second if first == "same" else first
        if not new:
            return known
        known.update(new)


class Machine(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "a.sqlite3"
        self.store = open_store(self.path)
        self.session = Session.create(ITEMS, SPEC, store=self.store)
        self.answers: list[tuple[int, int, str]] = []
        self.undone: list[tuple[int, int, str]] = []
        self.imports = 0

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    @rule(said=st.sampled_from(["same", "different", "unsure", "truth"]))
    def answer_the_question(self, said):
        question = self.session.ask()
        if question is None:
            return
        pair = (question.i, question.j)
        assert pair not in closure(self.answers)
        if said == "truth":
            said = "same" if Y[pair[0]] == Y[pair[1]] else "different"
        self.session.tell(said, expected_seq=question.seq)
        self.answers.append((*pair, said))
        self.undone.clear()

    @rule(
        i=st.integers(0, N - 1),
        j=st.integers(0, N - 1),
        said=st.sampled_from(["same", "different"]),
    )
    def volunteer(self, i, j, said):
        if i == j:
            return
        implied = closure(self.answers).get((i, j))
        try:
            receipt = self.session.tell(said, (i, j))
        except ContradictionError:
            assert implied is not None
            assert implied != said
            return
        assert implied in (None, said)
        assert receipt.recorded == (implied is None)
        if receipt.recorded:
            self.answers.append((i, j, said))
            self.undone.clear()

    @precondition(lambda self: self.answers)
    @rule()
    def undo(self):
        assert len(self.session.undo()) == 1
        self.undone.append(self.answers.pop())

    @rule()
    def redo(self):
        done = self.session.redo()
        assert bool(done) == bool(self.undone)
        if self.undone:
            self.answers.append(self.undone.pop())

    @rule()
    def crash_and_go_on(self):
        self.store.close()
        self.store = open_store(self.path)
        name = self.session.log.info.name
        self.session = Session.open(
            ITEMS, self.store.open(name), affinity=self.session.problem.affinity
        )

    @precondition(lambda self: self.imports < 2)
    @rule()
    def export_and_import(self):
        self.imports += 1
        archive = Path(self.folder.name) / f"{self.imports}.zip"
        name = self.session.log.info.name
        head = self.session.log.head()
        self.store.export_archive(name, archive)
        self.store.close()
        self.path = Path(self.folder.name) / f"{self.imports}.sqlite3"
        self.store = open_store(self.path)
        log = self.store.import_archive(archive)
        assert log.head() == head
        self.session = Session.open(ITEMS, log, affinity=self.session.problem.affinity)

    @invariant()
    def agrees_with_the_model(self):
        if not hasattr(self, "session"):
            return
        known = closure(self.answers)
        constraints = self.session.state.constraints
        labels = self.session.labels()
        assert self.session.progress()["questions"] == len(self.answers)
        for i in range(N):
            for j in range(i):
                said = known.get((i, j))
                assert constraints.implied(i, j) == said
                if said is not None:
                    assert (labels[i] == labels[j]) == (said == "same")
        assert np.isfinite(labels).all()


def test_any_session_agrees_with_a_naive_model(fault_count):
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=fault_count(15, 1000),
            stateful_step_count=50,
            suppress_health_check=list(HealthCheck),
        ),
    )
