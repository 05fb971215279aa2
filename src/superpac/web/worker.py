"""The process that computes: affinity, clustering, next questions. Nothing is kept in it.

It is handed the data once and then states to work on, one at a time. The page's process may end
it at any moment and start another: answers live in the log, not here.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superpac.answers.links import Link, Pair
from superpac.answers.reliability import Reliability
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.cache import DiskCache
from superpac.data import Dataset
from superpac.data.sent_dataset import SentDataset
from superpac.errors import SuperpacError
from superpac.graph.imputed_spectral import scaled_affinity
from superpac.graph.layout import lay_out
from superpac.graph.spectral import cluster_rows, spectral_embedding, spectral_work
from superpac.session.problem import build_problem
from superpac.session.session import error_left_of, labels_for_people
from superpac.session.spec import Spec
from superpac.strategies import Count, Problem, Proposal, Strategy, make_strategy
from superpac.strategies.forms import FormProposal, all_forms, groups_to_choose
from superpac.system.progress import Progress, no_progress, parts_of
from superpac.system.threads import one_thread

TELL_EVERY = 0.1  # seconds from one message about progress to the next
RUNS = 3  # of k-means for the map


@dataclass(frozen=True)
class Job:
    """A state to work on, and what is wanted of it.

    Attributes
    ----------
    key : object
        What the page calls the state.
    answers : tuple of Link
        Standing answers in order.
    skipped, bad
        As in :class:`~superpac.answers.state.State`.
    questions : int
        How many questions are wanted, ranked.
    avoid : frozenset of int
        Items that they must not be about.
    item : int or None
        The item that a person chose to be asked about.
    strips : bool
        Whether the groups that an item may belong to are wanted with each question.
    forms : bool
        Whether walls and boards are wanted.
    number : int
        Grows by one per job.
    """

    key: Any
    answers: tuple[Link, ...]
    skipped: dict[Pair, int] = field(default_factory=dict)
    bad: frozenset[int] = frozenset()
    questions: int = 1
    avoid: frozenset[int] = frozenset()
    item: int | None = None
    strips: bool = False
    forms: bool = False
    number: int = 0


@dataclass(frozen=True)
class Model:
    """What follows from a state: a labelling, how near items are to clusters, ranked questions.

    Attributes
    ----------
    key : object
        The state it belongs to.
    labels : ndarray of shape (n,)
        Clusters, the strategy's own.
    shown : ndarray of shape (n,)
        Clusters for people: they break no answer.
    margins : ndarray of shape (n,)
        How sure each item is; 0 lies between two clusters, 1 in one.
    residuals : ndarray of shape (n, K)
        Distance of every item to every cluster.
    questions : tuple of Proposal
        The strategy's next questions, the best first; empty when nothing is left.
    exemplars : tuple of tuple of int
        With strips, for each question clear members of the groups that its item may belong to.
    forms : tuple of FormProposal
        The first question in every form that fits, the best per second of a person's time first;
        then what else may be asked as a wall or a board.
    due : int
        How many of them are of the first question.
    seconds : float
        Time it took.
    error_left : dict or None
        Estimate of the error left, where the strategy gives one.
    reliability : Reliability
        What is known about the people who answer.
    count : Count or None
        How many clusters there are, where the strategy finds out.
    members : ndarray of bool of shape (n,), optional
        Items that the strategy's groups are made of, where it keeps such.
    """

    key: Any
    labels: IntArray
    shown: IntArray
    margins: NDArray[np.float32]
    residuals: NDArray[np.float32]
    questions: tuple[Proposal, ...] = ()
    exemplars: tuple[tuple[int, ...], ...] = ()
    forms: tuple[FormProposal, ...] = ()
    due: int = 0
    seconds: float = 0.0
    error_left: dict[str, float] | None = None
    reliability: Reliability = field(default_factory=Reliability)
    count: Count | None = None
    members: NDArray[np.bool_] | None = None

    def distance(self, item: int, other: int) -> float:
        """How far an item is from the cluster of another."""
        column = int(self.labels[other])
        row = self.residuals[item]
        return float(row[column] if column < row.size else row.max())


@dataclass(frozen=True)
class Basis:
    """What the first computation gave and a restart need not do again."""

    affinity: sparse.csr_array
    dim: int | tuple[int, ...]
    flat: NDArray[np.float32]


class Computer:
    """Does the jobs: one strategy that is moved from state to state.

    Parameters
    ----------
    problem : Problem
        Points, affinity, dimension.
    spec : Spec
        Names the strategy.
    """

    def __init__(self, problem: Problem, spec: Spec) -> None:
        self.problem = problem
        self.strategy: Strategy = make_strategy(spec.strategy, problem, **spec.options)

    def model(self, job: Job) -> Model:
        """Work out a state.

        Parameters
        ----------
        job : Job
            The state.

        Returns
        -------
        Model
        """
        begun = time.perf_counter()
        with one_thread():  # threads that wait for each other are slow on a busy machine
            model = self._model(job)
        return replace(model, seconds=time.perf_counter() - begun)

    def _model(self, job: Job) -> Model:
        """The same, not timed."""
        strategy = self.strategy
        state = State.of(self.problem.n, job.answers, skipped=job.skipped, bad=job.bad)
        # states are jumped between, so what was derived from one may not be carried over
        state.revision = job.number
        if job.item is None:
            found = strategy.propose(state, job.questions, job.avoid)
        else:
            chosen = strategy.compare(state, job.item)
            found = [] if chosen is None else [chosen]
        labels = strategy.labels(state)
        due, rest = all_forms(strategy, state, found, avoid=job.avoid) if job.forms else ([], [])
        near = strategy.geometry(state)
        return Model(
            job.key,
            np.array(labels, dtype=np.intp),
            np.array(labels_for_people(strategy, state, labels), dtype=np.intp),
            near.margins.astype(np.float32),
            near.residuals.astype(np.float32),
            tuple(replace(one, numbers=dict(one.numbers)) for one in found),
            tuple(self._exemplars(state, one, labels) for one in found) if job.strips else (),
            forms=(*due, *rest),
            due=len(due),
            error_left=error_left_of(strategy, state),
            reliability=strategy.reliability(state),
            count=strategy.count(state),
            members=strategy.known_members(state),
        )

    def _exemplars(self, state: State, question: Proposal, labels: IntArray) -> tuple[int, ...]:
        """Groups to choose from, the question's own among them; none for an answer in doubt."""
        if question.numbers.get("again"):
            return ()
        return groups_to_choose(self.strategy, state, question, labels)


