"""The process that computes: affinity, clustering, next question. Nothing is kept in it.

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

from superpac.answers.consistent_labels import respect_answers
from superpac.answers.constraints import Constraints
from superpac.answers.links import Link
from superpac.answers.reliability import Reliability
from superpac.array_types import IntArray
from superpac.data import Dataset
from superpac.errors import SuperpacError
from superpac.graph.imputed_spectral import scaled_affinity
from superpac.graph.spectral import spectral_embedding
from superpac.plots import flatten
from superpac.session.spec import Spec, build_problem
from superpac.session.stopping import error_left
from superpac.session.suspects import reliability_of
from superpac.strategies import Count, Problem, Proposal, State, Strategy, make_strategy
from superpac.subspaces.tracker import SubspaceTracker

STAGES = ("affinity", "clustering", "map")


@dataclass(frozen=True)
class Job:
    """A state to work on: standing answers, skipped pairs, items set aside.

    Attributes
    ----------
    number : int
        Grows by one a job.
    key : object
        What the page calls the state.
    answers : tuple of Link
        Standing answers in order.
    skipped : dict
        As in :class:`~superpac.strategies.State`.
    bad : frozenset of int
        Items set aside.
    """

    number: int
    key: Any
    answers: tuple[Link, ...]
    skipped: dict[tuple[int, int], int] = field(default_factory=dict)
    bad: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Model:
    """What follows from a state: a labelling, how near every item is to every cluster, a question.

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
    proposal : Proposal or None
        The next question; None when nothing is left.
    seeds : tuple of int
        Items that are sets of their own before any answer.
    seconds : float
        Time it took.
    error_left : dict or None
        Estimate of the error left, where the strategy gives one.
    reliability : Reliability
        What is known about the people who answer, where answers are evidence.
    """

    key: Any
    labels: IntArray
    shown: IntArray
    margins: NDArray[np.float32]
    residuals: NDArray[np.float32]
    proposal: Proposal | None
    seeds: tuple[int, ...] = ()
    seconds: float = 0.0
    error_left: dict[str, float] | None = None
    reliability: Reliability = Reliability()
    count: Count | None = None

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
    flat: NDArray[np.float32] | None = None


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
        own = getattr(self.strategy, "tracker", None)
        self._tracker = own or SubspaceTracker(problem.X, problem.n_clusters, problem.dim)

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
        answers = list(job.answers)
        known = Constraints(self.problem.n)
        for answer in answers:
            known.take(answer)
        # The job's number as revision: states are jumped between, so nothing may be carried over.
        state = State(known, answers, dict(job.skipped), set(job.bad), revision=job.number)
        proposal = self.strategy.propose(state)
        labels = self.strategy.labels(state)
        shown = labels
        if not self.strategy.evidence:
            rows = self.strategy.embedding(state)
            shown = respect_answers(labels, known, self.problem.n_clusters, rows)
        self._tracker.update(labels)
        beliefs = self.strategy.beliefs(state)
        left = None
        if beliefs is not None:
            left = error_left(beliefs, self.problem.n_clusters, len(answers)).to_dict()
        seeds = tuple(getattr(getattr(self.strategy, "sets", None), "seeds", ()))
        return Model(
            job.key,
            np.array(labels, dtype=np.intp),
            np.array(shown, dtype=np.intp),
            self._tracker.margins.astype(np.float32),
            self._tracker.residuals.astype(np.float32),
            None if proposal is None else replace(proposal, numbers=dict(proposal.numbers)),
            tuple(int(s) for s in seeds),
            time.perf_counter() - begun,
            left,
            reliability_of(self.strategy, state),
            self.strategy.count(state),
        )


def work(pipe: Connection, data: Dataset, spec: Spec, basis: Basis | None) -> None:
    """Body of the process: prepare, say so, then do jobs until the pipe closes.

    Messages sent are ``("stage", name, done, total)``, ``("ready", Basis, seconds)``,
    ``("model", Model)`` and ``("failed", sentence, whether it is the user's mistake)``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the page's process to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        computer, found, seconds = _prepare(pipe, data, spec, basis)
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
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.1 or done == total:
            last = now
            pipe.send(("stage", "affinity", int(done), int(total)))

    pipe.send(("stage", "affinity", 0, 0))
    if basis is None:
        problem = build_problem(data, spec, progress=progress)
    else:
        ready = replace(spec, dim=basis.dim)
        problem = build_problem(data, ready, affinity=basis.affinity)
    pipe.send(("stage", "clustering", 0, 0))
    begun = time.perf_counter()
    computer = Computer(problem, spec)
    seconds = time.perf_counter() - begun
    pipe.send(("stage", "map", 0, 0))
    flat = basis.flat if basis is not None else _flat(problem)
    return computer, Basis(problem.affinity, problem.dim, flat), seconds


def _flat(problem: Problem) -> NDArray[np.float32]:
    """Two coordinates an item, from the spectral embedding."""
    wanted = min(problem.n_clusters, problem.n)
    embedding = spectral_embedding(
        scaled_affinity(problem.affinity), wanted, random_state=problem.seed
    )
    return flatten(embedding.rows()).astype(np.float32)


def _say(pipe: Connection, message: tuple[Any, ...]) -> None:
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
