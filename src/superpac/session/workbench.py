"""Acts on groups as a whole: move, merge, split, join, exclude, set aside; one undo each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from superpac.answers import acts
from superpac.answers.events import Draft
from superpac.array_types import IntArray
from superpac.errors import InputError
from superpac.session.answer_book import AnswerBook
from superpac.session.questions import Receipt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from superpac.session.rearranging import Act, Plan


@dataclass(frozen=True)
class Arranged:
    """What became of an act.

    Attributes
    ----------
    receipts : list of Receipt
        One for each event; the same again where a request is repeated.
    answers : int
        Answers that it was written as.
    taken_back : int
        Own earlier answers that it took back.
    disputed : int
        Answers of it that go against what others said: they are listed for a check.
    """

    receipts: list[Receipt]
    answers: int
    taken_back: int
    disputed: int


class Workbench(AnswerBook):
    """An answer book whose items can be put where they belong, many at once.

    Each act is one append to the log and one undo. It is written as the answers that it means, see
    :mod:`superpac.session.rearranging`.
    """

    def labels(self) -> IntArray:
        """Group of every item."""
        raise NotImplementedError

    def _sureness(self) -> NDArray[np.floating] | None:
        """How sure every item is of its group, where that is known."""
        return None

    def _members(self) -> NDArray[np.bool_] | None:
        """Items that the model's groups are made of, where it keeps such."""
        return None

    def move(self, items: Sequence[int], to: int, **who: Any) -> Arranged:
        """Move items into another group.

        Parameters
        ----------
        items : sequence of int
            What to move.
        to : int
            An item of the group to move to.
        **who
            ``annotator`` and the client's ``key``, as for an answer.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> session = Session.create(X, Spec(2, affinity="tsc:q=3", dim=1))
        >>> done = session.move([4, 5], to=8)
        >>> done.answers, session.labels()[[4, 5]].tolist() == session.labels()[[8, 8]].tolist()
        (3, True)
        >>> len(session.undo())
        3
        """
        return self.arrange("move", items, to=to, **who)

    def merge(self, items: Sequence[int], **who: Any) -> Arranged:
        """Make several groups one.

        Parameters
        ----------
        items : sequence of int
            One item of each group; the name of the first one's group stays.
        **who
            ``annotator`` and ``key``.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> X = np.repeat(np.eye(3), 6, axis=0)
        >>> session = Session.create(X, Spec(3, affinity="tsc:q=3", dim=1))
        >>> session.merge([0, 17]).answers
        1
        """
        return self.arrange("merge", items, **who)

    def split(self, items: Sequence[int], name: str | None = None, **who: Any) -> Arranged:
        """Make a new group of some items, different from all groups that there are.

        Parameters
        ----------
        items : sequence of int
            What the new group holds.
        name : str, optional
            What to call it.
        **who
            ``annotator`` and ``key``.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> session = Session.create(X, Spec(2, affinity="tsc:q=3", dim=1))
        >>> session.split([4, 5], "odd ones").answers
        3
        """
        return self.arrange("split", items, name=name, **who)

    def join(self, items: Sequence[int], **who: Any) -> Arranged:
        """Say that some items are all one; they come to the group that most of them are in.

        Parameters
        ----------
        items : sequence of int
            The items.
        **who
            ``annotator`` and ``key``.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> session = Session.create(X, Spec(2, affinity="tsc:q=3", dim=1))
        >>> session.join([0, 1, 2]).answers
        2
        """
        return self.arrange("join", items, **who)

    def exclude(self, items: Sequence[int], **who: Any) -> Arranged:
        """Say that items do not belong to the group that they are in, and not where they do.

        Parameters
        ----------
        items : sequence of int
            The items.
        **who
            ``annotator`` and ``key``.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> X = np.repeat(np.eye(2), 6, axis=0)
        >>> session = Session.create(X, Spec(2, affinity="tsc:q=3", dim=1))
        >>> session.exclude([5]).answers, session.state.constraints.implied(5, 0)
        (1, 'different')
        """
        return self.arrange("exclude", items, **who)

    def set_several_aside(
        self, items: Sequence[int], *, back: bool = False, **who: Any
    ) -> Arranged:
        """Take items that are blank or damaged out of the questions in one act, or put them back.

        Parameters
        ----------
        items : sequence of int
            The items.
        back : bool, default=False
            Whether they are put back.
        **who
            ``annotator`` and ``key``.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> session = Session.create(np.repeat(np.eye(2), 6, axis=0), Spec(2, dim=1))
        >>> len(session.set_several_aside([3, 4]).receipts), sorted(session.state.bad)
        (2, [3, 4])
        >>> session.undo(), sorted(session.state.bad)
        ([1, 2], [])
        """
        return self.arrange("back" if back else "aside", items, **who)

    def keep(self, seqs: Sequence[int], *, annotator: str = "", key: str | None = None) -> Arranged:
        """Say again what some answers said, since one has looked and they are right.

        Parameters
        ----------
        seqs : sequence of int
            Numbers of the answers.
        annotator, key
            As for an answer.

        Returns
        -------
        Arranged

        Examples
        --------
        >>> import numpy as np
        >>> from superpac import Session, Spec
        >>> session = Session.create(np.repeat(np.eye(2), 6, axis=0), Spec(2, dim=1))
        >>> receipt = session.tell("same", (0, 1))
        >>> session.keep([receipt.seq]).answers, session.state.votes.net(0, 1)
        (1, 2)
        """
        key = key or uuid4().hex
        chosen = sorted({int(seq) for seq in seqs})
        sign = " ".join(map(str, chosen))[:200]

        def make() -> list[Draft]:
            drafts = []
            for event in map(self.history.event, chosen):
                if event.kind != "answer" or event.seq in self.history.retracted:
                    raise InputError(f"Event #{event.seq} is no answer that stands.")
                said = {name: event.body[name] for name in ("i", "j", "answer")}
                drafts.append(Draft("answer", said, annotator))
            return _as_one(drafts, "keep", sign, key)

        with self._lock:
            said = acts.arranged("keep", sign)
            receipts = self.act(said, make, annotator=annotator, key=key)
            return self._arranged(receipts)

    def arrange(
        self,
        act: Act,
        items: Sequence[int],
        *,
        to: int | None = None,
        name: str | None = None,
        annotator: str = "",
        key: str | None = None,
    ) -> Arranged:
        """Do one act on groups by its name.

        Parameters
        ----------
        act : {"move", "merge", "split", "join", "exclude", "aside", "back"}
            What is done.
        items : sequence of int
            What it is done to.
        to : int, optional
            For "move", an item of the group to move to.
        name : str, optional
            For "split", what the new group is called.
        annotator : str
            Who does it.
        key : str, optional
            The client's key: the same key again gives the same receipts and writes nothing.

        Returns
        -------
        Arranged

        Raises
        ------
        ContradictionError
            Where the session's strategy takes answers as law and others' answers are in the way.
        """
        from superpac.session.rearranging import ACTS, digest  # reading a log must not load SciPy

        if act not in ACTS:
            raise InputError(f"An act is one of {', '.join(ACTS)}. Got {act!r} instead.")
        key = key or uuid4().hex
        chosen = [int(i) for i in items]
        sign = digest(act, chosen, to, name)
        with self._lock:
            make = self._asides if act in ("aside", "back") else self._moves
            receipts = self.act(
                acts.arranged(act, sign),
                lambda: _as_one(make(act, chosen, to, name, annotator), act, sign, key),
                annotator=annotator,
                key=key,
            )
            return self._arranged(receipts)

    def _arranged(self, receipts: list[Receipt]) -> Arranged:
        """What an act did, read from its events."""
        events = [self.history.event(receipt.seq) for receipt in receipts]
        against = sum(bool(acts.reasons(e).get("against")) for e in events)
        targets = [self.history.event(e.body["seq"]) for e in events if e.kind == "retract"]
        return Arranged(
            receipts,
            sum(e.kind == "answer" for e in events),
            sum(e.kind == "answer" for e in targets),
            against,
        )

    def _moves(
        self, act: Act, items: list[int], to: int | None, name: str | None, annotator: str
    ) -> list[Draft]:
        """Events of an act that puts items elsewhere."""
        from superpac.session.rearranging import Groups, plan

        groups = Groups(self.labels(), self.state, self._sureness(), self._members())
        named = self.history.standing(("name",))
        found = plan(act, items, groups, to=to, annotator=annotator, names=named)
        if not self.weighs_answers:
            self._refuse(found)
        against = {*found.against, *found.lost}
        drafts = [Draft("retract", {"seq": seq}, annotator) for seq in found.taken_back]
        for i, j, answer in found.said:
            why = {"why": {"against": True}} if (i, j, answer) in against else {}
            drafts.append(Draft("answer", {"i": i, "j": j, "answer": answer, **why}, annotator))
        for given, item in found.names:
            drafts.append(Draft("name", {"name": given, "item": item}, annotator))
        if name:
            drafts.append(Draft("name", {"name": name, "item": items[0]}, annotator))
        return drafts

    def _refuse(self, found: Plan) -> None:
        """Raise where answers are law and those of others say the opposite."""
        for i, j, answer in (*found.against, *found.lost):
            self.state.constraints.check(i, j, answer)

    def _asides(
        self, act: Act, items: list[int], to: int | None, name: str | None, annotator: str
    ) -> list[Draft]:
        """Events that set items aside or put them back, those that are not yet there."""
        back = act == "back"
        new = [i for i in dict.fromkeys(items) if (i in self.state.bad) == back]
        return [Draft("good" if back else "bad", {"i": i}, annotator) for i in new]


def _as_one(drafts: Sequence[Draft], act: str, sign: str, key: str) -> list[Draft]:
    """Mark events as one act, so that one undo takes all of them."""
    marked = []
    for n, draft in enumerate(drafts):
        why = {**draft.body.get("why", {}), acts.ACT: act}
        body = {**draft.body, "why": why}
        if draft.kind == "answer":
            body["group"] = key
        else:
            why["group"] = key
        if n == 0:
            why[acts.DIGEST] = sign
        marked.append(Draft(draft.kind, body, draft.annotator))
    return marked
