"""Answers to "same or different?" folded into what is known about every pair.

"Same" is transitive, and two points joined to different ends of a "different" are different too
(the closure of must-links and cannot-links, Wagstaff et al., "Constrained k-means clustering with
background knowledge", ICML 2001). Which points count as certain sets of their own beyond the
groups joined by "same" is for a strategy to say; here are the facts only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.answers.links import (
    ANSWERS,
    DIFFERENT,
    SAME,
    UNSURE,
    Known,
    Link,
    check_log,
    describe,
    shortest_chain,
)
from superpac.errors import ContradictionError, InputError

IntArray = NDArray[np.int64]


class Conflict:
    """An answer that :meth:`Constraints.fold` left out because earlier ones imply the opposite.

    Attributes
    ----------
    seq, i, j, answer
        The answer as it was given.
    """

    def __init__(
        self, owner: Constraints, seq: int, i: int, j: int, answer: str, position: int
    ) -> None:
        self.seq, self.i, self.j, self.answer = seq, i, j, answer
        self._owner, self._position = owner, position
        self._chain: tuple[Link, ...] | None = None

    @property
    def chain(self) -> tuple[Link, ...]:
        """Shortest chain of earlier answers that implies the opposite."""
        if self._chain is None:
            crossings = 1 if self.answer == SAME else 0
            self._chain = self._owner._path(self.i, self.j, crossings, self._position)
        return self._chain

    @property
    def message(self) -> str:
        """The sentence a person is shown."""
        return f"{describe(self.chain, self._owner.names)}; you said {self.answer}"

    def _of(self, owner: Constraints) -> Conflict:
        return Conflict(owner, self.seq, self.i, self.j, self.answer, self._position)

    def __repr__(self) -> str:
        return f"Conflict(seq={self.seq}, i={self.i}, j={self.j}, answer={self.answer!r})"


class Constraints:
    """What is known about pairs of points after a number of answers.

    Parameters
    ----------
    n : int
        Number of points.
    names : sequence, optional
        What to call the points in messages; their indices by default.

    Attributes
    ----------
    conflicts : list of Conflict
        Answers left out by ``fold(..., on_conflict="collect")``.

    Examples
    --------
    >>> known = Constraints(50)
    >>> known.add(12, 40, "same", seq=31)
    True
    >>> known.add(40, 7, "same", seq=58)
    True
    >>> known.implied(7, 12)
    'same'
    >>> known.add(12, 7, "different", seq=59)
    Traceback (most recent call last):
        ...
    superpac.errors.ContradictionError: 12 = 40 (#31) and 40 = 7 (#58), so 12 = 7; you said ...
    """

    def __init__(self, n: int, names: Sequence[Any] | None = None) -> None:
        if index(n) < 0:
            raise InputError(f"The number of points must not be negative. Got {n} instead.")
        if names is not None and len(names) != n:
            raise InputError(
                f"There are {n} points but {len(names)} names; give one name per point."
            )
        self.n = index(n)
        self.names = names
        self.conflicts: list[Conflict] = []
        self._log: list[Link] = []
        self._parent: dict[int, int] = {}  # of points that are not the root of their group
        self._members: dict[int, list[int]] = {}  # root -> points, for groups of two or more
        self._apart: dict[int, set[int]] = {}  # root -> roots known to be different
        # point -> positions in the log of its "same" and of its "different"; the first so many
        # answers of the log are in, and the rest follow when somebody asks for a chain
        self._links: dict[int, list[int]] = {}
        self._cuts: dict[int, list[int]] = {}
        self._indexed = 0
        self._first: dict[int, int] = {}  # point -> smallest seq of an answer about it
        # root -> (smallest seq, sorted members), made when asked for
        self._groups: dict[int, tuple[int, IntArray]] = {}

    @classmethod
    def fold(
        cls,
        n: int,
        pairs: ArrayLike,
        answers: ArrayLike,
        seqs: ArrayLike | None = None,
        *,
        names: Sequence[Any] | None = None,
        on_conflict: Literal["raise", "collect"] = "raise",
    ) -> Constraints:
        """Build the state from a whole log of answers, in the order given.

        Parameters
        ----------
        n : int
            Number of points.
        pairs : array-like of int of shape (n_answers, 2)
            The points that were compared.
        answers : array-like of str of shape (n_answers,)
            ``"same"``, ``"different"`` or ``"unsure"``.
        seqs : array-like of int of shape (n_answers,), optional
            Sequence numbers; 1, 2, ... by default.
        names : sequence, optional
            What to call the points in messages.
        on_conflict : {"raise", "collect"}
            Whether an answer that contradicts earlier ones raises ContradictionError, or is left
            out and listed in ``conflicts``.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> known = Constraints.fold(3, [[0, 1], [1, 2], [0, 2]], ["same", "same", "different"],
        ...                          on_conflict="collect")
        >>> known.conflicts[0].message
        '0 = 1 (#1) and 1 = 2 (#2), so 0 = 2; you said different'
        """
        if on_conflict not in ("raise", "collect"):
            raise InputError(
                f"The 'on_conflict' parameter must be 'raise' or 'collect'. Got {on_conflict!r}."
            )
        state = cls(n, names)
        checked_pairs, checked_answers, checked_seqs = check_log(n, pairs, answers, seqs)
        for (i, j), answer, seq in zip(checked_pairs, checked_answers, checked_seqs, strict=True):
            if on_conflict == "raise" and state._opposed(i, j, answer):
                raise state._contradiction(i, j, answer)
            state.take(Link(seq, i, j, answer))
        return state

    def take(self, link: Link) -> bool:
        """Take in one valid answer; a contradiction is left out and listed in ``conflicts``."""
        if self._opposed(link.i, link.j, link.answer):
            self.conflicts.append(
                Conflict(self, link.seq, link.i, link.j, link.answer, len(self._log))
            )
            return False
        return self._record(link)

    def check(self, i: int, j: int, answer: str) -> None:
        """Raise what :meth:`add` would raise, and change nothing."""
        i, j = self._point(i), self._point(j)
        if i == j:
            raise InputError(f"A point cannot be compared with itself. Got {i} twice.")
        if answer not in ANSWERS:
            raise InputError(f"An answer is 'same', 'different' or 'unsure'. Got {answer!r}.")
        if self._opposed(i, j, answer):
            raise self._contradiction(i, j, answer)

    def add(self, i: int, j: int, answer: str, seq: int) -> bool:
        """Take in one answer.

        Parameters
        ----------
        i, j : int
            The two points.
        answer : {"same", "different", "unsure"}
            "Unsure" implies nothing and is not kept.
        seq : int
            Sequence number of the answer, used in messages.

        Returns
        -------
        bool
            Whether the answer was news; False for "unsure" and for what was implied before.

        Raises
        ------
        ContradictionError
            If earlier answers imply the opposite; nothing is changed then.
        """
        self.check(i, j, answer)
        return self._record(Link(index(seq), index(i), index(j), answer))

    def implied(self, i: int, j: int) -> Known | None:
        """Tell what the answers so far say about a pair: "same", "different" or None."""
        a, b = self._find(self._point(i)), self._find(self._point(j))
        if a == b:
            return SAME
        return DIFFERENT if b in self._apart.get(a, ()) else None

    def explain(self, i: int, j: int) -> tuple[Link, ...]:
        """Give the shortest chain of answers that shows what is implied about a pair.

        Parameters
        ----------
        i, j : int
            The two points.

        Returns
        -------
        tuple of Link
            Leads from `i` to `j`; at most one link is "different". Empty when nothing is implied.

        Examples
        --------
        >>> known = Constraints.fold(3, [[1, 0], [2, 1]], ["same", "different"])
        >>> for link in known.explain(0, 2):
        ...     print(*link[:4])
        1 0 1 same
        2 1 2 different
        """
        known = self.implied(i, j)
        if known is None or i == j:
            return ()
        return self._path(index(i), index(j), int(known == DIFFERENT), len(self._log))

    def joined(self, i: int, j: int) -> bool:
        """Whether two points are in one group; the caller knows that there are such points."""
        return self._find(i) == self._find(j)

    def members(self, i: int) -> list[int]:
        """All points that are known to be the same as `i`, itself among them."""
        return self._members.get(self._find(i), [i])

    def root(self, i: int) -> int:
        """One point that stands for all that are known to be the same as `i`."""
        return self._find(i)

    def sets(self, singletons: Iterable[int] = ()) -> list[IntArray]:
        """Groups of points known to be the same, in the order in which answers first met them.

        Parameters
        ----------
        singletons : iterable of int
            Points that count as sets of their own, where no "same" joined them to another.

        Returns
        -------
        list of ndarray of int
            Sorted point indices of each group. Do not write to the arrays.
        """
        return [self._group(root)[1] for root in self._roots(singletons)]

    def set_of(self, singletons: Iterable[int] = ()) -> IntArray:
        """Index into :meth:`sets` for every point; -1 for a point in none."""
        result = np.full(self.n, -1, dtype=np.int64)
        for k, members in enumerate(self.sets(singletons)):
            result[members] = k
        return result

    def sets_apart(self, singletons: Iterable[int] = ()) -> IntArray:
        """Pairs (a, b), a < b, of indices into :meth:`sets` that are known to be different."""
        number = {root: k for k, root in enumerate(self._roots(singletons))}
        pairs = [
            (k, number[other])
            for root, k in number.items()
            for other in self._apart.get(root, ())
            if number.get(other, -1) > k
        ]
        return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

    def must_links(self) -> IntArray:
        """Pairs answered "same", in the order of the answers; shape (m, 2)."""
        return self._pairs(SAME)

    def cannot_link_pairs(self) -> IntArray:
        """Pairs answered "different", in the order of the answers; shape (m, 2)."""
        return self._pairs(DIFFERENT)

    @property
    def touched(self) -> IntArray:
        """Sorted indices of the points in at least one "same" or "different" answer."""
        return np.array(sorted(self._first), dtype=np.int64)

    def copy(self) -> Constraints:
        """Return an independent copy."""
        other = Constraints(self.n, self.names)
        other._log = self._log.copy()
        other._parent = self._parent.copy()
        for name in ("_members", "_apart", "_links", "_cuts"):
            setattr(other, name, {key: value.copy() for key, value in getattr(self, name).items()})
        other._indexed = self._indexed
        other._first = self._first.copy()
        other._groups = self._groups.copy()
        other.conflicts = [conflict._of(other) for conflict in self.conflicts]
        return other

    def _point(self, i: int) -> int:
        i = index(i)
        if not 0 <= i < self.n:
            raise InputError(f"There is no point {i}; points are numbered 0 to {self.n - 1}.")
        return i

    def _find(self, i: int) -> int:
        parent = self._parent
        above = parent.get(i, i)
        while above != i:
            further = parent.get(above, above)
            if further != above:
                parent[i] = further
            i, above = above, further
        return i

    def _opposed(self, i: int, j: int, answer: str) -> bool:
        if answer == UNSURE:
            return False
        a, b = self._find(i), self._find(j)
        if answer == DIFFERENT:
            return a == b
        return b in self._apart.get(a, ())

    def _contradiction(self, i: int, j: int, answer: str) -> ContradictionError:
        chain = self._path(i, j, 1 if answer == SAME else 0, len(self._log))
        message = f"{describe(chain, self.names)}; you said {answer}"
        return ContradictionError(message, tuple(link.seq for link in chain))

    def _record(self, link: Link) -> bool:
        seq, i, j, answer = link[:4]
        if answer == UNSURE:
            return False
        a, b = self._find(i), self._find(j)
        for point, root in ((i, a), (j, b)):
            if self._first.get(point, seq) >= seq:
                self._first[point] = seq
                self._groups.pop(root, None)
        self._log.append(link)
        if answer == SAME:
            return a != b and self._join(a, b)
        apart = self._apart
        if b in apart.get(a, ()):
            return False
        for one, other in ((a, b), (b, a)):
            if one in apart:
                apart[one].add(other)
            else:
                apart[one] = {other}
        return True

    def _index(self) -> None:
        for position in range(self._indexed, len(self._log)):
            link = self._log[position]
            by_point = self._links if link.answer == SAME else self._cuts
            by_point.setdefault(link.i, []).append(position)
            by_point.setdefault(link.j, []).append(position)
        self._indexed = len(self._log)

    def _join(self, a: int, b: int) -> bool:
        """Move the group with less to move into the other: in all, m log m steps for m answers."""
        members, apart = self._members, self._apart
        weight_a = len(members.get(a, ())) + len(apart.get(a, ()))
        weight_b = len(members.get(b, ())) + len(apart.get(b, ()))
        if weight_a < weight_b:
            a, b = b, a
        self._parent[b] = a
        members.setdefault(a, [a]).extend(members.pop(b, (b,)))
        others = apart.pop(b, None)
        if others:
            apart.setdefault(a, set()).update(others)
            for other in others:
                apart[other].discard(b)
                apart[other].add(a)
        self._groups.pop(a, None)
        self._groups.pop(b, None)
        return True

    def _path(self, i: int, j: int, crossings: int, end: int) -> tuple[Link, ...]:
        self._index()
        home = self._find(j)
        cuts = self._cuts if crossings else {}
        return shortest_chain(
            self._log, self._links, cuts, i, j, end=end, leads_home=lambda p: self._find(p) == home
        )

    def _roots(self, singletons: Iterable[int]) -> list[int]:
        roots = set(self._members)
        for point in singletons:
            if self._find(self._point(point)) == point:
                roots.add(index(point))
        return sorted(roots, key=lambda root: (self._group(root)[0], self._group(root)[1][0]))

    def _group(self, root: int) -> tuple[int, IntArray]:
        """Smallest seq of an answer about the group (0 where there is none), and its points."""
        if root not in self._groups:
            members = sorted(self._members.get(root, (root,)))
            born = min(self._first.get(point, 0) for point in members)
            self._groups[root] = born, np.array(members, dtype=np.int64)
        return self._groups[root]

    def _pairs(self, answer: str) -> IntArray:
        pairs = [(link.i, link.j) for link in self._log if link.answer == answer]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)
