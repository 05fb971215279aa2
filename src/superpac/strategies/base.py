"""The one interface of all strategies: from what is known to the next question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from superpac.answers.reliability import Reliability
from superpac.answers.state import State
from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.device.choice import HOST, Device
from superpac.subspaces.tracker import SubspaceTracker
from superpac.system.progress import Progress, no_progress, stage_of


class Memory(Protocol):
    """Where results about one problem are kept between runs, such as a part of a disk cache."""

    def get(self, what: str) -> dict[str, Any] | None:
        """Give what is kept under a name; None where nothing is."""
        ...

    def put(self, what: str, values: Mapping[str, Any]) -> None:
        """Keep arrays and plain values under a name."""
        ...

    def get_or_make(self, what: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Give what is kept under a name; else make it and keep it."""
        ...


@dataclass(frozen=True)
class Problem:
    """What a strategy works on; nothing in it changes while answers come in.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        Points, of unit length or as they are: what the spec and the strategy say.
    affinity : scipy.sparse.csr_array of shape (n, n)
        Original affinity.
    n_clusters : int
        Number of clusters.
    dim : int or tuple of int
        Subspace dimension.
    seed : int
        Every random draw derives from it and the number of answers.
    auto : bool
        Whether the number of clusters is a first guess, to be found while asking.
    memory : Memory or None
        Where results about these points and this affinity are kept on disk.
    device : Device
        Where a strategy that can computes on more than the processor; it changes no question but
        where numbers leave a tie.
    progress : callable
        Called as ``progress(done, total)`` in what a strategy does before its first question, from
        0 again for each stage: ``clustering``, what it begins with; ``answers``, those that are
        there already; ``model``, what the first question follows from; ``sureness``, the first
        :meth:`Strategy.geometry`.
    """

    X: FloatArray
    affinity: sparse.csr_array
    n_clusters: int
    dim: int | tuple[int, ...]
    seed: int = 0
    auto: bool = False
    memory: Memory | None = field(default=None, compare=False, repr=False)
    device: Device = field(default=HOST, compare=False, repr=False)
    progress: Progress = field(default=no_progress, compare=False, repr=False)

    def remember(self, what: str, make: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Give what was kept on disk of these points and this affinity, or make it and keep it."""
        return make() if self.memory is None else self.memory.get_or_make(what, make)

    @property
    def n(self) -> int:
        """Number of points."""
        return self.X.shape[0]


@dataclass(frozen=True)
class Proposal:
    """The next question and why it is asked.

    Attributes
    ----------
    i, j : int
        The two points; `i` is the one to be placed.
    reason : str
        One sentence for a person.
    numbers : mapping of str to float
        The figures behind it.
    not_by : frozenset of str
        People whom somebody else should answer for, if somebody else is there.
    confirm : bool
        Whether a "same" counts only once a second answer agrees, since much would hang on it.
    """

    i: int
    j: int
    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    not_by: frozenset[str] = frozenset()
    confirm: bool = False


@dataclass(frozen=True)
class Beliefs:
    """How sure a strategy is of its clustering, and how sure it was before answers came.

    Attributes
    ----------
    right : ndarray of shape (n,)
        Chance that each point's label is right; 1 for points in certain sets.
    record : ndarray of shape (m, 2)
        For points that an answer was about to place: the chance given to the label, and 1 where
        the answer then agreed with it.
    surplus : float
        Points expected in groups beyond the number of clusters: these find no class.
    assumed : float
        Points expected in sets that are taken for parts of a cluster without an answer.
    missing : float
        Points that may be in clusters without a group, where fewer groups than clusters are of any
        size: these share a group with another.
    regrouped, regrouped_spread : float
        Points expected in groups that are one with a larger, or in parts of a group that are a
        cluster of their own, where the number of clusters is unknown; and the standard deviation
        of their number.
    """

    right: FloatArray
    record: FloatArray
    surplus: float = 0.0
    assumed: float = 0.0
    missing: float = 0.0
    regrouped: float = 0.0
    regrouped_spread: float = 0.0


@dataclass(frozen=True)
class Count:
    """How many clusters a strategy believes there are.

    Attributes
    ----------
    clusters : int
        The number.
    sure : float
        Chance that it is right, as far as the strategy can tell.
    """

    clusters: int
    sure: float


@dataclass(frozen=True)
class Outlook:
    """What a strategy expects of the answers, for forms of question that show more than a pair.

    Attributes
    ----------
    chances : ndarray of shape (n, G)
        Chance of every group for every item, as the strategy's labels number them.
    free : ndarray of bool of shape (n,)
        Items that no answer has placed.
    reach : ndarray of shape (n,)
        How many times its own worth placing an item is worth, for what it tells about others.
    faces : ndarray of int of shape (G,)
        A clear member of each group; -1 for a group without one.
    set_faces : ndarray of int of shape (S,)
        A clear member of each set of items that are known to be one.
    set_of : ndarray of int of shape (n,)
        The set of each item, -1 for one that is in none.
    one : ndarray of shape (S, S)
        Chance that two sets are one.
    mends : ndarray of shape (S, S)
        Items that are expected to be mended by asking whether they are; 0 where that is known.
    rate : float
        Share of answers that are wrong.
    told : callable
        For some items the part of each that an answer about each other tells too, a matrix.
    """

    chances: FloatArray
    free: BoolArray
    reach: FloatArray
    faces: IntArray
    set_faces: IntArray
    set_of: IntArray
    one: FloatArray
    mends: FloatArray
    rate: float
    told: Callable[[IntArray], FloatArray]


class Strategy(ABC):
    """Ranks the pairs to ask next and gives the clustering that it believes in.

    A strategy never asks anybody: it is handed the state and answers with proposals. What it
    keeps between calls is a cache of what follows from the state.

    Parameters
    ----------
    problem : Problem
        What to work on.
    """

    name: ClassVar[str]
    #: raised by one whenever the same answers may lead to other questions or labels than before:
    #: trials kept from an older revision are run again, or marked where they are shown
    revision: ClassVar[int] = 1
    #: whether answers are weighed as evidence, so that a contradiction is taken in, not refused
    weighs_answers: ClassVar[bool] = False
    #: whether its labels break no answer that is believed; else a session mends them for people
    keeps_answers: ClassVar[bool] = False
    #: whether the number of clusters may be left open
    finds_count: ClassVar[bool] = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._geometry: SubspaceTracker | None = None

    def propose(
        self, state: State, n: int = 1, avoid: frozenset[int] = frozenset()
    ) -> list[Proposal]:
        """Rank the next questions, the best first.

        Parameters
        ----------
        state : State
            What is known.
        n : int, default=1
            How many; each is about another item to be placed, so that several people can answer
            at once, and one more can be answered while the model catches up.
        avoid : frozenset of int
            Items that others are being asked about now: none of them is the one to be placed,
            though one may stand for its group.

        Returns
        -------
        list of Proposal
            Fewer where fewer are left to ask; empty when nothing is. A pair that was asked a few
            times and is still disputed is never among them.
        """
        found: list[Proposal] = []
        placed: set[int] = set()
        for question in self._in_order(state, avoid):
            if state.asked_enough(question.i, question.j):
                continue
            if placed.isdisjoint((question.i, question.j)):
                found.append(question)
                placed.add(question.i)
            if len(found) >= n:
                break
        return found

    def _in_order(self, state: State, avoid: frozenset[int]) -> Iterator[Proposal]:
        """Questions from the best on; by default the best one, then the best of other items."""
        while (question := self._best(state, avoid)) is not None:
            yield question
            avoid |= {question.i}

    def _best(self, state: State, avoid: frozenset[int]) -> Proposal | None:
        """Best question; a strategy gives this or :meth:`_in_order`."""
        raise NotImplementedError

    @abstractmethod
    def labels(self, state: State) -> IntArray:
        """Give the clustering after the answers so far, one label per point.

        Parameters
        ----------
        state : State
            What is known.

        Returns
        -------
        ndarray of shape (n,)
            The strategy's own clustering. Whether it may break answers is for the strategy to say;
            one that breaks none (superpac-d, superpac-pinned, biswas) opens more clusters than
            were asked for where the answers need them. `Session.labels` breaks none with any.
        """

    def embedding(self, state: State) -> FloatArray | None:
        """Unit rows of the embedding behind :meth:`labels`, for a strategy that has one."""
        return None

    def beliefs(self, state: State) -> Beliefs | None:
        """How sure the labels are, for a strategy that knows."""
        return None

    def outlook(self, state: State) -> Outlook | None:
        """What is expected of the answers, for a strategy that can show more than pairs."""
        return None

    def must_confirm(self, state: State, i: int, j: int) -> bool:
        """Whether a "same" of two items should count only once a second answer agrees."""
        return False

    def count(self, state: State) -> Count | None:
        """How many clusters there are, for a strategy that finds out."""
        return None

    def reliability(self, state: State) -> Reliability:
        """What is known about the people who answer; the prior for a strategy that learns none."""
        return Reliability()

    def geometry(self, state: State) -> SubspaceTracker:
        """Subspaces, residuals and margins of the clusters, for showing how sure items are."""
        labels = self.labels(state)
        progress: Progress = no_progress
        if self._geometry is None:
            K, dim = self.problem.n_clusters, self.problem.dim
            progress = stage_of(self.problem.progress, "sureness")
            self._geometry = SubspaceTracker(self.problem.X, K, dim)
        return self._geometry.update(labels, progress)

    def known_members(self, state: State) -> BoolArray | None:
        """Which items the model holds to be members of its groups; None where it keeps no such.

        What a person says of a group as a whole is said of one of these, or the model would have to
        find out that the item it was said of belongs to that group.
        """
        return None

    def exemplars(self, state: State, item: int, n: int) -> list[int]:
        """Clear members of the groups that an item may belong to, the likeliest group first.

        Parameters
        ----------
        state : State
            What is known.
        item : int
            The item to be placed.
        n : int
            Groups at most.

        Returns
        -------
        list of int
            One item per group, each of which may be asked about.
        """
        near = self.geometry(state)
        found = []
        for members in state.constraints.sets(state.constraints.touched):
            for member in members[np.argsort(-near.margins[members], kind="stable")][:3].tolist():
                if state.askable(item, member):
                    found.append((near.residual(item, member), member))
                    break
        return [member for _, member in sorted(found)[:n]]

    def compare(self, state: State, item: int) -> Proposal | None:
        """Give the question about an item that a person chose; None when nothing is left to ask."""
        for other in self.exemplars(state, item, 1):
            return Proposal(item, other, "You asked to be asked about this.")
        near = self.geometry(state)
        for other in np.lexsort((-near.margins, near.labels != near.labels[item]))[:200].tolist():
            if state.askable(item, other):
                return Proposal(item, other, "You asked to be asked about this.")
        return None

    def rng(self, *key: int) -> np.random.Generator:
        """Random numbers that are a function of the seed and `key`."""
        return np.random.default_rng([self.problem.seed, *key])


def least(values: FloatArray, among: IntArray, rng: np.random.Generator) -> int:
    """Index of the smallest value among some points; ties are broken by a seeded draw."""
    part = values[among]
    ties = among[part == part.min()]
    return int(ties[0] if ties.size == 1 else rng.choice(ties))
