"""A session: a data set, a spec and a log of answers. The one door that everybody uses.

Certain sets, labels, the next question and progress are all computed from these three, so resuming,
taking back and several people at once are one mechanism. Each is there when it is needed and not
before: reading the log needs no data, data need no affinity, an affinity needs no model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from superpac.answers import acts
from superpac.answers.forms import PAIR, Costs, pairs_answered
from superpac.answers.growth import grown
from superpac.answers.links import DIFFERENT, SAME, Pair, ordered, pair_of
from superpac.answers.log import Log, MemoryLog
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.errors import ConflictError, InputError
from superpac.session.item_names import ItemNames
from superpac.session.known_items import as_items_of
from superpac.session.progress import progress_of
from superpac.session.questions import (
    FormQuestion,
    Labelling,
    Question,
    Receipt,
    Store,
    describe,
)
from superpac.session.spec import AUTO, Spec
from superpac.session.workbench import Workbench
from superpac.strategies import WEIGH_ANSWERS, check_strategy, make_strategy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    from superpac.answers.events import SessionInfo
    from superpac.cache import DiskCache
    from superpac.data import Dataset
    from superpac.session.adding import Addition
    from superpac.strategies.base import Problem, Proposal, Strategy

Progress = Callable[[int, int], None]


class Session(Workbench):
    """Ask, tell, undo, labels, progress.

    Use :meth:`create` or :meth:`open`.

    Parameters
    ----------
    log : Log
        The answers.
    data : Dataset or callable
        The items, or what loads them when they are first needed.
    affinity : sparse array, optional
        A ready affinity instead of the one that the spec names.
    progress : callable, optional
        Called as ``progress(done, total)`` until the first question is there, from 0 again for
        each stage: affinity, count, clustering, answers, model
        (:func:`~superpac.system.progress.stage_of`).
    cache : DiskCache, optional
        Where the affinity and what a strategy makes of it are kept between runs.

    Attributes
    ----------
    spec : Spec
        What is done with the data.
    data : Dataset
        The items.
    problem : Problem
        Points, affinity and dimension that follow from data and spec.
    strategy : Strategy
        Which questions are asked.

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
        log: Log,
        data: Dataset | Callable[[], Dataset],
        *,
        affinity: sparse.csr_array | None = None,
        progress: Progress | None = None,
        cache: DiskCache | None = None,
        device: str = "auto",
    ) -> None:
        self.device = device
        self.spec = Spec.from_dict(grown(log.info, log.additions()).spec)
        self._given = data
        self._affinity, self._progress, self._cache = affinity, progress, cache
        self._asked: tuple[tuple[Any, ...], Question | None] | None = None
        self._labels: tuple[tuple[int, int], IntArray] | None = None
        names: Any = ItemNames(self)
        super().__init__(log, names, weighs_answers=self.spec.strategy in WEIGH_ANSWERS)

    @classmethod
    def create(
        cls,
        data: object,
        spec: Spec,
        *,
        features: Any = None,
        store: Store | None = None,
        name: str | None = None,
        source: str | dict[str, Any] = "",
        affinity: sparse.csr_array | None = None,
        progress: Progress | None = None,
        cache: DiskCache | None = None,
        device: str = "auto",
    ) -> Session:
        """Begin a session.

        Parameters
        ----------
        data : Dataset, array, DataFrame, path, benchmark name, or list of paths or texts
            The items; a folder of photos or sounds and a table or list of texts get the encoder
            for their kind (`superpac.features.reading`).
        spec : Spec
            What to do with them.
        features : str, Encoder or scikit-learn transformer, optional
            What makes vectors of the items; by default what they are decides.
        store : Store, optional
            Where the log is kept; in memory by default.
        name : str, optional
            What people call the session; the data's name by default.
        source : str or dict, optional
            How to find the data again.
        affinity : sparse array, optional
            A ready affinity instead of the one that the spec names.
        progress : callable, optional
            Called as ``progress(done, total)``, as for the class.
        cache : DiskCache, optional
            Where the affinity and what a strategy makes of it are kept, for the next opening.
        device : {"auto", "cpu", "cuda"}, default="auto"
            What computes, for methods and strategies that can use more than the processor. The
            questions are the same but where numbers leave a tie.

        Returns
        -------
        Session

        Examples
        --------
        >>> from sklearn.feature_extraction.text import TfidfVectorizer
        >>> texts = ["my card is lost", "a lost card", "what is the rate", "which rate", "rates"]
        >>> session = Session.create(texts, Spec(2, dim=1), features=TfidfVectorizer())
        >>> session.data
        Dataset('things', 5 points, ... values each, text)
        """
        items = _dataset(data, features, cache=cache)
        check_strategy(spec.strategy, spec.options)
        check_sizes(items, spec, affinity)
        info = describe(items, spec, name=name, source=source, kept=store is not None)
        given: dict[str, Any] = {"progress": progress, "cache": cache, "device": device}
        session = cls(MemoryLog(info), items, affinity=affinity, **given)
        if store is not None:
            # before anything is kept: what fails here leaves no session behind
            problem, strategy = session.problem, session.strategy
            session = cls(store.create(info), items, device=device)
            session.problem, session.strategy = problem, strategy
        return session

    @classmethod
    def open(
        cls,
        data: object,
        log: Log,
        *,
        features: Any = None,
        affinity: sparse.csr_array | None = None,
        progress: Progress | None = None,
        cache: DiskCache | None = None,
        device: str = "auto",
    ) -> Session:
        """Go on with a session; refused if the data are not the ones it began with.

        Parameters
        ----------
        data : Dataset, array, DataFrame, path, benchmark name, or callable
            The items; what a callable gives is asked for, and checked, when items are needed.
        log : Log
            The session's log.
        features : str, Encoder or scikit-learn transformer, optional
            What makes vectors of the items; by default the encoder that the log names.
        affinity : sparse array, optional
            A ready affinity.
        progress, cache, device
            As in :meth:`create`.

        Returns
        -------
        Session
        """
        session = cls(
            log,
            data if callable(data) else _again(data, log.info, features, cache=cache),
            affinity=affinity,
            progress=progress,
            cache=cache,
            device=device,
        )
        if not callable(data):
            session.data  # noqa: B018 - refuses other data at once
        return session

    @cached_property
    def data(self) -> Dataset:
        """The items."""
        items = self._given() if callable(self._given) else self._given
        return as_items_of(_again(items, self.info, cache=self._cache), self.info)

    @cached_property
    def problem(self) -> Problem:
        """Points, affinity and dimension that follow from data and spec."""
        from superpac.session.problem import build_problem

        return build_problem(
            self.data,
            self.spec,
            affinity=self._affinity,
            progress=self._progress,
            cache=self._cache,
            device=self.device,
        )

    @cached_property
    def strategy(self) -> Strategy:
        """Which questions are asked."""
        return make_strategy(self.spec.strategy, self.problem, **self.spec.options)

    def ask(
        self,
        *,
        avoid: frozenset[int] = frozenset(),
        by: str = "",
        left: frozenset[Pair] = frozenset(),
    ) -> Question | None:
        """Give the next question, the same until something is told.

        Parameters
        ----------
        avoid : frozenset of int
            Items that others are being asked about now.
        by : str, optional
            An annotator who would only say again what they said, such as a program: what checks
            their own answers is left to others.
        left : frozenset of (int, int)
            Pairs, the smaller item first, that they have left to others besides.

        Returns
        -------
        Question or None
            None when nothing is left to ask.
        """
        with self._lock:
            key = (self.seq, avoid, by, left)
            if self._asked is None or self._asked[0] != key:
                found = self._first(avoid, by, left)
                self._asked = (key, Question.of(found, self.seq) if found else None)
            return self._asked[1]

    def _first(self, avoid: frozenset[int], by: str, left: frozenset[Pair]) -> Proposal | None:
        """First in rank of the strategy's questions that is not for others to answer."""
        said = {pair_of(a) for a in self.state.answers if a.annotator == by} if by else set()
        others = left | said
        wanted = 1
        while True:
            found = self.strategy.propose(self.state, wanted, avoid)
            for one in found:
                if ordered(one.i, one.j) not in others and not (by and by in one.not_by):
                    return one
            if len(found) < wanted:
                return None
            wanted *= 8

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
        annotator, key, expected_seq, elapsed_ms, why
            As in :meth:`AnswerBook.record`.

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
            pair = self._pair_or_current(pair, key, "answer")
            question = self._current(pair)
            return self.record(
                answer,
                pair,
                annotator=annotator,
                key=key,
                expected_seq=expected_seq,
                elapsed_ms=elapsed_ms,
                why=why,
                asked=bool(why) or question is not None,
                confirm=question is not None and question.confirm,
            )

    def ask_form(
        self,
        forms: str | Sequence[str] = "all",
        *,
        costs: Costs | None = None,
        avoid: frozenset[int] = frozenset(),
    ) -> FormQuestion | None:
        """Give the next question in the form that mends most per second of a person's time.

        Parameters
        ----------
        forms : "all", a form, or several of "pair", "strip", "wall" and "board"
            What may be used; a pair is asked where none of these fits.
        costs : Costs, optional
            Seconds that each form takes.
        avoid : frozenset of int
            Items that others are being asked about now.

        Returns
        -------
        FormQuestion or None
            None when nothing is left to ask. Answer it with :meth:`tell_form`, a pair also with
            :meth:`tell`.

        Examples
        --------
        >>> from superpac.data import Dataset
        >>> from superpac.data.synthetic import make_subspaces
        >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
        >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
        >>> question = session.ask_form()
        >>> alike = [other for other in question.options if y[other] == y[question.item]]
        >>> others = [other for other in question.options if other not in alike]
        >>> marked = others if question.form == "wall" else alike
        >>> receipts = session.tell_form(marked, question)
        >>> len(session.undo()) == len(receipts)
        True
        """
        from superpac.strategies.forms import FORMS, propose_forms

        wanted = FORMS if forms == "all" else (forms,) if isinstance(forms, str) else tuple(forms)
        unknown = [one for one in wanted if one not in FORMS]
        if unknown or not wanted:
            raise InputError(
                f"Forms are 'all' or some of {', '.join(FORMS)}. Got {forms!r} instead."
            )
        with self._lock:
            found = propose_forms(self.strategy, self.state, costs, wanted, avoid)
            return FormQuestion.of(found[0], self.seq) if found else None

    def tell_form(
        self,
        marked: Sequence[int],
        question: FormQuestion,
        *,
        annotator: str = "",
        key: str | None = None,
        elapsed_ms: int | None = None,
    ) -> list[Receipt]:
        """Record what was marked, as the pairs that it answers: one append, one undo.

        Parameters
        ----------
        marked : sequence of int
            In a strip the groups that the item belongs to (none: none of these), on a wall the
            items that do not belong, on a board the groups that are one with the first, of a pair
            the other item where the two are the same.
        question : FormQuestion
            What was asked; refused with ConflictError when the log has moved on.
        annotator, key, elapsed_ms
            As in :meth:`AnswerBook.record`.

        Returns
        -------
        list of Receipt
            Fewer than pairs where some imply others.
        """
        item, options = question.item, question.options
        if question.form == PAIR:
            told = [(item, options[0], SAME if options[0] in marked else DIFFERENT)]
        else:
            told = pairs_answered(question.form, item, options, marked)
        return self.tell_many(
            told,
            annotator=annotator,
            key=key or f"form-{question.seq + 1}",
            expected_seq=question.seq,
            elapsed_ms=elapsed_ms,
            asked=True,
            confirm={ordered(item, other) for other in question.confirm},
        )

    def _pair_or_current(
        self, pair: tuple[int, int] | None, key: str | None, doing: str
    ) -> tuple[int, int]:
        """The pair meant: as given, as an earlier request with this key had it, or asked now."""
        if pair is not None:
            return pair
        for event in self.events_under(key)[:1]:
            if "j" in event.body:
                return event.body["i"], event.body["j"]
        question = self.ask()
        if question is None:
            raise InputError(f"There is no question to {doing}: everything is settled.")
        return question.i, question.j

    def _current(self, pair: tuple[int, int]) -> Question | None:
        """The current question, if a pair is its own."""
        if self._asked is None or self._asked[0][0] != self.seq:
            return None
        question = self._asked[1]
        mine = question is not None and ordered(question.i, question.j) == ordered(*pair)
        return question if mine else None

    def skip(self, pair: tuple[int, int] | None = None, **who: Any) -> Receipt:
        """Postpone a pair, the current one by default; it costs no question."""
        with self._lock:
            pair = self._pair_or_current(pair, who.get("key"), "skip")
            return self.skip_pair(pair, **who)

    def add(
        self,
        more: object,
        *,
        features: Any = None,
        place: str = "",
        annotator: str = "",
        key: str | None = None,
    ) -> Addition:
        """Let new items in: all others keep their numbers, all answers stand.

        What follows from the data is computed before anything is written: where that fails, the
        session is as it was. The new items are in one append, whole or not at all.

        Parameters
        ----------
        more : Dataset, array, DataFrame, path, benchmark name, or list of paths or texts
            Items of the same kind as the session's, not rescaled; images that are there already are
            passed over.
        features : str, Encoder or scikit-learn transformer, optional
            What makes vectors of them; by default the encoder that made those of the session.
        place : str, optional
            Where they can be read again, beside the source of the session.
        annotator, key : str, optional
            Who adds them, and the client's key.

        Returns
        -------
        Addition
            How many were new, and how many were there already.

        Examples
        --------
        >>> from superpac.data import Dataset
        >>> from superpac.data.synthetic import make_subspaces
        >>> X, y = make_subspaces(20, 3, 2, 12, seed=0)
        >>> session = Session.create(Dataset(X[:54]), Spec(3, affinity="tsc:q=4", dim=2))
        >>> receipt = session.tell("different", (0, 53))
        >>> session.add(X[54:]).count, session.progress()["items"], len(session.labels())
        (6, 60, 60)
        """
        from superpac.session.adding import plan_addition
        from superpac.session.problem import build_problem, made_by_method

        new = _again(more, self.info, features, fewest=1, cache=self._cache)
        if self._affinity is not None or not made_by_method(self.spec.affinity):
            raise InputError(
                f"The session {self.info.name!r} has a ready matrix as its affinity, which has no "
                "rows for new items; begin a new session with a matrix of all."
            )
        with self._lock:
            plan = plan_addition(self.data, new, self.info, place=place, annotator=annotator)
            if not plan.count:
                return plan
            problem = build_problem(
                plan.data,
                self.spec,
                progress=self._progress,
                cache=self._cache,
                device=self.device,
            )
            strategy = make_strategy(self.spec.strategy, problem, **self.spec.options)
            said = acts.grew(plan.drafts[0].body["fingerprint"])
            try:
                self.act(said, lambda: plan.drafts, annotator=annotator, key=key)
            except ConflictError:
                if not self.refresh():
                    raise
                # others wrote meanwhile, and may have added the same
                return self.add(new, place=place, annotator=annotator, key=key)
            self._given = self.data = plan.data
            self.problem, self.strategy = problem, strategy
            return plan

    def _grow(self, info: SessionInfo) -> None:
        """Forget what follows from fewer items."""
        super()._grow(info)
        for name in ("data", "problem", "strategy"):
            vars(self).pop(name, None)
        self._asked, self._labels = None, None

    def widget(self, *, annotator: str = "", question: str = "Same or different?") -> Any:
        """Give a widget that asks this session's questions in a notebook.

        Needs the extra ``notebook`` (anywidget).

        Parameters
        ----------
        annotator : str
            Who answers.
        question : str
            In what words two items are compared.

        Returns
        -------
        anywidget.AnyWidget
            Shown where it is the last line of a cell. S, D, U, K and Z are its keys.
        """
        from superpac.session.notebook_widget import make_widget

        return make_widget(self, annotator, question)

    def labels(self, kind: Labelling = "answers") -> IntArray:
        """Give the clusters so far.

        Parameters
        ----------
        kind : {"answers", "model"}, default="answers"
            "answers" breaks no answer that is believed; "model" is the strategy's own labelling,
            for the paper's strategies the paper's, which may.

        Returns
        -------
        ndarray of shape (n,)
            With "answers", the number of clusters gives way where the answers leave no room for it:
            items that were all said to differ from each other are in as many clusters as they are,
            however many were asked for. Of answers that contradict each other the believed ones
            are kept.
        """
        if kind not in ("answers", "model"):
            raise InputError(f"Labels are of kind 'answers' or 'model'. Got {kind!r} instead.")
        with self._lock:
            state = self.state
            key = (state.revision, state.n_answers)
            if self._labels is None or self._labels[0] != key:
                self._labels = (key, self.strategy.labels(state))
            found = self._labels[1]
            if kind == "model":
                return found.copy()
            return labels_for_people(self.strategy, state, found)

    def _sureness(self) -> NDArray[np.floating]:
        with self._lock:
            return self.strategy.geometry(self.state).margins

    def _members(self) -> NDArray[np.bool_] | None:
        with self._lock:
            return self.strategy.known_members(self.state)

    def progress(self, *, model: bool = True) -> dict[str, Any]:
        """Figures that mean something to the person who answers.

        Parameters
        ----------
        model : bool, default=True
            Whether to give what only the strategy's model knows, which has to be computed.

        Returns
        -------
        dict
            As :func:`progress_of`; ``clusters_sure``, how likely ``clusters`` is the right number
            where it was left open; and ``error_left``: ``estimate``, ``low`` and ``high`` of the
            share of items in a wrong cluster (95% interval). The last two are None where the
            strategy has no belief, and all that is the model's without `model`.
        """
        with self._lock:
            asked_for = None if self.spec.n_clusters == AUTO else int(self.spec.n_clusters)
            found = progress_of(self.history, asked_for)
            if model:
                met = self.strategy.count(self.state)
                found["clusters"] = met.clusters if met else self.problem.n_clusters
                found["clusters_sure"] = met.sure if met and self.problem.auto else None
                found["error_left"] = error_left_of(self.strategy, self.state)
            return found