def work(pipe: Connection, sent: SentDataset, spec: Spec, basis: Basis | None) -> None:
    """Body of the process: prepare, say so, then do jobs until the pipe closes.

    Messages sent are ``("stage", name, done, total)``, ``("ready", Basis, seconds)``,
    ``("model", Model)`` and ``("failed", sentence, whether it is the user's mistake)``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the page's process to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        computer, found, seconds = _prepare(pipe, sent.open(), spec, basis)
        pipe.send(("ready", found, seconds))
        while True:
            job = pipe.recv()
            if job is None:
                return
            pipe.send(("model", computer.model(job)))
    except (EOFError, OSError):
        return
    except SuperpacError as error:
        _say(pipe, ("failed", str(error), True))
    except Exception as error:
        _say(pipe, ("failed", f"{type(error).__name__}: {error}", False))
        raise


def _prepare(
    pipe: Connection, data: Dataset, spec: Spec, basis: Basis | None
) -> tuple[Computer, Basis, float]:
    """Build the problem and the strategy; the seconds are those of the first clustering."""
    progress = _Told(pipe)
    progress.stage("affinity")
    cache = DiskCache()
    if basis is None or cache.folder is not None:
        problem = build_problem(data, spec, progress=progress, cache=cache)
    else:
        ready = replace(spec, dim=basis.dim)
        problem = build_problem(data, ready, affinity=basis.affinity, progress=progress)
    progress.stage("clustering")
    begun = time.perf_counter()
    computer = Computer(problem, spec)
    seconds = time.perf_counter() - begun
    told = progress.stage("map")
    flat = basis.flat if basis is not None else _flat(problem, told)
    return computer, Basis(problem.affinity, problem.dim, flat), seconds


class _Told:
    """Progress that is sent to the page's process, with the name of its stage."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._last = pipe, 0.0

    def __call__(self, done: int, total: int) -> None:
        """Ignore what belongs to no stage."""

    def stage(self, name: str) -> Progress:
        """Say that a stage has begun; gives its progress."""
        self._pipe.send(("stage", name, 0, 0))

        def progress(done: int, total: int) -> None:
            now = time.monotonic()
            if now - self._last > TELL_EVERY or done == total:
                self._last = now
                self._pipe.send(("stage", name, int(done), int(total)))

        return progress


def _flat(problem: Problem, progress: Progress = no_progress) -> NDArray[np.float32]:
    """Two coordinates per item: the first clusters as discs, alike ones side by side."""

    def make() -> dict[str, NDArray[np.float32]]:
        wanted = min(problem.n_clusters, problem.n)
        affinity = scaled_affinity(problem.affinity)
        work = *spectral_work(affinity, wanted, RUNS), 3000.0 * problem.n
        finding, placing, drawing = parts_of(progress, work)
        embedding = spectral_embedding(
            affinity, wanted, random_state=problem.seed, progress=finding
        )
        rows = embedding.rows()
        rng = np.random.RandomState(problem.seed)
        labels = cluster_rows(rows, wanted, n_init=RUNS, rng=rng, progress=placing)
        flat = lay_out(affinity, labels, rows).astype(np.float32)
        drawing(1, 1)
        return {"flat": flat}

    flat: NDArray[np.float32] = problem.remember("map of discs", make)["flat"]
    return flat


def _say(pipe: Connection, message: tuple[Any, ...]) -> None:
    """Send a message to a process that may be gone."""
    try:
        pipe.send(message)
    except (OSError, ValueError):
        return


def _end_with_parent() -> None:
    """End this process when the page's process is gone, even by kill -9 in the middle of a job."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)
