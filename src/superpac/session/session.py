"""A session: a data set, a spec and a log of answers. The one door that everybody uses.

Certain sets, labels, the next question and progress are all computed from these three, so resuming,
taking back and several people at once are one mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy import sparse

from superpac.affinity.base import Progress, no_progress
from superpac.answers.consistent_labels import respect_answers
from superpac.answers.log import Log, MemoryLog
from superpac.array_types import IntArray
from superpac.data import Dataset, load
from superpac.errors import InputError
from superpac.session.progress import progress_of
from superpac.session.questions import Labelling, Question, Receipt, Store, describe
from superpac.session.recording import Recorder
from superpac.session.spec import Spec, build_problem
from superpac.session.stopping import error_left
from superpac.strategies import Problem, Strategy, check_strategy, make_strategy


class Session(Recorder):
    """Ask, tell, undo, labels, progress.

    Use :meth:`create` or :meth:`open`.

    Parameters
    ----------
    data : Dataset
        The items.
    spec : Spec
        What is done with them.
    log : Log
        The answers.
    problem : Problem
        Points, affinity and dimension that follow from data and spec.
    strategy : Strategy, optional
        A ready one, such as one that computes elsewhere; the spec's by default.

    References
    ----------
    Lipor & Balzano, "Leveraging Union of Subspace Structure to Improve Constrained Clustering",
    ICML 2017.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    >>> question = session.ask()
    >>> receipt = session.tell("same" if y[question.i] == y[question.j] else "different")
    >>> receipt.seq, session.progress()["questions"]
    (1, 1)
    """

    def __init__(
        self,
        data: Dataset,
        spec: Spec,
        log: Log,
        problem: Problem,
        strategy: Strategy | None = None,
    ) -> None:
        self.data = data
        self.spec = spec
        self.problem = problem
        self.strategy = strategy or make_strategy(spec.strategy, problem, **spec.options)
        super().__init__(log, [str(name) for name in data.ids], evidence=self.strategy.evidence)
        self._asked: tuple[tuple[int, frozenset[int]], Question | None] | None = None
        self._labels: tuple[tuple[int, int], IntArray] | None = None

    @classmethod
    def create(
        cls,
        data: object,
        spec: Spec,
        *,
        store: Store | None = None,
        name: str | None = None,
        source: str | dict[str, Any] = "",
        affinity: sparse.csr_array | None = None,
        progress: Progress = no_progress,
    ) -> Session:
        """Begin a session.

        Parameters
        ----------
        data : Dataset, array, DataFrame, path or benchmark name
            The items.
        spec : Spec
            What to do with them.
        store : Store, optional
            Where the log is kept; in memory by default.
        name : str, optional
            What people call the session; the data's name by default.
        source : str or dict, optional
            How to find the data again.
        affinity : sparse array, optional
            A ready affinity instead of the one that the spec names.
        progress : callable, optional
            Called as ``progress(done, total)`` while the affinity is built.

        Returns
        -------
        Session
        """
        items = data if isinstance(data, Dataset) else load(data)
        check_strategy(spec.strategy, spec.options)
        problem = build_problem(items, spec, affinity=affinity, progress=progress)
        # before anything is kept: what fails here leaves no session behind
        strategy = make_strategy(spec.strategy, problem, **spec.options)
        info = describe(items, spec, name=name, source=source, kept=store is not None)
        log = MemoryLog(info) if store is None else store.create(info)
        return cls(items, spec, log, problem, strategy)

    @classmethod
    def open(
        cls,
        data: object,
        log: Log,
        *,
        affinity: sparse.csr_array | None = None,
        progress: Progress = no_progress,
    ) -> Session:
        """Go on with a session; refused if the data are not the ones it began with.

        Parameters
        ----------
        data : Dataset, array, DataFrame, path or benchmark name
            The items.
        log : Log
            The session's log.
        affinity : sparse array, optional
            A ready affinity.
        progress : callable, optional
            As in :meth:`create`.

        Returns
        -------
        Session
        """
        items = data if isinstance(data, Dataset) else load(data)
        info = log.info
        if items.fingerprint != info.fingerprint:
            raise InputError(
                f"The session {info.name!r} began with data of fingerprint "
                f"{info.fingerprint[:12]}, but this data has {items.fingerprint[:12]}: values or "
                "row order have changed. Give the original data, or begin a new session."
            )
        spec = Spec.from_dict(info.spec)
        return cls(
            items, spec, log, build_problem(items, spec, affinity=affinity, progress=progress)
        )

    def ask(self, *, avoid: frozenset[int] = frozenset()) -> Question | None:
        """Give the next question, the same until something is told.

        Parameters
        ----------
        avoid : frozenset of int
            Items that others are being asked about now.

        Returns
        -------
        Question or None
            None when nothing is left to ask.
        """
        with self._lock:
            key = (self._fold.seq, avoid)
            if self._asked is None or self._asked[0] != key:
                found = self.strategy.propose(self._fold.state, avoid)
                question = None
                if found is not None:
                    question = Question(
                        found.i, found.j, self._fold.seq, found.reason, dict(found.numbers)
                    )
                self._asked = (key, question)
            return self._asked[1]

    def tell(
        self,
        answer: str,
        pair: tuple[int, int] | None = None,
        *,
        annotator: str = "",
        key: str | None = None,
        expected_seq: int | None = None,
        elapsed_ms: int | None = None,
        why: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Record an answer; it is safe on disk when this returns.

        Parameters
        ----------
        answer : {"same", "different", "unsure"}
            What the person said.
        pair : (int, int), optional
            The items compared; the current question's by default.
        annotator : str
            Who said it.
        key : str, optional
            The client's key: the same key again gives the same receipt and writes nothing.
        expected_seq : int, optional
            The question's `seq`; refused with ConflictError when the log has moved on.
        elapsed_ms : int, optional
            How long the person took.
        why : mapping, optional
            Why it was asked, kept beside the answer.

        Returns
        -------
        Receipt

        Raises
        ------
        ContradictionError
            When earlier answers imply the opposite; its text spells out the chain. A strategy that
            weighs answers takes contradictions in where it asked itself: the current question, or
            one with a `why`.
        """
        with self._lock:
            if key is not None and key in self._keys:
                event = self.log.append(
                    "answer", self._body(answer, pair, key), annotator=annotator, key=key
                )
                return Receipt(event.seq, event.hash)
            if pair is None:
                question = self.ask()
                if question is None:
                    raise InputError("There is no question to answer: everything is settled.")
                pair = (question.i, question.j)
            i, j = (int(p) for p in pair)
            known = self._fold.state.constraints
            if not (self.evidence and (why or self._is_asked(i, j))):
                known.check(i, j, answer)
                if known.implied(i, j) is not None and answer != "unsure":
                    self._expect(expected_seq)
                    return Receipt(0, "", recorded=False)
            body: dict[str, Any] = {"i": i, "j": j, "answer": answer}
            if why:
                body["why"] = dict(why)
            event = self.log.append(
                "answer",
                body,
                annotator=annotator,
                key=key,
                expected_seq=self.seq if expected_seq is None else expected_seq,
                elapsed_ms=elapsed_ms,
            )
            self._take([event])
            return Receipt(event.seq, event.hash)

    def _is_asked(self, i: int, j: int) -> bool:
        """Whether a pair is the current question's."""
        asked = self._asked[1] if self._asked is not None else None
        current = self._asked is not None and self._asked[0][0] == self.seq
        return current and asked is not None and {i, j} == {asked.i, asked.j}

    def skip(self, pair: tuple[int, int] | None = None, **who: Any) -> Receipt:
        """Postpone a pair, the current one by default; it costs no question."""
        with self._lock:
            if pair is None:
                question = self.ask()
                if question is None:
                    raise InputError("There is no question to skip: everything is settled.")
                pair = (question.i, question.j)
            return self._note("skip", {"i": int(pair[0]), "j": int(pair[1])}, **who)

    def labels(self, kind: Labelling = "answers") -> IntArray:
        """Give the clusters so far.

        Parameters
        ----------
        kind : {"answers", "model"}, default="answers"
            "answers" never breaks an answer; "model" is the strategy's own labelling, for the
            paper's strategies the paper's, which may.

        Returns
        -------
        ndarray of shape (n,)
        """
        if kind not in ("answers", "model"):
            raise InputError(f"Labels are of kind 'answers' or 'model'. Got {kind!r} instead.")
        with self._lock:
            key = (self._fold.state.revision, self._fold.state.n_answers)
            if self._labels is None or self._labels[0] != key:
                self._labels = (key, self.strategy.labels(self._fold.state))
            found = self._labels[1]
            if kind == "model" or self.evidence:
                return found.copy()
            rows = self.strategy.embedding(self._fold.state)
            known = self._fold.state.constraints
            count = max(self.problem.n_clusters, int(found.max(initial=0)) + 1)
            return respect_answers(found, known, count, rows)

    def progress(self) -> dict[str, Any]:
        """Figures that mean something to the person who answers.

        Returns
        -------
        dict
            As :func:`progress_of`; ``clusters_sure``, how likely ``clusters`` is the right number
            where it was left open; and ``error_left``: ``estimate``, ``low`` and ``high`` of the
            share of items in a wrong cluster (95% interval), None where the strategy has no belief.
        """
        with self._lock:
            met = self.strategy.count(self._fold.state)
            found = progress_of(self._fold, met.clusters if met else self.problem.n_clusters)
            found["clusters_sure"] = met.sure if met and self.problem.auto else None
            return {**found, "error_left": self._error_left()}

    def _error_left(self) -> dict[str, float] | None:
        state = self._fold.state
        beliefs = self.strategy.beliefs(state)
        if beliefs is None:
            return None
        return error_left(beliefs, self.problem.n_clusters, state.n_answers).to_dict()