def check_sizes(data: Dataset, spec: Spec, affinity: sparse.csr_array | None = None) -> None:
    """Say at once what would fail only after the affinity was built.

    Parameters
    ----------
    data : Dataset
        The items.
    spec : Spec
        What is to be done with them.
    affinity : sparse array, optional
        A ready affinity.
    """
    if spec.n_clusters != AUTO and spec.clusters > len(data):
        raise InputError(
            f"{spec.clusters} clusters were asked for, but there are {len(data)} items; "
            "ask for fewer."
        )
    if affinity is not None and affinity.shape[0] != len(data):
        raise InputError(
            f"The affinity is for {affinity.shape[0]} points, but the data has {len(data)}."
        )


def labels_for_people(strategy: Strategy, state: State, found: IntArray) -> IntArray:
    """Change a strategy's labels so that no answer is broken, unless it takes care of that itself.

    Parameters
    ----------
    strategy : Strategy
        Whose labels they are.
    state : State
        What is known.
    found : ndarray of shape (n,)
        Its labels.

    Returns
    -------
    ndarray of shape (n,)
        More clusters than were asked for where the answers leave no room otherwise.
    """
    if strategy.keeps_answers:
        return found.copy()
    from superpac.answers.consistent_labels import respect_answers

    count = max(strategy.problem.n_clusters, int(found.max(initial=0)) + 1)
    return respect_answers(found, state.constraints, count, strategy.embedding(state))


