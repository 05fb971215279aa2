"""The question of a session in a notebook, so that somebody who works there never leaves it.

A desk answers messages and knows nothing of notebooks; anywidget carries the messages between it
and the module ``notebook_widget.js``. Pictures travel as bytes beside a message.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superpac.answers.events import check_text
from superpac.answers.links import ANSWERS
from superpac.errors import InputError, SuperpacError
from superpac.system.optional import require

if TYPE_CHECKING:
    from superpac.session.questions import Question
    from superpac.session.session import Session

SCRIPT = Path(__file__).with_suffix(".js")
_SIDE = 480  # pixels of a picture's longest side
_STYLE = """
.superpac-question { font-family: system-ui, sans-serif; padding: 8px; border: 1px solid #8888;
  border-radius: 8px; }
.superpac-question:focus-visible { outline: 3px solid #2563eb; }
.superpac-words { margin: 4px 0 12px; font-size: 1.3em; }
.superpac-cards { display: flex; flex-wrap: wrap; gap: 16px; }
.superpac-card { flex: 1 1 240px; margin: 0; min-width: 0; text-align: center; }
.superpac-card img { max-width: 100%; max-height: 480px; }
.superpac-text { white-space: pre-wrap; overflow-wrap: anywhere; text-align: left; }
.superpac-rows { margin: 0 auto; text-align: left; }
.superpac-acts { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px; }
.superpac-act { padding: 8px 14px; min-height: 44px; font: inherit; }
"""


class Desk:
    """Hears what a person does in a notebook and says what to show next.

    Parameters
    ----------
    session : Session
        Whose questions.
    annotator : str
        Who answers.
    question : str
        In what words items are compared.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> from superpac.session.session import Session
    >>> from superpac.session.spec import Spec
    >>> X, y = make_subspaces(10, 3, 2, 10, seed=0)
    >>> desk = Desk(Session.create(X, Spec(3, affinity="tsc:q=4", dim=2)), "anna")
    >>> reply, pictures = desk.hear({"kind": "ask"})
    >>> reply["question"]["question"], len(pictures)
    ('Same or different?', 2)
    """

    def __init__(
        self, session: Session, annotator: str = "", question: str = "Same or different?"
    ) -> None:
        self.session = session
        self.annotator = annotator and check_text("annotator", annotator, 200)
        self.question = check_text("question", question, 200)

    def hear(self, message: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Do what a message asks for.

        Parameters
        ----------
        message : dict
            ``kind`` is ask, answer, skip or undo; with ``i``, ``j``, ``answer``, ``seq``,
            ``elapsed_ms`` and ``key`` as an answer has them.

        Returns
        -------
        dict, list of bytes
            The question now, progress in words, and what went wrong; pictures as PNG.
        """
        error = ""
        try:
            self._do(message)
        except SuperpacError as wrong:
            error = str(wrong)
        question = self.session.ask()
        pictures: list[bytes] = []
        reply = {
            "kind": "question",
            "question": None if question is None else self._shown(question, pictures),
            "progress": f"{self.session.state.n_answers} answered.",
            "undoable": bool(self.session.history.undoable(self.annotator)),
            "error": error,
        }
        return reply, pictures

    def _do(self, message: Any) -> None:
        if not isinstance(message, dict):
            raise InputError("A message must be an object with a kind.")
        kind, key = message.get("kind"), message.get("key")
        if kind == "ask":
            return
        key = check_text("key", key, 100)
        if kind == "undo":
            self.session.undo(by=self.annotator, annotator=self.annotator, key=key)
            return
        pair = (message.get("i"), message.get("j"))
        if not all(type(item) is int for item in pair):
            raise InputError("A message about a pair needs two item numbers, i and j.")
        who: dict[str, Any] = {"annotator": self.annotator, "key": key}
        if kind == "skip":
            self.session.skip(pair, **who)  # type: ignore[arg-type]
        elif kind == "answer" and message.get("answer") in ANSWERS:
            seq, took = message.get("seq"), message.get("elapsed_ms")
            self.session.tell(
                message["answer"],
                pair,  # type: ignore[arg-type]
                **who,
                expected_seq=seq if type(seq) is int else None,
                elapsed_ms=took if type(took) is int and took >= 0 else None,
            )
        else:
            raise InputError("A message must be of kind ask, answer, skip or undo.")

    def _shown(self, question: Question, pictures: list[bytes]) -> dict[str, Any]:
        return {
            "i": question.i,
            "j": question.j,
            "seq": question.seq,
            "question": self.question,
            "reason": question.reason,
            "cards": [self._card(item, pictures) for item in (question.i, question.j)],
        }

    def _card(self, item: int, pictures: list[bytes]) -> dict[str, Any]:
        """One item as it is: words, a row, or else a picture."""
        data = self.session.data
        card = {"item": item, "name": str(data.ids[item]), "kind": data.kind}
        if data.texts is not None:
            return {**card, "text": data.texts[item]}
        if data.kind == "table":
            return {**card, "rows": [list(cell) for cell in data.describe(item)]}
        drawn = io.BytesIO()
        data.draw(item, _SIDE if data.paths is not None else None).save(drawn, "PNG")
        pictures.append(drawn.getvalue())
        return {**card, "picture": len(pictures) - 1}


def make_widget(session: Session, annotator: str = "", question: str = "Same or different?") -> Any:
    """Give the widget of a session; see `Session.widget`."""
    require("notebook", "A widget")
    import anywidget

    desk = Desk(session, annotator, question)

    class SessionWidget(anywidget.AnyWidget):
        """Shows the question of a session and takes the answers."""

        _esm = SCRIPT.read_text("utf-8")
        _css = _STYLE

        def __init__(self) -> None:
            super().__init__()
            self.on_msg(self._heard)

        def _heard(self, _: Any, message: Any, __: Any) -> None:
            reply, pictures = desk.hear(message)
            self.send(reply, buffers=pictures)

    return SessionWidget()
