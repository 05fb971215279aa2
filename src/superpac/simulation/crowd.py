"""Several people who answer one session at the same time, without anybody."""

from __future__ import annotations

from collections.abc import Iterator

from superpac.session.questions import Question
from superpac.session.session import Session
from superpac.simulation.oracles import Oracle


def answer_in_turn(
    session: Session, oracle: Oracle, people: int, answers: int
) -> Iterator[Question]:
    """Let people answer in turn, each with a question of their own before them.

    Who has answered is handed, as on the page, the best question that is about no item which
    another is to place. What they hold meanwhile was chosen before the answers of the others; a
    question that those have settled is given up.

    Parameters
    ----------
    session : Session
        It goes on from where it is.
    oracle : Oracle
        Who answers for all of them.
    people : int
        How many.
    answers : int
        Budget of all together.

    Yields
    ------
    Question
        What was asked, when its answer is told.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.data.synthetic import make_subspaces
    >>> from superpac.session.spec import Spec
    >>> from superpac.simulation.oracles import TruthOracle
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    >>> asked = list(answer_in_turn(session, TruthOracle(y), 3, 6))
    >>> len(asked), session.progress()["questions"]
    (6, 6)
    """
    held: dict[int, Question] = {}
    told = 0

    def hand_out(person: int) -> bool:
        """Give a person the best question that nobody else has."""
        avoid = frozenset(one.i for who, one in held.items() if who != person)
        question = session.ask(avoid=avoid)
        if question is not None:
            held[person] = question
        return question is not None

    for person in range(people):
        hand_out(person)
    while told < answers and held:
        for person in range(people):
            question = held.get(person)
            if question is not None and _settled(session, question):
                del held[person]
                question = held.get(person) if hand_out(person) else None
            if question is None:
                hand_out(person)
                continue
            answer = oracle(question)
            if answer is None or told >= answers:
                return
            session.record(
                answer,
                (question.i, question.j),
                annotator=f"person {person + 1}",
                asked=True,
                confirm=question.confirm,
            )
            told += 1
            del held[person]
            yield question
            hand_out(person)


def _settled(session: Session, question: Question) -> bool:
    """Whether the answers of others leave nothing to say to a question."""
    pair = {(min(question.i, question.j), max(question.i, question.j))}
    if session.weighs_answers and session.answered_since(pair, question.seq):
        return True
    return not session.may_ask(question.i, question.j)