def error_left_of(strategy: Strategy, state: State) -> dict[str, float] | None:
    """Estimate the share of items in a wrong cluster, with its interval, where a strategy can.

    Parameters
    ----------
    strategy : Strategy
        Whose clusters they are.
    state : State
        What is known.

    Returns
    -------
    dict or None
    """
    from superpac.session.stopping import error_left

    beliefs = strategy.beliefs(state)
    if beliefs is None:
        return None
    met = strategy.count(state)
    clusters = strategy.problem.n_clusters if met is None else met.clusters
    return error_left(beliefs, clusters).to_dict()


def _dataset(data: object, features: Any = None, **how: Any) -> Dataset:
    """Read whatever people have their items in, and make vectors of it where it is no numbers."""
    from superpac.data import Dataset

    if isinstance(data, Dataset) and features is None:
        return data
    from superpac.features.reading import read_encoded

    def tell(choice: Any) -> None:
        if choice.second_best:
            warnings.warn(choice.why, stacklevel=4)

    def tell_columns(words: str) -> None:
        warnings.warn(words, stacklevel=4)

    return read_encoded(data, features=features, tell=tell, tell_columns=tell_columns, **how)


def _again(data: object, info: SessionInfo, features: Any = None, **how: Any) -> Dataset:
    """Read items of a session as it did: with the encoder that it notes, else as numbers."""
    from superpac.data import Dataset, load

    if isinstance(data, Dataset):
        return data if features is None else _dataset(data, features, **how)
    noted = info.source.get("features") if isinstance(info.source, dict) else None
    if features is None and noted is None:
        return load(data, fewest=how.get("fewest", 2))
    if features is None:
        from superpac.features.registry import encoder_names

        if noted not in encoder_names():  # nothing is run because a log says so
            raise InputError(
                f"The vectors of the session {info.name!r} are made by {noted}; give that as "
                "features=, or the items with their vectors as a Dataset."
            )
    return _dataset(data, noted if features is None else features, **how)
